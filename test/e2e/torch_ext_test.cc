// `kerf verify --impl torch_ext`, with the built binary and the interpreter's own torch. The first
// build precompiles torch's headers, which takes half a minute; so all of it is one test with one
// cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kTask = R"py(
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2 + 1


def get_inputs():
    return [torch.randn(32, 100)]


def get_init_inputs():
    return []
)py";

constexpr const char* kPlain = R"cpp(#include <torch/extension.h>
                                     torch::Tensor scale(torch::Tensor x) {
                                       TORCH_CHECK(x.scalar_type() == torch::kFloat32,
                                                   "float32 "
                                                   "only");
                                       auto y = torch::empty_like(x);
                                       const float* in = x.data_ptr<float>();
                                       float* out = y.data_ptr<float>();
                                       for (int64_t i = 0; i < x.numel(); ++i) out[i] = (in[i] > 0 ? in[i] : 0) * 2 + OFFSET;
                                       return y;
                                     }
                                     PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &scale); }
)cpp";

constexpr const char* kHip =
    R"cpp(#include <hip/hip_runtime.h>
#include <torch/extension.h>
          __global__ void scale_kernel(const float* in, float* out, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = fmaxf(in[i], 0.0f) * 2 + 1;
          }
          torch::Tensor kernel_function(torch::Tensor x) {
            TORCH_CHECK(x.is_cuda(), "a tensor on the device is wanted");
            auto y = torch::empty_like(x);
            const int n = x.numel();
            hipLaunchKernelGGL(scale_kernel, dim3((n + 255) / 256), dim3(256), 0, 0,
                               x.data_ptr<float>(), y.data_ptr<float>(), n);
            return y;
          }
          PYBIND11_MODULE(scale_hip, m) { m.def("kernel_function", &kernel_function); }
    )cpp";

constexpr const char* kTest = R"py(
import torch
import scale_hip


def test_scale():
    x = torch.randn(1000, device="cuda")
    y = scale_hip.kernel_function(x)
    assert torch.allclose(y, x.cpu().clamp(min=LOW) * 2 + 1)
    return {"one": y}


result_gold = test_scale()
)py";

// The original that kHip translates, and a test that knows only the function's name.
constexpr const char* kLabel = R"py(
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.maximum(value, 0.0) * 2 + 1, mask=at < n)


def kernel_function(x):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
)py";

constexpr const char* kBareTest = R"py(
import torch


def test_scale():
    shapes = [(1000,), (7, 13)]
    return {str(shape): [kernel_function(torch.randn(shape, device="cuda"))] for shape in shapes}


result_gold = test_scale()
)py";

std::string With(std::string text, const std::string& word, const std::string& value) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size()) {
    text.replace(at, word.size(), value);
  }
  return text;
}

class TorchExt : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = dir_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  // Null when kerf could not find out.
  Json Verify(const std::string& task, const std::string& candidate,
              const std::vector<std::string>& more = {}) {
    std::string python = std::string(KERF_SOURCE_DIR) + "/.venv/bin/python";
    if (const char* own = std::getenv("KERF_PYTHON")) python = own;
    const char* path = std::getenv("PATH");
    std::vector<std::string> words = {KERF_BINARY, "verify",    task,    candidate,
                                      "--impl",    "torch_ext", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto outcome = RunProcess(
        {.argv = std::move(words),
         .cwd = dir_.path(),
         .environment = {{"PATH=" + std::string(path == nullptr ? "/usr/bin:/bin" : path),
                          "KERF_PYTHON=" + python, "KERF_CACHE_DIR=" + dir_.path() + "/cache"}},
         .timeout = std::chrono::minutes(8)});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    if (!outcome.ok()) return {};
    exit_code_ = outcome->exit_code;
    stderr_ = outcome->stderr_text;
    return exit_code_ <= 1 ? Json::parse(outcome->stdout_text) : Json();
  }

  TempDir dir_;
  int exit_code_ = -1;
  std::string stderr_;
};

TEST_F(TorchExt, NamesWhatATestCallsAndNobodyBindsWithoutBuilding) {
  const std::string test =
      Write("scale.py", With(With(kTest, "kernel_function", "call_kernel"), "LOW", "0"));
  const Json verdict = Verify(test, Write("scale.hip", kHip));
  if (exit_code_ == 3) GTEST_SKIP() << stderr_;
  ASSERT_EQ(exit_code_, 1) << stderr_;
  EXPECT_EQ(verdict.at("status"), "call_error");
  EXPECT_EQ(verdict.at("reason"), "symbol_mismatch");
  EXPECT_FALSE(verdict.at("pass_call").get<bool>());
  EXPECT_THAT(verdict.at("log").get<std::string>(),
              HasSubstr("the test calls call_kernel (line 8), which the extension does not bind; "
                        "bound: kernel_function"));
  EXPECT_THAT(verdict.at("log").get<std::string>(), HasSubstr("kernel_function"));
}

