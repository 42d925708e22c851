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

class JsonlReader {
 public:
  JsonlReader(const MappedFile& file, Problems& problems);
  bool Next(JsonlRecord& record);

 private:
  // Where the next record begins; false at the end.
  bool FindRecord();
  void Report(size_t at, std::string what);
  void StepOver(size_t begin);

  const MappedFile& file_;
  Problems& problems_;
  const std::string_view text_;
  size_t at_ = 0;
  size_t released_ = 0;
  uint64_t line_ = 1;
  bool in_array_ = false;
};

class MemReader {
 public:
  MemReader(const MappedFile& file, Problems& problems) : file_(file), problems_(problems) {}
  // Fails when the file is no object at all.
  Status Begin();
  bool Next(std::string& name, MemRecord& record);

 private:
  const MappedFile& file_;
  Problems& problems_;
  RecordCursor cursor_{{}};
  size_t released_ = 0;
};

// "runs/X_3.jsonl" → "runs/X_mem_3.json"; empty when the name has no iteration number.
std::string MemPathOf(const std::string& jsonl_path);

}  // namespace kerf::dataset
