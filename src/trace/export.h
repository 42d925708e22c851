// What the exporters share: which tasks to export, when their steps took place, their ids, and
// where the bytes go. docs/formats/export.md says what becomes what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/step.h"
#include "base/file_system.h"
#include "base/result.h"
#include "trace/reader.h"

namespace kerf::trace {

// Tasks chosen by `place` (a run, a folder of runs, an operator's folder, or PATH:TASK), an
// operator and a task; both may be empty.
struct ExportChoice {
  std::vector<Run> runs;
  std::string task;
};
Result<ExportChoice> ChooseExport(FileSystem& fs, const std::string& place, const std::string& op,
                                  const std::string& task);

// One task on its way out. Holds no text.
struct ExportTask {
  std::string id;   // TraceIdOf(); another one when a task before it has the same
  std::string run;  // the run's folder name; empty when there is one run only
  std::string op;
  std::string op_dir;
  std::string task;
  std::vector<Step> steps;  // never empty
};

struct ExportCount {
  int64_t tasks = 0;
  int64_t records = 0;
  int64_t damaged_lines = 0;  // of journals, or missing: what they told is not in the export
  int64_t unjournaled = 0;    // records known by their files only, where there is a journal
  // Folders that could not be looked into, with the reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};
// Calls `each` for one task after the other, in order; reads one operator at a time. kNotFound when
// no task fits.
Result<ExportCount> ForEachTask(FileSystem& fs, const ExportChoice& choice,
                                const std::function<Status(const ExportTask&)>& each);

enum class TimeSource {
  kRecorded,   // the journal's
  kFile,       // the newest file's, where no journal tells
  kNeighbour,  // the step before's: nothing tells
};
const char* TimeSourceName(TimeSource source);  // "journal", "file", "neighbour"

struct StepTime {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  TimeSource source = TimeSource::kRecorded;
  bool has_duration = false;  // else start and end are the same
};
std::vector<StepTime> TimesOf(FileSystem& fs, const ExportTask& task);

// 32 hex digits that stay the same wherever the folder is copied to and however many steps follow:
// made from operator, task, and the first record's time and content.
Result<std::string> TraceIdOf(FileSystem& fs, const ExportTask& task);
// 16 hex digits for each step, unique within the task; the last element is for the task itself.
std::vector<std::string> SpanIdsOf(const ExportTask& task, const std::string& trace_id);

// For a verifier's record, the index of the record whose code it judged; -1 for others and when
// there is none.
std::vector<int64_t> JudgedRecords(const std::vector<Step>& steps);

// Texts of steps. A file that cannot be read counts and gives an empty text: one lost file must not
// keep the rest from being exported.
class StepTexts {
 public:
  StepTexts(FileSystem& fs, int64_t& unreadable) : fs_(fs), unreadable_(unreadable) {}
  std::string Text(const ExportTask& task, const Step& step, const std::string& parameter);
  // The model's message, byte for byte.
  std::string Reply(const ExportTask& task, const Step& step);

 private:
  std::string Keep(Result<std::string> text);

  FileSystem& fs_;
  int64_t& unreadable_;
};

struct ExportSettings {
  bool content = false;           // texts too, where the format can do without
  std::string version;            // kerf's
  int64_t* unreadable = nullptr;  // counts texts that could not be read; must outlive the exporter
  std::function<Status(std::string_view)> sink;
};

// Add() every task, then Finish(). Bytes go to the sink as they come; at most a step's texts are
// held.
class TaskExporter {
 public:
  virtual ~TaskExporter() = default;
  virtual Status Add(const ExportTask& task) = 0;
  virtual Status Finish() = 0;
};

}  // namespace kerf::trace
