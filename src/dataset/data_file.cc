#include "dataset/data_file.h"

#include <cctype>

#include "base/file_system.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

// Pages behind the reader are given back in pieces of this size.
constexpr size_t kReleaseStep = size_t{8} << 20;

size_t BehindMark(std::string_view text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

void ReleaseBehind(const MappedFile& file, size_t at, size_t& released) {
  if (at < released + kReleaseStep) return;
  file.Release(released, at);
  released = at;
}

}  // namespace

JsonlReader::JsonlReader(const MappedFile& file, Problems& problems, Part part)
    : file_(file),
      problems_(problems),
      text_(file.bytes()),
      stop_(part.stop),
      at_(part.begin == 0 ? BehindMark(text_) : part.begin),
      released_(part.begin) {}

void JsonlReader::Report(size_t at, std::string what) {
  problems_.Add({file_.path(), at, line_, "", std::move(what)});
}

void JsonlReader::StepOver(size_t begin) {
  const size_t feed = text_.find('\n', begin);
  at_ = feed == std::string_view::npos ? text_.size() : feed + 1;
  if (feed != std::string_view::npos) ++line_;
}

bool JsonlReader::FindRecord() {
  for (;;) {
    RecordCursor cursor(text_, at_);
    const bool more = cursor.SkipSpace();
    line_ += cursor.lines();
    at_ = cursor.offset();
    if (!more) {
      if (in_array_) Report(at_, "the array is not closed");
      return false;
    }
    if (at_ >= stop_) return false;
    if (!in_array_ && cursor.Take('[')) {
      in_array_ = true;
    } else if (in_array_ && cursor.Take(']')) {
      in_array_ = false;
    } else if (!in_array_ || !cursor.Take(',')) {
      return true;
    }
    at_ = cursor.offset();
  }
}

bool JsonlReader::Next(JsonlRecord& record) {
  while (FindRecord()) {
    RecordCursor cursor(text_, at_);
    const size_t begin = at_;
    if (cursor.Peek() != JsonType::kObject) {
      const bool whole = cursor.Skip();
      Report(begin, whole ? "this is no JSON object; skipped" : "this is no JSON; skipped");
      if (whole) {
        at_ = cursor.offset();
      } else {
        StepOver(begin);
      }
      continue;
    }
    if (ReadJsonlRecord(cursor, record)) {
      record.line = line_;
      line_ += cursor.lines();
      at_ = cursor.offset();
      ReleaseBehind(file_, at_, released_);
      return true;
    }
    Report(begin, std::string("broken JSON, skipped: ") + cursor.error() + " at byte " +
                      std::to_string(cursor.offset()));
    if (in_array_) return false;
    StepOver(begin);
  }
  return false;
}

Status MemReader::Begin() {
  const std::string_view text = file_.bytes();
  if (part_.begin > 0) {
    cursor_ = RecordCursor(text, part_.begin);
    cursor_.ResumeObject();
    return {};
  }
  cursor_ = RecordCursor(text, BehindMark(text));
  if (cursor_.Peek() != JsonType::kObject) {
    return InvalidInput(file_.path() +
                        " is no mem file: it must be one JSON object, from case names to records");
  }
  cursor_.BeginObject();
  return {};
}

bool MemReader::Next(std::string& name, MemRecord& record) {
  std::string_view key;
  for (;;) {
    position_ = cursor_.NextKeyAt();
    if (position_ >= part_.stop) return false;
    if (!cursor_.NextKey(key)) break;
    name = Decoded(key);
    if (cursor_.Peek() == JsonType::kObject) {
      if (!ReadMemRecord(cursor_, record)) break;
      ReleaseBehind(file_, cursor_.offset(), released_);
      return true;
    }
    const size_t at = cursor_.offset();
    if (cursor_.Skip()) {
      problems_.Add({file_.path(), at, 0, name, "the record is no JSON object; skipped"});
    }
  }
  position_ = file_.bytes().size();
  if (!cursor_.ok()) {
    problems_.Add({file_.path(), cursor_.offset(), 0, "",
                   std::string("the file breaks off or is damaged here: ") + cursor_.error() +
                       "; what stands before it was read"});
  }
  return false;
}

size_t GuessJsonlRecord(std::string_view text, size_t at) {
  const size_t found = text.find("\n{", at);
  return found == std::string_view::npos ? found : found + 1;
}

size_t GuessMemRecord(std::string_view text, size_t at) {
  for (size_t close = text.find('}', at); close != std::string_view::npos;
       close = text.find('}', close + 1)) {
    size_t quote = close + 1;
    if (quote >= text.size() || text[quote] != ',') continue;
    ++quote;
    while (quote < text.size() && (text[quote] == ' ' || text[quote] == '\n')) ++quote;
    // A quote that ends a string is followed by other characters than a name.
    if (quote + 1 >= text.size() || text[quote] != '"' ||
        std::isalnum(static_cast<unsigned char>(text[quote + 1])) == 0) {
      continue;
    }
    const size_t end = text.substr(0, quote + 512).find("\": {", quote + 1);
    if (end != std::string_view::npos) return quote;
  }
  return std::string_view::npos;
}

std::string MemPathOf(const std::string& jsonl_path) {
  constexpr std::string_view kEnd = ".jsonl";
  if (!jsonl_path.ends_with(kEnd)) return "";
  const std::string stem = jsonl_path.substr(0, jsonl_path.size() - kEnd.size());
  const std::string base = BaseName(stem);
  size_t digits = base.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(base[digits - 1])) != 0) --digits;
  if (digits == base.size() || digits == 0 || base[digits - 1] != '_') return "";
  return stem.substr(0, stem.size() - (base.size() - digits)) + "mem_" + base.substr(digits) +
         ".json";
}

}  // namespace kerf::dataset
