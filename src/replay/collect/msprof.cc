#include "replay/collect/msprof.h"

#include <sys/utsname.h>

#include <algorithm>

namespace kerf::collect {
namespace {

bool Exists(FileSystem& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  return info.ok() && info->has_value();
}

// The newest entry by time that begins with OPPROF_: names do not sort.
Result<std::optional<std::string>> NewestOpprof(FileSystem& fs, const std::string& dir) {
  std::optional<std::string> newest;
  int64_t newest_time = 0;
  if (!Exists(fs, dir)) return newest;
  KERF_ASSIGN_OR_RETURN(std::vector<DirEntry> entries, fs.List(dir));
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  for (const DirEntry& entry : entries) {
    if (entry.kind != FileKind::kDirectory || entry.name.rfind("OPPROF_", 0) != 0) continue;
    const std::string path = JoinPath(dir, entry.name);
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
    if (info && (!newest || info->mtime_ns >= newest_time)) {
      newest = path;
      newest_time = info->mtime_ns;
    }
  }
  return newest;
}

// Folders named simulator at depth 1 (OPPROF_x/simulator) and 3 (OPPROF_x/op/0/simulator).
Result<std::vector<std::string>> SimulatorsIn(FileSystem& fs, const std::string& opprof) {
  std::vector<std::string> found;
  if (Exists(fs, JoinPath(opprof, "simulator"))) found.push_back(JoinPath(opprof, "simulator"));
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> ops, fs.List(opprof));
  for (const DirEntry& op : ops) {
    if (op.kind != FileKind::kDirectory || op.name == "simulator" || op.name == "dump") continue;
    const std::string op_path = JoinPath(opprof, op.name);
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> launches, fs.List(op_path));
    for (const DirEntry& launch : launches) {
      const std::string path = JoinPath(JoinPath(op_path, launch.name), "simulator");
      if (launch.kind == FileKind::kDirectory && Exists(fs, path)) found.push_back(path);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status CheckFiles(FileSystem& fs, const std::string& simulator) {
  std::string missing;
  for (const char* name : {"trace.json", "visualize_data.bin"}) {
    if (!Exists(fs, JoinPath(simulator, name)))
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (!missing.empty()) {
    return Corrupt("Missing Insight trace artifacts: " + missing + " in " + simulator);
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> cores, fs.List(simulator));
  for (const DirEntry& core : cores) {
    if (core.kind != FileKind::kDirectory || core.name.rfind("core", 0) != 0) continue;
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> files,
                          fs.List(JoinPath(simulator, core.name)));
    const bool csv = std::any_of(files.begin(), files.end(), [](const DirEntry& file) {
      return file.name.find("instr_exe") != std::string::npos && file.name.size() > 4 &&
             file.name.substr(file.name.size() - 4) == ".csv";
    });
    if (csv) return {};
  }
  return Corrupt("No instr_exe CSV files under " + simulator);
}

std::string First(const std::string& given, const MsprofRequest& request,
                  const std::vector<const char*>& variables) {
  if (!given.empty()) return given;
  for (const char* name : variables) {
    if (const auto value = request.variable(name); value && !value->empty()) return *value;
  }
  return "";
}

// One step of run_collect.sh.
Status RunStep(const MsprofRequest& request, const MsprofEnvironment& environment,
               const std::string& step, std::chrono::minutes limit) {
  request.progress("msprof: " + step);
  std::vector<std::string> variables = {
      "CANN_HOME=" + environment.cann_home, "REPO_ROOT=" + environment.simpler_root,
      "PTO_ISA_ROOT=" + environment.pto_isa_root, "SOC_VERSION=" + request.soc_version,
      "TIMEOUT_MINUTES=" + std::to_string(request.timeout_minutes)};
  variables.push_back("PATH=" + environment.path);
  for (const char* name : {"HOME", "USER", "LANG", "LD_LIBRARY_PATH", "TARGET_DEVICE_ID",
                           "NPU_LOCKED_DEVICE", "TMPDIR"}) {
    if (const auto value = request.variable(name))
      variables.push_back(std::string(name) + "=" + *value);
  }
  const Command command{.argv = {"bash", JoinPath(request.workspace, "run_collect.sh"), step},
                        .cwd = request.workspace,
                        .environment = variables,
                        .timeout = limit};
  auto outcome = request.run(command);
  if (!outcome.ok()) {
    if (outcome.error().code == ErrorCode::kNotFound)
      return Unavailable("bash executable not found in PATH");
    return std::move(outcome).error();
  }
  const std::string logs = JoinPath(request.workspace, "msprof_collect");
  if (outcome->stopped) return Unavailable("interrupted in step " + step);
  if (outcome->timed_out) {
    return TimedOut("Trace collection timed out after " + std::to_string(limit.count() * 60) +
                    "s in step " + step + "; check logs at " + logs);
  }
  if (outcome->exit_code == 0) return {};
  const std::string output = outcome->stdout_text + outcome->stderr_text;
  const std::string known = ExplainLog(output);
  return Unavailable("insight trace collection failed in step " + step + "; see " + logs +
                     (known.empty() ? "" : ": " + known) + "; it said: " + Tail(output));
}

// Both architectures are looked for; only this machine's can be loaded. What is missing, or empty.
std::string FindSimulatorLib(FileSystem& fs, const MsprofRequest& request,
                             MsprofEnvironment& found) {
  utsname host{};
  ::uname(&host);
  std::string looked;
  std::string other;
  for (const std::string arch : {"aarch64", "x86_64"}) {
    const std::string lib =
        found.cann_home + "/" + arch + "-linux/simulator/" + request.soc_version + "/lib";
    looked += (looked.empty() ? "" : " nor ") + lib;
    if (!Exists(fs, lib)) continue;
    (arch == host.machine ? found.simulator_lib : other) = lib;
  }
  if (!found.simulator_lib.empty()) return "";
  if (!other.empty()) {
    return "the simulator's libraries for this machine, which is " + std::string(host.machine) +
           "; there is only " + other;
  }
  return "the simulator's libraries: neither " + looked +
         " is there (x86 packages of CANN often lack them)";
}

std::string ReadLog(FileSystem& fs, const std::string& path) {
  const auto text = fs.ReadFile(path);
  return text.ok() ? *text : "";
}

}  // namespace

Result<MsprofEnvironment> CheckEnvironment(FileSystem& fs, const MsprofRequest& request) {
  MsprofEnvironment found{
      .cann_home = First(request.cann_home, request, {"CANN_HOME", "ASCEND_HOME_PATH"}),
      .simpler_root = First(request.simpler_root, request, {"REPO_ROOT"}),
      .pto_isa_root = First(request.pto_isa_root, request, {"PTO_ISA_ROOT"})};
  std::vector<std::string> missing;
  if (found.cann_home.empty()) {
    missing.emplace_back("the CANN toolkit (--cann-home, CANN_HOME or ASCEND_HOME_PATH)");
  } else if (!Exists(fs, found.cann_home)) {
    missing.push_back("CANN_HOME " + found.cann_home + " is not there");
  }
  const auto root = [&](const std::string& path, const char* what) {
    if (path.empty()) {
      missing.emplace_back(what);
    } else if (!Exists(fs, path)) {
      missing.push_back(path + " is not there");
    }
  };
  if (request.needs_simpler)
    root(found.simpler_root, "the runtime's checkout (--simpler-root or REPO_ROOT)");
  root(found.pto_isa_root, "a checkout of pto-isa (--pto-isa-root or PTO_ISA_ROOT)");
  found.path = request.variable("PATH").value_or("");
  if (!found.cann_home.empty()) {
    for (const char* folder : {"/bin", "/tools/profiler/bin", "/compiler/ccec_compiler/bin"})
      found.path += ":" + found.cann_home + folder;
  }
  for (const char* program : {"bash", "cmake", "bisheng", "msprof"}) {
    if (!FindProgram(program, found.path))
      missing.push_back(std::string(program) + " in PATH or below CANN_HOME");
  }
  if (!found.cann_home.empty() && Exists(fs, found.cann_home)) {
    if (const std::string what = FindSimulatorLib(fs, request, found); !what.empty())
      missing.push_back(what);
  }
  if (missing.empty()) return found;
  std::string text;
  for (const std::string& one : missing) text += (text.empty() ? "" : "; ") + one;
  return Unavailable("msprof cannot run here; missing: " + text +
                     (request.needs_simpler
                          ? ". The workspace is complete: run its run_collect.sh where these are, "
                            "or use --simulator none"
                          : ". --dry-run stops after the test case"));
}

std::string Tail(const std::string& text) {
  constexpr size_t kMost = 600;
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && line.back() != '|') {
      line += '|';
    }
  }
  while (!line.empty() && line.back() == '|') line.pop_back();
  return line.size() <= kMost ? line : "..." + line.substr(line.size() - kMost);
}

