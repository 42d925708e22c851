#include "loop/task/interpreter.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

#include "loop/task/interpreter_probe.h"

namespace kerf::task {
namespace {

bool IsExecutable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string InstallCommand(Framework framework) {
  if (framework == Framework::kMindspore) {
    // Its extension modules are built for numpy 1, which torch's environment does not have.
    return "python3 -m venv .venv-mindspore && .venv-mindspore/bin/pip install mindspore 'numpy<2'";
  }
  std::string package = FrameworkName(framework);
  if (framework == Framework::kTorch) {
    package += " --index-url https://download.pytorch.org/whl/cpu";  // without gigabytes of CUDA
  }
  return "python3 -m venv .venv && .venv/bin/pip install " + package;
}

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    // A relative entry would make the choice depend on where kerf is run.
    if (end > begin && path[begin] == '/') folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

}  // namespace

InterpreterSearch SearchHere(FileSystem& fs, const std::string& cache_dir) {
  InterpreterSearch search{.fs = fs, .cache_dir = cache_dir};
  char buffer[PATH_MAX];
  if (::getcwd(buffer, sizeof buffer) != nullptr) search.cwd = buffer;
  const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length > 0) search.binary_dir = ParentPath(std::string(buffer, static_cast<size_t>(length)));
  return search;
}

std::vector<std::string> InterpreterCandidates(const InterpreterSearch& search) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (IsExecutable(path) && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(path);
    }
  };
  if (const auto configured = search.variable("KERF_PYTHON"); configured && !configured->empty()) {
    // The sandbox needs it absolute.
    add(configured->front() == '/' ? *configured : JoinPath(search.cwd, *configured));
  }
  for (std::string folder : {search.cwd, search.binary_dir}) {
    while (!folder.empty() && folder != "/" && folder != ".") {
      add(JoinPath(folder, ".venv/bin/python"));
      add(JoinPath(folder, ".venv-mindspore/bin/python"));
      const size_t slash = folder.rfind('/');
      folder.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  for (const std::string& folder : SplitPath(search.variable("PATH").value_or(""))) {
    // /bin is a link to /usr/bin on merged systems.
    if (folder != "/bin" || !IsExecutable("/usr/bin/python3")) add(JoinPath(folder, "python3"));
  }
  add("/usr/bin/python3");
  return paths;
}

Result<Interpreter> FindInterpreter(const InterpreterSearch& search, Framework framework) {
  std::string tried;
  for (const std::string& path : InterpreterCandidates(search)) {
    ProbeAnswer answer = ProbeInterpreter(search, path, framework);
    if (answer.problem.empty()) return std::move(answer.interpreter);
    const std::string& version = answer.interpreter.python_version;
    tried += (tried.empty() ? "" : ", ") + path + " (" + (version.empty() ? "" : version + ", ") +
             answer.problem + ")";
  }
  std::string message = std::string("no Python interpreter can import ") +
                        FrameworkName(framework) + "; tried " +
                        (tried.empty() ? "nothing, for there is none" : tried);
  if (const auto own = search.variable("KERF_PYTHON");
      own && !own->empty() && tried.find(*own) == std::string::npos) {
    message += "; KERF_PYTHON is '" + *own + "', which is no executable file";
  }
  return Unavailable(message + "; install it with: " + InstallCommand(framework) +
                     ", or name an interpreter in KERF_PYTHON");
}

}  // namespace kerf::task
