#include "dataset/language.h"

#include <cstring>

namespace kerf::dataset {
namespace {

// What tells stands near the top; a megabyte of code need not be searched eight times.
constexpr size_t kLookedAt = 32768;

bool Has(std::string_view text, std::string_view word) {
  return ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

}  // namespace

const char* LanguageName(Language language) {
  switch (language) {
    case Language::kHip:
      return "hip";
    case Language::kCuda:
      return "cuda";
    case Language::kCpp:
      return "cpp";
    case Language::kTriton:
      return "triton";
    case Language::kPython:
      return "python";
    case Language::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Language DetectLanguage(std::string_view code) {
  code = code.substr(0, kLookedAt);
  // Python first: a Triton source may carry C++ in a string, C++ has no reason to say @triton.jit.
  if (Has(code, "@triton.jit") || Has(code, "import triton") || Has(code, "from triton")) {
    return Language::kTriton;
  }
  if (Has(code, "hip/hip_runtime") || Has(code, "hipLaunchKernelGGL") || Has(code, "hipStream_t")) {
    return Language::kHip;
  }
  const bool kernel = Has(code, "__global__");
  if (kernel && (Has(code, "cuda_runtime") || Has(code, "cuda.h") || Has(code, "cudaStream_t"))) {
    return Language::kCuda;
  }
  // A kernel that names neither: these data sets are translations to HIP.
  if (kernel) return Language::kHip;
  if (Has(code, "PYBIND11_MODULE") || Has(code, "#include") || Has(code, "TORCH_LIBRARY")) {
    return Language::kCpp;
  }
  if (Has(code, "import torch") || Has(code, "import numpy") || Has(code, "def ")) {
    return Language::kPython;
  }
  return Language::kUnknown;
}

}  // namespace kerf::dataset
