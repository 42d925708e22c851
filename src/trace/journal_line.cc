#include "trace/journal_line.h"

#include <charconv>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/utf8.h"

namespace kerf::trace {
namespace {

constexpr int64_t kJournalVersion = 1;
constexpr std::string_view kSumKey = ",\"sum\":\"";
// ,"sum":"0123456789abcdef"}
constexpr size_t kSumLength = kSumKey.size() + 16 + 2;

const char* LineKindWord(LineKind kind) {
  switch (kind) {
    case LineKind::kRecord:
      return "record";
    case LineKind::kCommit:
      return "commit";
    case LineKind::kAbandon:
      return "abandon";
    case LineKind::kRepair:
      return "repair";
  }
  return "";
}

// The members of one object, appended to `out`.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void String(std::string_view key, std::string_view value) {
    Key(key);
    AppendJsonString(out_, value);
  }
  void Number(std::string_view key, int64_t value) {
    Key(key);
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void Raw(std::string_view key, std::string_view value) {
    Key(key);
    out_ += value;
  }
  // The value is for the caller to append.
  std::string& Key(std::string_view key) {
    out_ += first_ ? "{\"" : ",\"";
    first_ = false;
    out_ += key;
    out_ += "\":";
    return out_;
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void EncodeFiles(const std::vector<StepFile>& files, std::string& out) {
  out += '[';
  for (const StepFile& file : files) {
    if (&file != files.data()) out += ',';
    Writer writer(out);
    writer.String("name", file.name);
    writer.Number("bytes", static_cast<int64_t>(file.bytes));
    writer.String("sha256", file.sha256);
    writer.String("encoding", file.encoding);
    out += '}';
  }
  out += ']';
}

void EncodeRedacted(const std::vector<RedactionNote>& notes, std::string& out) {
  out += '[';
  for (const RedactionNote& note : notes) {
    if (&note != notes.data()) out += ',';
    Writer writer(out);
    writer.String("what", note.what);
    writer.Number("count", note.count);
    out += '}';
  }
  out += ']';
}

void EncodeRecord(Writer& writer, const JournalLine& line) {
  const Step& step = line.step;
  if (!step.time.empty()) writer.String("time", step.time);
  writer.String("task", step.task);
  writer.Number("step", step.step);
  writer.String("record", RecordKindName(step.kind));
  writer.String("action", step.action);
  if (!step.check.empty()) writer.String("check", step.check);
  if (step.attempt > 1) writer.Number("attempt", step.attempt);
  writer.String("names", step.names);
  if (!line.verify_res.empty()) writer.String("verify_res", line.verify_res);
  EncodeFiles(step.files, writer.Key("files"));
  if (!step.redacted.empty()) EncodeRedacted(step.redacted, writer.Key("redacted"));
  if (!step.reply_frame.empty()) writer.Raw("reply", step.reply_frame);
  if (step.recovered) writer.Raw("recovered", "true");
  if (!step.meta.empty()) writer.Raw("meta", step.meta);
}

bool ReadFile(JsonReader& reader, StepFile& file) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    int64_t bytes = 0;
    if (key == "name") {
      reader.ReadString(file.name);
    } else if (key == "bytes") {
      reader.ReadInt(bytes);
      file.bytes = static_cast<uint64_t>(bytes);
    } else if (key == "sha256") {
      reader.ReadString(file.sha256);
    } else if (key == "encoding") {
      reader.ReadString(file.encoding);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

bool ReadRedaction(JsonReader& reader, RedactionNote& note) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "what") {
      reader.ReadString(note.what);
    } else if (key == "count") {
      reader.ReadInt(note.count);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

// Members of a record; false when `key` is none of them.
bool ReadRecordMember(JsonReader& reader, const std::string& key, JournalLine& line,
                      std::string& record_word) {
  Step& step = line.step;
  if (key == "time") return reader.ReadString(step.time);
  if (key == "task") return reader.ReadString(step.task);
  if (key == "step") return reader.ReadInt(step.step);
  if (key == "action") return reader.ReadString(step.action);
  if (key == "check") return reader.ReadString(step.check);
  if (key == "attempt") return reader.ReadInt(step.attempt);
  if (key == "names") return reader.ReadString(step.names);
  if (key == "verify_res") return reader.ReadString(line.verify_res);
  if (key == "recovered") return reader.ReadBool(step.recovered);
  if (key == "meta" || key == "reply") {
    std::string_view raw;
    reader.ReadRaw(raw);
    (key == "meta" ? step.meta : step.reply_frame) = raw;
    return true;
  }
  if (key == "record") return reader.ReadString(record_word);
  if (key == "files") {
    for (reader.BeginArray(); reader.NextElement();) {
      if (!ReadFile(reader, step.files.emplace_back())) break;
    }
    return true;
  }
  if (key == "redacted") {
    for (reader.BeginArray(); reader.NextElement();) {
      if (!ReadRedaction(reader, step.redacted.emplace_back())) break;
    }
    return true;
  }
  return false;
}

Status CheckSum(std::string_view text) {
  if (text.size() <= kSumLength ||
      text.substr(text.size() - kSumLength, kSumKey.size()) != kSumKey || !text.ends_with("\"}")) {
    return Corrupt("no checksum at its end");
  }
  const std::string_view body = text.substr(0, text.size() - kSumLength);
  const std::string_view sum = text.substr(text.size() - 18, 16);
  if (Hex64(Xxh3(body)) != sum) {
    return Corrupt("its checksum does not match");
  }
  return {};
}

// Names lead to reads and, for unfinished batches, to removals: a journal from elsewhere must not
// point outside its folder.
bool IsRecordPath(std::string_view name) {
  if (name == "conductor" || name == "recorder") return false;
  for (const std::string_view folder : {"conductor/", "recorder/"}) {
    if (name.starts_with(folder)) {
      name.remove_prefix(folder.size());
      break;
    }
  }
  return !name.empty() && name != "." && name != ".." && name != "journal.jsonl" &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// What a record must be, whoever wrote it.
Status FinishRecord(JournalLine& line, const std::string& record_word) {
  Step& step = line.step;
  const std::optional<RecordKind> kind = ParseRecordKind(record_word);
  if (!kind.has_value()) return Corrupt("it is of no known kind of record: '" + record_word + "'");
  step.kind = *kind;
  if (step.task.empty()) return Corrupt("it names no task");
  // The name becomes part of file names.
  if (step.task.find('/') != std::string::npos || step.task.find('\0') != std::string::npos) {
    return Corrupt("its task is no task's name");
  }
  if (step.step < 0 || step.step > kMaxStep || step.attempt < 1 || step.attempt > kMaxStep) {
    return Corrupt("its step or attempt is no record's");
  }
  for (const StepFile& file : step.files) {
    if (!IsRecordPath(file.name)) {
      return Corrupt("it names a file outside its folder: '" + file.name + "'");
    }
    if (file.bytes > static_cast<uint64_t>(INT64_MAX)) return Corrupt("a file's size is negative");
  }
  step.journaled = true;
  if (step.kind == RecordKind::kVerifier) step.verification = ParseVerification(line.verify_res);
  return {};
}

Result<LineKind> ParseLineKind(std::string_view word) {
  for (const LineKind kind :
       {LineKind::kRecord, LineKind::kCommit, LineKind::kAbandon, LineKind::kRepair}) {
    if (word == LineKindWord(kind)) return kind;
  }
  return Unavailable("a line of kind '" + std::string(word) +
                     "' was written by a newer kerf; update kerf");
}

}  // namespace

std::string EncodeLine(const JournalLine& line) {
  std::string text;
  AppendLine(line, text);
  return text;
}

void AppendLine(const JournalLine& line, std::string& out) {
  const size_t begin = out.size();
  Writer writer(out);
  writer.Number("v", kJournalVersion);
  writer.String("kind", LineKindWord(line.kind));
  writer.Number("seq", line.seq);
  writer.String("batch", line.batch);
  if (line.kind == LineKind::kRecord) EncodeRecord(writer, line);
  const std::string sum = Hex64(Xxh3(std::string_view(out).substr(begin)));
  out += kSumKey;
  out += sum;
  out += "\"}\n";
}

Result<JournalLine> DecodeLine(std::string_view text) {
  KERF_RETURN_IF_ERROR(CheckSum(text));
  // The reader keeps such bytes, but no line could be written that refers to them.
  if (DetectEncoding(text) != TextEncoding::kUtf8) return Corrupt("it is not valid UTF-8");
  JsonReader reader(text);
  JournalLine line;
  int64_t version = 0;
  std::string kind_word;
  std::string record_word;
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "v") {
      reader.ReadInt(version);
    } else if (key == "kind") {
      reader.ReadString(kind_word);
    } else if (key == "seq") {
      reader.ReadInt(line.seq);
    } else if (key == "batch") {
      reader.ReadString(line.batch);
    } else if (!ReadRecordMember(reader, key, line, record_word)) {
      reader.Skip();
    }
  }
  if (!reader.Finish()) return Corrupt("it is not well-formed: " + reader.error());
  if (version > kJournalVersion) {
    return Unavailable("journal version " + std::to_string(version) +
                       " was written by a newer kerf; update kerf");
  }
  if (version < 1) return Corrupt("it has no version");
  KERF_ASSIGN_OR_RETURN(line.kind, ParseLineKind(kind_word));
  if (line.seq < 1 || line.seq > kMaxSeq) return Corrupt("its number is no line's");
  if (line.kind == LineKind::kRecord) KERF_RETURN_IF_ERROR(FinishRecord(line, record_word));
  return line;
}

}  // namespace kerf::trace
