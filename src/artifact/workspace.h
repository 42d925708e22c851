// A replay workspace: the folder from which a simulator runs one kernel again.
// docs/formats/replay_workspace.md is the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "artifact/kernel_args.h"
#include "artifact/replay_kernel.h"

namespace kerf {

// Blocks that run one dispatch of an SPMD kernel, and the slots that differ from the common ones.
struct SpmdDispatch {
  int64_t blocks = 1;
  std::vector<std::pair<int, uint64_t>> overrides;
};

// What does not come from the kernel and its arguments.
struct ReplayOptions {
  Platform platform = Platform::kA2A3;
  std::string soc_version;  // empty: the platform's
  int64_t device = 0;
  int64_t launch_count = 1;
  int64_t timeout_minutes = 120;
  std::optional<int64_t> hw_block_num;  // nullopt: what the arguments' source says, else 1
  std::optional<int64_t>
      spmd_block_num;  // what a context says; nullopt: the blocks of the dispatch
  bool debug_line = false;
};

struct ReplayPlan {
  ReplayKernel kernel;
  KernelArgs args;
  std::string args_source;               // "arg spec spec.json", "recipe paged_attention/SF", …
  std::vector<SpmdDispatch> dispatches;  // at least one
  ReplayOptions options;
  // Where it came from; empty when unknown.
  std::string module;
  std::string scene_case;
  std::string dump_file;
  std::string dispatch;  // "task 0x… (func {4})"
};

struct WorkspaceFile {
  std::string path;  // relative to the workspace
  std::string bytes;
  bool executable = false;
};

// "dav_2201" and so on.
const char* DefaultSocVersion(Platform platform);
const char* AicoreArch(Platform platform);  // "dav-c220"

}  // namespace kerf
