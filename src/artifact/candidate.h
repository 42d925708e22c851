// A kernel somebody or something wrote, before anybody has looked at it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kerf {

enum class Impl { kCpp, kCudaC, kHip, kTorchExt, kTriton, kSwft };

const char* ImplName(Impl impl);  // "cpp", "cuda_c", "hip", "torch_ext", "triton", "swft"
std::optional<Impl> ParseImpl(std::string_view text);

struct Candidate {
  std::string op_name;
  std::string name;  // of the file it came from; only for messages
  Impl impl = Impl::kCpp;
  std::string source;
};

}  // namespace kerf
