#include "artifact/workspace.h"

namespace kerf {

const char* DefaultSocVersion(Platform platform) {
  return platform == Platform::kA5 ? "dav_3510" : "dav_2201";
}

const char* AicoreArch(Platform platform) {
  return platform == Platform::kA5 ? "dav-c310" : "dav-c220";
}

}  // namespace kerf
