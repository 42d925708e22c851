#include "loop/verify/torch_extensions.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/file_system.h"
#include "base/json_writer.h"
#include "loop/verify/build_report.h"
#include "loop/verify/launch_rewrite.h"
#include "loop/verify/native_build.h"
#include "loop/verify/python_candidate.h"

namespace kerf::verify {
namespace {

constexpr const char* kExtensionsInside = "/kerf/extensions";

// One set of flags for all extensions: a precompiled header fits no other. The candidate's own
// functions get more optimisation by a line in front of them, see Dress().
std::vector<std::string> ExtensionFlags() {
  return {"-std=c++20",
          "-O1",
          "-w",
          "-fPIC",
          "-pthread",
          "-shared",
          "-fvisibility=hidden",
          "-Wl,-z,now",
          "-Wl,--build-id=none",
          "-DTORCH_API_INCLUDE_EXTENSION_H"};
}

// The vector instructions of this machine, as `cpp` candidates have them by -march=native; flags
// would part the source from the precompiled header. Empty on other processors.
std::string TargetPragma() {
#if defined(__x86_64__)
  std::string features;
  const auto add = [&](bool has, const char* name) {
    if (has) features += (features.empty() ? "" : ",") + std::string(name);
  };
  add(__builtin_cpu_supports("avx2") != 0, "avx2");
  add(__builtin_cpu_supports("fma") != 0, "fma");
  add(__builtin_cpu_supports("bmi2") != 0, "bmi2");
  add(__builtin_cpu_supports("avx512f") != 0, "avx512f");
  add(__builtin_cpu_supports("avx512vl") != 0, "avx512vl");
  add(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
  add(__builtin_cpu_supports("avx512dq") != 0, "avx512dq");
  if (!features.empty()) return "#pragma GCC target(\"" + features + "\")\n";
#endif
  return "";
}

// Names the module and keeps the numbers of the lines.
std::string Dress(const std::string& source, const std::string& module, const std::string& file,
                  bool optimise) {
  return "#define TORCH_EXTENSION_NAME " + module + "\n" +
         (optimise ? "#pragma GCC optimize(\"O3\")\n" + TargetPragma() : "") + "#line 1 \"" + file +
         "\"\n" + source;
}

bool HasText(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// The author's own name for it, so that the same text is built once whatever task it is for.
std::string FileName(const Candidate& candidate, const ExtensionLanguage& language) {
  const bool plain = std::all_of(candidate.name.begin(), candidate.name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
  if (plain && !candidate.name.empty() && candidate.name[0] != '.') return candidate.name;
  return std::string("extension") + (language.hip ? ".hip" : language.gpu ? ".cu" : ".cc");
}

void Refuse(Verdict& verdict, VerdictStatus status, const std::string& reason,
            const std::string& text) {
  verdict.Blame(status, reason, text.substr(0, text.find('\n')));
  verdict.log = text + (text.ends_with('\n') ? "" : "\n");
}

}  // namespace

ExtensionLanguage LanguageOf(std::string_view source) {
  ExtensionLanguage language;
  language.hip = HasText(source, "hip/hip_") || HasText(source, "hipLaunchKernelGGL") ||
                 HasText(source, "ATen/hip/") || HasText(source, "c10/hip/") ||
                 HasText(source, "hipStream_t");
  language.gpu = language.hip || HasText(source, "__global__") || HasText(source, "cuda_runtime") ||
                 HasText(source, "ATen/cuda/") || HasText(source, "c10/cuda/") ||
                 HasText(source, "<<<");
  return language;
}

bool TorchExtensions::namespaces() const {
  const auto level = sandbox::ChooseLevel(options_.mode, *options_.available);
  return level.ok() && level->has_namespaces();
}

Status TorchExtensions::OpenFolder() {
  if (folder_.has_value()) return {};
  KERF_ASSIGN_OR_RETURN(Scratch folder, Scratch::Make(options_.cache_dir + "/scratch"));
  ::chmod(folder.path().c_str(), 0755);
  folder_.emplace(std::move(folder));
  return {};
}

Result<std::string> TorchExtensions::Show(const std::string& library, const std::string& module) {
  KERF_RETURN_IF_ERROR(OpenFolder());
  const auto fs = MakePosixFileSystem();
  // Only the one that is being judged: a candidate must not find others to borrow from.
  KERF_ASSIGN_OR_RETURN(const std::string bytes, fs->ReadFile(library));
  const std::string name = module + ".so";
  for (const std::string& old : shown_) (void)fs->Remove(JoinPath(folder_->path(), old));
  shown_ = {name};
  KERF_RETURN_IF_ERROR(folder_->Write(name, bytes));
  return JoinPath(namespaces() ? kExtensionsInside : folder_->path(), name);
}

Result<std::optional<BuiltExtension>> TorchExtensions::Build(const Candidate& candidate,
                                                             const std::string& module,
                                                             Verdict& verdict) {
  const std::optional<BuiltExtension> none;
  if (!options_.python.has_value() || options_.python->torch_dir.empty()) {
    Refuse(verdict, VerdictStatus::kUnsupported, "package",
           "the interpreter has no torch with headers to compile an extension against");
    return none;
  }
  BuiltExtension extension;
  extension.bound = FindBoundSymbols(candidate.source);
  const BoundSymbols& bound = extension.bound;
  if (bound.certain && bound.names.empty() && bound.operators.empty()) {
    Refuse(verdict, VerdictStatus::kCallError, "entry_missing",
           bound.module.empty()
               ? "the source has neither PYBIND11_MODULE nor TORCH_LIBRARY: nothing can be called"
               : "PYBIND11_MODULE binds no function: m.def(\"name\", &function) is missing");
    return none;
  }
  extension.module = bound.any_name() || bound.module.empty() ? module : bound.module;

  const ExtensionLanguage language = LanguageOf(candidate.source);
  BuildRequest request;
  request.file_name = FileName(candidate, language);
  request.flags = ExtensionFlags();
  std::string text = candidate.source;
  if (language.gpu) {
    SimtSource simt = RewriteForSimt(candidate.source, {.torch = true});
    if (!simt.unsupported.empty()) {
      const UnsupportedUse& first = simt.unsupported.front();
      Refuse(verdict, VerdictStatus::kUnsupported, "feature",
             "line " + std::to_string(first.line) + ": " + first.what);
      return none;
    }
    text = std::move(simt.text);
    request.flags.insert(
        request.flags.end(),
        {"-include", std::string("kerf_simt/torch_") + (language.hip ? "hip.h" : "cuda.h")});
    request.includes = {{JoinPath(options_.resource_dir, "simt"), kSimtInside}};
    request.salt = BaseName(options_.resource_dir);
    request.support = std::string(kSimtInside) + "/runtime/all.cc";
    request.support_flags = {"-std=c++17", "-O2", "-w", "-fvisibility=hidden"};
    verdict.checks.emplace_back("simt");
  }
  request.source = Dress(text, extension.module, request.file_name, !language.gpu);
  const std::string& torch = options_.python->torch_dir;
  request.prelude = "#include <torch/extension.h>\n";
  request.prelude_salt = "torch " + verdict.task.framework_version;
  request.prelude_includes = {
      {torch + "/include", "/kerf/torch/include"},
      {torch + "/include/torch/csrc/api/include", "/kerf/torch/api"},
      {options_.python->include_path, "/kerf/python_include"},
  };
  request.guard = false;
  request.libraries = {{torch + "/lib", "/kerf/torch/lib"}};
  request.link_flags = {"-ltorch_python", "-ltorch", "-ltorch_cpu", "-lc10", "-lpthread", "-ldl"};
  BuildOptions build_options{options_.cache_dir, JoinPath(options_.resource_dir, "include"),
                             options_.mode, options_.available};
  KERF_ASSIGN_OR_RETURN(const NativeBuild build, BuildNative(request, build_options));
  KERF_ASSIGN_OR_RETURN(const bool accepted, AcceptBuild(build, /*torch=*/true, verdict));
  if (!accepted) return none;
  KERF_ASSIGN_OR_RETURN(extension.library, Show(build.library, extension.module));
  return std::optional(std::move(extension));
}

Result<bool> TorchExtensions::StartInterpreter(Verdict& verdict) {
  if (interpreter_ != nullptr && interpreter_->alive()) return true;
  KERF_RETURN_IF_ERROR(OpenFolder());
  RunnerSpec spec = ServerSpec(options_, {"torch"});
  const std::string inside = namespaces() ? kExtensionsInside : folder_->path();
  spec.policy.Read(folder_->path(), inside);
  Result<std::unique_ptr<WarmInterpreter>> started = WarmInterpreter::Start(spec);
  if (!started.ok() && started.error().code == ErrorCode::kUnavailable) {
    Refuse(verdict, VerdictStatus::kUnsupported, "package", started.error().message);
    return false;
  }
  if (!started.ok()) return std::move(started).error();
  interpreter_ = *std::move(started);
  return true;
}

Result<std::unique_ptr<Runner>> TorchExtensions::Fork(const std::string& about,
                                                      const std::string& source) {
  return interpreter_->Fork(about, source);
}

}  // namespace kerf::verify
