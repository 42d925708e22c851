#include "replay/timeline/ca_dump_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>

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

std::string PipeName(std::string pipe) {
  static const std::map<std::string, std::string> kNames = {
      {"VEC", "VECTOR"},    {"VEC0", "VECTOR"}, {"VECTOR0", "VECTOR"},   {"FC", "FLOWCTRL"},
      {"FIX_PIPE", "FIXP"}, {"ISSUE", "EVENT"}, {"scalar_ld", "SCALAR"}, {"scalar_st", "SCALAR"}};
  const auto known = kNames.find(pipe);
  return known == kNames.end() ? pipe : known->second;
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

// "core0.veccore0" of core0.veccore0.instr_log.dump; empty when the name is another's. Continued
// logs have a number before or behind ".dump".
std::string CoreOf(const std::string& name, const std::string& kind) {
  const size_t at = name.find("." + kind);
  if (at == std::string::npos || name.find(".dump") == std::string::npos ||
      name.rfind("core", 0) != 0)
    return "";
  return name.substr(0, at);
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

void AddCaCore(const std::vector<CaRecord>& issued, const std::vector<CaRecord>& retired,
               double megahertz, TimelineCore& core) {
  const auto key = [](const CaRecord& record) {
    return record.id.empty() ? "pc" + std::to_string(record.pc) : "id" + record.id;
  };
  std::map<std::string, std::vector<const CaRecord*>> ends;
  for (const CaRecord& record : retired) ends[key(record)].push_back(&record);
  std::map<std::string, size_t> used;
  for (const CaRecord& start : issued) {
    const auto found = ends.find(key(start));
    if (found == ends.end()) continue;
    size_t& next = used[key(start)];
    if (next >= found->second.size()) continue;
    const CaRecord& end = *found->second[next++];
    if (end.tick < start.tick) continue;
    core.slices.push_back({start.pipe, start.name, static_cast<double>(start.tick) / megahertz,
                           static_cast<double>(end.tick - start.tick) / megahertz, "", start.detail,
                           start.pc});
  }
}

Result<Timeline> ReadCaDumps(FileSystem& fs, const std::string& dir, double megahertz,
                             size_t& skipped) {
  KERF_ASSIGN_OR_RETURN(std::vector<DirEntry> entries, fs.List(dir));
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  std::map<std::string, std::pair<std::vector<CaRecord>, std::vector<CaRecord>>> logs;
  for (const DirEntry& entry : entries) {
    for (const bool issued : {true, false}) {
      const std::string core = CoreOf(entry.name, issued ? "instr_popped_log" : "instr_log");
      if (core.empty()) continue;
      KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(JoinPath(dir, entry.name)));
      auto records = ParseCaLog(text, skipped);
      auto& log = issued ? logs[core].first : logs[core].second;
      std::move(records.begin(), records.end(), std::back_inserter(log));
    }
  }
  if (logs.empty()) {
    return NotFound(dir + ": holds no core*.instr_popped_log.dump and core*.instr_log.dump");
  }
  Timeline timeline;
  for (const auto& [core, log] : logs)
    AddCaCore(log.first, log.second, megahertz, timeline.Core(core));
  timeline.Sort();
  return timeline;
}

}  // namespace kerf::timeline
