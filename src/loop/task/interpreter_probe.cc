// The answer is a line of JSON after a marker: what a framework prints while it is imported does
// not matter. It is kept, as it came, in interpreters/HASH.json behind a line with the modification
// times of the executable and of every folder the interpreter imports from: installing or removing
// a package changes one of them.
#include "loop/task/interpreter_probe.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file_system.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace kerf::task {
namespace {

constexpr std::string_view kMarker = "kerf-probe:";
constexpr auto kTimeout = std::chrono::seconds(120);  // a cold torch import from a network disk

// After the import, the maps of the process tell which shared libraries it needs, wherever they
// lie. Their folders are let in, because a library is found by a link beside it; a home folder is
// not.
constexpr const char* kScript = R"PY(
import sys
sys.path = [p for p in sys.path if p]
import importlib, importlib.util, json, os, site, sysconfig
name = sys.argv[1]
answer = {"python": sys.version.split()[0], "prefix": sys.prefix, "base_prefix": sys.base_prefix,
          "executable": sys.executable, "real_executable": os.path.realpath(sys.executable), "user_base": "", "version": "", "problem": "",
          "include": sysconfig.get_paths()["include"],
          "library_path": os.environ.get("LD_LIBRARY_PATH", "")}
try:
    if importlib.util.find_spec(name) is None:
        answer["problem"] = "no " + name
    else:
        module = importlib.import_module(name)
        answer["version"] = str(getattr(module, "__version__", "?"))
except BaseException as error:
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    answer["problem"] = "cannot import %s: %s" % (name, text[:300])
paths = [os.path.abspath(p) for p in sys.path if os.path.exists(p)]
if site.ENABLE_USER_SITE and site.getusersitepackages() in paths:
    answer["user_base"] = site.getuserbase()
read = paths + [os.path.realpath(p) for p in paths] + [answer["real_executable"]]
configuration = os.path.join(sys.prefix, "pyvenv.cfg")
if os.path.exists(configuration):
    read.append(configuration)
home = os.path.realpath(os.path.expanduser("~"))
with open("/proc/self/maps", errors="replace") as maps:
    for line in maps:
        fields = line.rstrip("\n").split(" ", 5)
        file = fields[-1].strip()
        if ".so" not in os.path.basename(file) or not os.path.isfile(file):
            continue
        folder = os.path.dirname(file)
        alone = os.path.basename(file).startswith("libpython") or (home + "/").startswith(folder.rstrip("/") + "/")
        read.append(file if alone else folder)
answer["paths"] = paths
answer["read"] = sorted(set(read))
print("\nkerf-probe:" + json.dumps(answer))
)PY";

// Sandbox policies hold the distribution's folders already, and name nothing twice.
std::vector<std::string> Reduce(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> kept;
  for (const std::string& path : paths) {
    const auto covers = [&](const std::string& folder) { return IsBelow(path, folder); };
    constexpr const char* kSystem[] = {"/usr",   "/bin",   "/sbin", "/lib",
                                       "/lib32", "/lib64", "/proc"};
    if (path.size() < 2 || path.front() != '/') continue;
    if (std::any_of(std::begin(kSystem), std::end(kSystem), covers)) continue;
    if (std::any_of(kept.begin(), kept.end(), covers)) continue;
    kept.push_back(path);
  }
  return kept;
}

std::vector<std::string> ReadStrings(JsonReader& json) {
  std::vector<std::string> strings;
  for (json.BeginArray(); json.NextElement();) json.ReadString(strings.emplace_back());
  return strings;
}

bool ParseAnswer(std::string_view text, ProbeAnswer& answer) {
  JsonReader json(text);
  Interpreter& found = answer.interpreter;
  std::string key;
  for (json.BeginObject(); json.NextKey(key);) {
    if (key == "python") {
      json.ReadString(found.python_version);
    } else if (key == "prefix") {
      json.ReadString(found.prefix);
    } else if (key == "base_prefix") {
      json.ReadString(found.base_prefix);
    } else if (key == "executable") {
      json.ReadString(found.executable);
    } else if (key == "real_executable") {
      json.ReadString(found.real_executable);
    } else if (key == "user_base") {
      json.ReadString(found.user_base);
    } else if (key == "include") {
      json.ReadString(found.include_path);
    } else if (key == "library_path") {
      json.ReadString(found.library_path);
    } else if (key == "version") {
      json.ReadString(found.framework_version);
    } else if (key == "problem") {
      json.ReadString(answer.problem);
    } else if (key == "paths") {
      found.import_paths = ReadStrings(json);
    } else if (key == "read") {
      found.read_paths = Reduce(ReadStrings(json));
    } else {
      json.Skip();
    }
  }
  return json.Finish() && !found.python_version.empty() && found.executable.starts_with('/') &&
         found.real_executable.starts_with('/');
}

