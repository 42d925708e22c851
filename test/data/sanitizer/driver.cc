// driver CASE: calls the kernel it is linked with on one case (cases.py), each tensor in a heap
// block of exactly its size, so that the address sanitizer sees any step outside. The results are
// held against the reference's only roughly: the verifier judges numbers, this judges memory.
#include <kerf/kernel.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

struct Tensor {
  DLTensor view{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<char> expected;
};

const char* cursor = nullptr;

int64_t Number() {
  int64_t value = 0;
  std::memcpy(&value, cursor, sizeof(value));
  cursor += sizeof(value);
  return value;
}

Tensor ReadTensor(bool output) {
  Tensor t;
  const int64_t code = Number();
  if (code < 0) return t;
  const int64_t bits = Number();
  t.shape.resize(static_cast<size_t>(Number()));
  int64_t bytes = bits / 8;
  for (int64_t& extent : t.shape) bytes *= extent = Number();
  t.strides.assign(t.shape.size(), 1);
  for (size_t i = t.shape.size(); i-- > 1;) t.strides[i - 1] = t.strides[i] * t.shape[i];
  t.view.device = {kDLCPU, 0};
  t.view.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  t.view.ndim = static_cast<int32_t>(t.shape.size());
  t.view.data = std::malloc(static_cast<size_t>(bytes));
  if (output) {
    t.expected.assign(cursor, cursor + bytes);
    std::memset(t.view.data, 0x5a, static_cast<size_t>(bytes));
  } else if (bytes > 0) {
    std::memcpy(t.view.data, cursor, static_cast<size_t>(bytes));
  }
  cursor += bytes;
  return t;
}

double Element(const char* data, const DLDataType& type, int64_t i) {
  const auto as = [&](auto zero) {
    std::memcpy(&zero, data + static_cast<size_t>(i) * sizeof(zero), sizeof(zero));
    return static_cast<double>(zero);
  };
  if (type.code == kDLBfloat) {
    uint16_t half = 0;
    std::memcpy(&half, data + i * 2, sizeof(half));
    const uint32_t wide = static_cast<uint32_t>(half) << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
  if (type.code == kDLFloat)
    return type.bits == 16 ? as(_Float16{}) : type.bits == 32 ? as(float{}) : as(double{});
  if (type.code == kDLInt && type.bits > 8)
    return type.bits == 16 ? as(int16_t{}) : type.bits == 32 ? as(int32_t{}) : as(int64_t{});
  return type.code == kDLInt ? as(int8_t{}) : as(uint8_t{});
}

// How many elements are other than expected.
int64_t Differences(const Tensor& t) {
  const DLDataType& type = t.view.dtype;
  const double relative = type.code == kDLBfloat  ? 0.05
                          : type.code != kDLFloat ? 0
                          : type.bits == 16       ? 0.01
                                                  : 1e-3;
  int64_t wrong = 0;
  for (int64_t i = 0; i < kerf_numel(t.view); ++i) {
    const double got = Element(static_cast<const char*>(t.view.data), type, i);
    const double want = Element(t.expected.data(), type, i);
    // NaN is not held against the kernel: torch's vectorised gelu gives it at infinity.
    if (got == want || std::isnan(want)) continue;
    if (!(std::abs(got - want) <= relative * (1 + std::abs(want)))) ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  cursor = bytes.data();
  int64_t counts[4];
  for (int64_t& count : counts) count = Number();
  std::vector<Tensor> tensors[4];
  std::vector<DLTensor> views[4];
  for (int kind = 0; kind < 4; ++kind) {
    for (int64_t i = 0; i < counts[kind]; ++i) tensors[kind].push_back(ReadTensor(kind == 3));
    for (Tensor& t : tensors[kind]) {
      t.view.shape = t.shape.data();
      t.view.strides = t.strides.data();
      views[kind].push_back(t.view);
    }
  }
  kerf_call call{};
  call.abi_version = KERF_ABI_VERSION;
  call.n_inputs = static_cast<int32_t>(counts[0]);
  call.n_params = static_cast<int32_t>(counts[1]);
  call.n_init = static_cast<int32_t>(counts[2]);
  call.n_outputs = static_cast<int32_t>(counts[3]);
  call.inputs = views[0].data();
  call.params = views[1].data();
  call.init = views[2].data();
  call.outputs = views[3].data();
  call.threads = 2;
  if (const int rc = kerf_kernel(&call); rc != 0) {
    std::printf("the kernel gave %d\n", rc);
    return 1;
  }
  int64_t wrong = 0;
  for (size_t i = 0; i < tensors[3].size(); ++i) {
    const int64_t here = Differences(tensors[3][i]);
    if (here > 0)
      std::printf("output %zu: %lld elements differ\n", i, static_cast<long long>(here));
    wrong += here;
  }
  for (auto& kind : tensors)
    for (Tensor& t : kind) std::free(t.view.data);
  std::printf("%zu outputs compared\n", tensors[3].size());
  return wrong > 0 ? 1 : 0;
}
