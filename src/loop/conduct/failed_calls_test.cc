#include "loop/conduct/failed_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::conduct {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FailedCalls, ComeBackAsTheyWereWithoutSecrets) {
  FakeFileSystem fs;
  trace::Redactor redactor;
  redactor.AddSecret("OPENAI_API_KEY", "sk-topsecretvalue");
  FailedCall call{"2026-01-02T03:04:05Z", "relu/0", "coder_fix", "openai:m", "it broke", {}};
  llm::Attempt first{503, "overloaded", 0, 1.5, {}, ""};
  llm::Attempt second{200, "the stream ended early", 2, 3, {}, "half of sk-topsecretvalue \"x\"\n"};
  second.usage = {.input_total = 120, .output_total = 9, .source = llm::Usage::Source::kReported};
  call.attempts = {first, second};
  ASSERT_TRUE(AppendFailedCall(fs, "logs", call, redactor).ok());
  ASSERT_TRUE(AppendFailedCall(fs, "logs", call, redactor).ok());
  EXPECT_THAT(fs.ReadFile("logs/failed_calls.jsonl").value(), Not(HasSubstr("topsecret")));

  const auto read = ReadFailedCalls(fs, "logs");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2U);
  const FailedCall& got = read->front();
  EXPECT_EQ(got.owner, "relu/0");
  EXPECT_EQ(got.agent, "coder_fix");
  EXPECT_EQ(got.error, "it broke");
  ASSERT_EQ(got.attempts.size(), 2U);
  EXPECT_EQ(got.attempts[0].http_status, 503);
  EXPECT_EQ(got.attempts[0].usage.source, llm::Usage::Source::kNone);
  EXPECT_EQ(got.attempts[1].usage.input_total, 120);
  EXPECT_EQ(got.attempts[1].usage.output_total, 9);
  EXPECT_THAT(got.attempts[1].partial, HasSubstr("half of"));
}

TEST(FailedCalls, TornLinesAreLeftOut) {
  FakeFileSystem fs;
  EXPECT_TRUE(ReadFailedCalls(fs, "logs").value().empty());
  const trace::Redactor redactor;
  const FailedCall call{"t", "relu/0", "coder", "m", "e", {llm::Attempt{500, "x", 0, 0, {}, ""}}};
  ASSERT_TRUE(AppendFailedCall(fs, "logs", call, redactor).ok());
  const std::string whole = fs.ReadFile("logs/failed_calls.jsonl").value();
  for (size_t length = 0; length + 1 < whole.size(); ++length) {
    FakeFileSystem torn;
    ASSERT_TRUE(torn.CreateDirs("logs").ok());
    ASSERT_TRUE(
        torn.OpenAppend("logs/failed_calls.jsonl").value()->Write(whole.substr(0, length)).ok());
    EXPECT_TRUE(ReadFailedCalls(torn, "logs").value().empty()) << length;
  }
}

}  // namespace
}  // namespace kerf::conduct
