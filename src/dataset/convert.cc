#include "dataset/convert.h"

#include <set>

#include "base/json_writer.h"
#include "dataset/data_file.h"
#include "dataset/performance.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

// Calls `each` with every member of the object at `text`.
template <typename Each>
void ForMembers(std::string_view text, const Each& each) {
  RecordCursor cursor(text);
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    const RawValue value = cursor.Read();
    if (cursor.ok()) each(key, value);
  }
}

// Writes objects with their values as they stand.
class RawObject {
 public:
  explicit RawObject(std::string& out) : out_(out) { out_ += '{'; }
  void Add(std::string_view key, const RawValue& value, Losses& lost) {
    out_ += first_ ? "\"" : ", \"";
    first_ = false;
    out_.append(key).append("\": ");
    if (value.text()) {
      out_.append("\"").append(value.raw).append("\"");
    } else if (value.kind == RawValue::Kind::kNumber && !NumberOf(value).has_value()) {
      out_ += "null";
      ++lost["numbers JSON cannot hold (became null)"];
    } else {
      std::string copy;
      JsonWriter(copy).Copy(value.raw);
      const bool json = !copy.starts_with('"');  // what is no JSON becomes a text
      if (!json) ++lost["values that are no JSON (became texts)"];
      out_.append(json ? value.raw : copy);
    }
  }
  void End() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

std::string_view BytesOf(const CaseEntry& entry, const MappedFile& jsonl) {
  return jsonl.bytes().substr(entry.jsonl_begin, entry.jsonl_end - entry.jsonl_begin);
}

std::string_view MemBytesOf(const CaseEntry& entry, const MappedFile& mem) {
  return mem.bytes().substr(entry.mem_begin, entry.mem_end - entry.mem_begin);
}

bool BoolOf(const RawValue& value) { return value.raw == "true"; }

// One result of KernelBench as a mem record.
std::string MemFromResult(std::string_view result) {
  RawValue compiled;
  RawValue correct;
  RawValue runtime;
  std::string error;
  ForMembers(result, [&](std::string_view key, const RawValue& value) {
    if (key == "compiled") compiled = value;
    if (key == "correctness") correct = value;
    if (key == "runtime") runtime = value;
    if (key != "metadata" || !value.raw.starts_with('{')) return;
    ForMembers(value.raw, [&](std::string_view name, const RawValue& inner) {
      if (inner.text() && (name.ends_with("error") || name.ends_with("issue"))) {
        error += (error.empty() ? "" : "\n") + std::string(name) + ": " + Decoded(inner.raw);
      }
    });
  });
  const double ms = NumberOf(runtime).value_or(-1);
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("call_err_msg").String(BoolOf(compiled) || error.empty() ? "None" : error);
  json.Key("exe_err_msg").String(BoolOf(compiled) && !error.empty() ? error : "None");
  json.Key("perf_candidates").BeginArray().EndArray();
  json.Key("pass_call").Bool(BoolOf(compiled)).Key("pass_exe").Bool(BoolOf(correct));
  json.Key("pass_perf").Bool(ms > 0).Key("ms");
  if (ms > 0) {
    json.Double(ms);
  } else {
    json.Null();
  }
  json.EndObject();
  return text;
}

// The last result of a list, or the only one.
std::string_view LastResult(const RawValue& value, uint64_t& results) {
  results = 1;
  if (!value.raw.starts_with('[')) return value.raw;
  results = 0;
  std::string_view last;
  RecordCursor cursor(value.raw);
  for (cursor.BeginArray(); cursor.NextElement(); ++results) last = cursor.Read().raw;
  return last;
}

}  // namespace

Result<GeakTexts> FromTritonBench(const MappedFile& file) {
  GeakTexts out;
  Problems problems;
  JsonlReader reader(file, problems);
  JsonlRecord record;
  while (reader.Next(record)) {
    std::string text;
    bool known = false;
    RawObject line(text);
    ForMembers(file.bytes().substr(record.begin, record.end - record.begin),
               [&](std::string_view key, const RawValue& value) {
                 known = known || key == "instruction" || key == "prompt" || key == "output" ||
                         key == "label" || key == "predict";
                 const std::string_view name =
                     key == "output" ? "label" : (key == "file" ? "filename" : key);
                 line.Add(name, value, out.lost);
               });
    line.End();
    if (!known) {
      ++out.lost["records without instruction, output or predict"];
      continue;
    }
    out.jsonl += text + '\n';
    ++out.cases;
  }
  if (problems.count() > 0) out.lost["records that are no JSON objects"] = problems.count();
  if (out.cases == 0) {
    return Corrupt("no record of TritonBench in " + file.path() +
                   ": none has instruction, output or predict");
  }
  return out;
}

