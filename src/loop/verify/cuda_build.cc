#include "loop/verify/cuda_build.h"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file_system.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "loop/verify/compiler_log.h"
#include "loop/verify/cuda_split.h"
#include "loop/verify/elf_symbols.h"
#include "loop/verify/nvrtc_main.h"
#include "loop/verify/scratch.h"

namespace kerf::verify {
namespace {

constexpr const char* kCudaInside = "/kerf/cuda";
constexpr const char* kProgramInside = "/kerf/nvrtc";

Result<NativeBuild> BuildHostHalf(const std::string& file_name, const std::string& host,
                                  const CudaOptions& cuda, const BuildOptions& options) {
  BuildRequest request;
  request.file_name = file_name;
  request.source = host;
  const std::string include = "-I" + cuda.toolkit + "/include";
  // Without folding: two kernels with the same (empty) body must keep their own addresses and
  // names.
  request.flags = {"-std=c++17",
                   "-O1",
                   "-fno-ipa-icf",
                   "-w",
                   "-fPIC",
                   "-shared",
                   "-fvisibility=hidden",
                   "-Wl,-z,now",
                   "-Wl,-z,defs",
                   "-Wl,--build-id=none",
                   include,
                   include + "/cccl",
                   "-include",
                   "host.h"};
  request.includes = {{JoinPath(cuda.resource_dir, "cuda"), kCudaInside}};
  request.salt = BaseName(cuda.resource_dir);
  request.support = std::string(kCudaInside) + "/host.cc";
  request.support_flags = {"-std=c++17",          "-O2",   "-w",
                           "-fvisibility=hidden", include, include + "/cccl"};
  return BuildNative(request, options);
}

// Instantiated kernels: "void scale<float, 64>(float const*, …)" → "scale<float, 64>", which NVRTC
// is asked for.
std::vector<std::string> TemplateKernels(const ElfSymbols& symbols) {
  std::vector<std::string> names;
  for (const std::string& symbol : symbols.exported) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    if (text == nullptr) continue;
    std::string name = text;
    std::free(text);  // NOLINT: allocated by the C++ run time with malloc
    constexpr std::string_view kVoid = "void ";
    if (name.rfind(kVoid, 0) != 0) continue;  // only templates carry their return type
    name = name.substr(kVoid.size());
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '<') ++depth;
      if (name[i] == '>') --depth;
      if (name[i] == '(' && depth == 0) {
        names.push_back(name.substr(0, i));
        break;
      }
    }
  }
  return names;
}

// Path of the device code; nullopt, with the compiler's words in `log`, when NVRTC does not take
// it.
Result<std::optional<std::string>> BuildDeviceHalf(const std::string& file_name,
                                                   const std::string& device,
                                                   const std::vector<std::string>& names,
                                                   const CudaOptions& cuda,
                                                   const BuildOptions& options, std::string& log) {
  std::string key =
      device + '\n' + cuda.arch + '\n' + cuda.toolkit + '\n' + BaseName(cuda.resource_dir);
  for (const std::string& name : names) key += '\n' + name;
  const std::string path = options.cache_dir + "/builds/" + Sha256Hex(key).substr(0, 40) + ".cubin";
  if (::access(path.c_str(), R_OK) == 0) return std::optional(path);
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.cache_dir + "/scratch"));
  KERF_RETURN_IF_ERROR(scratch.Write(file_name, device));
  sandbox::Policy policy = sandbox::Policy::ForSystemPrograms();
  const std::string own = JoinPath(cuda.resource_dir, "cuda");
  policy.Read(cuda.kerf_program, kProgramInside).Read(own, kCudaInside).WorkFolder(scratch.path());
  sandbox::Limits limits;
  limits.wall_time = options.timeout;
  limits.cpu_time = options.timeout * 2;
  const sandbox::SandboxLevel available = options.available ? *options.available : sandbox::Probe();
  KERF_ASSIGN_OR_RETURN(const sandbox::SandboxLevel level,
                        sandbox::ChooseLevel(options.mode, available));
  const bool inside = level.has_namespaces();
  const sandbox::Sandbox box(policy, limits, options.mode, available);
  std::vector<std::string> argv = {inside ? kProgramInside : cuda.kerf_program,
                                   kNvrtcWord,
                                   file_name,
                                   "out.cubin",
                                   cuda.arch,
                                   cuda.toolkit + "/include",
                                   inside ? kCudaInside : own};
  argv.insert(argv.end(), names.begin(), names.end());
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, box.Run(argv));
  if (!outcome.succeeded()) {
    log = outcome.stderr_text.empty() ? sandbox::Describe(outcome) : outcome.stderr_text;
    return std::optional<std::string>();
  }
  KERF_ASSIGN_OR_RETURN(const std::string cubin,
                        sandbox::ReadResultFile(scratch.path(), "out.cubin", uint64_t{256} << 20));
  KERF_RETURN_IF_ERROR(StoreInCache(path, cubin));
  return std::optional(path);
}

