// What Insight's reader demands, and what the parts of a directory must say alike. Each rule has
// its test in timeline_check_test.cc.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json_place.h"
#include "replay/timeline/bin_reader.h"
#include "replay/timeline/simulator_dir.h"

namespace kerf::timeline {
namespace {

class Checker {
 public:
  Checker(const SimulatorDir& dir, std::vector<Finding>& findings)
      : dir_(dir), findings_(findings) {}

  void Run() {
    CheckSummary();
    CheckPairs();
    CheckFlows();
    CheckBin();
    CheckCores();
  }

 private:
  void Damage(const std::string& where, const std::string& what) {
    findings_.push_back({true, where, what});
  }
  void Note(const std::string& where, const std::string& what) {
    findings_.push_back({false, where, what});
  }

  void CheckSummary() {
    const TraceFile& trace = dir_.trace;
    if (trace.events.empty())
      Damage("trace.json", "traceEvents is empty; Insight cannot import it");
    if (!trace.profiling_op) {
      Damage("trace.json", "\"profilingType\" is not \"op\"; Insight takes it for a system trace");
    } else if (!trace.op_before_events) {
      Damage("trace.json", "\"profilingType\" must stand before the first '['");
    }
    if (trace.schema_version != 2) {
      Note("trace.json", "schemaVersion is " + std::to_string(trace.schema_version) +
                             ", not 2: lanes are ordered by older rules");
    }
    for (size_t i = 0; i < trace.events.size(); ++i) CheckEvent(i, trace.events[i]);
  }

  void CheckEvent(size_t index, const TraceEvent& event) {
    const std::string where = "trace.json: event " + std::to_string(index);
    if (event.ph_in_args) Damage(where, "\"ph\" inside args breaks Insight's splitter");
    const bool braces = event.code.find_first_of("{}") != std::string::npos ||
                        event.detail.find_first_of("{}") != std::string::npos;
    if (event.args_after_ph && braces) Damage(where, "args with braces must stand before \"ph\"");
    if (event.phase == 'X') {
      if (event.pid.empty() || event.tid.empty())
        Damage(where, "has no pid or no tid; Insight drops it");
      if (event.duration < 0) Note(where, "has a negative duration; Insight draws it as 0");
      if (IsCoreName(event.pid)) {
        slice_cores_.insert(event.pid);
        has_code_ = has_code_ || !event.code.empty();
      }
    }
    if (std::string("MXBEstCfiIbeN").find(event.phase) == std::string::npos)
      Note(where, std::string("unknown ph '") + event.phase + "'");
  }

  // B and E count only for flags, in pairs of one id.
  void CheckPairs() {
    std::map<std::pair<std::string, std::string>, int> open;
    for (const TraceEvent& event : dir_.trace.events) {
      if (event.phase != 'B' && event.phase != 'E') continue;
      const bool flag = event.name == "SET_FLAG" || event.name == "WAIT_FLAG" ||
                        event.name == "set_event" || event.name == "wait_event";
      if (!flag && other_pairs_.insert(event.name).second)
        Note("trace.json", event.name + " as B/E is not drawn by Insight");
      if (event.phase == 'B' && ++open[{event.name, event.id}] > 1) {
        Damage("trace.json", event.name + " id " + event.id + " begins twice");
      }
      if (event.phase == 'E' && --open[{event.name, event.id}] < 0) {
        Damage("trace.json", event.name + " id " + event.id + " ends without a beginning");
        open[{event.name, event.id}] = 0;
      }
      flag_ids_.insert(event.id);
    }
    for (const auto& [key, count] : open) {
      if (count > 0) Damage("trace.json", key.first + " id " + key.second + " never ends");
    }
  }

  void CheckFlows() {
    std::map<std::string, double> sources;
    for (const TraceEvent& event : dir_.trace.events) {
      if (event.phase != 's' && event.phase != 't') continue;
      // Between cores there is no pair, only slices; the tool calls these intra_0, intra_1, …
      if (flag_ids_.count(event.id) == 0 && event.id.rfind("intra_", 0) != 0)
        Note("trace.json",
             "flow " + event.id + " belongs to no SET/WAIT pair; its line is drawn at depth 0");
      if (event.phase == 's') {
        sources[event.id] = event.ts;
        continue;
      }
      const auto source = sources.find(event.id);
      if (source == sources.end()) {
        Damage("trace.json", "flow " + event.id + " ends without a start");
      } else if (source->second > event.ts + 1e-9) {
        Damage("trace.json", "flow " + event.id + " ends before it starts");
      }
    }
  }

