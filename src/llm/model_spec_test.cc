#include "llm/model_spec.h"

#include <gtest/gtest.h>

#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

TEST(ModelSpec, ReadsEveryKind) {
  for (const char* text :
       {"synth", "openai:gpt-5", "anthropic:claude-sonnet-4-5", "recorded:runs/a",
        "scripted:a.json", "import:b:c.json", "openai:Qwen/Qwen3-8B:free"}) {
    const Result<ModelSpec> spec = ParseModelSpec(text);
    ASSERT_TRUE(spec.ok()) << spec.error().message;
    EXPECT_EQ(spec->Text(), text);
  }
}

TEST(ModelSpec, RefusesWithTheNearestRightOne) {
  const auto message = [](const char* text) { return ParseModelSpec(text).error().message; };
  EXPECT_NE(message("opnai:gpt-5").find("did you mean openai?"), std::string::npos);
  EXPECT_NE(message("gpt-5").find("did you mean openai:gpt-5?"), std::string::npos);
  EXPECT_NE(message("claude-x").find("did you mean anthropic:claude-x?"), std::string::npos);
  EXPECT_NE(message("openai:").find("write openai:MODEL"), std::string::npos);
  EXPECT_NE(message("recorded").find("write recorded:DIR"), std::string::npos);
  EXPECT_NE(message("synth:x").find("nothing after it"), std::string::npos);
  EXPECT_NE(message("").find("synth, openai:MODEL"), std::string::npos);
}

TEST(RequestHash, DependsOnModelMessagesAndSamplingOnly) {
  const std::vector<Message> messages = {{"system", "s"}, {"user", "u\n\"x\""}};
  EXPECT_EQ(CanonicalRequest("openai:m", messages, {.temperature = 0.2, .max_tokens = 5}),
            R"({"messages":[{"content":"s","role":"system"},{"content":"u\n\"x\"","role":"user"}],)"
            R"("model":"openai:m","sampling":{"max_tokens":5,"temperature":0.2}})");
  const std::string hash = RequestSha256("m", messages, {});
  EXPECT_NE(RequestSha256("n", messages, {}), hash);
  EXPECT_NE(RequestSha256("m", {{"user", "u"}}, {}), hash);
  EXPECT_NE(RequestSha256("m", messages, {.seed = 1}), hash);
  EXPECT_EQ(RequestSha256("m", messages, {}), hash);
}

TEST(RequestHash, SamplingComesBack) {
  const Sampling sampling = {.temperature = 0.25,
                             .top_p = 0.9,
                             .frequency_penalty = 1.5,
                             .presence_penalty = -1,
                             .max_tokens = 100,
                             .seed = -3,
                             .reasoning_effort = "high"};
  const Result<Sampling> back = DecodeSampling(EncodeSampling(sampling));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(EncodeSampling(*back), EncodeSampling(sampling));
  EXPECT_EQ(EncodeSampling(*DecodeSampling("")), "{}");
  EXPECT_FALSE(DecodeSampling("{\"seed\":\"x\"}").ok());
}

TEST(Finish, ReadsBothWires) {
  EXPECT_EQ(ParseFinish("end_turn"), Finish::kStop);
  EXPECT_EQ(ParseFinish("max_tokens"), Finish::kLength);
  EXPECT_EQ(ParseFinish("tool_calls"), Finish::kTools);
  EXPECT_EQ(ParseFinish("content_filter"), Finish::kFilter);
  EXPECT_EQ(ParseFinish("insufficient_system_resource"), Finish::kUnknown);
  for (const Finish finish : {Finish::kStop, Finish::kLength, Finish::kTools, Finish::kFilter,
                              Finish::kRefusal, Finish::kUnknown}) {
    EXPECT_EQ(ParseFinish(FinishName(finish)), finish);
  }
}

}  // namespace
}  // namespace kerf::llm
