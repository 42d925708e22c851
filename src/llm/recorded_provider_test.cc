#include "llm/recorded_provider.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "llm/import_provider.h"
#include "llm/reply_parser.h"
#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

RecordedReply Record(const std::string& agent, const std::string& prompt, const std::string& text,
                     const std::string& owner = "relu/0") {
  RecordedReply record;
  record.where = owner + " " + agent;
  record.agent = agent;
  record.owner = owner;
  record.model = "openai:m";
  record.sampling = R"({"temperature":0.2})";
  record.messages = {{"system", "s"}, {"user", prompt}};
  record.request_sha256 = RequestSha256("openai:m", record.messages, {.temperature = 0.2});
  record.reply.text = text;
  record.reply.finish = Finish::kStop;
  record.reply.usage = {.input_total = 10, .output_total = 2, .source = Usage::Source::kReported};
  record.reply.cost = 77;
  return record;
}

Result<Reply> Ask(Provider& provider, const std::string& agent, const std::string& prompt,
                  const std::string& owner = "relu/0") {
  std::optional<Result<Reply>> got;
  provider.Ask({.agent = agent, .owner = owner, .messages = {{"system", "s"}, {"user", prompt}}},
               [&](Result<Reply> reply) { got = std::move(reply); });
  return *std::move(got);
}

TEST(RecordedProvider, AnswersTheSameRequestInItsOrder) {
  RecordedProvider provider({Record("coder", "p", "first"), Record("check", "q", "ok"),
                             Record("coder", "p", "second"), Record("coder", "p", "b", "b/0")},
                            {});
  EXPECT_EQ(Ask(provider, "check", "q")->text, "ok");
  EXPECT_EQ(Ask(provider, "coder", "p", "b/0")->text, "b") << "the owner's own first";
  const Result<Reply> first = Ask(provider, "coder", "p");
  EXPECT_EQ(first->text, "first");
  EXPECT_EQ(first->cost, 77);
  EXPECT_EQ(first->provider, "kerf.recorded");
  EXPECT_EQ(first->request_sha256, Record("coder", "p", "").request_sha256);
  EXPECT_EQ(Ask(provider, "coder", "p")->text, "second");
  EXPECT_EQ(provider.unused(), 0U);
  EXPECT_FALSE(Ask(provider, "coder", "p").ok()) << "asked more often than recorded";
}

TEST(RecordedProvider, AMissShowsTheNearestRecordAndTheFirstDifference) {
  RecordedProvider provider({Record("coder", "write relu\nfast", "a"), Record("check", "q", "b")},
                            {.source = "runs/a"});
  const Result<Reply> miss = Ask(provider, "coder", "write relu\nslowly");
  ASSERT_FALSE(miss.ok());
  EXPECT_EQ(miss.error().message,
            "runs/a: no recorded reply for agent 'coder' of relu/0; the nearest is relu/0 coder "
            "(agent 'coder'): messages[1].content differs at byte 11: recorded 'fast', asked "
            "'slowly'");
  RecordedProvider empty({}, {});
  EXPECT_NE(Ask(empty, "coder", "p").error().message.find("nothing is recorded"),
            std::string::npos);
}

TEST(RecordedProvider, LooseGoesByAgentAndOrder) {
  RecordedProvider provider({Record("coder", "p1", "c1"), Record("check", "q", "k"),
                             Record("coder", "p2", "c2"), Record("coder", "p", "other", "b/0")},
                            {.loose = true});
  const Result<Reply> reply = Ask(provider, "coder", "a new prompt");
  EXPECT_EQ(reply->text, "c1");
  ASSERT_EQ(reply->notes.size(), 1U);
  EXPECT_NE(reply->notes[0].find("taken in order"), std::string::npos);
  EXPECT_EQ(Ask(provider, "coder", "p2")->text, "c2") << "an exact match is still one";
  EXPECT_EQ(Ask(provider, "coder", "x")->text, "other");
  EXPECT_FALSE(Ask(provider, "designer", "x").ok());
}