  void CheckBin() {
    if (dir_.bin.empty()) {
      Damage("visualize_data.bin", "is not there; Insight's source view needs it");
      return;
    }
    const auto blocks = ReadBin(dir_.bin);
    if (!blocks.ok()) {
      Damage("", blocks.error().message);
      return;
    }
    std::set<std::string> code_paths;
    const BinBlock* files = nullptr;
    const BinBlock* instructions = nullptr;
    const BinBlock* trace = nullptr;
    for (const BinBlock& block : *blocks) {
      if (block.is(BlockType::kCode)) code_paths.insert(block.path);
      if (block.is(BlockType::kTrace) && trace == nullptr) trace = &block;
      if (block.is(BlockType::kFileApi) && files == nullptr) files = &block;
      if (block.is(BlockType::kInstrApi) && instructions == nullptr) instructions = &block;
      if (block.type > 0xF)
        Note("visualize_data.bin", "block type " + std::to_string(block.type) + " is nobody's");
    }
    CheckTraceBlock(trace);
    if (instructions == nullptr) {
      Damage("visualize_data.bin", "has no INSTR_API block: no instruction table");
    } else {
      CheckInstructions(*instructions);
    }
    if (files == nullptr) {
      Note("visualize_data.bin", "has no FILE_API block: no source lines (build with -g)");
    } else {
      CheckFiles(*files, code_paths);
    }
    if (!has_code_) Note("trace.json", "no instruction has a source line (build with -g)");
  }

  void CheckTraceBlock(const BinBlock* trace) {
    if (trace == nullptr) {
      Damage("visualize_data.bin", "has no TRACE block: no timeline");
      return;
    }
    const auto parsed = ParseTrace("TRACE block", trace->payload);
    if (!parsed.ok()) {
      Damage("visualize_data.bin", parsed.error().message);
    } else if (parsed->events.size() != dir_.trace.events.size()) {
      Damage("visualize_data.bin", "its TRACE block has " + std::to_string(parsed->events.size()) +
                                       " events, trace.json has " +
                                       std::to_string(dir_.trace.events.size()));
    } else if (!SameEvents(parsed->events)) {
      Damage("visualize_data.bin", "its TRACE block and trace.json have different events");
    }
  }

  [[nodiscard]] bool SameEvents(const std::vector<TraceEvent>& others) const {
    return std::equal(others.begin(), others.end(), dir_.trace.events.begin(),
                      [](const TraceEvent& a, const TraceEvent& b) {
                        return a.phase == b.phase && a.name == b.name && a.pid == b.pid &&
                               a.tid == b.tid && std::fabs(a.ts - b.ts) < 1e-3 &&
                               std::fabs(a.duration - b.duration) < 1e-3;
                      });
  }

  // The cores of an API block; each per-core list must be as long.
  std::optional<JsonDocument> ApiBlock(const BinBlock& block, const char* name) {
    constexpr size_t kMost = size_t{100} << 20;  // Insight's limit
    if (block.payload.size() > kMost)
      Damage("visualize_data.bin",
             std::string(name) + " is larger than 100 MB; Insight refuses it");
    auto document = JsonDocument::Parse(name, block.payload);
    if (!document.ok()) {
      Damage("visualize_data.bin", document.error().message);
      return std::nullopt;
    }
    return std::move(document).value();
  }

  std::vector<std::string> CoresOf(const JsonPlace& root) {
    std::vector<std::string> cores;
    if (const auto list = root.Find("Cores")) {
      for (const JsonPlace& core : list->Items()) cores.push_back(core.node().text);
    }
    if (cores.empty()) Damage("visualize_data.bin", root.Where() + ": has no Cores");
    return cores;
  }

  // The columns of a row: lists of numbers are one for each core; columns that are declared as
  // floats or percentages hold numbers with a point, for Insight reads 1 as 0 there.
  void CheckColumns(const JsonPlace& row, size_t cores, const std::optional<JsonPlace>& types) {
    for (const auto& [key, node] : row.node().members) {
      if (node.type == JsonType::kNull) continue;
      const auto type = types ? types->Find(key) : std::nullopt;
      const bool real = type && (type->node().text == "2" || type->node().text == "4");
      const JsonPlace column = *row.Member(key);
      bool numbers = column.is(JsonType::kArray);
      for (const JsonPlace& item : column.Items()) {
        numbers = numbers && item.is(JsonType::kNumber);
        if (real && item.IsWhole()) NoteWhole(key);
      }
      if (real && column.IsWhole()) NoteWhole(key);
      if (numbers && key != "Address Range" && node.items.size() != cores) {
        Damage("visualize_data.bin", column.Where() + ": has " + std::to_string(node.items.size()) +
                                         " entries for " + std::to_string(cores) + " cores");
      }
    }
  }

