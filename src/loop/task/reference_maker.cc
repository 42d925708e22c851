#include "loop/task/reference_maker.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "loop/task/runner_failure.h"
#include "resource/resource.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

// Where things are inside, when the program sees a tree of its own.
constexpr const char* kRunnerInside = "/kerf/python";
constexpr const char* kTaskInside = "/kerf/task";

int ThreadCount(const ReferenceOptions& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

uint64_t MemoryBytes(const ReferenceOptions& options) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 4 * 3;
}

bool Compiles(const ReferenceOptions& options) {
  return std::find(options.baselines.begin(), options.baselines.end(), "torch.compile") !=
         options.baselines.end();
}

sandbox::Limits MakeLimits(const ReferenceOptions& options, uint64_t most_bytes) {
  sandbox::Limits limits;
  limits.wall_time = options.timeout;
  limits.cpu_time = options.timeout * (ThreadCount(options) + 1);
  limits.memory_bytes = MemoryBytes(options);
  limits.processes = 256 + static_cast<uint64_t>(ThreadCount(options)) * 8;
  limits.open_files = 4096;
  limits.file_bytes = most_bytes;
  limits.work_bytes = most_bytes;
  return limits;
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
  json.EndArray().Key("threads").Int(ThreadCount(options));
  // Before it is ended from outside, it shall say where it is.
  const int64_t seconds = options.timeout.count();
  json.Key("hang_seconds")
      .Double(static_cast<double>(seconds) - std::min(2.0, 0.2 * static_cast<double>(seconds)));
  // A task with a thousand parameters would be run a thousand times.
  json.Key("check_seconds").Double(static_cast<double>(seconds) * 0.25);
  json.EndObject();
  return text;
}

// The text that was read and hashed, under the operator's name, readable for nobody too.
Status PlaceTask(FileSystem& fs, const TaskFile& task, const std::string& folder) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(folder));
  KERF_RETURN_IF_ERROR(fs.SetMode(folder, 0755));
  const std::string path = JoinPath(folder, task.ModuleName());
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenNew(path));
  KERF_RETURN_IF_ERROR(file->Write(task.text));
  return fs.SetMode(path, 0644);
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

// A folder that every user may enter and that goes when it is done with.
class OpenFolder {
 public:
  static Result<OpenFolder> Make() {
    std::string name = "/tmp/kerf-reference-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return ErrnoError("make", name, errno);
    OpenFolder folder(name);
    if (::chmod(name.c_str(), 0711) != 0) return ErrnoError("open", name, errno);
    return folder;
  }
  OpenFolder(OpenFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  OpenFolder& operator=(OpenFolder&&) = delete;
  ~OpenFolder() {
    if (!path_.empty()) (void)sandbox::RemoveTree(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit OpenFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Piece by piece: /tmp is often another file system, where a rename does not do.
Status CopyFile(FileSystem& fs, const std::string& from, const std::string& to) {
  constexpr uint64_t kPiece = uint64_t{4} << 20;
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> out, fs.OpenNew(to));
  for (uint64_t done = 0;; done += kPiece) {
    KERF_ASSIGN_OR_RETURN(const std::string piece, fs.ReadRange(from, done, kPiece));
    KERF_RETURN_IF_ERROR(out->Write(piece));
    if (piece.size() < kPiece) return {};
  }
}

Result<std::string> CopyReference(FileSystem& fs, const std::string& from, const std::string& to) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(to));
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(from));
  for (const DirEntry& entry : entries) {
    KERF_RETURN_IF_ERROR(CopyFile(fs, JoinPath(from, entry.name), JoinPath(to, entry.name)));
  }
  return to;
}

class Maker {
 public:
  Maker(FileSystem& fs, const TaskFile& task, const ReferenceOptions& options,
        const Interpreter& interpreter, const ReferenceCache& cache)
      : fs_(fs), task_(task), options_(options), interpreter_(interpreter), cache_(cache) {}

  Result<std::string> Build(const std::string& folder) {
    KERF_ASSIGN_OR_RETURN(level_, sandbox::ChooseLevel(options_.mode, Available()));
    if (!RunsAsNobodyOnTheHost()) return BuildIn(folder, cache_.root());
    // Nobody cannot enter the cache, which is the user's alone.
    KERF_ASSIGN_OR_RETURN(const OpenFolder open, OpenFolder::Make());
    KERF_ASSIGN_OR_RETURN(const std::string made, BuildIn(open.path(), open.path()));
    return CopyReference(fs_, made, JoinPath(folder, "out"));
  }

