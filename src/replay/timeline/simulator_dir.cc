#include "replay/timeline/simulator_dir.h"

#include "replay/timeline/bin_reader.h"

namespace kerf::timeline {
namespace {

template <typename T>
void Keep(Result<T> result, T& out, bool& read, std::vector<Finding>& findings) {
  if (!result.ok()) {
    findings.push_back({true, "", result.error().message});
    return;
  }
  out = std::move(result).value();
  read = true;
}

Status ReadCore(FileSystem& fs, const std::string& dir, const std::string& name, CoreFolder& core,
                std::vector<Finding>& findings) {
  const std::string folder = JoinPath(dir, name);
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> files, fs.List(folder));
  for (const DirEntry& file : files) {
    const std::string path = JoinPath(folder, file.name);
    const std::string shown = name + "/" + file.name;
    const bool instr = IsInstrCsv(file.name);
    const bool code = IsCodeCsv(file.name);
    if (file.kind != FileKind::kFile || (!instr && !code && file.name != "trace.json")) continue;
    KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
    bool read = false;
    if (instr) {
      Keep(ParseInstrCsv(shown, text), core.instr, core.has_instr, findings);
    } else if (code) {
      Keep(ParseCodeCsv(shown, text), core.code, read, findings);
    } else {
      TraceFile trace;
      Keep(ParseTrace(shown, text), trace, read, findings);
      if (read) core.trace = std::move(trace);
    }
  }
  return {};
}

}  // namespace

Result<SimulatorDir> ReadSimulatorDir(FileSystem& fs, const std::string& path,
                                      std::vector<Finding>& findings) {
  SimulatorDir dir{.path = path};
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(JoinPath(path, "trace.json")));
  if (!info) {
    return NotFound(path + ": has no trace.json; name the simulator folder of an OPPROF directory");
  }
  KERF_ASSIGN_OR_RETURN(dir.trace_text, fs.ReadFile(JoinPath(path, "trace.json")));
  KERF_ASSIGN_OR_RETURN(dir.trace, ParseTrace("trace.json", dir.trace_text));
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> bin,
                        fs.Stat(JoinPath(path, "visualize_data.bin")));
  if (bin) {
    KERF_ASSIGN_OR_RETURN(dir.bin, fs.ReadFile(JoinPath(path, "visualize_data.bin")));
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(path));
  for (const DirEntry& entry : entries) {
    if (entry.kind != FileKind::kDirectory || !IsCoreName(entry.name)) continue;
    KERF_RETURN_IF_ERROR(ReadCore(fs, path, entry.name, dir.cores[entry.name], findings));
  }
  return dir;
}

}  // namespace kerf::timeline
