// What the compiler says: unsupported things by name, errors at the author's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "loop/verify/launch_rewrite.h"

namespace kerf {
namespace {

using testing::HasSubstr;

// What the compiler prints about the rewritten source; empty when it accepts.
std::string Compile(const std::string& source, const std::string& prelude = "cuda") {
  char folder[] = "/tmp/kerf_simt_XXXXXX";
  if (mkdtemp(folder) == nullptr) return "no folder";
  const std::string path = std::string(folder) + "/candidate.cu.cc";
  std::ofstream(path) << verify::RewriteForSimt(source, {}).text;
  const std::string command =
      std::string(KERF_CXX) + " -std=c++17 -fsyntax-only -w -I" KERF_SIMT_INCLUDE " -I" +
      KERF_INCLUDE + " -include kerf_simt/" + prelude + ".h " + path + " 2>&1";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::array<char, 4096> chunk{};
  while (size_t n = fread(chunk.data(), 1, chunk.size(), pipe)) out.append(chunk.data(), n);
  pclose(pipe);
  unlink(path.c_str());
  rmdir(folder);
  return out;
}

TEST(SimtCompile, AcceptsStandardHeadersAfterTheQualifiers) {
  EXPECT_EQ(
      Compile(
          "#include <cuda_runtime.h>\n#include <algorithm>\n#include <atomic>\n#include <cmath>\n"
          "#include <functional>\n#include <iostream>\n#include <map>\n#include <memory>\n#include "
          "<random>\n"
          "#include <string>\n#include <thread>\n#include <vector>\n"
          "__device__ __noinline__ float f(float x) { return std::max(x, 0.f); }\n"),
      "");
}

TEST(SimtCompile, ErrorsPointToTheAuthorsLine) {
  EXPECT_THAT(Compile("__global__ void k(float* x) {}\n"
                      "void run(float* x) {\n"
                      "  k<<<1,\n"
                      "      2>>>(x);\n"
                      "  __shared_typo__;\n"
                      "}\n"),
              HasSubstr("candidate.cu.cc:5:"));
}

TEST(SimtCompile, InlineAssembly) {
  EXPECT_THAT(Compile("__global__ void k(int* x) {\n  asm volatile(\"mov.u32 %0, %laneid;\" : "
                      "\"=r\"(*x));\n}\n"),
              HasSubstr("simt: inline assembly"));
  EXPECT_EQ(Compile("__global__ void k(int* x) { asm volatile(\"\" ::: \"memory\"); }\n"), "");
}

TEST(SimtCompile, NamesWhatIsNotThere) {
  EXPECT_THAT(Compile("#include <mma.h>\n"), HasSubstr("simt: tensor cores"));
  EXPECT_THAT(Compile("#include <cub/cub.cuh>\n"), HasSubstr("simt: cub is not there"));
  EXPECT_THAT(Compile("#include <thrust/device_vector.h>\n"),
              HasSubstr("simt: thrust is not there"));
  EXPECT_THAT(
      Compile("__global__ void k(cudaTextureObject_t t, float* x) { *x = tex2D(t, 0.f, 0.f); }\n"),
      HasSubstr("simt: textures are not emulated"));
  EXPECT_THAT(Compile("__global__ void __cluster_dims__(2, 1, 1) k(float* x) {}\n"),
              HasSubstr("simt: clusters are not emulated"));
  EXPECT_THAT(Compile("#include <cooperative_groups.h>\n"
                      "__global__ void k() { auto g = cooperative_groups::this_grid(); }\n"),
              HasSubstr("simt: grid-wide barriers"));
}

TEST(SimtCompile, HipHeaders) {
  EXPECT_EQ(
      Compile("#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <hip/hip_bf16.h>\n"
              "static_assert(warpSize == 64);\n"
              "__global__ void k(__hip_bfloat16* x) { x[threadIdx.x] = __float2bfloat16(1.f); }\n"
              "hipError_t run(__hip_bfloat16* x, hipStream_t s) {\n"
              "  hipLaunchKernelGGL(k, 1, 64, 0, s, x);\n  return hipGetLastError();\n}\n",
              "hip"),
      "");
}

}  // namespace
}  // namespace kerf