TEST(RecordedProvider, StopsAndCountsAttempts) {
  RecordedProvider provider({Record("coder", "p", "a")}, {});
  int attempts = 0;
  provider.Ask({.agent = "coder",
                .messages = {{"system", "s"}, {"user", "p"}},
                .on_attempt = [&](const Attempt&) { ++attempts; }},
               [](const Result<Reply>& reply) { EXPECT_TRUE(reply.ok()); });
  EXPECT_EQ(attempts, 1);
  provider.Stop();
  EXPECT_FALSE(Ask(provider, "coder", "p").ok());
}

constexpr const char* kSession = R"({
  "s:1@1": {"cache_key": "s:1@1", "messages": [{"role": "user", "content": "fix"}],
    "result": {"content": "second", "tool_calls": [], "finish_reason": "length", "usage": null}, "create_time": 2.5},
  "s:0@1": {"messages": [{"role": "user", "content": "write"}],
    "result": {"content": "first", "reasoning_content": "hm", "finish_reason": "stop",
               "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    "tools": [], "params": {"temperature": 0.2, "max_tokens": 65536}, "create_time": 1.5, "expire_seconds": -1},
  "0123456789abcdef0123456789abcdef": {"messages": [{"role": "user", "content": "write"}],
    "result": {"content": "first", "finish_reason": "stop"}, "create_time": 1.6},
  "fedcba9876543210fedcba9876543210": {"messages": [], "result": {"content": "alone"}},
  "_node_snapshots": {"coder@0": {"code": {"__hash": "x", "__len": 5}}, "verifier@1": {}},
  "_version": 2})";

TEST(ImportProvider, ReadsEachRecordOnceInOrder) {
  const Result<std::vector<RecordedReply>> records = ReadAikgRecording(kSession, "s.json");
  ASSERT_TRUE(records.ok()) << records.error().message;
  ASSERT_EQ(records->size(), 3U);
  const RecordedReply& first = records->at(0);
  EXPECT_EQ(first.reply.text, "first");
  EXPECT_EQ(first.reply.reasoning, "hm");
  EXPECT_EQ(first.reply.usage.input_total, 7);
  EXPECT_EQ(first.agent, "coder");
  EXPECT_EQ(first.sampling, R"({"max_tokens":65536,"temperature":0.2})");
  EXPECT_EQ(records->at(1).reply.finish, Finish::kLength);
  EXPECT_EQ(records->at(2).reply.text, "alone");
}

TEST(ImportProvider, AnswersTheAgentTheSnapshotNames) {
  Result<std::unique_ptr<Provider>> provider = MakeImportProvider(kSession, "s.json");
  ASSERT_TRUE(provider.ok());
  EXPECT_EQ(Ask(**provider, "triton_coder", "anything")->text, "first");
  EXPECT_EQ((*provider)->name(), "kerf.import");
}

TEST(ImportProvider, RefusesWhatIsNoSession) {
  for (const char* bad :
       {"", "[]", "{", "{}", R"({"a": {"b": 1}})", R"({"a": {"messages": [1]}})"}) {
    EXPECT_FALSE(ReadAikgRecording(bad, "x.json").ok()) << bad;
  }
}

// KERF_AIKG_RECORDING names a real session.
TEST(ImportProvider, ReadsARealSession) {
  const char* path = std::getenv("KERF_AIKG_RECORDING");
  if (path == nullptr) GTEST_SKIP() << "KERF_AIKG_RECORDING names no file";
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<std::vector<RecordedReply>> records = ReadAikgRecording(text, path);
  ASSERT_TRUE(records.ok()) << records.error().message;
  for (const RecordedReply& record : *records) {
    EXPECT_FALSE(record.agent.empty());
    const ParsedReply parsed = ParseCode(record.reply.text, CodeLanguage::kAny);
    EXPECT_TRUE(parsed.ok()) << parsed.complaint;
    EXPECT_EQ(parsed.form, "bare");
  }
}

}  // namespace
}  // namespace kerf::llm
