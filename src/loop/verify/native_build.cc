#include "loop/verify/native_build.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file_system.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "loop/verify/cache_sweep.h"
#include "loop/verify/compiler_log.h"
#include "loop/verify/scratch.h"

namespace kerf::verify {
namespace {

constexpr const char* kIncludeInside = "/kerf/include";
constexpr const char* kPreludeInside = "/kerf/prelude";
constexpr const char* kPreludeName = "kerf_prelude.h";
// g++ 12 makes 0.8 GB of torch 2.13's headers.
constexpr uint64_t kMostPrelude = uint64_t{3} << 30;

// Compiled and linked with every candidate, by the same compiler: an exception must be caught by
// the C++ run time that threw it, and kerf carries its own.
constexpr const char* kGuardSource = R"(#include <cxxabi.h>
#include <cstdio>
#include <exception>
#include <kerf/kernel.h>
extern "C" __attribute__((visibility("default"))) int kerf_guarded_call(const kerf_call* call, char* text,
                                                                        unsigned long size) {
  try {
    return kerf_kernel(call);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    std::snprintf(text, size, "exception: %s", error.what());
  } catch (...) {
    std::snprintf(text, size, "an exception that is no std::exception");
  }
  return -1;
}
)";

sandbox::Limits CompilerLimits(std::chrono::milliseconds timeout) {
  sandbox::Limits limits;
  limits.wall_time = timeout;
  limits.cpu_time = timeout * 4;
  limits.memory_bytes = uint64_t{4} << 30;
  limits.output_bytes = uint64_t{8} << 20;
  limits.work_bytes = uint64_t{1} << 30;
  limits.file_bytes = uint64_t{256} << 20;
  return limits;
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

// One run of the compiler in the sandbox; its work folder is `scratch`.
class Compilation {
 public:
  Compilation(const Toolchain& toolchain, const BuildOptions& options, const Scratch& scratch)
      : toolchain_(toolchain), options_(options) {
    policy_ = sandbox::Policy::ForSystemPrograms();
    policy_.WorkFolder(scratch.path());
    available_ = options.available ? *options.available : sandbox::Probe();
    const auto level = sandbox::ChooseLevel(options.mode, available_);
    inside_ = level.ok() && level->has_namespaces();
    include_flag_ = "-I" + Show({options.include_dir, kIncludeInside});
  }

  // Puts a file or folder in view and tells the path by which the compiler finds it.
  std::string Show(const sandbox::Bind& bind) {
    policy_.Read(bind.host, bind.inside);
    return PathOf(bind);
  }
  [[nodiscard]] std::string PathOf(const sandbox::Bind& bind) const {
    return inside_ ? bind.inside : bind.host;
  }
  [[nodiscard]] const std::string& include_flag() const { return include_flag_; }

  Result<sandbox::Outcome> Run(std::vector<std::string> arguments) {
    return Run(std::move(arguments), CompilerLimits(options_.timeout));
  }
  Result<sandbox::Outcome> Run(std::vector<std::string> arguments, const sandbox::Limits& limits) {
    arguments.insert(arguments.begin(), toolchain_.compiler);
    const sandbox::Sandbox box(policy_, limits, options_.mode, available_);
    return box.Run(arguments);
  }

 private:
  const Toolchain& toolchain_;
  const BuildOptions& options_;
  sandbox::Policy policy_;
  sandbox::SandboxLevel available_;
  bool inside_ = false;
  std::string include_flag_;
};

// An object that many candidates are linked with: compiled once for each compiler and content.
struct SupportObject {
  std::string name;  // of the file in the cache
  std::string key;
  std::string source;  // path inside; when empty, `text` is compiled
  std::string text;
  std::vector<std::string> flags;
  std::vector<sandbox::Bind> includes;
};

Result<std::string> MakeObject(const SupportObject& object, const Toolchain& toolchain,
                               const BuildOptions& options) {
  const std::string key = Sha256Hex(toolchain.compiler + '\n' + toolchain.version + object.key);
  const std::string path =
      options.cache_dir + "/builds/" + object.name + "-" + key.substr(0, 32) + ".o";
  if (::access(path.c_str(), R_OK) == 0) return path;
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.cache_dir + "/scratch"));
  Compilation compilation(toolchain, options, scratch);
  std::vector<std::string> arguments = object.flags;
  std::string source = object.source;
  for (const sandbox::Bind& include : object.includes) {
    arguments.push_back("-I" + compilation.Show(include));
    if (source.rfind(include.inside, 0) == 0) {
      source = compilation.PathOf(include) + source.substr(include.inside.size());
    }
  }
  if (object.source.empty()) KERF_RETURN_IF_ERROR(scratch.Write("support.cc", object.text));
  arguments.insert(arguments.end(), {"-fPIC", compilation.include_flag(), "-c",
                                     source.empty() ? "support.cc" : source, "-o", "support.o"});
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, compilation.Run(arguments));
  if (!outcome.succeeded()) {
    return Unavailable(toolchain.version + " does not work: " + sandbox::Describe(outcome) + "\n" +
                       outcome.stderr_text.substr(0, 500));
  }
  KERF_ASSIGN_OR_RETURN(const std::string bytes,
                        sandbox::ReadResultFile(scratch.path(), "support.o", uint64_t{16} << 20));
  KERF_RETURN_IF_ERROR(StoreInCache(path, bytes));
  return path;
}