TEST_F(TorchExt, JudgesPlainAndHipExtensions) {
  const std::string task = Write("scale_torch.py", kTask);
  Json verdict = Verify(task, Write("honest.cc", With(kPlain, "OFFSET", "1")));
  if (exit_code_ == 3) GTEST_SKIP() << stderr_;
  ASSERT_EQ(exit_code_, 0) << verdict.dump(1) << stderr_;
  EXPECT_EQ(verdict.at("status"), "passed");

  verdict = Verify(task, Write("wrong.cc", With(kPlain, "OFFSET", "1.01f")));
  EXPECT_EQ(verdict.at("status"), "wrong_value");
  EXPECT_EQ(exit_code_, 1);

  const std::string kernel = Write("kernel.hip", kHip);
  verdict = Verify(task, kernel);
  EXPECT_EQ(verdict.at("status"), "passed") << verdict.dump(1);

  // The same library, driven by a test: what it computes is not judged, so it does not pass.
  verdict = Verify(Write("test_code.py", With(kTest, "LOW", "0")), kernel);
  EXPECT_TRUE(verdict.at("build").at("cached").get<bool>());
  EXPECT_EQ(verdict.at("status"), "unsupported") << verdict.dump(1);
  EXPECT_EQ(verdict.at("reason"), "feature");
  EXPECT_TRUE(verdict.at("pass_call").get<bool>());
  EXPECT_FALSE(verdict.at("passed").get<bool>());

  verdict = Verify(Write("test_code.py", With(kTest, "LOW", "0.5")), kernel);
  EXPECT_EQ(verdict.at("status"), "wrong_value") << verdict.dump(1);
  EXPECT_THAT(verdict.at("summary").get<std::string>(), HasSubstr("line 9 of the test"));

  verdict =
      Verify(Write("test_code.py", With(With(kTest, "LOW", "0"), "function(x)", "function(x, 3)")),
             kernel);
  EXPECT_EQ(verdict.at("status"), "call_error") << verdict.dump(1);
  EXPECT_EQ(verdict.at("reason"), "bad_signature");

  // With the label there is something to hold results against.
  const std::string label = Write("label.py", kLabel);
  const std::string bare = Write("bare.py", kBareTest);
  for (const std::string& test : {bare, Write("import.py", With(kTest, "LOW", "0"))}) {
    verdict = Verify(test, kernel, {"--label", label, "--profile"});
    if (verdict.at("reason") == "package") break;  // no Triton here
    EXPECT_EQ(verdict.at("status"), "passed") << verdict.dump(1);
    EXPECT_TRUE(verdict.at("pass_exe").get<bool>());
    EXPECT_EQ(verdict.at("cases").size(), 3U);
    // Emulated kernels are not measured, and so do not pass that stage.
    EXPECT_FALSE(verdict.at("pass_perf").get<bool>());
    EXPECT_TRUE(verdict.at("timing").is_null());
    EXPECT_THAT(verdict.at("summary").get<std::string>(),
                HasSubstr("passed; not measured: without a GPU its kernels are emulated"));
  }
  const std::string wrong = Write("wrong.hip", With(kHip, "* 2 + 1", "* 2 + (i == 90 ? 1.1f : 1)"));
  verdict = Verify(bare, wrong, {"--label", label});
  if (verdict.at("reason") != "package") {
    EXPECT_EQ(verdict.at("status"), "wrong_value") << verdict.dump(1);
    EXPECT_TRUE(verdict.at("pass_call").get<bool>());
    EXPECT_FALSE(verdict.at("pass_exe").get<bool>());
    EXPECT_THAT(verdict.at("summary").get<std::string>(), HasSubstr("(1000,)"));
  }

  // The same in a Python file that compiles it itself, as AIKG's models write them.
  const std::string in_python =
      std::string(
          "import torch\nfrom torch.utils.cpp_extension import "
          "load_inline\n\nsource = r\"\"\"") +
      With(kPlain, "OFFSET", "1") +
      "\"\"\"\n\nmodule = load_inline(name=\"m\", cpp_sources=source)\n\n\n"
      "class ModelNew(torch.nn.Module):\n"
      "    def __init__(self, *args):\n        super().__init__()\n"
      "        self.args = args\n\n"
      "    def forward(self, *inputs):\n        return BODY\n";
  verdict = Verify(task, Write("inline.py", With(in_python, "BODY", "module.forward(*inputs)")));
  EXPECT_EQ(verdict.at("status"), "passed") << verdict.at("log");
  verdict =
      Verify(task, Write("cheat.py", With(in_python, "BODY", "inputs[0].clamp(min=0) * 2 + 1")));
  EXPECT_EQ(verdict.at("reason"), "library_fallback") << verdict.at("log");
}

}  // namespace
}  // namespace kerf::e2e
