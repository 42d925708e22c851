// Figures without their machine mean nothing: every bench prints this first.
#pragma once

#include <string>

namespace kerf::bench {

// CPU, cores, memory, kernel and the file system that holds `dir`, in one line.
std::string MachineContext(const std::string& dir);

}  // namespace kerf::bench
