#include "loop/task/task_shrink.h"

#include <unistd.h>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

constexpr uint64_t kMostTextBytes = uint64_t{4} << 20;
constexpr double kNoLimit = 1e300;

std::string MakeRequest(const TaskFile& task, const ShrinkOptions& options,
                        const std::string& task_path) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("task").String(task_path);
  json.Key("framework").String(FrameworkName(task.framework)).Key("out").String("out");
  json.Key("max_bytes").Int(options.max_bytes);
  json.Key("max_work").Double(options.max_work > 0 ? options.max_work : kNoLimit).EndObject();
  return text;
}

void ReadChange(JsonReader& reader, SizeChange& change) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "name") {
      reader.ReadString(change.name);
    } else if (key == "line") {
      reader.ReadInt(change.line);
    } else if (key == "from") {
      reader.ReadInt(change.from);
    } else if (key == "to") {
      reader.ReadInt(change.to);
    } else {
      reader.Skip();
    }
  }
}

// The program's text and its report from the folder it wrote.
Result<ShrunkTask> ReadResult(const std::string& out) {
  KERF_ASSIGN_OR_RETURN(const std::string sizes,
                        sandbox::ReadResultFile(out, "sizes.json", kMostTextBytes));
  ShrunkTask shrunk;
  KERF_ASSIGN_OR_RETURN(shrunk.report, ParseSizes(sizes));
  KERF_ASSIGN_OR_RETURN(shrunk.text, sandbox::ReadResultFile(out, "task.py", kMostTextBytes));
  return shrunk;
}

Result<ShrunkTask> RunShrink(FileSystem& fs, const TaskFile& task, const ShrinkOptions& options,
                             const Interpreter& interpreter, const std::string& folder,
                             const std::string& cache_root) {
  TaskRunner runner(fs, task, interpreter, options.run);
  ShrunkTask shrunk;
  const auto take = [&](const sandbox::Outcome& outcome,
                        const std::string& out) -> Result<std::string> {
    Result<ShrunkTask> read = ReadResult(out);
    if (!read.ok() && read.error().code == ErrorCode::kInvalidInput) return read.error();
    if (!outcome.succeeded() || !read.ok()) return runner.Failure(outcome, out);
    shrunk = std::move(*read);
    return out;
  };
  const auto request = [&](const std::string& task_path) {
    return MakeRequest(task, options, task_path);
  };
  const auto ran = runner.Run("task_sizes.py", request, take, folder, cache_root);
  if (!ran.ok()) return ran.error();
  return shrunk;
}

}  // namespace

Result<ShrinkReport> ParseSizes(std::string_view json) {
  ShrinkReport report;
  std::string key;
  std::string error;
  JsonReader reader(json);
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "changed") {
      for (reader.BeginArray(); reader.NextElement();) {
        ReadChange(reader, report.changed.emplace_back());
      }
    } else if (key == "bytes_before") {
      reader.ReadInt(report.bytes_before);
    } else if (key == "bytes") {
      reader.ReadInt(report.bytes);
    } else if (key == "work_before") {
      reader.ReadDouble(report.work_before);
    } else if (key == "work") {
      reader.ReadDouble(report.work);
    } else if (key == "error" && reader.Peek() == JsonType::kString) {
      reader.ReadString(error);
    } else {
      reader.Skip();
    }
  }
  if (!reader.Finish()) return Corrupt("sizes.json: " + reader.error());
  if (!error.empty()) return InvalidInput("the task cannot be made smaller: " + error);
  return report;
}

Result<ShrunkTask> ShrinkTask(FileSystem& fs, const TaskFile& task, const ShrinkOptions& options,
                              const Interpreter& interpreter, const std::string& cache_root) {
  const std::string root = JoinPath(cache_root, "shrink");
  KERF_RETURN_IF_ERROR(fs.CreateDirs(root));
  const std::string folder = JoinPath(root, task.sha256 + "." + std::to_string(::getpid()));
  (void)sandbox::RemoveTree(folder);  // of a process that died
  KERF_RETURN_IF_ERROR(fs.CreateDir(folder));
  Result<ShrunkTask> shrunk = RunShrink(fs, task, options, interpreter, folder, cache_root);
  (void)sandbox::RemoveTree(folder);
  return shrunk;
}

}  // namespace kerf::task