std::string ExplainLog(const std::string& log) {
  const auto has = [&](const char* text) { return log.find(text) != std::string::npos; };
  if (has("timeout has reached")) {
    return "msprof's time-out ended the replay: what was exported is a part; raise "
           "--timeout-minutes or shrink the case";
  }
  if (has("207000"))
    return "the replay used a feature the simulator lacks (207000: AICPU work cannot be simulated)";
  if (has("507015") || has("wrong core type")) {
    return "the core stopped: a kernel on the wrong kind of core does that; check core_type and "
           "that the library is built for one mix architecture";
  }
  if (has("Permission") || has("writable by")) {
    return "msprof refuses folders that group or others can write to";
  }
  return "";
}

Result<std::string> FindDump(FileSystem& fs, const std::string& out, const std::string& log) {
  const std::string known = ExplainLog(log);
  const std::string said = "; it said: " + Tail(log);
  KERF_ASSIGN_OR_RETURN(const std::optional<std::string> opprof, NewestOpprof(fs, out));
  if (!opprof) {
    return Unavailable(
        "msprof succeeded and wrote nothing below " + out + ": " +
        (known.empty() ? "no kernel matched --kernel-name, or the replay ended before its launch"
                       : known) +
        said);
  }
  for (const char* name : {"device0/tmp_dump", "dump"}) {
    const std::string dump = JoinPath(*opprof, name);
    if (!Exists(fs, dump)) continue;
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(dump));
    if (!entries.empty()) return dump;
    return Unavailable("msprof succeeded and its dump " + dump + " is empty: " +
                       (known.empty() ? "no simulated core ran the kernel; a library that is built "
                                        "for -cube or -vec instead of one mix architecture does "
                                        "that"
                                      : known) +
                       said);
  }
  return Unavailable(*opprof + " holds neither device0/tmp_dump nor dump" + said);
}

