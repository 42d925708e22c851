// Runs a workspace under `msprof op simulator` and finds what it wrote.
//
// The tool has habits that its users had to learn: without --kernel-name it succeeds and writes
// nothing; its --timeout counts minutes and ends in a partial trace; it refuses folders others can
// write to. What it says is not trusted: a run has succeeded when the simulator directory of this
// run is there and whole.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cache_dir.h"
#include "base/file_system.h"
#include "base/subprocess.h"

namespace kerf::collect {

struct MsprofRequest {
  std::string workspace;     // absolute
  std::string cann_home;     // empty: $CANN_HOME, else $ASCEND_HOME_PATH
  std::string simpler_root;  // empty: $REPO_ROOT
  std::string pto_isa_root;  // empty: $PTO_ISA_ROOT
  std::string soc_version;
  int64_t timeout_minutes = 120;
  // Of the build, and on top of msprof's own time-out: a watchdog, not a limit one should meet.
  std::chrono::minutes grace{30};
  bool needs_simpler = true;  // false: a test case that PTOAS generated
  GetVariable variable = ProcessVariable;
  std::function<Result<ProcessOutcome>(const Command&)> run = RunProcess;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct MsprofEnvironment {
  std::string cann_home;
  std::string simpler_root;
  std::string pto_isa_root;
  std::string simulator_lib;  // …/<arch>-linux/simulator/<soc>/lib
  std::string path;           // PATH, and where CANN keeps its programs
};

// kUnavailable with everything that is missing and where it was looked for.
Result<MsprofEnvironment> CheckEnvironment(FileSystem& fs, const MsprofRequest& request);

// The folder of raw logs that `msprof … --export` takes: device0/tmp_dump, else dump, of the newest
// OPPROF_* below `out`. An error when there is none or it is empty, with what `log` says about it.
Result<std::string> FindDump(FileSystem& fs, const std::string& out, const std::string& log);

// Builds, collects, exports. The path of the simulator directory.
Result<std::string> Collect(FileSystem& fs, const MsprofRequest& request);

// The newest simulator directory below `insight_export`, checked for its files; also in
// OPPROF_*/<op>/<n>/simulator.
Result<std::string> FindSimulator(FileSystem& fs, const std::string& insight_export);

// What a log means, when it is one of the known failures; empty otherwise.
std::string ExplainLog(const std::string& log);

// The end of what a program said, in one line: errors are one line.
std::string Tail(const std::string& text);

}  // namespace kerf::collect
