#include "artifact/candidate.h"

namespace kerf {
namespace {
constexpr const char* kImplNames[] = {"cpp", "cuda_c", "hip", "torch_ext", "triton", "swft"};
}  // namespace

const char* ImplName(Impl impl) { return kImplNames[static_cast<size_t>(impl)]; }

std::optional<Impl> ParseImpl(std::string_view text) {
  for (size_t i = 0; i < std::size(kImplNames); ++i) {
    if (text == kImplNames[i]) return static_cast<Impl>(i);
  }
  return std::nullopt;
}

}  // namespace kerf
