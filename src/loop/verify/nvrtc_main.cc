// NVRTC knows no host headers. Those that candidates include out of habit are replaced by texts
// that declare what device code may use of them; what is missing fails to compile, and nvcc takes
// over.
#include "loop/verify/nvrtc_main.h"

#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kerf::verify {
namespace {

using NvrtcProgram = void*;

struct Nvrtc {
  int (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*add_name)(NvrtcProgram, const char*) = nullptr;
  int (*compile)(NvrtcProgram, int, const char* const*) = nullptr;
  int (*log_size)(NvrtcProgram, size_t*) = nullptr;
  int (*log)(NvrtcProgram, char*) = nullptr;
  int (*cubin_size)(NvrtcProgram, size_t*) = nullptr;
  int (*cubin)(NvrtcProgram, char*) = nullptr;

  bool Open() {
    void* library = nullptr;
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                             "/usr/local/cuda/lib64/libnvrtc.so"}) {
      library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) return false;
    const auto find = [&](const char* name, auto& out) {
      out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(::dlsym(library, name));
      return out != nullptr;
    };
    return find("nvrtcCreateProgram", create) && find("nvrtcAddNameExpression", add_name) &&
           find("nvrtcCompileProgram", compile) && find("nvrtcGetProgramLogSize", log_size) &&
           find("nvrtcGetProgramLog", log) && find("nvrtcGetCUBINSize", cubin_size) &&
           find("nvrtcGetCUBIN", cubin);
  }
};

constexpr const char* kIntegers = R"(#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef long int64_t; typedef unsigned long uint64_t; typedef long intptr_t; typedef unsigned long uintptr_t;
typedef unsigned long size_t; typedef long ptrdiff_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807L
namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;
using ::uint32_t; using ::uint64_t; using ::size_t; using ::ptrdiff_t; }
)";
constexpr const char* kLimits = R"(#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
)";
constexpr const char* kMath = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_SQRT1_2 0.70710678118654752440
#define M_SQRT2 1.41421356237309504880
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_2_SQRTPI 1.12837916709551257390
#define M_E 2.7182818284590452354
#endif
namespace std { using ::exp; using ::log; using ::sqrt; using ::tanh; using ::fabs; using ::pow; using ::erf; using ::floor;
using ::ceil; using ::sin; using ::cos; using ::fmax; using ::fmin; using ::abs; using ::max; using ::min; using ::isnan;
using ::isinf; }
)";
constexpr const char* kKernel = R"(#pragma once
#include <stdint.h>
struct DLTensor; struct kerf_call;
#define KERF_KERNEL(call) extern "C" int kerf_kernel(const kerf_call* call)
)";
// NVRTC declares the runtime API's types itself; with nvcc this header brings these others too.
constexpr const char* kRuntime =
    "#pragma once\n#include <stdint.h>\n#include <math.h>\n#include <float.h>\n";
constexpr const char* kNothing = "#pragma once\n";

struct Header {
  const char* name;
  const char* text;
};
constexpr Header kHeaders[] = {{"stdint.h", kIntegers},
                               {"cstdint", kIntegers},
                               {"stddef.h", kIntegers},
                               {"cstddef", kIntegers},
                               {"float.h", kLimits},
                               {"cfloat", kLimits},
                               {"limits.h", kLimits},
                               {"climits", kLimits},
                               {"math.h", kMath},
                               {"cmath", kMath},
                               {"kerf/kernel.h", kKernel},
                               {"cuda_runtime.h", kRuntime},
                               {"cuda.h", kRuntime},
                               {"cuda_runtime_api.h", kRuntime},
                               {"device_launch_parameters.h", kNothing},
                               {"stdio.h", kNothing},
                               {"cstdio", kNothing},
                               {"stdlib.h", kNothing},
                               {"cstdlib", kNothing},
                               {"string.h", kNothing},
                               {"cstring", kNothing},
                               {"assert.h", kNothing},
                               {"cassert", kNothing},
                               {"algorithm", kMath},
                               {"vector", kNothing},
                               {"string", kNothing},
                               {"iostream", kNothing},
                               {"memory", kNothing},
                               {"utility", kNothing},
                               {"stdexcept", kNothing},
                               {"array", kNothing},
                               {"mutex", kNothing},
                               {"tuple", kNothing}};

std::string ReadWhole(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The file's name without folders, as messages shall call it.
const char* Last(const char* path) {
  const char* last = path;
  for (const char* c = path; *c != '\0'; ++c) {
    if (*c == '/') last = c + 1;
  }
  return last;
}

}  // namespace

int NvrtcMain(int argc, char** argv) {
  if (argc < 5) return 2;
  Nvrtc nvrtc;
  if (!nvrtc.Open()) {
    std::fprintf(stderr, "NVRTC is not there: %s\n", ::dlerror());
    return 3;
  }
  const std::string source = ReadWhole(argv[0]);
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const Header& header : kHeaders) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  NvrtcProgram program = nullptr;
  if (nvrtc.create(&program, source.c_str(), Last(argv[0]), static_cast<int>(names.size()),
                   texts.data(), names.data()) != 0) {
    std::fprintf(stderr, "NVRTC cannot take the source\n");
    return 3;
  }
  for (int i = 5; i < argc; ++i) nvrtc.add_name(program, argv[i]);
  const std::string arch = std::string("--gpu-architecture=") + argv[2];
  const std::string include = std::string("-I") + argv[3];
  const std::string own = "-I" + std::string(argv[4]);  // hip/: HIP's names for CUDA's
  const std::string libraries = include + "/cccl";      // where CUDA 13 has nv/target and cuda/std
  // Functions without a word before them can only be device code here.
  const char* const options[] = {arch.c_str(),
                                 include.c_str(),
                                 libraries.c_str(),
                                 own.c_str(),
                                 "--std=c++17",
                                 "-w",
                                 "--device-as-default-execution-space"};
  const int result = nvrtc.compile(program, static_cast<int>(std::size(options)), options);
  size_t size = 0;
  if (nvrtc.log_size(program, &size) == 0 && size > 1) {
    std::string log(size, '\0');
    nvrtc.log(program, log.data());
    std::fputs(log.c_str(), stderr);
  }
  if (result != 0) return 1;
  if (nvrtc.cubin_size(program, &size) != 0 || size == 0) return 1;
  std::string cubin(size, '\0');
  nvrtc.cubin(program, cubin.data());
  std::ofstream file(argv[1], std::ios::binary);
  file.write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
  file.close();
  return file.good() ? 0 : 3;
}

}  // namespace kerf::verify
