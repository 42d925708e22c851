#include "replay/timeline/csv_reader.h"

#include <cctype>
#include <charconv>

namespace kerf::timeline {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The first `count` fields from the left; the last one keeps its commas.
std::vector<std::string_view> FromLeft(std::string_view line, size_t count) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < count) {
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos) break;
    fields.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  fields.push_back(line);
  return fields;
}

template <typename T>
bool Number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Error AtLine(const std::string& file, size_t line, const std::string& what) {
  return Corrupt(file + ":" + std::to_string(line + 1) + ": " + what);
}

std::string Unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

size_t SkipDigits(const std::string& name, size_t at) {
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) ++at;
  return at;
}

// Where the core's name at the beginning ends; 0 when there is none.
size_t CoreNameEnd(const std::string& name) {
  if (name.rfind("core", 0) != 0) return 0;
  size_t at = SkipDigits(name, 4);
  if (at == 4) return 0;
  for (const char* kind : {".veccore", ".cubecore", ".mixcore"}) {
    const std::string word = kind;
    if (name.compare(at, word.size(), word) != 0) continue;
    const size_t end = SkipDigits(name, at + word.size());
    return end > at + word.size() ? end : 0;
  }
  return at;
}

bool IsCsv(const std::string& name, const std::string& kind) {
  const size_t core = CoreNameEnd(name);
  if (core == 0 || name.compare(core, kind.size(), kind) != 0) return false;
  size_t at = core + kind.size();
  if (at < name.size() && name[at] == '_') {
    const size_t end = SkipDigits(name, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  return name.substr(at) == ".csv";
}

}  // namespace

Result<std::vector<InstrRow>> ParseInstrCsv(const std::string& file, std::string_view text) {
  const auto lines = LinesOf(text);
  if (lines.empty() || lines[0] != "instr,addr,pipe,call_count,cycles,running_time(us),detail") {
    return AtLine(file, 0,
                  "the header must be instr,addr,pipe,call_count,cycles,running_time(us),detail");
  }
  std::vector<InstrRow> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto fields = FromLeft(lines[i], 7);
    InstrRow row;
    if (fields.size() != 7)
      return AtLine(file, i, "has " + std::to_string(fields.size()) + " fields, not 7");
    row.instr = fields[0];
    row.pipe = fields[2];
    row.detail = Unquoted(fields[6]);
    if (!Number(fields[1], row.addr))
      return AtLine(file, i,
                    "addr must be a decimal number, not " + std::string(fields[1].substr(0, 40)));
    if (!Number(fields[3], row.call_count) || !Number(fields[4], row.cycles) ||
        !Number(fields[5], row.running_us)) {
      return AtLine(file, i, "call_count, cycles and running_time must be numbers");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<CodeRow>> ParseCodeCsv(const std::string& file, std::string_view text) {
  const auto lines = LinesOf(text);
  if (lines.empty() || lines[0] != "code,call_count,cycles,running_time(us)") {
    return AtLine(file, 0, "the header must be code,call_count,cycles,running_time(us)");
  }
  std::vector<CodeRow> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.empty()) continue;
    // A path may hold commas; the three numbers may not.
    std::string_view numbers[3];
    for (int k = 2; k >= 0; --k) {
      const size_t comma = line.rfind(',');
      if (comma == std::string_view::npos) return AtLine(file, i, "has fewer than 4 fields");
      numbers[k] = line.substr(comma + 1);
      line = line.substr(0, comma);
    }
    CodeRow row{.code = std::string(line)};
    if (!Number(numbers[0], row.call_count) || !Number(numbers[1], row.cycles) ||
        !Number(numbers[2], row.running_us)) {
      return AtLine(file, i, "call_count, cycles and running_time must be numbers");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool IsInstrCsv(const std::string& name) { return IsCsv(name, "_instr_exe"); }
bool IsCodeCsv(const std::string& name) { return IsCsv(name, "_code_exe"); }
bool IsCoreName(const std::string& name) {
  return CoreNameEnd(name) == name.size() && !name.empty();
}

}  // namespace kerf::timeline