// All of it by nvcc. Slower, and knows everything.
Result<NativeBuild> BuildWithNvcc(const std::string& file_name, const std::string& source,
                                  const CudaOptions& cuda, const BuildOptions& options) {
  NativeBuild build;
  const std::string nvcc = cuda.toolkit + "/bin/nvcc";
  build.toolchain = {nvcc, "nvcc " + BaseName(cuda.toolkit)};
  build.flags = {"-std=c++17",         "-O3", "-shared", "-Xcompiler", "-fPIC,-fvisibility=hidden",
                 "-arch=" + cuda.arch, "-w",  "-cudart", "shared"};
  std::string key = nvcc + source;
  for (const std::string& flag : build.flags) key += '\n' + flag;
  build.id = Sha256Hex(key);
  build.library = options.cache_dir + "/builds/" + build.id.substr(0, 40) + ".so";
  if (::access(build.library.c_str(), R_OK) == 0) {
    build.ok = build.cached = true;
    return build;
  }
  KERF_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.cache_dir + "/scratch"));
  KERF_RETURN_IF_ERROR(scratch.Write(file_name, source));
  sandbox::Policy policy = sandbox::Policy::ForSystemPrograms();
  const std::string own = JoinPath(cuda.resource_dir, "cuda");
  policy.Read(own, kCudaInside);
  policy.Read(options.include_dir, "/kerf/include")
      .WorkFolder(scratch.path())
      .Variable("TMPDIR", "/tmp");
  const sandbox::SandboxLevel available = options.available ? *options.available : sandbox::Probe();
  KERF_ASSIGN_OR_RETURN(const sandbox::SandboxLevel level,
                        sandbox::ChooseLevel(options.mode, available));
  const std::string include = level.has_namespaces() ? "/kerf/include" : options.include_dir;
  sandbox::Limits limits;
  limits.wall_time = options.timeout;
  limits.cpu_time = options.timeout * 4;
  limits.tmp_bytes = uint64_t{1} << 30;
  const sandbox::Sandbox box(policy, limits, options.mode, available);
  std::vector<std::string> argv = build.flags;
  argv.insert(argv.begin(), nvcc);
  argv.insert(argv.end(),
              {"-I" + include, "-I" + (level.has_namespaces() ? std::string(kCudaInside) : own),
               "-o", "candidate.so", "-x", "cu", file_name});
  KERF_ASSIGN_OR_RETURN(const sandbox::Outcome outcome, box.Run(argv));
  if (!outcome.succeeded()) {
    const CompilerLog log = CleanCompilerLog(outcome.stderr_text + outcome.stdout_text);
    build.status = "compile_error";
    build.reason =
        outcome.status == sandbox::OutcomeStatus::kLimit ? "compiler_timeout" : log.reason;
    build.log = log.text.empty() ? sandbox::Describe(outcome) : log.text;
    return build;
  }
  KERF_ASSIGN_OR_RETURN(
      const std::string library,
      sandbox::ReadResultFile(scratch.path(), "candidate.so", uint64_t{512} << 20));
  KERF_RETURN_IF_ERROR(StoreInCache(build.library, library));
  build.ok = true;
  return build;
}

}  // namespace

Result<std::string> FindCudaToolkit() {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* path = std::getenv(name);
    if (path != nullptr &&
        ::access((std::string(path) + "/include/cuda_runtime.h").c_str(), R_OK) == 0) {
      return std::string(path);
    }
  }
  if (::access("/usr/local/cuda/include/cuda_runtime.h", R_OK) == 0)
    return std::string("/usr/local/cuda");
  return Unavailable(
      "the CUDA toolkit is not there (no cuda_runtime.h in $CUDA_HOME or /usr/local/cuda)");
}

Result<CudaBuild> BuildCuda(const Candidate& candidate, const CudaOptions& cuda,
                            const BuildOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  CudaBuild build;
  const std::string file_name = candidate.op_name + (candidate.impl == Impl::kHip ? ".hip" : ".cu");
  const CudaHalves halves = SplitCuda(candidate.source);
  KERF_ASSIGN_OR_RETURN(build.native, BuildHostHalf(file_name, halves.host, cuda, options));
  std::string log = build.native.log;
  if (build.native.ok) {
    KERF_ASSIGN_OR_RETURN(const std::string bytes,
                          MakePosixFileSystem()->ReadFile(build.native.library));
    KERF_ASSIGN_OR_RETURN(const ElfSymbols symbols, ReadElfSymbols(bytes));
    KERF_ASSIGN_OR_RETURN(
        const std::optional<std::string> cubin,
        BuildDeviceHalf(file_name, halves.device, TemplateKernels(symbols), cuda, options, log));
    if (cubin.has_value()) {
      build.cubin = *cubin;
      build.native.toolchain.version += " + NVRTC";
    }
  }
  if (build.cubin.empty()) {
    const bool has_nvcc = ::access((cuda.toolkit + "/bin/nvcc").c_str(), X_OK) == 0;
    if (has_nvcc) {
      KERF_ASSIGN_OR_RETURN(build.native,
                            BuildWithNvcc(file_name, candidate.source, cuda, options));
    } else {
      const CompilerLog cleaned = CleanCompilerLog(log);
      build.native.ok = false;
      build.native.status = "compile_error";
      build.native.reason = cleaned.reason;
      build.native.log = cleaned.text;
    }
  }
  build.native.wall = std::chrono::steady_clock::now() - begin;
  return build;
}

}  // namespace kerf::verify
