#include "cli/trace_owner.h"

#include <unistd.h>

namespace kerf::cli {

std::string TraceOwner(Clock& clock) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return "process " + std::to_string(::getpid()) + " on " + host + " since " +
         FormatUtc(clock.WallNanos());
}

}  // namespace kerf::cli
