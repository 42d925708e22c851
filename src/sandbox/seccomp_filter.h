// The system calls a program in the sandbox may not make, as a BPF program.
//
// A deny list, not an allow list: candidates come with their own run times (OpenMP, Python, CUDA),
// whose calls nobody can list in advance. To make up for it, calls younger than this filter are
// answered with ENOSYS, as an older kernel would.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace kerf::sandbox {

struct FilterOptions {
  // Whether a forbidden call stops the caller until the supervisor has seen it, so that it is
  // reported whichever process made it. Otherwise it kills the caller with SIGSYS, and the
  // supervisor learns of it only when the caller was the program itself.
  bool listener = true;
  // Whether there is a network namespace. Without one sockets other than Unix ones are refused.
  bool network_namespace = true;
  bool user_namespaces = false;  // AllowUserNamespaces
  // Whether a cgroup counts memory that no process has mapped. Without one such memory is refused:
  // the watchdog could not see it.
  bool counted_memory = true;
};

Result<std::vector<sock_filter>> BuildFilter(const FilterOptions& options);

// "ptrace"; the number when it has no name.
std::string SyscallName(int number);

}  // namespace kerf::sandbox
