#include "loop/conduct/first_candidate.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

namespace kerf::conduct {
namespace {

// Says who it is, or what it was told to say.
class Speaker : public llm::Provider {
 public:
  explicit Speaker(std::string who) : who_(std::move(who)) {}
  void Ask(llm::Request request, Done done) override {
    asked.push_back(request.agent);
    if (error.has_value()) return done(*error);
    llm::Reply reply;
    reply.text = who_;
    done(std::move(reply));
  }
  void Stop() override {}
  [[nodiscard]] std::string name() const override { return who_; }

  std::optional<Error> error;
  std::vector<std::string> asked;

 private:
  const std::string who_;
};

class FirstCandidateTest : public ::testing::Test {
 protected:
  Result<llm::Reply> Ask(const std::string& agent, ActionType action, int64_t round = 0) {
    llm::Request request;
    request.agent = agent;
    request.owner = "relu/0";
    request.action = action;
    request.round = round;
    Result<llm::Reply> got = Error{};
    first_.Ask(std::move(request), [&](Result<llm::Reply> reply) { got = std::move(reply); });
    return got;
  }

  Speaker synth_{"synth"};
  Speaker model_{"model"};
  FirstCandidate first_{synth_, [&](const std::string&) -> llm::Provider& { return model_; }};
};

TEST_F(FirstCandidateTest, SynthesizerBeginsAndTheModelGoesOn) {
  EXPECT_EQ(Ask("aul_designer", ActionType::kDoDesigner)->text, "synth");
  EXPECT_NE(Ask("conductor_check", ActionType::kDoDesigner)->text.find("\"result\": 1"),
            std::string::npos);
  EXPECT_EQ(Ask("cpp_coder", ActionType::kDoCoder)->text, "synth");
  EXPECT_TRUE(model_.asked.empty());
  EXPECT_EQ(Ask("cpp_coder_fix", ActionType::kFixCoder)->text, "model");
  EXPECT_EQ(Ask("conductor_check", ActionType::kFixCoder)->text, "model");
  EXPECT_EQ(Ask("aul_designer", ActionType::kDoDesigner, 1)->text, "model");
}

TEST_F(FirstCandidateTest, ModelBeginsWhatCannotBeSynthesized) {
  synth_.error = InvalidInput("no such operator");
  const auto reply = Ask("aul_designer", ActionType::kDoDesigner);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->text, "model");
  ASSERT_EQ(reply->notes.size(), 1U);
  EXPECT_NE(reply->notes[0].find("no such operator"), std::string::npos);
  EXPECT_EQ(Ask("conductor_check", ActionType::kDoDesigner)->text, "model");
  EXPECT_EQ(Ask("cpp_coder", ActionType::kDoCoder)->text, "model");
  EXPECT_EQ(synth_.asked.size(), 1U);
}

TEST_F(FirstCandidateTest, StoppedIsNoReasonToPayAModel) {
  synth_.error = Unavailable("stopped");
  EXPECT_FALSE(Ask("aul_designer", ActionType::kDoDesigner).ok());
  EXPECT_TRUE(model_.asked.empty());
}

TEST_F(FirstCandidateTest, AfterAResumeChecksAreTheModels) {
  EXPECT_EQ(Ask("conductor_check", ActionType::kFixCoder)->text, "model");
}

}  // namespace
}  // namespace kerf::conduct
