// A virtual environment needs little: the link to its interpreter, pyvenv.cfg, which names the
// installation behind it, and the folders of sys.path. All of it is bound where it is on the host,
// for Python finds its parts by their paths. Where the sandbox has folders of its own (/w,
// /tmp), the environment is bound elsewhere, which it does not notice; the installation behind it
// cannot be moved that way, because pyvenv.cfg names it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_system.h"

#include "loop/task/reference_maker.h"

namespace kerf::task {
namespace {

constexpr const char* kElsewhere = "/kerf/host";

bool IsCovered(const std::string& path) {
  for (const char* own : {sandbox::kWorkInside, "/tmp", "/dev", "/proc"}) {
    if (IsBelow(path, own)) return true;
  }
  return false;
}

std::string Inside(const std::string& path, bool namespaces) {
  return namespaces && IsCovered(path) ? kElsewhere + path : path;
}

// In a clean form, as policies want them; "" when it cannot be.
std::string Clean(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool IsInView(const std::string& path, const Interpreter& interpreter) {
  return std::any_of(interpreter.read_paths.begin(), interpreter.read_paths.end(),
                     [&](const std::string& folder) { return IsBelow(path, folder); });
}

// Thread pools of BLAS and OpenMP read these when they are loaded.
void AddThreadVariables(int threads, sandbox::Policy& policy) {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                           "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}) {
    policy.Variable(name, std::to_string(threads));
  }
}

// Packages that are neither in the environment nor in the installation (editable ones, mostly) and
// that lie where the sandbox has something else.
std::string MovedImportPaths(const Interpreter& interpreter, bool namespaces) {
  std::string moved;
  for (const std::string& path : interpreter.import_paths) {
    if (IsBelow(path, interpreter.prefix) || Inside(path, namespaces) == path) continue;
    moved += (moved.empty() ? "" : ":") + Inside(path, namespaces);
  }
  return moved;
}

}  // namespace

Result<PythonView> MakePythonView(const Interpreter& interpreter, int threads, bool namespaces) {
  const std::string& real = interpreter.real_executable;
  if (namespaces && (IsCovered(real) || IsCovered(interpreter.base_prefix))) {
    return Unavailable(
        "the interpreter " + real +
        " lies below a folder that the sandbox replaces (/tmp, /work); choose one that "
        "does not with KERF_PYTHON");
  }
  PythonView view{sandbox::Policy::ForSystemPrograms(), Inside(interpreter.executable, namespaces)};
  for (const std::string& path : interpreter.read_paths) {
    if (::access(path.c_str(), F_OK) == 0) {
      view.policy.Read(path, Inside(Clean(path), namespaces));
    }
  }
  // Without namespaces the sandbox takes paths below /work for its own, unless they are named.
  if (!namespaces && !IsInView(interpreter.executable, interpreter))
    view.policy.Read(interpreter.executable);
  // A link, not the file: from where it lies the interpreter finds its shared library.
  const bool below_usr =
      IsBelow(interpreter.executable, "/usr") || IsBelow(interpreter.executable, "/bin");
  if (namespaces && interpreter.executable != real && !below_usr &&
      !IsInView(interpreter.executable, interpreter)) {
    view.policy.Link(real, view.python);
  }
  // How many processors and caches there are; libraries choose their kernels and blocks by it.
  if (::access("/sys/devices/system/cpu", R_OK) == 0) view.policy.Read("/sys/devices/system/cpu");
  AddThreadVariables(threads, view.policy);
  view.policy.Variable("PYTHONDONTWRITEBYTECODE", "1")
      .Variable("PYTHONHASHSEED", "0")
      .Variable("PYTHONIOENCODING", "utf-8")
      .Variable("LANG", "C.UTF-8");
  if (interpreter.user_base.empty()) {
    view.policy.Variable("PYTHONNOUSERSITE", "1");
  } else {
    view.policy.Variable("PYTHONUSERBASE", Inside(interpreter.user_base, namespaces));
  }
  if (const std::string moved = MovedImportPaths(interpreter, namespaces); !moved.empty()) {
    view.policy.Variable("PYTHONPATH", moved);
  }
  if (!interpreter.library_path.empty()) {
    view.policy.Variable("LD_LIBRARY_PATH", interpreter.library_path);
  }
  return view;
}

}  // namespace kerf::task