// Follows links: a virtual environment's python changes when the one behind it does.
int64_t ChangeTime(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::string Stamp(const ProbeAnswer& answer) {
  const Interpreter& found = answer.interpreter;
  std::string stamp = found.path + "=" + std::to_string(ChangeTime(found.path));
  for (const std::string& path : found.import_paths) {
    stamp += ":" + path + "=" + std::to_string(ChangeTime(path));
  }
  return Hex64(Xxh3(stamp));
}

std::string KeptAt(const InterpreterSearch& search, const std::string& path, Framework framework) {
  const std::string key = path + "\n" + FrameworkName(framework) + "\n" + Sha256Hex(kScript) +
                          "\n" + search.variable("LD_LIBRARY_PATH").value_or("");
  return JoinPath(JoinPath(search.cache_dir, "interpreters"),
                  Sha256Hex(key).substr(0, 16) + ".json");
}

bool ReadKept(const InterpreterSearch& search, const std::string& file, ProbeAnswer& answer) {
  const Result<std::string> text = search.fs.ReadFile(file);
  if (!text.ok()) return false;
  const size_t line = text->find('\n');
  if (line == std::string::npos) return false;
  return ParseAnswer(std::string_view(*text).substr(line + 1), answer) &&
         text->substr(0, line) == Stamp(answer);
}

// A lost answer costs a second; nothing is said about it.
void Keep(const InterpreterSearch& search, const std::string& file, const ProbeAnswer& answer,
          std::string_view json) {
  const std::string own = file + "." + Hex64(MakeRandomIds()->Next());
  if (!search.fs.CreateDirs(ParentPath(file)).ok()) return;
  const auto out = search.fs.OpenNew(own);
  if (!out.ok()) return;
  if (!(*out)->Write(Stamp(answer) + "\n" + std::string(json)).ok() ||
      !search.fs.Rename(own, file).ok()) {
    (void)search.fs.Remove(own);
  }
}

std::vector<std::string> ProbeEnvironment(const InterpreterSearch& search) {
  // Not PYTHONPATH and its kind: the sandbox has none of them either.
  std::vector<std::string> environment = {"PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1"};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "LANG"}) {
    if (const auto value = search.variable(name)) environment.push_back(name + ("=" + *value));
  }
  return environment;
}

}  // namespace

ProbeAnswer ProbeInterpreter(const InterpreterSearch& search, const std::string& path,
                             Framework framework) {
  ProbeAnswer answer;
  answer.interpreter.path = path;
  answer.interpreter.framework = FrameworkName(framework);
  const bool keeps = !search.cache_dir.empty();
  const std::string file = keeps ? KeptAt(search, path, framework) : "";
  if (keeps) {
    ProbeAnswer kept = answer;
    if (ReadKept(search, file, kept)) return kept;
  }
  const Result<ProcessOutcome> outcome =
      search.run({.argv = {path, "-c", kScript, FrameworkName(framework)},
                  .cwd = "/",
                  .environment = ProbeEnvironment(search),
                  .timeout = kTimeout});
  if (!outcome.ok()) {
    answer.problem = "does not start: " + outcome.error().message;
    return answer;
  }
  const size_t marker = outcome->stdout_text.rfind(kMarker);
  if (marker == std::string::npos) {
    answer.problem = outcome->timed_out ? "does not answer in time" : "does not start";
    return answer;
  }
  const std::string_view json =
      std::string_view(outcome->stdout_text).substr(marker + kMarker.size());
  if (!ParseAnswer(json, answer)) {
    answer.problem = "answers nonsense";
  } else if (keeps) {
    Keep(search, file, answer, json);
  }
  return answer;
}

}  // namespace kerf::task
