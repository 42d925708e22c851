#include "trace/export.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/clock.h"
#include "base/hash.h"
#include "trace/step_facts.h"

namespace kerf::trace {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

// A separator that no name can contain, so that ("a", "bc") and ("ab", "c") differ.
std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += part;
    text += '\0';
  }
  return text;
}

std::string IdFrom(const std::string& seed) { return Sha256Hex(seed).substr(0, 32); }

int64_t CountUnjournaled(const std::vector<Step>& steps) {
  return std::count_if(steps.begin(), steps.end(),
                       [](const Step& step) { return !step.journaled; });
}

Status KeepOneOp(std::vector<Run>& runs, const std::string& op) {
  std::string known;
  std::vector<Run> kept;
  for (Run& run : runs) {
    for (const std::string& name : run.ops) {
      if (known.size() < 200) known += (known.empty() ? "" : ", ") + name;
    }
    if (std::find(run.ops.begin(), run.ops.end(), op) != run.ops.end()) {
      kept.push_back({std::move(run.path), {op}});
    }
  }
  if (kept.empty()) return NotFound("no operator '" + op + "' there; there is " + known);
  runs = std::move(kept);
  return {};
}

// Written by a crashed or odd recorder, a time may be missing or no time at all.
std::optional<int64_t> RecordedTime(const Step& step) {
  const std::optional<int64_t> time = ParseUtc(step.time);
  return time.has_value() && *time >= 0 ? time : std::nullopt;
}

std::optional<int64_t> NewestFileTime(FileSystem& fs, const ExportTask& task, const Step& step) {
  std::optional<int64_t> newest;
  for (const StepFile& file : step.files) {
    const Result<std::optional<FileInfo>> info = fs.Stat(JoinPath(task.op_dir, file.name));
    if (!info.ok() || !info->has_value()) continue;
    newest = std::max(newest.value_or(0), (*info)->mtime_ns);
  }
  return newest;
}

int64_t DurationNanos(const StepFacts& facts, int64_t end_ns) {
  // Before 1970 nothing was measured: a longer duration is a mistake of whoever wrote it.
  const double nanos = facts.duration_ms.value_or(0) * static_cast<double>(kNanosPerMilli);
  return nanos >= static_cast<double>(end_ns) ? end_ns : static_cast<int64_t>(nanos);
}

}  // namespace

Result<ExportChoice> ChooseExport(FileSystem& fs, const std::string& place, const std::string& op,
                                  const std::string& task) {
  ExportChoice choice;
  choice.task = task;
  Result<std::vector<Run>> runs = FindRuns(fs, place);
  if (!runs.ok() && place.find(':') != std::string::npos) {
    KERF_ASSIGN_OR_RETURN(const Address address, ResolveAddress(fs, place));
    if (address.step >= 0) {
      return InvalidInput("'" + place + "' names a step; export takes whole tasks: PATH:TASK");
    }
    if (!task.empty() && task != address.task) {
      return InvalidInput("'" + place + "' and --task " + task + " name different tasks");
    }
    choice.task = address.task;
    runs = std::vector<Run>{{address.run_path, {address.op}}};
  }
  if (!runs.ok()) return std::move(runs).error();
  choice.runs = *std::move(runs);
  if (!op.empty()) KERF_RETURN_IF_ERROR(KeepOneOp(choice.runs, op));
  return choice;
}

