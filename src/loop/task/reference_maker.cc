#include "loop/task/reference_maker.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/json_writer.h"
#include "loop/task/task_runner.h"
#include "resource/resource.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

bool Compiles(const ReferenceOptions& options) {
  return std::find(options.baselines.begin(), options.baselines.end(), "torch.compile") !=
         options.baselines.end();
}

std::string MakeRequest(const TaskFile& task, const ReferenceOptions& options,
                        const std::string& task_path) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("task").String(task_path);
  json.Key("framework").String(FrameworkName(task.framework));
  json.Key("out").String("out");
  json.Key("seeds").BeginArray();
  for (const int64_t seed : options.seeds) json.Int(seed);
  json.EndArray().Key("hidden").Int(options.hidden).Key("check").Bool(options.check);
  json.Key("twin").Bool(options.twin);
  json.Key("baselines").BeginArray();
  for (const std::string& name : options.baselines) json.String(name);
  json.EndArray().Key("threads").Int(ThreadCount(options.threads));
  // Before it is ended from outside, it shall say where it is.
  const int64_t seconds = options.timeout.count();
  json.Key("hang_seconds")
      .Double(static_cast<double>(seconds) - std::min(2.0, 0.2 * static_cast<double>(seconds)));
  // A task with a thousand parameters would be run a thousand times.
  json.Key("check_seconds").Double(static_cast<double>(seconds) * 0.25);
  json.EndObject();
  return text;
}

// What the manifest does not name was left there by the task.
Status RemoveStrangers(FileSystem& fs, const Reference& reference) {
  std::set<std::string> known = {"manifest.json"};
  for (const ReferenceCase& one : reference.cases) {
    known.insert(BaseName(one.input_file));
    known.insert(BaseName(one.output_file));
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(reference.folder));
  for (const DirEntry& entry : entries) {
    if (known.contains(entry.name)) continue;
    const std::string path = JoinPath(reference.folder, entry.name);
    KERF_RETURN_IF_ERROR(entry.kind == FileKind::kDirectory ? sandbox::RemoveTree(path)
                                                            : fs.Remove(path));
  }
  return {};
}

TaskRunOptions RunOptions(const ReferenceOptions& options, uint64_t most_bytes) {
  TaskRunOptions run;
  run.timeout = options.timeout;
  run.mode = options.mode;
  run.available = options.available;
  run.threads = options.threads;
  run.memory_bytes = options.memory_bytes;
  run.most_bytes = most_bytes;
  run.compiles = Compiles(options);
  return run;
}

Result<std::string> BuildReference(FileSystem& fs, const TaskFile& task,
                                   const ReferenceOptions& options, const Interpreter& interpreter,
                                   const ReferenceCache& cache, const std::string& folder) {
  TaskRunner runner(fs, task, interpreter, RunOptions(options, cache.limit_bytes()));
  const auto take = [&](const sandbox::Outcome& outcome,
                        const std::string& out) -> Result<std::string> {
    if (!outcome.succeeded()) return runner.Failure(outcome, out);
    Result<Reference> reference = ReadReference(fs, out);
    if (!reference.ok()) {
      // Exit code 0 without a result: the task ended the process.
      if (reference.error().code == ErrorCode::kNotFound) return runner.Failure(outcome, out);
      return std::move(reference).error().Within("the reference of " + task.path);
    }
    if (reference->task_sha256 != task.sha256) {
      return Corrupt("the reference of " + task.path + " is of another text");
    }
    KERF_RETURN_IF_ERROR(RemoveStrangers(fs, *reference));
    return out;
  };
  return runner.Run(
      "reference_runner.py",
      [&](const std::string& task_path) { return MakeRequest(task, options, task_path); }, take,
      folder, cache.root());
}

}  // namespace

std::string ReferenceKey(const TaskFile& task, const ReferenceOptions& options,
                         const Interpreter& interpreter) {
  std::string text = "reference 1\n" + task.sha256 + "\n" + FrameworkName(task.framework) + "\n" +
                     interpreter.framework_version + "\n" + interpreter.python_version + "\n" +
                     resource::ContentHash("python/") + "\n";
  text += std::to_string(options.hidden) + "\n" + (options.check ? "check" : "") +
          (options.twin ? "twin" : "") + "\n" + std::to_string(ThreadCount(options.threads)) +
          "\nseeds";
  for (const int64_t seed : options.seeds) text += " " + std::to_string(seed);
  text += "\nbaselines";
  for (const std::string& name : options.baselines) text += " " + name;
  // A cache may be shared between machines; times are not.
  char host[256] = "";
  if (!options.baselines.empty() && ::gethostname(host, sizeof host - 1) == 0)
    text += " on " + std::string(host);
  return Sha256Hex(text).substr(0, 40);
}

Result<Reference> MakeReference(FileSystem& fs, const TaskFile& task,
                                const ReferenceOptions& options, const Interpreter& interpreter,
                                ReferenceCache& cache) {
  if (options.seeds.empty()) return InvalidInput("a reference needs at least one seed");
  return cache.Get(
      ReferenceKey(task, options, interpreter),
      [&](const std::string& folder) {
        return BuildReference(fs, task, options, interpreter, cache, folder);
      },
      options.timeout + std::chrono::minutes(1));
}

}  // namespace kerf::task
