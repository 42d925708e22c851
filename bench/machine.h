// What a measured number depends on besides the code.
#pragma once

#include <string>

namespace kerf::bench {

// CPU model, cores, memory, kernel, and the file system that holds `path`; one line each.
std::string MachineContext(const std::string& path = ".");

}  // namespace kerf::bench