Result<std::vector<std::string>> SupportObjects(const BuildRequest& request,
                                                const Toolchain& toolchain,
                                                const BuildOptions& options) {
  std::vector<std::string> objects;
  std::string path;
  if (request.guard) {
    const SupportObject guard{"guard", kGuardSource, "", kGuardSource, {"-std=c++17", "-O2"}, {}};
    KERF_ASSIGN_OR_RETURN(path, MakeObject(guard, toolchain, options));
    objects.push_back(std::move(path));
  }
  if (!request.support.empty()) {
    const SupportObject support{"support",
                                request.salt + JoinWords(request.support_flags),
                                request.support,
                                "",
                                request.support_flags,
                                request.includes};
    KERF_ASSIGN_OR_RETURN(path, MakeObject(support, toolchain, options));
    objects.push_back(std::move(path));
  }
  return objects;
}

// The flags under which a prelude is precompiled: what is included after it does not belong to it.
std::vector<std::string> PreludeFlags(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == "-include") {
      ++i;
    } else if (flags[i].rfind("-Wl,", 0) != 0 && flags[i] != "-shared") {
      kept.push_back(flags[i]);
    }
  }
  return kept;
}

// The folder with the prelude, and with its compiled form where the compiler is g++. A compiled
// form that does not fit is passed over by the compiler, which then reads the text.
Result<std::string> MakePrelude(const BuildRequest& request, const Toolchain& toolchain,
                                const BuildOptions& options) {
  const std::vector<std::string> flags = PreludeFlags(request.flags);
  std::string key = toolchain.compiler + '\n' + toolchain.version + '\n' + JoinWords(flags) +
                    request.prelude_salt + '\n' + request.prelude;
  for (const sandbox::Bind& include : request.prelude_includes) key += '\n' + include.host;
  std::string folder = options.cache_dir + "/preludes/" + Sha256Hex(key).substr(0, 32);
  const std::string text_path = folder + "/" + kPreludeName;
  const std::string compiled_path = text_path + ".gch";
  const bool can = toolchain.version.rfind("g++", 0) == 0;
  if (::access((can ? compiled_path : text_path).c_str(), R_OK) == 0) return folder;
  KERF_RETURN_IF_ERROR(StoreInCache(text_path, request.prelude));
  if (!can) return folder;
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.cache_dir + "/scratch"));
  KERF_RETURN_IF_ERROR(scratch.Write(kPreludeName, request.prelude));
  Compilation compilation(toolchain, options, scratch);
  std::vector<std::string> arguments = flags;
  for (const sandbox::Bind& include : request.prelude_includes) {
    arguments.push_back("-I" + compilation.Show(include));
  }
  arguments.insert(arguments.end(), {compilation.include_flag(), "-x", "c++-header", kPreludeName,
                                     "-o", "prelude.gch"});
  sandbox::Limits limits = CompilerLimits(options.timeout * 4);
  limits.file_bytes = kMostPrelude;
  limits.work_bytes = 2 * kMostPrelude;
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, compilation.Run(arguments, limits));
  if (!outcome.succeeded()) {
    return Unavailable(
        "the headers of torch extensions do not compile: " + sandbox::Describe(outcome) + "\n" +
        CleanCompilerLog(outcome.stderr_text).text.substr(0, 1000));
  }
  KERF_ASSIGN_OR_RETURN(const std::string bytes,
                        sandbox::ReadResultFile(scratch.path(), "prelude.gch", kMostPrelude));
  KERF_RETURN_IF_ERROR(StoreInCache(compiled_path, bytes));
  return folder;
}

void Explain(const sandbox::Outcome& outcome, NativeBuild& build) {
  const CompilerLog log = CleanCompilerLog(outcome.stderr_text);
  build.status = "compile_error";
  build.reason = log.reason;
  build.log = log.text;
  if (outcome.status == sandbox::OutcomeStatus::kLimit) {
    const bool memory = outcome.reason == sandbox::Reason::kMemory;
    build.reason = memory ? "compiler_memory" : "compiler_timeout";
    build.log = "the compiler was stopped: " + sandbox::Describe(outcome) + "\n" + log.text;
  } else if (outcome.status != sandbox::OutcomeStatus::kExited) {
    build.reason = "other";
    build.log = "the compiler ended early: " + sandbox::Describe(outcome) + "\n" + log.text;
  }
}

}  // namespace

