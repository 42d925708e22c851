// For tests of this folder: references made in C++, and candidates as text.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "loop/verify/native_build.h"
#include "loop/verify/native_runner.h"
#include "loop/verify/scratch.h"

namespace kerf::verify {

// A reference with one float32 input and one float32 output of the same shape, for each seed.
class TestReference {
 public:
  using Function = std::function<double(double)>;

  explicit TestReference(std::vector<int64_t> shape, const Function& function, int seeds = 2)
      : scratch_(*Scratch::Make(testing::TempDir() + "kerf_verify")) {
    reference_.folder = scratch_.path();
    reference_.framework = "numpy";
    reference_.framework_version = "0";
    for (int seed = 0; seed < seeds; ++seed) AddCase(shape, function, seed);
  }
  [[nodiscard]] const Reference& get() const { return reference_; }
  [[nodiscard]] Reference& edit() { return reference_; }

 private:
  void AddCase(const std::vector<int64_t>& shape, const Function& function, int seed) {
    const TensorSpec spec{DType::kFloat32, shape};
    const auto n = static_cast<size_t>(spec.numel());
    std::vector<float> in(n);
    std::vector<float> out(n);
    std::vector<double> oracle(n);
    uint64_t state = 12345 + static_cast<uint64_t>(seed) * 7919;
    for (size_t i = 0; i < n; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      in[i] = static_cast<float>(static_cast<double>(state >> 40) / double{1 << 24} * 4 - 2);
      oracle[i] = function(in[i]);
      out[i] = static_cast<float>(oracle[i]);
    }
    const uint64_t oracle_at = (n * 4 + 63) / 64 * 64;
    const std::string number = std::to_string(seed);
    ReferenceCase one{.seed = seed};
    one.input_file = scratch_.path() + "/case-" + number + ".in";
    one.output_file = scratch_.path() + "/case-" + number + ".out";
    std::string outputs(oracle_at + n * 8, '\0');
    std::memcpy(outputs.data(), out.data(), n * 4);
    std::memcpy(outputs.data() + oracle_at, oracle.data(), n * 8);
    std::ofstream(one.input_file, std::ios::binary)
        .write(reinterpret_cast<const char*>(in.data()), static_cast<std::streamsize>(n * 4));
    std::ofstream(one.output_file, std::ios::binary)
        .write(outputs.data(), static_cast<std::streamsize>(outputs.size()));
    Argument input;
    input.kind = Argument::Kind::kTensor;
    input.name = "input0";
    input.tensor = {"input0", spec, 0};
    one.inputs.push_back(input);
    one.outputs.push_back({"output0", spec, 0});
    one.oracle.push_back(StoredTensor{"output0", {DType::kFloat64, shape}, oracle_at});
    one.lower.push_back(std::nullopt);
    reference_.cases.push_back(one);
  }

  Scratch scratch_;
  Reference reference_;
};

inline std::string TestCacheDir() { return testing::TempDir() + "kerf_verify_cache"; }

inline BuildOptions TestBuildOptions() {
  BuildOptions options;
  options.cache_dir = TestCacheDir();
  options.include_dir = std::string(KERF_SOURCE_DIR) + "/include";
  return options;
}

inline RunnerOptions TestRunnerOptions() {
  RunnerOptions options;
  options.program = KERF_TEST_RUNNER;
  options.wall_time = std::chrono::seconds(30);
  return options;
}

// The body of a kernel that maps `x` to `out`, n elements.
inline std::string KernelText(const std::string& body) {
  return R"(#include <kerf/kernel.h>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
KERF_KERNEL(call) {
  const float* x = kerf_data<float>(call->inputs[0]);
  float* out = kerf_data<float>(call->outputs[0]);
  const int64_t n = kerf_numel(call->outputs[0]);
  (void)x; (void)out; (void)n;
)" + body +
         "\n}\n";
}

}  // namespace kerf::verify
