#include "loop/verify/cuda_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kerf::verify {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSource = R"(#include <cuda_runtime.h>
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };
template <typename T>
__device__ T twice(T x) { return x + x; }
__host__ __device__ inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <typename T, int N>
__global__ void __launch_bounds__(256) scale(const T* x, T* y, int n) {
  __shared__ T tile[N];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { y[i] = twice(x[i]); }
}
static __global__ void plain(float* x) { x[threadIdx.x] = 1; }
__constant__ float table[4] = {1, 2, 3, 4};
template <typename T>
void run(const T* x, T* y, int n) {
  scale<T, 64><<<ceil_div(n, 256), 256>>>(x, y, n);
}
KERF_KERNEL(call) {
  plain<<<1, 32, 0, (cudaStream_t)call->stream>>>(nullptr);
  return 0;
}
)";

size_t Lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(CudaSplit, KeepsLines) {
  const CudaHalves halves = SplitCuda(kSource);
  EXPECT_EQ(Lines(halves.host), Lines(kSource));
  EXPECT_EQ(Lines(halves.device), Lines(kSource));
}

TEST(CudaSplit, TheHostHasLaunchesAndNoDeviceCode) {
  const std::string host = SplitCuda(kSource).host;
  EXPECT_THAT(host,
              HasSubstr("::kerf_launch::Launch(scale<T, 64>, ceil_div(n, 256), 256)(x, y, n)"));
  EXPECT_THAT(
      host,
      HasSubstr("::kerf_launch::Launch(plain, 1, 32, 0, (cudaStream_t)call->stream)(nullptr)"));
  EXPECT_THAT(host, HasSubstr("__device__ T twice(T x) ;"));
  EXPECT_THAT(host, HasSubstr("operator()(float a, float b) const ;"));
  EXPECT_THAT(host, HasSubstr("return (a + b - 1) / b;"));
  EXPECT_THAT(host, Not(HasSubstr("__shared__")));
  EXPECT_THAT(host, Not(HasSubstr("static __global__")));
}

TEST(CudaSplit, TheDeviceHasKernelsAndNoHostCode) {
  const std::string device = SplitCuda(kSource).device;
  EXPECT_THAT(device, HasSubstr("__shared__ T tile[N];"));
  EXPECT_THAT(device, HasSubstr("return x + x;"));
  EXPECT_THAT(device, HasSubstr("table[4] = {1, 2, 3, 4};"));
  EXPECT_THAT(device, Not(HasSubstr("<<<")));
  EXPECT_THAT(device, Not(HasSubstr("KERF_KERNEL")));
  EXPECT_THAT(device, Not(HasSubstr("void run")));
}

TEST(CudaSplit, NamespacesAndTypesAreNotFunctions) {
  const CudaHalves halves = SplitCuda(
      "namespace a { struct B { int x; }; enum class C { k }; __global__ void k() { int i = 0; } "
      "}\n");
  EXPECT_EQ(halves.host,
            "namespace a { struct B { int x; }; enum class C { k }; __global__ void k() {} }\n");
  EXPECT_EQ(halves.device,
            "namespace a { struct B { int x; }; enum class C { k }; __global__ void k() { int i = "
            "0; } }\n");
}

}  // namespace
}  // namespace kerf::verify
