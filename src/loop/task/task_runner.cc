#include "loop/task/task_runner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "device/probe.h"
#include "loop/task/reference_maker.h"
#include "loop/task/runner_failure.h"
#include "resource/resource.h"
#include "sandbox/work_folder.h"

namespace kerf::task {
namespace {

// Where things are inside, when the program sees a tree of its own.
constexpr const char* kRunnerInside = "/kerf/python";
constexpr const char* kTaskInside = "/kerf/task";

uint64_t MemoryBytes(uint64_t wanted) {
  if (wanted > 0) return wanted;
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 4 * 3;
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
  constexpr uint64_t kCopyPiece = uint64_t{4} << 20;
  KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> out, fs.OpenNew(to));
  for (uint64_t done = 0;; done += kCopyPiece) {
    KERF_ASSIGN_OR_RETURN(const std::string piece, fs.ReadRange(from, done, kCopyPiece));
    KERF_RETURN_IF_ERROR(out->Write(piece));
    if (piece.size() < kCopyPiece) return {};
  }
}

Result<std::string> CopyFolder(FileSystem& fs, const std::string& from, const std::string& to) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(to));
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(from));
  for (const DirEntry& entry : entries) {
    KERF_RETURN_IF_ERROR(CopyFile(fs, JoinPath(from, entry.name), JoinPath(to, entry.name)));
  }
  return to;
}

}  // namespace

int ThreadCount(int wanted) {
  if (wanted > 0) return wanted;
  return device::UsableProcessors();
}

Result<std::string> TaskRunner::Run(const std::string& program, const Request& request,
                                    const Take& take, const std::string& folder,
                                    const std::string& cache_root) {
  KERF_ASSIGN_OR_RETURN(level_, sandbox::ChooseLevel(options_.mode, Available()));
  if (!RunsAsNobodyOnTheHost()) return RunIn(program, request, take, folder, cache_root);
  // Nobody cannot enter the cache, which is the user's alone.
  KERF_ASSIGN_OR_RETURN(const OpenFolder open, OpenFolder::Make());
  KERF_ASSIGN_OR_RETURN(const std::string made,
                        RunIn(program, request, take, open.path(), open.path()));
  return CopyFolder(fs_, made, JoinPath(folder, "out"));
}

Result<std::string> TaskRunner::RunIn(const std::string& program, const Request& request,
                                      const Take& take, const std::string& folder,
                                      const std::string& resource_dir) {
  const std::string task_folder = JoinPath(folder, "task");
  const std::string work = JoinPath(folder, "work");
  KERF_RETURN_IF_ERROR(PlaceTask(fs_, task_, task_folder));
  KERF_RETURN_IF_ERROR(fs_.CreateDir(work));
  KERF_ASSIGN_OR_RETURN(const std::string resources, resource::Extract(fs_, resource_dir));
  KERF_ASSIGN_OR_RETURN(
      const sandbox::Outcome outcome,
      RunProgram(program, request, task_folder, work, JoinPath(resources, "python")));
  return take(outcome, JoinPath(work, "out"));
}

sandbox::SandboxLevel TaskRunner::Available() const {
  return options_.available.has_value() ? *options_.available : sandbox::Probe();
}

// Root's programs become nobody; with namespaces what they may see is bound for them, whatever
// folders it lies in.
bool TaskRunner::RunsAsNobodyOnTheHost() const {
  return ::geteuid() == 0 && !level_.has_namespaces() &&
         level_.has(sandbox::Layer::kNoNewPrivileges);
}

// inductor includes Python.h; the distribution's is in view already.
void TaskRunner::AddHeaders(bool inside, sandbox::Policy& policy) const {
  const std::string& path = interpreter_.include_path;
  if (path.empty() || path.starts_with("/usr/") || ::access(path.c_str(), R_OK) != 0) return;
  for (const sandbox::Bind& bind : policy.read_only()) {
    if (path == bind.inside || path.starts_with(bind.inside + "/")) return;
  }
  if (!inside || !path.starts_with("/tmp/")) policy.Read(path);
}

sandbox::Limits TaskRunner::MakeLimits() const {
  const int threads = ThreadCount(options_.threads);
  sandbox::Limits limits;
  limits.wall_time = options_.timeout;
  limits.cpu_time = options_.timeout * (threads + 1);
  limits.memory_bytes = MemoryBytes(options_.memory_bytes);
  limits.processes = 256 + static_cast<uint64_t>(threads) * 8;
  limits.open_files = 4096;
  limits.file_bytes = options_.most_bytes;
  limits.work_bytes = options_.most_bytes;
  return limits;
}

Result<sandbox::Outcome> TaskRunner::RunProgram(const std::string& program, const Request& request,
                                                const std::string& task_folder,
                                                const std::string& work,
                                                const std::string& runner) {
  const bool inside = level_.has_namespaces();
  KERF_ASSIGN_OR_RETURN(PythonView view,
                        MakePythonView(interpreter_, ThreadCount(options_.threads), inside));
  view.policy.Read(runner, inside ? kRunnerInside : runner);
  view.policy.Read(task_folder, inside ? kTaskInside : task_folder);
  view.policy.WorkFolder(work);
  if (!inside) view.policy.Variable("HOME", work);
  if (options_.compiles) {
    AddHeaders(inside, view.policy);
    view.policy.Weaken(sandbox::AllowExecFromWorkFolder{});
    view.policy.Variable("TORCHINDUCTOR_CACHE_DIR",
                         (inside ? sandbox::kWorkInside : work) + std::string("/inductor"));
    view.policy.Variable("TMPDIR", inside ? sandbox::kWorkInside : work);
  }
  const sandbox::Sandbox box(std::move(view.policy), MakeLimits(), options_.mode, Available());
  const std::string task_path = JoinPath(inside ? kTaskInside : task_folder, task_.ModuleName());
  const std::string path = JoinPath(inside ? kRunnerInside : runner, "kerf/" + program);
  return box.Run({view.python, path, "-"}, request(task_path));
}

Error TaskRunner::Failure(const sandbox::Outcome& outcome, const std::string& out) const {
  return ExplainFailure({outcome, out, task_, interpreter_, options_.timeout});
}

}  // namespace kerf::task
