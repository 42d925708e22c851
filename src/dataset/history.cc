#include "dataset/history.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

std::optional<int64_t> NumberBetween(std::string_view name, std::string_view before,
                                     std::string_view behind) {
  if (!name.starts_with(before) || !name.ends_with(behind) ||
      name.size() <= before.size() + behind.size()) {
    return std::nullopt;
  }
  name = name.substr(before.size(), name.size() - before.size() - behind.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

const char* FlagName(Flag flag) {
  return flag == Flag::kUnknown ? "unknown" : (flag == Flag::kTrue ? "true" : "false");
}

std::string Short(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : "?";
}

class HistoryReader {
 public:
  HistoryReader(const std::string& root, History& history) : root_(root), history_(history) {}

  Status ReadIteration(FileSystem& fs, int64_t iteration) {
    const std::string n = std::to_string(iteration);
    const std::string jsonl_path = root_ + "_" + n + ".jsonl";
    const std::string mem_path = root_ + "_mem_" + n + ".json";
    KERF_ASSIGN_OR_RETURN(const bool has_jsonl, Exists(fs, jsonl_path));
    KERF_ASSIGN_OR_RETURN(const bool has_mem, Exists(fs, mem_path));
    MappedFile jsonl;
    MappedFile mem;
    if (has_jsonl) {
      KERF_ASSIGN_OR_RETURN(jsonl, MappedFile::Open(jsonl_path));
    }
    if (has_mem) {
      KERF_ASSIGN_OR_RETURN(mem, MappedFile::Open(mem_path));
    }
    KERF_ASSIGN_OR_RETURN(const Catalog catalog,
                          Catalog::Read(jsonl, has_mem ? &mem : nullptr, {}));
    history_.iterations.push_back(iteration);
    history_.problems.Append(catalog.problems());
    std::vector<uint64_t>& counts = history_.counts.emplace_back(5);
    for (const CaseEntry& entry : catalog.cases()) {
      ++counts[static_cast<size_t>(entry.last)];
      AddPoint(entry, jsonl, has_mem ? &mem : nullptr, iteration);
    }
    for (CaseHistory& one : history_.cases) {
      if (one.points.size() < history_.iterations.size()) {
        one.points.push_back({iteration, false});
      }
    }
    return {};
  }

 private:
  static Result<bool> Exists(FileSystem& fs, const std::string& path) {
    KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
    return info.has_value();
  }

  void AddPoint(const CaseEntry& entry, const MappedFile& jsonl, const MappedFile* mem,
                int64_t iteration) {
    const auto [place, fresh] = by_name_.try_emplace(entry.name, history_.cases.size());
    if (fresh) {
      history_.cases.emplace_back().name = entry.name;
      codes_.emplace_back();
      for (size_t i = 0; i + 1 < history_.iterations.size(); ++i) {
        history_.cases.back().points.push_back({history_.iterations[i], false});
      }
    }
    CaseHistory& one = history_.cases[place->second];
    HistoryPoint point{iteration, entry.has_mem()};
    std::copy(std::begin(entry.flags), std::end(entry.flags), std::begin(point.flags));
    point.last = entry.last;
    point.best = entry.best;
    point.candidates = entry.candidates;
    const JsonlRecord line = ReadJsonlOf(entry, jsonl);
    const MemRecord record = mem == nullptr ? MemRecord{} : ReadMemOf(entry, *mem);
    const Performance found = JudgePerformance(record, entry.has_jsonl() ? &line : nullptr);
    point.direction = found.direction;
    if (found.best > 0) point.measure = MeasureOf(record.candidates[found.best - 1]);
    point.fresh = CountFresh(line, record, codes_[place->second]);
    one.codes = codes_[place->second].size();
    if (!one.points.empty()) AddEvents(one.points.back(), point, one.events);
    one.points.push_back(point);
  }

  static uint32_t CountFresh(const JsonlRecord& line, const MemRecord& record,
                             std::unordered_set<uint64_t>& seen) {
    uint32_t fresh = 0;
    const auto add = [&](const RawValue& code) {
      if (!code.text() || !HasContentOrNone(code.raw)) return;
      if (seen.insert(Xxh3(Decoded(code.raw))).second) ++fresh;
    };
    add(line.predict);
    add(record.call_candidate);
    add(record.exe_candidate);
    for (const PerfCandidate& candidate : record.candidates) add(candidate.code);
    return fresh;
  }

  static void AddEvents(const HistoryPoint& before, const HistoryPoint& now,
                        std::vector<HistoryEvent>& events) {
    for (int flag = 0; flag < 3; ++flag) {
      if (before.flags[flag] == now.flags[flag]) continue;
      events.push_back({now.iteration, std::string(kFlagNames[flag]) + " " +
                                           FlagName(before.flags[flag]) + " → " +
                                           FlagName(now.flags[flag])});
    }
    if (before.best != now.best) {
      events.push_back({now.iteration, std::string("best ever ") + BestStatusName(before.best) +
                                           " → " + BestStatusName(now.best)});
    }
    if (!before.measure.has_value() || !now.measure.has_value() ||
        before.direction != now.direction || *before.measure == *now.measure) {
      return;
    }
    const bool up = *now.measure > *before.measure;
    const bool better = up == (now.direction == Direction::kHigher);
    events.push_back({now.iteration, std::string(better ? "best improved " : "best got worse ") +
                                         Short(*before.measure) + " → " + Short(*now.measure)});
  }

  const std::string root_;
  History& history_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<std::unordered_set<uint64_t>> codes_;
};

// Height of a value in the picture's lower half.
double Scaled(double value, double most) { return 380 - (most > 0 ? value / most : 0) * 150; }

}  // namespace

Result<std::vector<int64_t>> FindIterations(FileSystem& fs, const std::string& root) {
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(ParentPath(root)));
  const std::string base = BaseName(root);
  std::set<int64_t> found;
  for (const DirEntry& entry : entries) {
    const auto jsonl = NumberBetween(entry.name, base + "_", ".jsonl");
    const auto mem = NumberBetween(entry.name, base + "_mem_", ".json");
    if (jsonl.has_value()) found.insert(*jsonl);
    if (mem.has_value()) found.insert(*mem);
  }
  if (found.empty()) {
    return NotFound("no " + root + "_N.jsonl and no " + root + "_mem_N.json; ROOT is the path " +
                    "without the iteration number");
  }
  return std::vector<int64_t>(found.begin(), found.end());
}

