#include "replay/timeline/ca_dump_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace kerf::timeline {
namespace {

// Takes words off the front of one line.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}
  bool Take(std::string_view word) {
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void Space() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool Number(uint64_t& out, int base) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  std::string Until(std::string_view stops) {
    const size_t end = std::min(text_.find_first_of(stops), text_.size());
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end);
    return word;
  }
  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

// The lane of a pipe; what has no lane of its own is drawn in ALL, as the tool does.
std::string PipeName(const std::string& pipe) {
  static const std::map<std::string, std::string> kNames = {
      {"VEC", "VECTOR"},    {"VEC0", "VECTOR"}, {"VECTOR0", "VECTOR"},   {"FC", "FLOWCTRL"},
      {"FIX_PIPE", "FIXP"}, {"ISSUE", "EVENT"}, {"scalar_ld", "SCALAR"}, {"scalar_st", "SCALAR"}};
  static const std::set<std::string> kLanes = {
      "SCALAR", "FLOWCTRL", "MTE1",   "CUBE",   "FIXP",   "MTE2",   "VECTOR", "MTE3",  "SCALARLDST",
      "ALL",    "EVENT",    "RVECEX", "RVECLP", "RVECST", "RVECLD", "PUSHQ",  "RVECSU"};
  const auto known = kNames.find(pipe);
  if (known != kNames.end()) return known->second;
  const bool lane = kLanes.count(pipe) != 0 || pipe.rfind("WARP_", 0) == 0;
  return lane || pipe.empty() ? pipe : "ALL";
}

std::string WithoutBlanks(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ' && c != '\r') kept += c;
  }
  return kept;
}

// [info] [00001200] (PC: 0x10000040) SCALAR   : (Binary: 0x00c0ffee) WAIT_FLAG  PIPE:MTE2, …
bool ParseLine(std::string_view text, CaRecord& record) {
  Line line(text);
  if (text.find("poped from IQ") != std::string_view::npos) return false;
  line.Take("[info]");
  line.Space();
  if (!line.Take("[") || !line.Number(record.tick, 10) || !line.Take("]")) return false;
  line.Space();
  if (!line.Take("(PC: 0x") || !line.Number(record.pc, 16) || !line.Take(")")) return false;
  if (line.Take("@CORE")) line.Until(" ");
  line.Space();
  record.pipe = PipeName(line.Until(" :"));
  line.Until(":");
  if (record.pipe.empty() || !line.Take(":")) return false;
  line.Space();
  if (!line.Take("(Binary: 0x")) return false;
  line.Until(")");
  if (!line.Take(")")) return false;
  line.Space();
  if (line.Take("(ID: ")) {
    record.id = line.Until(")");
    line.Take(")");
    line.Space();
  }
  record.name = line.Until(" (\r");
  record.detail = WithoutBlanks(line.rest());
  return !record.name.empty();
}

struct LogPart {
  std::string core;  // "core0.veccore0"; empty when the file is none of these logs
  uint64_t number = 0;
};

// core0.veccore0.instr_log.dump, also core0_instr_log.dump. Continued logs have a number before or
// behind ".dump"; the first part has none.
LogPart PartOf(const std::string& name, const std::string& kind) {
  const size_t at = std::min(name.find("." + kind + "."), name.find("_" + kind + "."));
  if (name.rfind("core", 0) != 0 || at == std::string::npos) return {};
  Line rest(std::string_view(name).substr(at + 1 + kind.size()));
  LogPart part{name.substr(0, at)};
  if (!rest.Take(".dump")) {
    if (!rest.Take(".") || !rest.Number(part.number, 10) || !rest.Take(".dump")) return {};
  } else if (rest.Take(".") && !rest.Number(part.number, 10)) {
    return {};
  }
  return rest.rest().empty() ? part : LogPart{};
}

}  // namespace

std::vector<CaRecord> ParseCaLog(std::string_view text, size_t& skipped) {
  std::vector<CaRecord> records;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    CaRecord record;
    if (ParseLine(text.substr(0, end), record)) {
      records.push_back(std::move(record));
    } else if (end > 0) {
      ++skipped;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return records;
}

size_t AddCaCore(const std::vector<CaRecord>& issued, const std::vector<CaRecord>& retired,
                 double megahertz, TimelineCore& core) {
  const auto key = [](const CaRecord& record) {
    return record.id.empty() ? "pc" + std::to_string(record.pc) : "id" + record.id;
  };
  std::map<std::string, std::vector<const CaRecord*>> ends;
  for (const CaRecord& record : retired) ends[key(record)].push_back(&record);
  std::map<std::string, size_t> used;
  size_t unjoined = 0;
  for (const CaRecord& start : issued) {
    const auto found = ends.find(key(start));
    size_t& next = used[key(start)];
    if (found == ends.end() || next >= found->second.size() ||
        found->second[next]->tick < start.tick) {
      ++next;
      ++unjoined;
      continue;
    }
    const CaRecord& end = *found->second[next++];
    core.slices.push_back({start.pipe, start.name, static_cast<double>(start.tick) / megahertz,
                           static_cast<double>(end.tick - start.tick) / megahertz, "", start.detail,
                           start.pc});
  }
  return unjoined;
}

Result<Timeline> ReadCaDumps(FileSystem& fs, const std::string& dir, double megahertz,
                             CaLosses& losses) {
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(dir));
  // By number, not by name: 10 comes after 2, and the part without a number first.
  std::map<std::tuple<std::string, bool, uint64_t>, std::string> parts;
  for (const DirEntry& entry : entries) {
    for (const bool issued : {true, false}) {
      const LogPart part = PartOf(entry.name, issued ? "instr_popped_log" : "instr_log");
      if (!part.core.empty()) parts[{part.core, issued, part.number}] = entry.name;
    }
  }
  std::map<std::string, std::pair<std::vector<CaRecord>, std::vector<CaRecord>>> logs;
  for (const auto& [part, name] : parts) {
    const auto& [core, issued, number] = part;
    KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(JoinPath(dir, name)));
    auto records = ParseCaLog(text, losses.lines);
    auto& log = issued ? logs[core].first : logs[core].second;
    std::move(records.begin(), records.end(), std::back_inserter(log));
  }
  if (logs.empty()) {
    return NotFound(dir + ": holds no core*.instr_popped_log.dump and core*.instr_log.dump");
  }
  Timeline timeline;
  for (const auto& [core, log] : logs)
    losses.unjoined += AddCaCore(log.first, log.second, megahertz, timeline.Core(core));
  timeline.Sort();
  return timeline;
}

}  // namespace kerf::timeline
