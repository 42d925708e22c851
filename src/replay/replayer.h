// From what the user names (a scene test or a source, arguments from somewhere) to a plan that can
// be written as a workspace. The only place that sees all steps of the REPLAY flow.
//
//   KERF_ASSIGN_OR_RETURN(const ReplayPlan plan, PlanReplay(tools, request));
//   KERF_RETURN_IF_ERROR(workspace::WriteWorkspace(fs, plan, dir));
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/workspace.h"
#include "base/file_system.h"
#include "base/subprocess.h"

namespace kerf::replay {

struct ReplayRequest {
  // The kernel. Without a module, kernel_source is a file of its own.
  std::string module;
  std::string scene_case;
  bool import = false;      // run the module in the sandbox instead of reading it
  std::string import_root;  // what it may see; empty: its own folder
  std::string runtime;
  std::string kernel;
  std::set<int64_t> func_ids;
  std::string kernel_source;
  std::string core_type;  // "aic", "aiv", "mix"; for a source without a module
  // The arguments.
  std::string arg_spec;
  std::string dump_dir;
  std::optional<int64_t> dispatch_id;
  std::optional<uint64_t> task_id;
  bool payloads = true;
  std::vector<std::string> set_args;  // "4=0.125"
  std::vector<int64_t> restore_args;  // slots whose payload must be used
  ReplayOptions options;
};

struct ReplayTools {
  FileSystem& fs;
  std::string python;     // for scene tests
  std::string resources;  // the folder that holds python/kerf, on the disk
  std::function<Result<ProcessOutcome>(const Command&)> run = RunProcess;
};

// "0,1,2"
Result<std::set<int64_t>> ParseFuncIds(const std::string& text);

// "0x0000000100000007"
Result<uint64_t> ParseTask(const std::string& text);

// Everything is checked; nothing is written.
Result<ReplayPlan> PlanReplay(const ReplayTools& tools, const ReplayRequest& request);

}  // namespace kerf::replay