  void NoteWhole(const std::string& column) {
    if (!whole_columns_.insert(column).second) return;
    Note("visualize_data.bin", "the column " + column +
                                   " is declared as a float and holds whole numbers; Insight "
                                   "reads them as 0");
  }

  // {"… Dtype": {"Instructions": {column: type}}}
  static std::optional<JsonPlace> TypesOf(const JsonPlace& root, const char* name,
                                          const char* list) {
    const auto types = root.Find(name);
    if (!types || !types->is(JsonType::kObject)) return std::nullopt;
    const auto of_list = types->Find(list);
    return of_list && of_list->is(JsonType::kObject) ? of_list : std::nullopt;
  }

  void CheckInstructions(const BinBlock& block) {
    if (block.version != 0 && block.version != 0x5A) {
      Note("visualize_data.bin", "INSTR_API has version " + std::to_string(block.version));
    }
    const auto document = ApiBlock(block, "INSTR_API");
    if (!document) return;
    const std::vector<std::string> cores = CoresOf(document->root());
    api_cores_ = cores;
    const auto rows = document->root().Find("Instructions");
    const auto types = TypesOf(document->root(), "Instructions Dtype", "Instructions");
    if (!rows) return;
    for (const JsonPlace& row : rows->Items()) {
      const auto address = row.Find("Address");
      if (!address || !IsHex(address->node().text)) {
        Damage("visualize_data.bin",
               row.Where() + ": Address must be hex; Insight dies of anything else");
      }
      CheckColumns(row, cores.size(), types);
    }
  }

  void CheckFiles(const BinBlock& block, const std::set<std::string>& code_paths) {
    const auto document = ApiBlock(block, "FILE_API");
    if (!document) return;
    const std::vector<std::string> cores = CoresOf(document->root());
    const auto files = document->root().Find("Files");
    const auto types = TypesOf(document->root(), "Files Dtype", "Lines");
    if (!files) return;
    for (const JsonPlace& file : files->Items()) {
      const auto source = file.Find("Source");
      if (source && code_paths.count(source->node().text) == 0) {
        Damage("visualize_data.bin", "FILE_API names " + Brief(source->node().text, 200) +
                                         ", and no CODE block holds it");
      }
      const auto lines = file.Find("Lines");
      if (!lines) continue;
      for (const JsonPlace& line : lines->Items()) CheckColumns(line, cores.size(), types);
    }
  }

  static bool IsHex(const std::string& text) {
    const size_t begin = text.rfind("0x", 0) == 0 ? 2 : 0;
    return text.size() > begin &&
           text.find_first_not_of("0123456789abcdefABCDEF", begin) == std::string::npos;
  }

  void CheckCores() {
    for (const std::string& core : api_cores_) {
      if (dir_.cores.count(core) == 0)
        Damage(core, "is listed in visualize_data.bin and has no folder");
    }
    for (const auto& [name, core] : dir_.cores) {
      if (!api_cores_.empty() &&
          std::find(api_cores_.begin(), api_cores_.end(), name) == api_cores_.end()) {
        Damage(name, "has a folder and is not listed in visualize_data.bin");
      }
      if (slice_cores_.count(name) == 0) Note(name, "has a folder and no event in trace.json");
      if (!core.trace) Damage(name, "has no trace.json");
      if (!core.has_instr) {
        Damage(name, "has no instr_exe CSV");
        continue;
      }
      const bool sorted =
          std::is_sorted(core.instr.begin(), core.instr.end(),
                         [](const InstrRow& a, const InstrRow& b) { return a.cycles > b.cycles; });
      if (!sorted) Note(name, "its instr_exe CSV is not sorted by cycles");
    }
    for (const std::string& core : slice_cores_) {
      if (dir_.cores.count(core) == 0) Damage(core, "has events in trace.json and no folder");
    }
  }

  const SimulatorDir& dir_;
  std::vector<Finding>& findings_;
  std::set<std::string> slice_cores_;
  std::set<std::string> flag_ids_;
  std::set<std::string> other_pairs_;
  std::set<std::string> whole_columns_;
  std::vector<std::string> api_cores_;
  bool has_code_ = false;
};

}  // namespace

void CheckSimulatorDir(const SimulatorDir& dir, std::vector<Finding>& findings) {
  Checker(dir, findings).Run();
}

}  // namespace kerf::timeline
