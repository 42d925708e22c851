// Captures real tasks in the real sandbox, where an interpreter has the framework; the rest is
// skipped and says why.
#include "loop/task/graph_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "loop/task/interpreter_testing.h"

namespace kerf::task {
namespace {

using ::testing::HasSubstr;

const std::string kExamples = std::string(KERF_SOURCE_DIR) + "/examples/tasks/";

class MakeGraphsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto level = sandbox::ChooseLevel(sandbox::Mode::kRequired, sandbox::Probe());
        !level.ok()) {
      GTEST_SKIP() << level.error().message;
    }
    options_.run.mode = sandbox::Mode::kRequired;
    char name[] = "/tmp/kerf-graphs-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }

  Result<TaskGraphs> Make(const std::string& path) {
    KERF_ASSIGN_OR_RETURN(const TaskFile task, ReadTaskFile(*fs_, path));
    // Asked once: importing torch takes seconds.
    static std::map<Framework, Result<Interpreter>> asked;
    auto known = asked.find(task.framework);
    if (known == asked.end()) {
      known = asked.emplace(task.framework, InterpreterForTests(*fs_, task.framework)).first;
    }
    KERF_ASSIGN_OR_RETURN(const Interpreter interpreter, known->second);
    return MakeGraphs(*fs_, task, options_, interpreter, root_);
  }

  Result<TaskGraphs> MakeText(const std::string& text) {
    const std::string path = root_ + "/op_torch.py";
    std::ofstream(path) << text;
    return Make(path);
  }

  std::unique_ptr<FileSystem> fs_ = MakePosixFileSystem();
  GraphOptions options_;
  std::string root_;
};

#define SKIP_WITHOUT(made)                                          \
  if (!made.ok() && made.error().code == ErrorCode::kUnavailable) { \
    GTEST_SKIP() << made.error().message;                           \
  }                                                                 \
  ASSERT_TRUE(made.ok()) << made.error().message

TEST_F(MakeGraphsTest, CapturesATorchTaskOnce) {
  const auto first = Make(kExamples + "layernorm_torch.py");
  SKIP_WITHOUT(first);
  ASSERT_EQ(first->variants.size(), 1);
  EXPECT_EQ(first->variants[0].nodes[0].op, "aten.native_layer_norm.default");
  EXPECT_THAT(first->variants[0].nodes[0].text, HasSubstr("self.norm(x)"));
  EXPECT_FALSE(first->cached);
  const auto second = Make(kExamples + "layernorm_torch.py");
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->cached);
  EXPECT_EQ(WriteGraph(second->variants[0]), WriteGraph(first->variants[0]));
}

TEST_F(MakeGraphsTest, CapturesAMindsporeTask) {
  const auto made = Make(kExamples + "softmax_mindspore.py");
  SKIP_WITHOUT(made);
  ASSERT_FALSE(made->refusal.has_value()) << made->refusal->detail;
  ASSERT_EQ(made->variants.size(), 1);
  const GraphNode& node = made->variants[0].nodes.at(0);
  EXPECT_EQ(node.op, "aten._softmax.default");
  EXPECT_THAT(node.text, HasSubstr("ops.softmax(x, axis=-1)"));
}

TEST_F(MakeGraphsTest, MakesADamagedOneAgain) {
  SKIP_WITHOUT(Make(kExamples + "softmax_torch.py"));
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/graphs")) {
    std::ofstream(entry.path()) << "{}";
  }
  const auto again = Make(kExamples + "softmax_torch.py");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE(again->cached);
}

TEST_F(MakeGraphsTest, HasAGraphForEachVariant) {
  const auto made = Make(kExamples + "rmsnorm_dynamic_torch.py");
  SKIP_WITHOUT(made);
  EXPECT_GT(made->variants.size(), 1);
}

TEST_F(MakeGraphsTest, SaysWhatCannotBeCaptured) {
  const auto made = MakeText(R"(import torch
class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
def get_inputs():
    return [torch.randn(4)]
def get_init_inputs():
    return []
)");
  SKIP_WITHOUT(made);
  ASSERT_TRUE(made->refusal.has_value());
  EXPECT_EQ(made->refusal->what, "data-dependent control flow");
  EXPECT_EQ(made->refusal->line, 4);
  EXPECT_EQ(made->refusal->text, "if x.sum() > 0:");
}

TEST_F(MakeGraphsTest, TellsTheLineOfATaskThatRaises) {
  const auto made = MakeText(R"(import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x @ x
def get_inputs():
    return [torch.randn(4, 3)]
def get_init_inputs():
    return []
)");
  ASSERT_FALSE(made.ok());
  if (made.error().code == ErrorCode::kUnavailable) GTEST_SKIP() << made.error().message;
  EXPECT_EQ(made.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(made.error().message, HasSubstr("line 4"));
}

}  // namespace
}  // namespace kerf::task