Result<History> ReadHistory(FileSystem& fs, const std::string& root) {
  KERF_ASSIGN_OR_RETURN(const std::vector<int64_t> iterations, FindIterations(fs, root));
  History history;
  HistoryReader reader(root, history);
  for (const int64_t iteration : iterations) {
    KERF_RETURN_IF_ERROR(reader.ReadIteration(fs, iteration));
  }
  return history;
}

std::string HistoryPlot(const History& history) {
  constexpr const char* kColours[] = {"#8c959f", "#cf222e", "#bc4c00", "#bf8700", "#1a7f37"};
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"640\" height=\"400\" "
      "fill=\"white\"/>\n<text x=\"8\" y=\"14\">cases by last round: red call, orange exe, yellow "
      "perf, green success, grey unknown</text>\n";
  const double step = 600.0 / static_cast<double>(std::max<size_t>(1, history.iterations.size()));
  const double most = static_cast<double>(std::max<size_t>(1, history.cases.size()));
  for (size_t i = 0; i < history.iterations.size(); ++i) {
    const double x = 20 + step * static_cast<double>(i);
    double y = 180;
    for (const size_t status : {4, 3, 2, 1, 0}) {
      const double height = 150 * static_cast<double>(history.counts[i][status]) / most;
      if (height <= 0) continue;
      y -= height;
      svg += "<rect x=\"" + Short(x) + "\" y=\"" + Short(y) + "\" width=\"" + Short(step * 0.8) +
             "\" height=\"" + Short(height) + "\" fill=\"" + kColours[status] + "\"/>\n";
    }
    svg += "<text x=\"" + Short(x) + "\" y=\"194\">" + std::to_string(history.iterations[i]) +
           "</text>\n";
  }
  svg += "<text x=\"8\" y=\"222\">best number of each case, relative to its own largest</text>\n";
  for (const CaseHistory& one : history.cases) {
    double largest = 0;
    for (const HistoryPoint& point : one.points)
      largest = std::max(largest, point.measure.value_or(0));
    std::string points;
    for (size_t i = 0; i < one.points.size(); ++i) {
      if (!one.points[i].measure.has_value()) continue;
      points += Short(20 + step * (static_cast<double>(i) + 0.4)) + "," +
                Short(Scaled(*one.points[i].measure, largest)) + " ";
    }
    if (points.empty()) continue;
    svg += "<polyline fill=\"none\" stroke=\"#0969da\" stroke-opacity=\"0.5\" points=\"" + points +
           "\"/>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace kerf::dataset
