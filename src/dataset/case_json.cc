#include "dataset/case_json.h"

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "base/json_writer.h"
#include "dataset/json_scan.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

void WriteFlag(JsonWriter& json, Flag flag) {
  if (flag == Flag::kUnknown) {
    json.Null();
  } else {
    json.Bool(flag == Flag::kTrue);
  }
}

void WriteNumber(JsonWriter& json, const RawValue& value) {
  const auto number = NumberOf(value);
  if (number.has_value()) {
    json.Double(*number);
  } else {
    json.Null();
  }
}

void WriteSource(JsonWriter& json, const MappedFile& file, uint64_t begin, uint64_t end,
                 uint64_t line) {
  json.BeginObject().Key("path").String(file.path());
  json.Key("begin").Int(static_cast<int64_t>(begin)).Key("end").Int(static_cast<int64_t>(end));
  if (line > 0) json.Key("line").Int(static_cast<int64_t>(line));
  json.Key("xxh3").String(Hex64(Xxh3(file.bytes().substr(begin, end - begin)))).EndObject();
}

void WriteSources(JsonWriter& json, const CaseFacts& facts) {
  const CaseEntry& entry = facts.entry;
  json.Key("sources").BeginObject();
  if (entry.has_jsonl()) {
    json.Key("jsonl");
    WriteSource(json, facts.sources.jsonl, entry.jsonl_begin, entry.jsonl_end, entry.jsonl_line);
  }
  if (entry.has_mem()) {
    json.Key("mem");
    WriteSource(json, *facts.sources.mem, entry.mem_begin, entry.mem_end, 0);
  }
  json.EndObject();
}

void WriteSchema(JsonWriter& json, const char* name, const Schema& schema) {
  json.Key(name).BeginObject().Key("variant").String(schema.variant);
  json.Key("reason").String(schema.reason).EndObject();
}

void WriteDiagnosis(JsonWriter& json, const Diagnosis& diagnosis) {
  json.Key("diagnosis").BeginObject().Key("kind").String(DiagnosisName(diagnosis.kind));
  if (!diagnosis.line.empty()) json.Key("line").String(diagnosis.line);
  if (!diagnosis.source.empty()) json.Key("source").String(diagnosis.source);
  if (!diagnosis.rule.empty()) json.Key("rule").String(diagnosis.rule);
  if (!diagnosis.symbols.empty()) json.Key("symbols").String(diagnosis.symbols);
  json.EndObject();
}

// Scalars, and lists of scalars; anything else and what JSON cannot hold is null.
void WriteRaw(JsonWriter& json, const RawValue& value) {
  if (value.kind != RawValue::Kind::kOther || !value.raw.starts_with('[')) {
    WriteNumber(json, value);
    return;
  }
  json.BeginArray();
  RecordCursor cursor(value.raw);
  for (cursor.BeginArray(); cursor.NextElement();) WriteNumber(json, cursor.Read());
  json.EndArray();
}

