#include "llm/scripted_provider.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace kerf::llm {
namespace {

std::unique_ptr<ScriptedProvider> Make(const char* json) {
  Result<std::unique_ptr<ScriptedProvider>> provider = ScriptedProvider::Parse(json, "s.json");
  EXPECT_TRUE(provider.ok()) << (provider.ok() ? "" : provider.error().message);
  return *std::move(provider);
}

Result<Reply> AskNow(Provider& provider, const std::string& agent, const std::string& owner = "") {
  std::promise<Result<Reply>> promise;
  provider.Ask({.agent = agent, .owner = owner, .messages = {{"user", "q"}}},
               [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

TEST(ScriptedProvider, AnswersInOrderPerAgent) {
  auto provider = Make(R"({"replies": [
      {"agent": "coder", "text": "c1", "reasoning": "why", "finish": "length", "usage": {"input": 3, "output": 4}},
      {"text": "any"},
      {"agent": "check", "text": "ok", "repeat": true}]})");
  EXPECT_EQ(AskNow(*provider, "designer")->text, "any");
  const Result<Reply> coder = AskNow(*provider, "coder");
  ASSERT_TRUE(coder.ok());
  EXPECT_EQ(coder->text, "c1");
  EXPECT_EQ(coder->reasoning, "why");
  EXPECT_EQ(coder->finish, Finish::kLength);
  EXPECT_EQ(coder->usage.output_total, 4);
  EXPECT_EQ(coder->cost, 0);
  EXPECT_EQ(coder->request_sha256.size(), 64U);
  EXPECT_EQ(AskNow(*provider, "check")->text, "ok");
  EXPECT_EQ(AskNow(*provider, "check")->text, "ok");
  const Result<Reply> none = AskNow(*provider, "coder", "relu/0");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "s.json: no reply is left for agent 'coder' of relu/0");
}

TEST(ScriptedProvider, GivesEachOwnerTheListWhenAsked) {
  auto provider = Make(R"({"per_owner": true, "replies": [{"text": "1"}, {"text": "2"}]})");
  EXPECT_EQ(AskNow(*provider, "x", "a")->text, "1");
  EXPECT_EQ(AskNow(*provider, "x", "b")->text, "1");
  EXPECT_EQ(AskNow(*provider, "x", "a")->text, "2");
}

TEST(ScriptedProvider, FailsAsWritten) {
  auto provider = Make(R"([{"error": {"code": "timeout", "message": "slow"}}, {"error": "down"}])");
  const Result<Reply> slow = AskNow(*provider, "x");
  EXPECT_EQ(slow.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(AskNow(*provider, "x").error().message, "down");
}

TEST(ScriptedProvider, TakesJsonAsText) {
  auto provider = Make(R"([{"json": {"code": "x", "description": "d"}}])");
  EXPECT_EQ(AskNow(*provider, "x")->text, R"({"code": "x", "description": "d"})");
}

TEST(ScriptedProvider, RefusesUnknownMembersWithTheNearestRightOne) {
  const Result<std::unique_ptr<ScriptedProvider>> bad =
      ScriptedProvider::Parse(R"([{"text": "a"}, {"finnish": "stop"}])", "s.json");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "s.json: reply 2: \"finnish\" is not known; did you mean finish?");
  EXPECT_FALSE(ScriptedProvider::Parse("[{]", "s.json").ok());
  EXPECT_FALSE(ScriptedProvider::Parse(R"({"replys": []})", "s.json").ok());
}

TEST(ScriptedProvider, StopEndsWhatWaits) {
  auto provider = Make(R"([{"text": "late", "delay_ms": 60000}])");
  std::promise<Result<Reply>> promise;
  provider->Ask({}, [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  provider->Stop();
  EXPECT_FALSE(promise.get_future().get().ok());
  EXPECT_FALSE(AskNow(*provider, "x").ok());
}

TEST(ScriptedProvider, ManyDelayedRepliesNeedOneThread) {
  auto provider = Make(R"([{"text": "t", "delay_ms": 5, "repeat": true}])");
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < 500; ++i) {
    provider->Ask({}, [&](Result<Reply> reply) {
      EXPECT_TRUE(reply.ok());
      if (++answered == 500) all.set_value();
    });
  }
  all.get_future().wait();
  EXPECT_EQ(answered, 500);
}

}  // namespace
}  // namespace kerf::llm
