#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/subprocess.h"

namespace kerf {

std::optional<std::string> FindProgram(const std::string& program, const std::string& path) {
  if (program.empty()) return std::nullopt;
  if (program.find('/') != std::string::npos) return program;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate =
        (end == begin ? "." : path.substr(begin, end - begin)) + "/" + program;
    struct stat info {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace kerf
