// The cache holds one file for a task: its documents, one on each line. It is written beside its
// place and renamed, so that nobody reads half of one; two processes that make the same graph at
// once write the same file.
#include "loop/task/graph_maker.h"

#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json_writer.h"
#include "resource/resource.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

constexpr uint64_t kMostGraphBytes = uint64_t{64} << 20;
constexpr size_t kMostVariants = 1000;
// A graph has kilobytes; old ones are of texts nobody has any more.
constexpr size_t kMostKept = 2000;

std::string GraphKey(const TaskFile& task, const Interpreter& interpreter) {
  return Sha256Hex("graph 1\n" + task.sha256 + "\n" + FrameworkName(task.framework) + "\n" +
                   interpreter.framework_version + "\n" + interpreter.python_version + "\n" +
                   resource::ContentHash("python/"))
      .substr(0, 40);
}

std::string MakeRequest(const TaskFile& task, const GraphOptions& options,
                        const std::string& task_path) {
  const auto seconds = static_cast<double>(options.run.timeout.count());
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("task").String(task_path);
  json.Key("framework").String(FrameworkName(task.framework)).Key("out").String("out");
  json.Key("threads").Int(ThreadCount(options.run.threads));
  // Before it is ended from outside, it shall say where it is.
  json.Key("hang_seconds").Double(seconds - std::min(2.0, 0.2 * seconds)).EndObject();
  return text;
}

// A line for each variant. Checked by whoever parses it.
Result<std::string> ReadDocuments(const std::string& out) {
  std::string lines;
  for (size_t variant = 0; variant < kMostVariants; ++variant) {
    Result<std::string> text =
        sandbox::ReadResultFile(out, "graph-" + std::to_string(variant) + ".json", kMostGraphBytes);
    if (!text.ok() && text.error().code == ErrorCode::kNotFound) break;
    KERF_RETURN_IF_ERROR(text.ok() ? Status() : Status(text.error()));
    std::replace(text->begin(), text->end(), '\n', ' ');
    lines += *text + "\n";
  }
  return lines;
}

Result<TaskGraphs> ParseDocuments(std::string_view lines) {
  TaskGraphs graphs;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    KERF_ASSIGN_OR_RETURN(CaptureOutcome outcome, ParseCapture(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (outcome.refusal.has_value()) {
      graphs.variants.clear();
      graphs.refusal = std::move(outcome.refusal);
      return graphs;
    }
    graphs.variants.push_back(std::move(*outcome.graph));
  }
  if (graphs.variants.empty()) return Corrupt("there is no graph");
  return graphs;
}

void DropOldest(FileSystem& fs, const std::string& folder) {
  const Result<std::vector<DirEntry>> entries = fs.List(folder);
  if (!entries.ok() || entries->size() <= kMostKept) return;
  std::vector<std::pair<int64_t, std::string>> files;
  for (const DirEntry& entry : *entries) {
    const auto info = fs.Stat(JoinPath(folder, entry.name));
    if (info.ok() && info->has_value()) files.emplace_back((*info)->mtime_ns, entry.name);
  }
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + kMostKept / 2 < files.size(); ++i) {
    (void)fs.Remove(JoinPath(folder, files[i].second));  // gone already is as good
  }
}

Status Keep(FileSystem& fs, const std::string& folder, const std::string& path,
            const std::string& lines) {
  const std::string beside = path + "." + std::to_string(::getpid());
  (void)fs.Remove(beside);
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenNew(beside));
  KERF_RETURN_IF_ERROR(file->Write(lines));
  KERF_RETURN_IF_ERROR(fs.Rename(beside, path));
  DropOldest(fs, folder);
  return {};
}

// A folder for one run, which goes with it.
class RunFolder {
 public:
  static Result<RunFolder> Make(FileSystem& fs, const std::string& path) {
    (void)sandbox::RemoveTree(path);
    KERF_RETURN_IF_ERROR(fs.CreateDir(path));
    return RunFolder(path);
  }
  RunFolder(RunFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder() {
    if (!path_.empty()) (void)sandbox::RemoveTree(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Result<std::string> CaptureTask(FileSystem& fs, const TaskFile& task, const GraphOptions& options,
                                const Interpreter& interpreter, const std::string& folder,
                                const std::string& cache_root) {
  TaskRunner runner(fs, task, interpreter, options.run);
  std::string lines;
  const auto take = [&](const sandbox::Outcome& outcome,
                        const std::string& out) -> Result<std::string> {
    if (!outcome.succeeded()) return runner.Failure(outcome, out);
    KERF_ASSIGN_OR_RETURN(lines, ReadDocuments(out));
    if (lines.empty()) return runner.Failure(outcome, out);
    return out;
  };
  const auto request = [&](const std::string& task_path) {
    return MakeRequest(task, options, task_path);
  };
  KERF_RETURN_IF_ERROR([&]() -> Status {
    const auto ran = runner.Run("graph_runner.py", request, take, folder, cache_root);
    return ran.ok() ? Status() : Status(ran.error());
  }());
  return lines;
}

}  // namespace

Result<TaskGraphs> MakeGraphs(FileSystem& fs, const TaskFile& task, const GraphOptions& options,
                              const Interpreter& interpreter, const std::string& cache_root) {
  const std::string folder = JoinPath(cache_root, "graphs");
  const std::string path = JoinPath(folder, GraphKey(task, interpreter) + ".jsonl");
  if (const Result<std::string> kept = fs.ReadFile(path); kept.ok()) {
    Result<TaskGraphs> graphs = ParseDocuments(*kept);
    if (graphs.ok()) graphs->cached = true;
    if (graphs.ok()) return graphs;  // a damaged one is made again
  }
  KERF_RETURN_IF_ERROR(fs.CreateDirs(folder));
  KERF_ASSIGN_OR_RETURN(const RunFolder run,
                        RunFolder::Make(fs, path + "." + std::to_string(::getpid()) + ".run"));
  KERF_ASSIGN_OR_RETURN(const std::string lines,
                        CaptureTask(fs, task, options, interpreter, run.path(), cache_root));
  Result<TaskGraphs> graphs = ParseDocuments(lines);
  if (!graphs.ok()) return std::move(graphs).error().Within("the graph of " + task.path);
  KERF_RETURN_IF_ERROR(Keep(fs, folder, path, lines));
  return graphs;
}

}  // namespace kerf::task