 private:
  Result<std::string> BuildIn(const std::string& folder, const std::string& resource_dir) {
    const std::string task_folder = JoinPath(folder, "task");
    const std::string work = JoinPath(folder, "work");
    KERF_RETURN_IF_ERROR(PlaceTask(fs_, task_, task_folder));
    KERF_RETURN_IF_ERROR(fs_.CreateDir(work));
    KERF_ASSIGN_OR_RETURN(const std::string resources, resource::Extract(fs_, resource_dir));
    KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome,
                          Run(task_folder, work, JoinPath(resources, "python")));
    const std::string out = JoinPath(work, "out");
    if (!outcome.succeeded()) return Failure(outcome, out);
    Result<Reference> reference = ReadReference(fs_, out);
    if (!reference.ok()) {
      // Exit code 0 without a result: the task ended the process.
      if (reference.error().code == ErrorCode::kNotFound) return Failure(outcome, out);
      return std::move(reference).error().Within("the reference of " + task_.path);
    }
    if (reference->task_sha256 != task_.sha256) {
      return Corrupt("the reference of " + task_.path + " is of another text");
    }
    KERF_RETURN_IF_ERROR(RemoveStrangers(fs_, *reference));
    return out;
  }

  [[nodiscard]] sandbox::SandboxLevel Available() const {
    return options_.available.has_value() ? *options_.available : sandbox::Probe();
  }

  // Root's programs become nobody; with namespaces what they may see is bound for them, whatever
  // folders it lies in.
  [[nodiscard]] bool RunsAsNobodyOnTheHost() const {
    return ::geteuid() == 0 && !level_.has_namespaces() &&
           level_.has(sandbox::Layer::kNoNewPrivileges);
  }

  // inductor includes Python.h; the distribution's is in view already.
  void AddHeaders(bool inside, sandbox::Policy& policy) const {
    const std::string& path = interpreter_.include_path;
    if (path.empty() || path.starts_with("/usr/") || ::access(path.c_str(), R_OK) != 0) return;
    for (const sandbox::Bind& bind : policy.read_only()) {
      if (path == bind.inside || path.starts_with(bind.inside + "/")) return;
    }
    if (!inside || !path.starts_with("/tmp/")) policy.Read(path);
  }

  Result<sandbox::Outcome> Run(const std::string& task_folder, const std::string& work,
                               const std::string& runner) {
    const bool inside = level_.has_namespaces();
    KERF_ASSIGN_OR_RETURN(PythonView view,
                          MakePythonView(interpreter_, ThreadCount(options_), inside));
    view.policy.Read(runner, inside ? kRunnerInside : runner);
    view.policy.Read(task_folder, inside ? kTaskInside : task_folder);
    view.policy.WorkFolder(work);
    if (!inside) view.policy.Variable("HOME", work);
    if (Compiles(options_)) {
      AddHeaders(inside, view.policy);
      view.policy.Weaken(sandbox::AllowExecFromWorkFolder{});
      view.policy.Variable("TORCHINDUCTOR_CACHE_DIR",
                           (inside ? sandbox::kWorkInside : work) + std::string("/inductor"));
      view.policy.Variable("TMPDIR", inside ? sandbox::kWorkInside : work);
    }
    const sandbox::Sandbox box(std::move(view.policy), MakeLimits(options_, cache_.limit_bytes()),
                               options_.mode, Available());
    const std::string task_path = JoinPath(inside ? kTaskInside : task_folder, task_.ModuleName());
    const std::string program =
        JoinPath(inside ? kRunnerInside : runner, "kerf/reference_runner.py");
    return box.Run({view.python, program, "-"}, MakeRequest(task_, options_, task_path));
  }

  Error Failure(const sandbox::Outcome& outcome, const std::string& out) {
    return ExplainFailure({outcome, out, task_, interpreter_, options_.timeout});
  }

  FileSystem& fs_;
  const TaskFile& task_;
  const ReferenceOptions& options_;
  const Interpreter& interpreter_;
  const ReferenceCache& cache_;
  sandbox::SandboxLevel level_;
};

}  // namespace

std::string ReferenceKey(const TaskFile& task, const ReferenceOptions& options,
                         const Interpreter& interpreter) {
  std::string text = "reference 1\n" + task.sha256 + "\n" + FrameworkName(task.framework) + "\n" +
                     interpreter.framework_version + "\n" + interpreter.python_version + "\n" +
                     resource::ContentHash("python/") + "\n";
  text += std::to_string(options.hidden) + "\n" + (options.check ? "check" : "") +
          (options.twin ? "twin" : "") + "\n" + std::to_string(ThreadCount(options)) + "\nseeds";
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
  Maker maker(fs, task, options, interpreter, cache);
  return cache.Get(
      ReferenceKey(task, options, interpreter),
      [&](const std::string& folder) { return maker.Build(folder); },
      options.timeout + std::chrono::minutes(1));
}

}  // namespace kerf::task
