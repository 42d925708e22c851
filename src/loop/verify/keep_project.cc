#include "loop/verify/keep_project.h"

#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "loop/verify/native_build.h"
#include "resource/resource.h"

namespace kerf::verify {
namespace {

constexpr const char* kMarker = ".kerf_project";
constexpr const char* kMarkerHead = "kerf-verify-project 1";
constexpr const char* kTemplate = "python/kerf/templates/verify_project.py";
constexpr const char* kHeader = "include/kerf/kernel.h";

using Files = std::map<std::string, std::string>;  // by path in the folder

bool IsNative(Impl impl) {
  return impl == Impl::kCpp || impl == Impl::kCudaC || impl == Impl::kHip;
}

const char* Suffix(Impl impl) {
  switch (impl) {
    case Impl::kCpp:
    case Impl::kTorchExt:
      return ".cc";
    case Impl::kCudaC:
      return ".cu";
    case Impl::kHip:
      return ".hip";
    case Impl::kTriton:
    case Impl::kSwft:
      return ".py";
  }
  return "";
}

// Without the slashes at its end, which would make a link look like the folder it leads to.
std::string Plain(const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return NamedPath(path);
}

std::string Resource(std::string_view path) {
  const std::vector<resource::File> files = resource::Files(path);
  KERF_CHECK(files.size() == 1, "the binary holds the file it was built with");
  return std::string(files.front().bytes);
}

void Replace(std::string& text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  KERF_CHECK(at != std::string::npos, "the template has the place that is filled in");
  text.replace(at, what.size(), with);
}

// Strings and integers only: the JSON text is then also a Python expression.
std::string Settings(const KeptProject& project, const std::string& task_name) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("op").String(project.candidate.op_name);
  json.Key("framework").String(project.verdict.framework);
  json.Key("impl").String(ImplName(project.candidate.impl));
  json.Key("backend").String(project.verdict.backend);
  json.Key("task").String(task_name);
  json.Key("candidate").String(KeptCandidateName(project.candidate));
  json.Key("flags").BeginArray();
  if (project.candidate.impl == Impl::kCpp) {
    for (const std::string& flag : CppFlags()) json.String(flag);
  }
  json.EndArray().Key("seeds").BeginArray();
  for (const int64_t seed : project.seeds) json.Int(seed);
  json.EndArray().EndObject();
  return text;
}

Files MakeFiles(const KeptProject& project) {
  const std::string& op = project.candidate.op_name;
  const std::string task_name = op + "_" + project.verdict.framework + ".py";
  const std::string script_name = "verify_" + op + ".py";
  std::string script = Resource(kTemplate);
  Replace(script, "@SCRIPT@", script_name);
  Replace(script, "\nPROJECT = {}\n", "\nPROJECT = " + Settings(project, task_name) + "\n");
  Files files{{task_name, project.task_text},
              {KeptCandidateName(project.candidate), project.candidate.source},
              {script_name, script},
              {"verdict.json", VerdictJson(project.verdict) + "\n"}};
  if (IsNative(project.candidate.impl)) files["kerf/kernel.h"] = Resource(kHeader);
  std::string marker = std::string(kMarkerHead) + "\n";
  for (const auto& [name, bytes] : files) marker += name + "\n";
  files[kMarker] = marker;
  return files;
}

Status WriteFiles(FileSystem& fs, const std::string& folder, const Files& files) {
  KERF_RETURN_IF_ERROR(fs.CreateDir(folder));
  for (const auto& [name, bytes] : files) {
    const std::string path = JoinPath(folder, name);
    KERF_RETURN_IF_ERROR(fs.CreateDir(ParentPath(path)));
    KERF_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, fs.OpenNew(path));
    KERF_RETURN_IF_ERROR(file->Write(bytes));
    KERF_RETURN_IF_ERROR(file->Sync());
  }
  return fs.SyncDir(folder);
}

Error Refusal(const std::string& folder, const std::string& why) {
  return InvalidInput("cannot keep a project in " + folder + ": " + why +
                      "; name a folder that does not exist, is empty or holds only a project that "
                      "was kept before");
}