Result<std::string> FindSimulator(FileSystem& fs, const std::string& insight_export) {
  KERF_ASSIGN_OR_RETURN(const std::optional<std::string> opprof, NewestOpprof(fs, insight_export));
  std::vector<std::string> simulators;
  if (opprof) {
    KERF_ASSIGN_OR_RETURN(simulators, SimulatorsIn(fs, *opprof));
  }
  if (simulators.empty()) return NotFound("No OPPROF simulator directory under " + insight_export);
  KERF_RETURN_IF_ERROR(CheckFiles(fs, simulators[0]));
  return simulators[0];
}

Result<std::string> Collect(FileSystem& fs, const MsprofRequest& request) {
  KERF_ASSIGN_OR_RETURN(const MsprofEnvironment environment, CheckEnvironment(fs, request));
  KERF_RETURN_IF_ERROR(RunStep(request, environment, "build", request.grace));
  KERF_RETURN_IF_ERROR(RunStep(request, environment, "collect",
                               std::chrono::minutes(request.timeout_minutes) + request.grace));
  const std::string log = ReadLog(fs, JoinPath(request.workspace, "msprof_collect/collect.log"));
  KERF_RETURN_IF_ERROR(FindDump(fs, JoinPath(request.workspace, "msprof_collect/out"), log));
  KERF_RETURN_IF_ERROR(RunStep(request, environment, "export", request.grace));
  auto simulator = FindSimulator(fs, JoinPath(request.workspace, "insight_export"));
  if (!simulator.ok()) return std::move(simulator).error();
  if (const std::string known = ExplainLog(log); !known.empty())
    request.progress("warning: " + known);
  return simulator;
}

}  // namespace kerf::collect