Status StoreInCache(const std::string& path, const std::string& bytes) {
  const auto fs = MakePosixFileSystem();
  KERF_RETURN_IF_ERROR(fs->CreateDirs(ParentPath(path)));
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(ParentPath(path)));
  KERF_RETURN_IF_ERROR(scratch.Write("file", bytes));
  // The first one stays: another process may be binding it into its sandbox, which fails when the
  // file is replaced at that moment.
  const std::string fresh = JoinPath(scratch.path(), "file");
  if (::link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST) return {};
  return fs->Rename(fresh, path);  // a file system without links
}

Result<Toolchain> FindToolchain() {
  const char* chosen = std::getenv("KERF_CXX");
  const char* path = std::getenv("PATH");
  const std::string search = path == nullptr ? "/usr/bin:/bin" : path;
  std::vector<std::string> names = {"g++", "clang++"};
  if (chosen != nullptr && *chosen != '\0') names = {chosen};
  for (const std::string& name : names) {
    const auto found = FindProgram(name, search);
    if (!found.has_value()) continue;
    kerf::Command ask{.argv = {*found, "-dumpfullversion", "-dumpversion"},
                      .timeout = std::chrono::seconds(10)};
    Result<ProcessOutcome> answer = RunProcess(ask);
    if (!answer.ok() || answer->exit_code != 0) continue;
    std::string version = answer->stdout_text;
    while (!version.empty() && version.back() == '\n') version.pop_back();
    return Toolchain{*found, BaseName(name) + " " + version};
  }
  return Unavailable("no C++ compiler (tried " + JoinWords(names) +
                     "): install one with 'apt-get install g++', or set KERF_CXX");
}

std::vector<std::string> CppFlags() {
  return {"-std=c++20", "-O3",         "-march=native",       "-ffp-contract=fast", "-fopenmp",
          "-fPIC",      "-shared",     "-fvisibility=hidden", "-fno-plt",           "-w",
          "-Wl,-z,now", "-Wl,-z,defs", "-Wl,--build-id=none"};
}

Result<NativeBuild> BuildNative(const BuildRequest& request, const BuildOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  NativeBuild build;
  KERF_ASSIGN_OR_RETURN(build.toolchain, FindToolchain());
  build.flags = request.flags;
  build.id = Sha256Hex(build.toolchain.compiler + '\n' + build.toolchain.version + '\n' +
                       JoinWords(request.flags) + JoinWords(request.link_flags) +
                       Sha256Hex(kGuardSource) + request.prelude + request.prelude_salt +
                       request.salt + '\n' + request.file_name + '\n' + request.source);
  build.library = options.cache_dir + "/builds/" + build.id.substr(0, 40) + ".so";
  const auto finish = [&] {
    build.wall = std::chrono::steady_clock::now() - begin;
    return build;
  };
  if (::access(build.library.c_str(), R_OK) == 0) {
    TouchFile(build.library);
    build.ok = true;
    build.cached = true;
    return finish();
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<std::string> objects,
                        SupportObjects(request, build.toolchain, options));
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.cache_dir + "/scratch"));
  KERF_RETURN_IF_ERROR(scratch.Write(request.file_name, request.source));
  Compilation compilation(build.toolchain, options, scratch);
  std::vector<std::string> arguments;
  if (!request.prelude.empty()) {
    KERF_ASSIGN_OR_RETURN(const std::string folder, MakePrelude(request, build.toolchain, options));
    const std::string inside = compilation.Show({folder, kPreludeInside});
    // First of all: a compiled header that comes after anything else is not used.
    arguments = {"-include", inside + "/" + kPreludeName};
  }
  arguments.insert(arguments.end(), request.flags.begin(), request.flags.end());
  for (const sandbox::Bind& include : request.includes) {
    arguments.push_back("-I" + compilation.Show(include));
  }
  for (const sandbox::Bind& include : request.prelude_includes) {
    arguments.push_back("-I" + compilation.Show(include));
  }
  for (const std::string& word :
       {compilation.include_flag(), std::string("-o"), std::string("candidate.so"),
        std::string("-x"), std::string("c++"), request.file_name, std::string("-x"),
        std::string("none")}) {
    arguments.push_back(word);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::string inside = "/kerf/objects/" + std::to_string(i) + ".o";
    arguments.push_back(compilation.Show({objects[i], inside}));
  }
  for (const sandbox::Bind& folder : request.libraries) {
    arguments.push_back("-L" + compilation.Show(folder));
  }
  arguments.insert(arguments.end(), request.link_flags.begin(), request.link_flags.end());
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, compilation.Run(arguments));
  if (!outcome.succeeded()) {
    Explain(outcome, build);
    return finish();
  }
  KERF_ASSIGN_OR_RETURN(
      const std::string library,
      sandbox::ReadResultFile(scratch.path(), "candidate.so", uint64_t{256} << 20));
  KERF_RETURN_IF_ERROR(StoreInCache(build.library, library));
  build.ok = true;
  return finish();
}

}  // namespace kerf::verify