// The files a project's marker names; an error when it is not kerf's.
Result<std::set<std::string>> NamesInMarker(FileSystem& fs, const std::string& folder) {
  const std::string path = JoinPath(folder, kMarker);
  KERF_ASSIGN_OR_RETURN(const auto info, fs.Stat(path));
  if (!info.has_value() || info->kind != FileKind::kFile) {
    return Refusal(folder, "it holds other files");
  }
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadRange(path, 0, 65536));
  std::set<std::string> names{kMarker};
  bool first = true;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    if (first && line != kMarkerHead) break;
    if (!first) names.insert(line);
    first = false;
  }
  if (first) return Refusal(folder, std::string(kMarker) + " in it is not kerf's");
  return names;
}

// Every file in the folder, but only when all of them are the project's own: nothing else may be
// removed. Links are files of nobody.
Result<std::vector<std::string>> OwnFiles(FileSystem& fs, const std::string& folder) {
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(folder));
  if (entries.empty()) return std::vector<std::string>();
  KERF_ASSIGN_OR_RETURN(const std::set<std::string> names, NamesInMarker(fs, folder));
  std::vector<std::string> found;
  for (const DirEntry& entry : entries) {
    if (entry.kind == FileKind::kFile && names.contains(entry.name)) {
      found.push_back(entry.name);
    } else if (entry.kind == FileKind::kDirectory && entry.name == "kerf") {
      KERF_ASSIGN_OR_RETURN(const auto inner, fs.List(JoinPath(folder, entry.name)));
      for (const DirEntry& one : inner) {
        const std::string name = JoinPath(entry.name, one.name);
        if (one.kind != FileKind::kFile || !names.contains(name)) {
          return Refusal(folder, name + " in it is not kerf's");
        }
        found.push_back(name);
      }
      found.push_back(entry.name);
    } else {
      return Refusal(folder, entry.name + " in it is not kerf's");
    }
  }
  return found;
}

Status RemoveOwn(FileSystem& fs, const std::string& folder) {
  KERF_ASSIGN_OR_RETURN(const std::vector<std::string> files, OwnFiles(fs, folder));
  for (const std::string& name : files) KERF_RETURN_IF_ERROR(fs.Remove(JoinPath(folder, name)));
  return fs.Remove(folder);
}

// What is there already moves aside, comes back when the new one cannot take its place, and is
// removed last.
Status MoveInto(FileSystem& fs, const std::string& fresh, const std::string& folder,
                const std::string& aside) {
  KERF_ASSIGN_OR_RETURN(const auto info, fs.Stat(folder));
  if (!info.has_value()) return fs.Rename(fresh, folder);
  KERF_RETURN_IF_ERROR(fs.Rename(folder, aside));
  if (Status moved = fs.Rename(fresh, folder); !moved.ok()) {
    (void)fs.Rename(aside, folder);
    return moved;
  }
  return RemoveOwn(fs, aside);
}

}  // namespace

std::string KeptCandidateName(const Candidate& candidate) {
  return candidate.op_name + "_" + ImplName(candidate.impl) + Suffix(candidate.impl);
}

Status CheckKeepFolder(FileSystem& fs, const std::string& folder) {
  if (folder.empty()) return InvalidInput("--keep takes the name of a folder");
  const std::string path = Plain(folder);
  KERF_ASSIGN_OR_RETURN(const auto info, fs.Stat(path));
  if (!info.has_value()) return {};
  if (info->kind == FileKind::kSymlink) {
    return Denied(path + " is a symbolic link; kerf does not write through links, remove it");
  }
  if (info->kind != FileKind::kDirectory) return Refusal(path, "it is no folder");
  KERF_RETURN_IF_ERROR(OwnFiles(fs, path));
  return {};
}

Status KeepProject(FileSystem& fs, const std::string& folder, const KeptProject& project,
                   IdSource& random) {
  const std::string& op = project.candidate.op_name;
  KERF_CHECK(!op.empty() && op.find('/') == std::string::npos, "an operator's name is a file name");
  KERF_RETURN_IF_ERROR(CheckKeepFolder(fs, folder));
  const std::string path = Plain(folder);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(ParentPath(path)));
  const std::string own = path + "." + Hex64(random.Next());
  const Files files = MakeFiles(project);
  Status done = WriteFiles(fs, own + ".new", files);
  if (done.ok()) done = MoveInto(fs, own + ".new", path, own + ".old");
  if (!done.ok()) {
    for (const auto& [name, bytes] : files) (void)fs.Remove(JoinPath(own + ".new", name));
    (void)fs.Remove(own + ".new/kerf");
    (void)fs.Remove(own + ".new");
    return done;
  }
  return fs.SyncDir(ParentPath(path));
}

}  // namespace kerf::verify