void WritePerformance(JsonWriter& json, const CaseFacts& facts) {
  const Performance& found = facts.performance;
  json.Key("performance").BeginObject();
  json.Key("direction").String(DirectionName(found.direction));
  if (!found.meaning.empty()) json.Key("meaning").String(found.meaning);
  json.Key("reason").String(found.reason);
  if (found.best > 0) json.Key("best").Int(static_cast<int64_t>(found.best));
  json.Key("candidates").BeginArray();
  for (const PerfCandidate& candidate : facts.mem.candidates) {
    json.BeginObject().Key("known").Bool(candidate.known).Key("numbers").BeginArray();
    for (const RawValue& number : candidate.numbers) WriteRaw(json, number);
    json.EndArray();
    if (candidate.report.text()) {
      std::string report;
      DecodeText(candidate.report.raw, report);
      json.Key("report").String(report);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void WriteFacts(JsonWriter& json, const CaseFacts& facts) {
  json.Key("facts").BeginObject();
  if (facts.jsonl.label.text() && facts.mem.oneshot.text()) {
    json.Key("label_is_oneshot").Bool(SameText(facts.jsonl.label.raw, facts.mem.oneshot.raw));
  }
  if (!facts.predict_is.empty()) json.Key("predict_is").String(facts.predict_is);
  for (const auto& [name, value] : {std::pair("perf_debug_num", &facts.mem.perf_debug_num),
                                    {"speedup", &facts.jsonl.speedup},
                                    {"ms", &facts.mem.ms},
                                    {"efficiency", &facts.mem.efficiency}}) {
    if (value->kind == RawValue::Kind::kMissing) continue;
    json.Key(name);
    WriteNumber(json, *value);
  }
  json.EndObject();
}

void WriteReproduce(JsonWriter& json, const Reproduction& how) {
  json.Key("reproduce").BeginObject();
  if (how.impl.empty()) {
    json.Key("why_not").String(how.why_not);
  } else {
    json.Key("impl").String(how.impl).Key("candidate").String(how.candidate);
  }
  json.EndObject();
}

void WriteFiles(JsonWriter& json, const CaseFolder& folder) {
  json.Key("languages").BeginObject();
  for (const CaseFile& file : folder.files) {
    if (file.code) json.Key(file.path).String(LanguageName(file.language));
  }
  json.EndObject().Key("files").BeginArray();
  std::vector<std::string_view> texts;
  for (const CaseFile& file : folder.files) texts.emplace_back(file.content);
  const std::vector<std::string> hashes = Sha256HexOfAll(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    json.BeginObject().Key("path").String(folder.files[i].path);
    json.Key("bytes").Int(static_cast<int64_t>(texts[i].size()));
    json.Key("sha256").String(hashes[i]).EndObject();
  }
  json.EndArray().Key("notes").BeginArray();
  for (const std::string& note : folder.notes) json.String(note);
  json.EndArray();
}

}  // namespace

std::string CaseJson(const CaseFacts& facts, const CaseFolder& folder) {
  const CaseEntry& entry = facts.entry;
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("format").String("kerf-debug-case").Key("version").Int(1);
  json.Key("name").String(entry.name).Key("folder").String(folder.folder);
  WriteSources(json, facts);
  json.Key("schema").BeginObject();
  WriteSchema(json, "jsonl", entry.has_jsonl() ? facts.sources.jsonl_schema : Schema{"absent", ""});
  WriteSchema(json, "mem", facts.mem_schema);
  json.EndObject().Key("flags").BeginObject();
  for (int flag = 0; flag < 3; ++flag) {
    json.Key(kFlagNames[flag]);
    WriteFlag(json, entry.flags[flag]);
  }
  json.EndObject().Key("status").BeginObject();
  json.Key("last").String(LastStatusName(entry.last));
  json.Key("best").String(BestStatusName(entry.best)).EndObject();
  WriteDiagnosis(json, facts.diagnosis);
  WritePerformance(json, facts);
  WriteFacts(json, facts);
  WriteReproduce(json, facts.reproduction);
  WriteFiles(json, folder);
  json.EndObject();
  return Indented(text) + "\n";
}

namespace {

uint64_t ReadCount(RecordCursor& cursor) {
  const RawValue value = cursor.Read();
  uint64_t count = 0;
  (void)std::from_chars(value.raw.data(), value.raw.data() + value.raw.size(), count);
  return count;
}

std::string ReadText(RecordCursor& cursor) {
  const RawValue value = cursor.Read();
  return value.text() ? Decoded(value.raw) : std::string();
}

RecordedSource ReadSource(RecordCursor& cursor) {
  RecordedSource source;
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    if (key == "path") {
      source.path = ReadText(cursor);
    } else if (key == "begin") {
      source.begin = ReadCount(cursor);
    } else if (key == "end") {
      source.end = ReadCount(cursor);
    } else if (key == "xxh3") {
      source.xxh3 = ReadText(cursor);
    } else {
      cursor.Skip();
    }
  }
  return source;
}

RecordedFile ReadFileEntry(RecordCursor& cursor) {
  RecordedFile file;
  std::string_view key;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    if (key == "path") {
      file.path = ReadText(cursor);
    } else if (key == "bytes") {
      file.bytes = ReadCount(cursor);
    } else if (key == "sha256") {
      file.sha256 = ReadText(cursor);
    } else {
      cursor.Skip();
    }
  }
  return file;
}

}  // namespace

std::optional<RecordedCase> ReadCaseJson(std::string_view text) {
  RecordCursor cursor(text);
  RecordedCase recorded;
  std::string format;
  std::string_view key;
  std::string_view inner;
  for (cursor.BeginObject(); cursor.NextKey(key);) {
    if (key == "format") {
      format = ReadText(cursor);
    } else if (key == "name") {
      recorded.name = ReadText(cursor);
    } else if (key == "files") {
      for (cursor.BeginArray(); cursor.NextElement();) {
        recorded.files.push_back(ReadFileEntry(cursor));
      }
    } else if (key == "sources") {
      for (cursor.BeginObject(); cursor.NextKey(inner);) {
        recorded.sources.push_back(ReadSource(cursor));
        recorded.sources.back().kind = std::string(inner);
      }
    } else {
      cursor.Skip();
    }
  }
  if (!cursor.ok() || format != "kerf-debug-case") return std::nullopt;
  return recorded;
}

std::string Indented(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 5 / 4);
  size_t depth = 0;
  const auto break_line = [&] {
    out += '\n';
    out.append(2 * depth, ' ');
  };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '}' || c == ']') {
      --depth;
      if (out.back() != '{' && out.back() != '[') break_line();
    } else if (!out.empty() && (out.back() == '{' || out.back() == '[')) {
      break_line();
    }
    out += c;
    if (c == '"') {
      const size_t end = std::min(FindStringEnd(json, i + 1), json.size() - 1);
      out.append(json, i + 1, end - i);
      i = end;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == ',') break_line();
    if (c == ':') out += ' ';
  }
  return out;
}

}  // namespace kerf::dataset
