#include "replay/timeline/timeline_convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/json_writer.h"

namespace kerf::timeline {
namespace {

// The way of the data through a core; unknown pipes follow.
int LaneOrder(const std::string& pipe) {
  constexpr const char* kOrder[] = {"MTE2", "MTE1",      "CUBE",       "FIXP",     "VECTOR",
                                    "MTE3", "SCALAR",    "SCALARLDST", "FLOWCTRL", "EVENT",
                                    "ALL",  "CACHEMISS", "USERMARK"};
  for (int i = 0; i < static_cast<int>(std::size(kOrder)); ++i) {
    if (pipe == kOrder[i]) return i;
  }
  return static_cast<int>(std::size(kOrder));
}

// Rows of one pipe: the first whose last slice has ended takes the next one.
class Rows {
 public:
  size_t Place(double start, double end) {
    // A cycle's rounding is no overlap.
    constexpr double kSlack = 1e-9;
    for (size_t row = 0; row < ends_.size(); ++row) {
      if (ends_[row] <= start + kSlack) {
        ends_[row] = end;
        return row;
      }
    }
    ends_.push_back(end);
    return ends_.size() - 1;
  }
  [[nodiscard]] size_t count() const { return ends_.size(); }

 private:
  std::vector<double> ends_;
};

void Meta(JsonWriter& json, const char* what, size_t pid, size_t tid, const char* key,
          const std::string& value) {
  json.BeginObject().Key("args").BeginObject().Key(key);
  if (std::string(key) == "sort_index") {
    json.Raw(value);
  } else {
    json.String(value);
  }
  json.EndObject().Key("name").String(what).Key("ph").String("M");
  json.Key("pid")
      .Int(static_cast<int64_t>(pid))
      .Key("tid")
      .Int(static_cast<int64_t>(tid))
      .EndObject();
}

struct Placed {
  const TimelineSlice* slice;
  size_t row;
};

void WriteCore(const TimelineCore& core, size_t pid, JsonWriter& json) {
  std::map<std::pair<int, std::string>, std::pair<Rows, std::vector<Placed>>> lanes;
  for (const TimelineSlice& slice : core.slices) {
    auto& [rows, placed] = lanes[{LaneOrder(slice.pipe), slice.pipe}];
    placed.push_back({&slice, rows.Place(slice.start_us, slice.start_us + slice.duration_us)});
  }
  Meta(json, "process_name", pid, 0, "name", core.name);
  Meta(json, "process_sort_index", pid, 0, "sort_index", std::to_string(pid));
  size_t tid = 1;
  for (const auto& [key, lane] : lanes) {
    for (size_t row = 0; row < lane.first.count(); ++row) {
      Meta(json, "thread_name", pid, tid + row, "name",
           row == 0 ? key.second : key.second + " (" + std::to_string(row + 1) + ")");
      Meta(json, "thread_sort_index", pid, tid + row, "sort_index", std::to_string(tid + row));
    }
    for (const Placed& placed : lane.second) {
      json.BeginObject()
          .Key("args")
          .BeginObject()
          .Key("code")
          .String(placed.slice->code)
          .Key("detail")
          .String(placed.slice->detail);
      json.Key("pc_addr").String(fmt::format("{:#x}", placed.slice->pc)).EndObject();
      json.Key("dur")
          .Double(placed.slice->duration_us)
          .Key("name")
          .String(placed.slice->name)
          .Key("ph")
          .String("X");
      json.Key("pid")
          .Int(static_cast<int64_t>(pid))
          .Key("tid")
          .Int(static_cast<int64_t>(tid + placed.row))
          .Key("ts")
          .Double(placed.slice->start_us)
          .EndObject();
    }
    tid += lane.first.count();
  }
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string ToPerfetto(const Timeline& timeline) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("displayTimeUnit").String("ns").Key("traceEvents").BeginArray();
  for (size_t i = 0; i < timeline.cores.size(); ++i) WriteCore(timeline.cores[i], i + 1, json);
  json.EndArray().EndObject();
  return text + "\n";
}

std::string ToCsv(const Timeline& timeline) {
  std::string text = "core,pipe,instr,start_us,duration_us,pc,code,detail\n";
  for (const TimelineCore& core : timeline.cores) {
    for (const TimelineSlice& slice : core.slices) {
      text += fmt::format("{},{},{},{},{},{:#x},{},{}\n", Quoted(core.name), Quoted(slice.pipe),
                          Quoted(slice.name), slice.start_us, slice.duration_us, slice.pc,
                          Quoted(slice.code), Quoted(slice.detail));
    }
  }
  return text;
}

}  // namespace kerf::timeline
