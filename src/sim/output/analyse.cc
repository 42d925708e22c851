#include "sim/output/analyse.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "sim/output/bin_writer.h"
#include "sim/output/tables.h"
#include "sim/output/trace_writer.h"

namespace kerf::sim {
namespace {

constexpr uint64_t kMostSource = uint64_t{10} << 20;  // of one file, as the tool has it

// Texts of the files that instructions come from, by the log's name.
std::map<std::string, std::string> ReadSources(FileSystem& fs, const InstructionLog& log,
                                               const Catalog& catalog,
                                               const OutputOptions& options) {
  std::set<uint32_t> files;
  for (const StaticInstruction& item : catalog.items) files.insert(log.sites[item.site].file);
  std::map<std::string, std::string> sources;
  for (const uint32_t file : files) {
    const std::string& name = log.strings[file];
    const auto given = options.sources.find(name);
    const std::string& path = given == options.sources.end() ? name : given->second;
    if (name.empty()) continue;
    const auto info = fs.Stat(path);
    if (!info.ok() || !info->has_value() || (*info)->kind != FileKind::kFile ||
        (*info)->size > kMostSource)
      continue;
    auto text = fs.ReadFile(path);
    if (text.ok() && !text->empty()) sources[name] = std::move(text).value();
  }
  return sources;
}

Status WriteText(FileSystem& fs, const std::string& path, const std::string& text) {
  KERF_ASSIGN_OR_RETURN(TextFile file, TextFile::Create(fs, path));
  file.text() = text;
  return file.Finish();
}

class Directory {
 public:
  Directory(FileSystem& fs, const InstructionLog& log, const CoreModel& model,
            const Checked& checked, const Catalog& catalog, const OutputOptions& options)
      : fs_(fs),
        log_(log),
        model_(model),
        catalog_(catalog),
        options_(options),
        input_(MakeTraceInput(log, checked.timing, catalog,
                              TimeText(model.clock_mhz, options.cycle_exact))) {}

  Status Write(SimReport& report) {
    const std::string root = JoinPath(options_.parent, "OPPROF_" + options_.stamp + "_KERF");
    const std::string simulator = JoinPath(root, "simulator");
    KERF_RETURN_IF_ERROR(fs_.CreateDirs(simulator));
    KERF_ASSIGN_OR_RETURN(const uint64_t bytes,
                          WriteSummaryTrace(fs_, input_, JoinPath(simulator, "trace.json")));
    for (uint32_t core = 0; core < log_.cores.size(); ++core)
      KERF_RETURN_IF_ERROR(WriteCore(simulator, core));
    KERF_RETURN_IF_ERROR(WriteBinFile(simulator, bytes, report));
    report.directory = simulator;
    // In a folder of their own: Insight searches folders for traces.
    const std::string own = JoinPath(root, "kerf");
    KERF_RETURN_IF_ERROR(fs_.CreateDirs(own));
    if (options_.perfetto) {
      report.perfetto = JoinPath(own, "perfetto.json");
      KERF_RETURN_IF_ERROR(WritePerfetto(fs_, input_, report.perfetto));
    }
    KERF_RETURN_IF_ERROR(WriteText(fs_, JoinPath(own, "pipes.csv"), PipesCsv(report)));
    return WriteText(fs_, JoinPath(own, "report.json"), ReportJson(report) + "\n");
  }

 private:
  Status WriteCore(const std::string& simulator, uint32_t core) {
    const std::string name = log_.cores[core].Name();
    const std::string folder = JoinPath(simulator, name);
    KERF_RETURN_IF_ERROR(fs_.CreateDirs(folder));
    KERF_RETURN_IF_ERROR(WriteCoreTrace(fs_, input_, core, JoinPath(folder, "trace.json")));
    const auto csv = [&](const char* kind) {
      return JoinPath(folder, name + kind + options_.stamp + ".csv");
    };
    KERF_RETURN_IF_ERROR(
        WriteText(fs_, csv("_instr_exe_"), InstrCsv(log_, catalog_, core, model_.clock_mhz)));
    return WriteText(fs_, csv("_code_exe_"), CodeCsv(log_, catalog_, core, model_.clock_mhz));
  }

  Status WriteBinFile(const std::string& simulator, uint64_t trace_bytes, const SimReport& report) {
    const auto sources = ReadSources(fs_, log_, catalog_, options_);
    std::vector<BinBlock> blocks;
    for (const auto& [name, text] : sources) blocks.push_back({1, 0x5A, name, text});
    blocks.push_back({5, 0x5A, "", OpBasicInfo(report, log_, options_.kernel)});
    blocks.push_back({0xC, 0x5A, "", Occupancy(report, log_)});
    blocks.push_back({0xF, 0x5A, "", TopStallReasons(report)});
    if (!sources.empty()) blocks.push_back({3, 0x5A, "", FileApi(log_, catalog_, sources)});
    // Version 0: lines and instructions are matched by file:line. Never the first block.
    blocks.push_back({4, 0, "", InstrApi(log_, catalog_, model_)});
    return WriteBin(fs_, JoinPath(simulator, "visualize_data.bin"),
                    JoinPath(simulator, "trace.json"), trace_bytes, blocks);
  }

  FileSystem& fs_;
  const InstructionLog& log_;
  const CoreModel& model_;
  const Catalog& catalog_;
  const OutputOptions& options_;
  const TraceInput input_;
};

}  // namespace

Result<SimReport> Analyse(FileSystem& fs, const InstructionLog& log, const CoreModel& model,
                          const OutputOptions& options) {
  if (log.InstructionCount() == 0)
    return InvalidInput(
        "the run recorded no instruction: the kernel returned without using any, or took a "
        "host-only path");
  const Checked checked = TimeAndCheck(log, model);
  SimReport report = MakeReport(log, model, checked, options.top_stalls);
  if (options.parent.empty()) return report;
  KERF_ASSIGN_OR_RETURN(const Catalog catalog, MakeCatalog(log, checked));
  KERF_RETURN_IF_ERROR(Directory(fs, log, model, checked, catalog, options).Write(report));
  return report;
}

std::string StampOf(int64_t wall_nanos) {
  // "2026-11-15T03:29:31.123456Z" without its signs, to the millisecond.
  std::string stamp;
  for (const char c : FormatUtc(wall_nanos)) {
    if (c >= '0' && c <= '9') stamp += c;
  }
  stamp.resize(17, '0');
  return stamp;
}

}  // namespace kerf::sim