Exported ToTritonBench(const Catalog& catalog, const MappedFile& jsonl) {
  Exported out;
  out.text = "[";
  for (const CaseEntry& entry : catalog.cases()) {
    if (entry.has_mem()) ++out.lost["the mem record: flags, errors, candidates"];
    if (!entry.has_jsonl()) {
      ++out.lost["cases of the mem file alone"];
      continue;
    }
    out.text += out.cases++ == 0 ? "\n" : ",\n";
    RawObject object(out.text);
    ForMembers(BytesOf(entry, jsonl), [&](std::string_view key, const RawValue& value) {
      if (key == "predict" || key == "test_code" || key == "speedup" ||
          key == "target_kernel_name") {
        ++out.lost[std::string(key)];
        return;
      }
      const std::string_view name = key == "label" ? "output" : (key == "filename" ? "file" : key);
      object.Add(name, value, out.lost);
    });
    object.End();
  }
  out.text += "\n]\n";
  return out;
}

Result<GeakTexts> FromKernelBench(const MappedFile& file) {
  RecordCursor cursor(file.bytes());
  if (cursor.Peek() != JsonType::kObject) {
    return InvalidInput(file.path() + " is no KernelBench result: it must be one JSON object");
  }
  GeakTexts out;
  std::string_view key;
  out.mem = "{";
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    const RawValue value = cursor.Read();
    if (!cursor.ok()) break;
    uint64_t results = 0;
    const std::string_view last = LastResult(value, results);
    if (!last.starts_with('{')) {
      ++out.lost["entries that are no results"];
      continue;
    }
    if (results > 1) ++out.lost["flags of samples before the last (kept under `kernelbench`)"];
    const std::string name = std::string(key) + ".py";
    out.jsonl += "{\"filename\": \"" + name + "\"}\n";
    std::string mem = MemFromResult(last);
    // Everything, so that the way back loses nothing.
    mem.pop_back();
    mem.append(",\"kernelbench\": ").append(value.raw).append("}");
    out.mem += (out.cases++ == 0 ? "\"" : ", \"") + name + "\": " + mem;
  }
  out.mem += "}";
  if (!cursor.ok()) return Corrupt(file.path() + ": " + cursor.error());
  if (out.cases == 0) return Corrupt("no result in " + file.path());
  return out;
}

Exported ToKernelBench(const Catalog& catalog, const MappedFile& jsonl, const MappedFile* mem) {
  Exported out;
  std::set<std::string> names;
  out.text = "{";
  for (const CaseEntry& entry : catalog.cases()) {
    if (!entry.has_mem()) {
      ++out.lost["cases without a mem record"];
      continue;
    }
    // a and a.py are two cases.
    std::string name =
        entry.name.ends_with(".py") ? entry.name.substr(0, entry.name.size() - 3) : entry.name;
    if (!names.insert(name).second) names.insert(name = entry.name);
    std::string key;
    AppendJsonString(key, name);
    out.text += (out.cases++ == 0 ? "\n" : ",\n") + key + ": ";
    RawValue original;
    ForMembers(MemBytesOf(entry, *mem), [&](std::string_view member, const RawValue& value) {
      if (member == "kernelbench") original = value;
    });
    if (!original.missing()) {
      out.text.append(original.raw);
      continue;
    }
    const JsonlRecord line = ReadJsonlOf(entry, jsonl);
    const MemRecord record = ReadMemOf(entry, *mem);
    const Performance found = JudgePerformance(record, entry.has_jsonl() ? &line : nullptr);
    const bool latency = found.direction == Direction::kLower && found.best > 0;
    if (!latency && entry.best == BestStatus::kMeasured) ++out.lost["numbers that are no latency"];
    if (entry.has_jsonl()) ++out.lost["texts and code"];
    ++out.lost["the rest of the mem record: candidates, strategies, all but the telling line"];
    if (entry.flags[0] == Flag::kUnknown || entry.flags[1] == Flag::kUnknown) {
      ++out.lost["flags that are not known (became false)"];
    }
    JsonWriter json(out.text);
    json.BeginObject().Key("sample_id").Int(0);
    json.Key("compiled").Bool(entry.flags[0] == Flag::kTrue);
    json.Key("correctness").Bool(entry.flags[1] == Flag::kTrue).Key("metadata").BeginObject();
    if (entry.failed()) json.Key("error").String(entry.diagnosis.line);
    json.EndObject().Key("runtime");
    json.Double(latency ? *MeasureOf(record.candidates[found.best - 1]) : -1.0).EndObject();
  }
  out.text += "\n}\n";
  return out;
}

}  // namespace kerf::dataset
