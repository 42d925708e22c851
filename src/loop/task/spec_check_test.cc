#include "loop/task/spec_check.h"

#include <gtest/gtest.h>

namespace kerf::task {
namespace {

TaskSpec Right() {
  TaskSpec spec;
  spec.op_name = "relu";
  spec.arch = "x86_64";
  return spec;
}

std::string Refusal(const TaskSpec& spec) {
  const Status status = CheckTaskSpec(spec);
  return status.ok() ? "" : status.error().message;
}

TEST(SpecCheck, TakesWhatGoesTogether) {
  EXPECT_EQ(Refusal(Right()), "");
  TaskSpec gpu = Right();
  gpu.backend = "cuda";
  gpu.arch = "h200";
  gpu.impl = Impl::kCudaC;
  EXPECT_EQ(Refusal(gpu), "");
  TaskSpec npu = Right();
  npu.backend = "ascend";
  npu.arch = "ascend310p3";
  npu.impl = Impl::kSwft;
  npu.framework = "numpy";
  EXPECT_EQ(Refusal(npu), "");
}

// The beginnings are AIKG's own words, which its users' scripts match.
TEST(SpecCheck, RefusesInAikgsWordsAndOrder) {
  TaskSpec spec = Right();
  spec.framework = "jax";
  spec.backend = "tpu";
  EXPECT_EQ(Refusal(spec).find("Unsupported framework: jax"), 0U);
  spec.framework = "";
  EXPECT_EQ(Refusal(spec).find("Unsupported framework: "), 0U);
  spec.framework = "Torch";
  EXPECT_EQ(Refusal(spec).find("Unsupported framework: Torch"), 0U);
  spec.framework = "mindspore";
  EXPECT_EQ(Refusal(spec), "backend must be ascend, cuda or cpu");
  spec.backend = "cuda";
  EXPECT_EQ(Refusal(spec).find("Framework mindspore does not support backend: cuda"), 0U);
  spec.framework = "torch";
  EXPECT_EQ(Refusal(spec).find("Backend cuda does not support arch: x86_64"), 0U);
  spec.arch = "a100";
  spec.impl = Impl::kSwft;
  EXPECT_EQ(Refusal(spec).find("Arch a100 does not support impl_type: swft"), 0U);
  spec.impl = Impl::kTriton;
  spec.task_type = "fast";
  EXPECT_EQ(Refusal(spec), "task_type must be precision_only or profile");
}

TEST(SpecCheck, RefusesEmptyNamesAndNoSteps) {
  TaskSpec spec = Right();
  spec.op_name = "";
  EXPECT_NE(Refusal(spec), "");
  spec = Right();
  spec.task_id = "";
  EXPECT_NE(Refusal(spec), "");
  spec = Right();
  spec.limit_steps = 0;
  EXPECT_NE(Refusal(spec), "");
}

}  // namespace
}  // namespace kerf::task
