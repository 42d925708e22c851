// Read with the pull reader: a summary may be a gigabyte, and a document tree would be ten times
// that.
#include "replay/timeline/trace_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/json_reader.h"

namespace kerf::timeline {
namespace {

// pid, tid and id may be texts or numbers.
bool ReadText(JsonReader& reader, std::string& out) {
  if (reader.Peek() == JsonType::kString) return reader.ReadString(out);
  std::string_view raw;
  if (!reader.ReadRaw(raw)) return false;
  out = raw;
  return true;
}

bool ReadNumber(JsonReader& reader, double& out) {
  if (reader.Peek() == JsonType::kNumber) return reader.ReadDouble(out);
  return reader.Skip();
}

bool ReadArgs(JsonReader& reader, TraceEvent& event) {
  if (reader.Peek() != JsonType::kObject) return reader.Skip();
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    bool ok = true;
    if (key == "ph") event.ph_in_args = true;
    if (key == "code") {
      ok = ReadText(reader, event.code);
    } else if (key == "detail") {
      ok = ReadText(reader, event.detail);
    } else if (key == "pc_addr") {
      ok = ReadText(reader, event.pc);
    } else if (key == "name") {
      ok = ReadText(reader, event.arg_name);
    } else {
      ok = reader.Skip();
    }
    if (!ok) return false;
  }
  return reader.ok();
}

bool ReadMember(JsonReader& reader, const std::string& key, bool& seen_ph, TraceEvent& event) {
  std::string text;
  if (key == "ph") {
    seen_ph = true;
    if (!ReadText(reader, text)) return false;
    event.phase = text.size() == 1 ? text[0] : '?';
    return true;
  }
  if (key == "args") {
    event.args_after_ph = seen_ph;
    return ReadArgs(reader, event);
  }
  if (key == "name") return ReadText(reader, event.name);
  if (key == "cat") return ReadText(reader, event.category);
  if (key == "id") return ReadText(reader, event.id);
  if (key == "pid") return ReadText(reader, event.pid);
  if (key == "tid") return ReadText(reader, event.tid);
  if (key == "ts") return ReadNumber(reader, event.ts);
  if (key == "dur") return ReadNumber(reader, event.duration);
  return reader.Skip();
}

bool ReadEvents(JsonReader& reader, std::vector<TraceEvent>& events) {
  for (reader.BeginArray(); reader.NextElement();) {
    TraceEvent event;
    std::string key;
    bool seen_ph = false;
    if (reader.Peek() != JsonType::kObject) {
      if (!reader.Skip()) return false;
      continue;
    }
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (!ReadMember(reader, key, seen_ph, event)) return false;
    }
    if (!reader.ok()) return false;
    events.push_back(std::move(event));
  }
  return reader.ok();
}

uint64_t PcOf(const std::string& text) {
  const bool hex = text.rfind("0x", 0) == 0;
  uint64_t value = 0;
  std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
  return value;
}

// Names that per-core files give their numbers: pid 60 is MTE2.
std::map<std::string, std::string> PipeNames(const TraceFile& trace) {
  std::map<std::string, std::string> names;
  for (const TraceEvent& event : trace.events) {
    if (event.phase == 'M' && event.name == "process_name" && !event.arg_name.empty()) {
      names[event.pid] = event.arg_name;
    }
  }
  return names;
}

}  // namespace

Result<TraceFile> ParseTrace(const std::string& file, std::string_view text) {
  TraceFile trace;
  JsonReader reader(text);
  std::string key;
  std::string value;
  bool found = false;
  if (reader.Peek() != JsonType::kObject)
    return Corrupt(file + ": is no trace: an object is expected");
  for (reader.BeginObject(); reader.NextKey(key);) {
    bool ok = true;
    if (key == "traceEvents" && reader.Peek() == JsonType::kArray) {
      found = true;
      ok = ReadEvents(reader, trace.events);
    } else if (key == "schemaVersion" && reader.Peek() == JsonType::kNumber) {
      double version = 0;
      ok = reader.ReadDouble(version);
      trace.schema_version = version > 0 && version < 100 ? static_cast<int64_t>(version) : 0;
    } else if (key == "profilingType") {
      ok = ReadText(reader, value);
      trace.profiling_op = value == "op";
    } else {
      ok = reader.Skip();
    }
    if (!ok) break;
  }
  if (!reader.Finish()) return Corrupt(file + ": is no JSON: " + reader.error());
  if (!found) return Corrupt(file + ": has no list \"traceEvents\"");
  const std::string_view head = text.substr(0, text.find('['));
  trace.op_before_events =
      trace.profiling_op && head.find("profilingType") != std::string_view::npos;
  return trace;
}

Timeline TimelineOf(const TraceFile& trace, const std::string& core) {
  Timeline timeline;
  const auto names = PipeNames(trace);
  const auto core_of = [&](const TraceEvent& event) { return core.empty() ? event.pid : core; };
  const auto pipe_of = [&](const TraceEvent& event) {
    if (core.empty()) return event.tid;
    const auto named = names.find(event.pid);
    return named == names.end() ? event.pid : named->second;
  };
  std::map<std::pair<std::string, std::string>, const TraceEvent*> begun;  // B, by name and id
  std::map<std::string, const TraceEvent*> sources;                        // s, by id
  const auto slice_of = [&](const TraceEvent& event, double duration) {
    return TimelineSlice{pipe_of(event), event.name,   event.ts,      std::max(0.0, duration),
                         event.code,     event.detail, PcOf(event.pc)};
  };
  for (const TraceEvent& event : trace.events) {
    if (event.phase == 'X' && !event.pid.empty() && !event.tid.empty()) {
      timeline.Core(core_of(event)).slices.push_back(slice_of(event, event.duration));
    } else if (event.phase == 'B') {
      begun[{event.name, event.id}] = &event;
    } else if (event.phase == 'E') {
      const auto begin = begun.find({event.name, event.id});
      if (begin == begun.end()) continue;
      timeline.Core(core_of(*begin->second))
          .slices.push_back(slice_of(*begin->second, event.ts - begin->second->ts));
      begun.erase(begin);
    } else if (event.phase == 's') {
      sources[event.id] = &event;
    } else if (event.phase == 't') {
      const auto source = sources.find(event.id);
      if (source == sources.end()) continue;
      const TraceEvent& from = *source->second;
      timeline.flows.push_back({event.category, event.id, core_of(from), pipe_of(from),
                                core_of(event), pipe_of(event), from.ts, event.ts});
    }
  }
  timeline.Sort();
  return timeline;
}

}  // namespace kerf::timeline
