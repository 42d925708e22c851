#include "sim/exec/kernel_build.h"

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "resource/resource.h"

namespace kerf::sim {
namespace {

namespace files = std::filesystem;

constexpr const char* kPtoInside = "/kerf/pto";

bool IsHeader(const files::path& path) {
  const std::string suffix = path.extension();
  return suffix == ".h" || suffix == ".hpp" || suffix == ".hh" || suffix == ".inc" ||
         suffix == ".cce" || suffix == ".cpp" || suffix == ".cc";
}

// What the headers below a folder hold: a change there must not find the old library. Bounded, so
// that a folder with a whole disk below it does not stop everything.
std::string HashHeaders(FileSystem& fs, const std::string& folder) {
  constexpr size_t kMost = 3000;
  std::vector<std::string> paths;
  std::error_code error;
  files::recursive_directory_iterator at(folder, files::directory_options::skip_permission_denied,
                                         error);
  for (; !error && at != files::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() > 6) at.disable_recursion_pending();
    if (at->is_regular_file(error) && IsHeader(at->path())) paths.push_back(at->path());
    if (paths.size() >= kMost) break;
  }
  std::sort(paths.begin(), paths.end());
  std::string all;
  for (const std::string& path : paths) {
    const Result<std::string> text = fs.ReadFile(path);
    all += path + '\n' + (text.ok() ? Sha256Hex(*text) : "") + '\n';
  }
  return Sha256Hex(all);
}

// Whether a source includes files beside it, or beside its folder.
struct Neighbours {
  bool folder = false;
  bool above = false;
};
Neighbours NeighboursOf(const std::string& text, const std::string& folder) {
  Neighbours found;
  for (size_t at = text.find("#include"); at != std::string::npos;
       at = text.find("#include", at + 1)) {
    const size_t line = text.find('\n', at);
    const size_t open = text.find('"', at);
    const size_t close = open == std::string::npos ? open : text.find('"', open + 1);
    if (close == std::string::npos || close > line) continue;
    const std::string name = text.substr(open + 1, close - open - 1);
    std::error_code error;
    if (!files::exists(folder + "/" + name, error)) continue;
    (name.rfind("../", 0) == 0 ? found.above : found.folder) = true;
  }
  return found;
}

std::vector<std::string> Flags(const KernelMember& member, const KernelBuildOptions& options) {
  std::vector<std::string> flags = {"-std=c++20", "-O1", "-fPIC", "-shared", "-w",
                                    "-fno-strict-aliasing", "-ffp-contract=off",
                                    "-D__gm__=", "-D__aicore__=",
                                    // Call stacks: found by frame pointers, named by lines.
                                    "-g1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                                    // A kernel's call of a template with an instruction nobody has.
                                    "-fmax-errors=20", "-Wl,-z,now", "-Wl,--build-id=none"};
  flags.emplace_back(member.core == CoreType::kAic ? "-D__DAV_CUBE__" : "-D__DAV_VEC__");
  flags.emplace_back(options.platform == Platform::kA5 ? "-DPTO_NPU_ARCH_A5"
                                                       : "-DPTO_NPU_ARCH_A2A3");
  for (const std::string& define : options.defines) flags.push_back("-D" + define);
  return flags;
}

}  // namespace

Result<verify::NativeBuild> BuildKernel(FileSystem& fs, const KernelMember& member,
                                        const KernelBuildOptions& options) {
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(member.source));
  const std::string folder = ParentPath(member.source);
  const std::string above = ParentPath(folder);
  verify::BuildRequest request;
  request.file_name = BaseName(member.source);
  // Messages and records name the file the user knows, not its copy.
  request.source = "#line 1 \"" + member.source + "\"\n" + text;
  request.flags = Flags(member, options);
  request.guard = false;
  request.salt = resource::ContentHash("pto/");
  // The user's own first: kerf answers for what they do not have.
  std::vector<std::string> further = options.include_dirs;
  further.insert(further.end(), member.include_dirs.begin(), member.include_dirs.end());
  for (size_t i = 0; i < further.size(); ++i) {
    request.includes.push_back({further[i], "/kerf/user" + std::to_string(i)});
    request.salt += HashHeaders(fs, further[i]);
  }
  request.includes.push_back({options.resources + "/pto", kPtoInside});
  // The kernel's own folder, and the one above it, only where the text asks for something there:
  // what is not needed stays out of view.
  const Neighbours neighbours = NeighboursOf(text, folder);
  if (neighbours.above) request.includes.push_back({above, "/kerf/source"});
  if (neighbours.folder || neighbours.above) {
    request.includes.push_back({folder, "/kerf/source/" + BaseName(folder)});
    request.salt += HashHeaders(fs, neighbours.above ? above : folder);
  }
  // Lines name the files of the user's folders as the user does.
  for (const sandbox::Bind& include : request.includes) {
    if (include.inside != kPtoInside)
      request.flags.push_back("-ffile-prefix-map=" + include.inside + "=" + include.host);
  }
  verify::BuildOptions build;
  build.cache_dir = options.cache_dir;
  build.include_dir = options.resources + "/include";
  build.mode = options.mode;
  return verify::BuildNative(request, build);
}

}  // namespace kerf::sim
