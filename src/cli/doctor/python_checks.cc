// Several interpreters share a machine, and a package that one sees is unseen by the others. So
// every one is asked, in the order in which kerf would choose: KERF_PYTHON, the virtual
// environments, each python3 in PATH, the distribution's.
#include <algorithm>
#include <future>

#include "base/file_system.h"
#include "cli/doctor/check.h"

namespace kerf::cli {
namespace {

// Looks for packages without importing them: `import torch` takes seconds. The empty entry of
// sys.path goes, because a folder called "torch" where doctor is run would count as the package.
constexpr const char* kProbe = R"(
import sys
sys.path = [p for p in sys.path if p]
import importlib.util, importlib.metadata
print("python", sys.version.split()[0])
for name in ("numpy", "torch", "triton", "mindspore"):
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        try:
            version = importlib.metadata.version(name)
        except Exception:
            version = "?"
        print(name, version)
    except Exception:
        pass
)";

struct Interpreter {
  std::string path;
  std::vector<std::pair<std::string, std::string>> versions;  // of "python" and of packages

  [[nodiscard]] std::string VersionOf(const std::string& name) const {
    for (const auto& [package, version] : versions) {
      if (package == name) return version;
    }
    return "";
  }
};

std::vector<std::string> Candidates(Machine& machine) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (machine.IsExecutable(path) && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(path);
    }
  };
  if (const auto configured = machine.Variable("KERF_PYTHON")) add(*configured);
  add("./.venv/bin/python");
  add("./.venv-mindspore/bin/python");
  // build/release/kerf → the checkout it was built in.
  std::string dir = machine.BinaryDir();
  for (int level = 0; level < 3 && dir != "/" && dir != "."; ++level, dir = ParentPath(dir)) {
    add(JoinPath(dir, ".venv/bin/python"));
    add(JoinPath(dir, ".venv-mindspore/bin/python"));
  }
  for (const std::string& path : machine.FindPrograms("python3")) {
    // /bin is a link to /usr/bin on merged systems.
    if (path != "/bin/python3" || !machine.Exists("/usr/bin/python3")) add(path);
  }
  add("/usr/bin/python3");
  return paths;
}

Interpreter Ask(Machine& machine, const std::string& path) {
  Interpreter interpreter{path, {}};
  const std::string output = OutputOf(machine, {path, "-c", kProbe});
  for (size_t begin = 0; begin < output.size();) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = output.substr(begin, end - begin);
    begin = end + 1;
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    interpreter.versions.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return interpreter;
}

Finding PythonFinding(const std::vector<Interpreter>& interpreters) {
  Finding finding{"python", Health::kMissing, "", "running references and Triton candidates",
                  "apt-get install python3 python3-venv"};
  for (const Interpreter& interpreter : interpreters) {
    const std::string version = interpreter.VersionOf("python");
    finding.detail += (finding.detail.empty() ? "" : ", ") +
                      (version.empty() ? "does not start" : version) + " (" + interpreter.path +
                      ")";
    if (!version.empty()) finding.health = Health::kOk;
  }
  if (!interpreters.empty() && finding.health == Health::kMissing)
    finding.health = Health::kLimited;
  return finding;
}

Finding PackageFinding(const std::string& name, const std::string& enables,
                       const std::vector<Interpreter>& interpreters) {
  // MindSpore is built for numpy 1, which torch's environment does not have.
  const std::string folder = name == "mindspore" ? ".venv-mindspore" : ".venv";
  Finding finding{name, Health::kMissing, "", enables,
                  "python3 -m venv " + folder + " && " + folder + "/bin/pip install " + name +
                      (name == "mindspore" ? " 'numpy<2'" : "")};
  std::string tried;
  for (const Interpreter& interpreter : interpreters) {
    const std::string version = interpreter.VersionOf(name);
    tried += (tried.empty() ? "" : ", ") + interpreter.path;
    if (version.empty()) continue;
    finding.health = Health::kOk;
    finding.detail = (version == "?" ? "installed" : version) + " (" + interpreter.path + ")";
    return finding;
  }
  finding.detail = tried.empty() ? "no python" : "not in " + tried;
  return finding;
}

std::vector<Finding> CheckPython(Machine& machine) {
  std::vector<std::future<Interpreter>> pending;
  for (const std::string& path : Candidates(machine)) {
    pending.push_back(
        std::async(std::launch::async, [&machine, path] { return Ask(machine, path); }));
  }
  std::vector<Interpreter> interpreters;
  interpreters.reserve(pending.size());
  for (auto& answer : pending) interpreters.push_back(answer.get());
  return {PythonFinding(interpreters), PackageFinding("numpy", "NumPy references", interpreters),
          PackageFinding("torch", "PyTorch references and baselines", interpreters),
          PackageFinding("triton", "Triton candidates", interpreters),
          PackageFinding("mindspore", "MindSpore references", interpreters)};
}

}  // namespace

std::vector<Check> PythonChecks() { return {CheckPython}; }

}  // namespace kerf::cli