Result<ExportCount> ForEachTask(FileSystem& fs, const ExportChoice& choice,
                                const std::function<Status(const ExportTask&)>& each) {
  ExportCount count;
  std::set<std::string> ids;
  for (const Run& run : choice.runs) {
    count.skipped.insert(count.skipped.end(), run.skipped.begin(), run.skipped.end());
    for (const std::string& op : run.ops) {
      KERF_ASSIGN_OR_RETURN(OpTrace trace, ReadOp(fs, run.path, op));
      count.damaged_lines += trace.LostLines() + (trace.scan.torn_bytes > 0 ? 1 : 0);
      for (TaskSteps& steps : trace.tasks) {
        if (steps.steps.empty()) continue;
        if (!choice.task.empty() && steps.task != choice.task) continue;
        ExportTask task{"",
                        choice.runs.size() > 1 ? BaseName(run.path) : "",
                        op,
                        trace.dir,
                        std::move(steps.task),
                        std::move(steps.steps)};
        KERF_ASSIGN_OR_RETURN(task.id, TraceIdOf(fs, task));
        // Copies, and runs without a journal that began alike.
        while (!ids.insert(task.id).second) task.id = IdFrom(Joined({task.id, task.run}));
        if (trace.has_journal) count.unjournaled += CountUnjournaled(task.steps);
        ++count.tasks;
        count.records += static_cast<int64_t>(task.steps.size());
        KERF_RETURN_IF_ERROR(each(task));
      }
    }
  }
  if (count.tasks == 0) {
    return NotFound(choice.task.empty()
                        ? "no task to export there"
                        : "no task '" + choice.task + "' there; 'kerf trace ls' lists the tasks");
  }
  return count;
}

const char* TimeSourceName(TimeSource source) {
  switch (source) {
    case TimeSource::kRecorded:
      return "journal";
    case TimeSource::kFile:
      return "file";
    case TimeSource::kNeighbour:
      return "neighbour";
  }
  return "";
}

std::vector<StepTime> TimesOf(FileSystem& fs, const ExportTask& task) {
  std::vector<StepTime> times;
  int64_t previous = 0;
  for (const Step& step : task.steps) {
    StepTime time;
    std::optional<int64_t> end = RecordedTime(step);
    if (!end.has_value()) {
      end = NewestFileTime(fs, task, step);
      time.source = end.has_value() ? TimeSource::kFile : TimeSource::kNeighbour;
    }
    time.end_ns = end.value_or(previous);
    const StepFacts facts = ReadStepFacts(step);
    time.has_duration = facts.duration_ms.has_value();
    time.start_ns = time.end_ns - DurationNanos(facts, time.end_ns);
    previous = time.end_ns;
    times.push_back(time);
  }
  return times;
}

Result<std::string> TraceIdOf(FileSystem& fs, const ExportTask& task) {
  const Step& first = task.steps.front();
  // Without a journal the only times are the files', which a copy changes.
  std::string seed = Joined({"kerf trace", task.op, task.task, first.journaled ? first.time : ""});
  for (const StepFile& file : first.files) {
    std::string hash = file.sha256;
    if (hash.empty()) {
      const Result<std::string> bytes = ReadStepFile(fs, task.op_dir, file);
      hash = bytes.ok() ? Sha256Hex(*bytes) : "unreadable";
    }
    seed += Joined({file.name, hash});
  }
  return IdFrom(seed);
}

std::vector<std::string> SpanIdsOf(const ExportTask& task, const std::string& trace_id) {
  std::vector<std::string> ids;
  std::set<uint64_t> used = {0};  // all zeros means "no span"
  const auto add = [&](const std::string& seed) {
    uint64_t id = Xxh3(seed);
    while (!used.insert(id).second) ++id;
    ids.push_back(Hex64(id));
  };
  for (const Step& step : task.steps) {
    add(Joined({trace_id, std::to_string(step.step), RecordKindName(step.kind), step.action,
                step.check, std::to_string(step.attempt)}));
  }
  add(Joined({trace_id, "task"}));
  return ids;
}

std::vector<int64_t> JudgedRecords(const std::vector<Step>& steps) {
  std::vector<int64_t> judged;
  int64_t coder = -1;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool is_verifier = steps[i].kind == RecordKind::kVerifier;
    judged.push_back(is_verifier ? coder : -1);
    if (steps[i].kind == RecordKind::kDesignerOrCoder && RoleOf(steps[i]) != "designer") {
      coder = static_cast<int64_t>(i);
    }
  }
  return judged;
}

std::string StepTexts::Text(const ExportTask& task, const Step& step,
                            const std::string& parameter) {
  return Keep(ReadStepText(fs_, task.op_dir, step, parameter));
}

std::string StepTexts::Reply(const ExportTask& task, const Step& step) {
  return Keep(ReadRawReply(fs_, task.op_dir, step));
}

std::string StepTexts::Keep(Result<std::string> text) {
  if (text.ok()) return *std::move(text);
  ++unreadable_;
  return "";
}

}  // namespace kerf::trace
