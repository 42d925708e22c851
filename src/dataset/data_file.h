// The two files of a data set as streams of records.
//
//   JsonlReader reader(file, problems);
//   JsonlRecord record;
//   while (reader.Next(record)) …
//
// What is broken is added to the problems and stepped over. Memory behind the reader is let go of;
// views of earlier records stay valid (looking at them brings their pages back).
#pragma once

#include <string>

#include "base/result.h"
#include "dataset/jsonl_record.h"
#include "dataset/mapped_file.h"
#include "dataset/mem_record.h"
#include "dataset/problem.h"

namespace kerf::dataset {

// A part of a file, for several threads: records that begin in [begin, stop). A reader of a later
// part starts at a place that only looks like the beginning of a record (GuessRecord…); it was one
// when the reader of the part before ends there: position() == begin.
struct Part {
  size_t begin = 0;
  size_t stop = std::string_view::npos;
};

class JsonlReader {
 public:
  JsonlReader(const MappedFile& file, Problems& problems, Part part = {});
  bool Next(JsonlRecord& record);
  // Where the record begins that Next() did not read; the end of the file when there is none.
  [[nodiscard]] size_t position() const { return at_; }
  // Of this part alone.
  [[nodiscard]] uint64_t lines() const { return line_ - 1; }

 private:
  // Where the next record begins; false at the end.
  bool FindRecord();
  void Report(size_t at, std::string what);
  void StepOver(size_t begin);

  const MappedFile& file_;
  Problems& problems_;
  const std::string_view text_;
  const size_t stop_;
  size_t at_ = 0;
  size_t released_ = 0;
  uint64_t line_ = 1;
  bool in_array_ = false;
};

class MemReader {
 public:
  MemReader(const MappedFile& file, Problems& problems, Part part = {})
      : file_(file), problems_(problems), part_(part), released_(part.begin) {}
  // Fails when the file is no object at all.
  Status Begin();
  bool Next(std::string& name, MemRecord& record);
  // Where the name stands that Next() did not read; the end of the file when there is none or the
  // file is damaged.
  [[nodiscard]] size_t position() const { return position_; }

 private:
  const MappedFile& file_;
  Problems& problems_;
  const Part part_;
  RecordCursor cursor_{{}};
  size_t released_ = 0;
  size_t position_ = 0;
};

// The first place from `at` on that looks like the beginning of a record; npos when there is none.
// In a jsonl file that is a '{' behind a line feed, in a mem file a name behind the end of an
// object.
size_t GuessJsonlRecord(std::string_view text, size_t at);
size_t GuessMemRecord(std::string_view text, size_t at);

// "runs/X_3.jsonl" → "runs/X_mem_3.json"; empty when the name has no iteration number.
std::string MemPathOf(const std::string& jsonl_path);

}  // namespace kerf::dataset
