#include "llm/codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kerf::llm {
namespace {

using Json = nlohmann::json;

Decoded Events(const Codec& codec, const std::vector<std::string>& data) {
  const std::unique_ptr<Decoder> decoder = codec.MakeDecoder();
  for (const std::string& event : data) decoder->OnEvent({"", event});
  return decoder->decoded();
}

Decoded OpenAi(const std::vector<std::string>& data) { return Events(*MakeOpenAiCodec(), data); }

TEST(OpenAiCodec, WritesWhatIsSetAndNothingElse) {
  const std::unique_ptr<Codec> codec = MakeOpenAiCodec();
  const std::vector<Message> messages = {{"system", "s"}, {"user", "a \"b\"\n"}};
  EXPECT_EQ(Json::parse(codec->Body("m", messages, {}, {}, "")),
            Json::parse(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},
                "messages":[{"role":"system","content":"s"},{"role":"user","content":"a \"b\"\n"}]})"));
  const Json full = Json::parse(codec->Body(
      "m", messages,
      {.temperature = 0.5, .top_p = 0.9, .max_tokens = 10, .seed = 3, .reasoning_effort = "low"},
      {"max_tokens", "top_p", "stream_options"}, R"({"chat_template_kwargs":{"thinking":true}})"));
  EXPECT_EQ(full["max_completion_tokens"], 10);
  EXPECT_EQ(full["temperature"], 0.5);
  EXPECT_EQ(full["seed"], 3);
  EXPECT_EQ(full["reasoning_effort"], "low");
  EXPECT_EQ(full["chat_template_kwargs"]["thinking"], true);
  for (const char* gone : {"max_tokens", "top_p", "stream_options"}) {
    EXPECT_FALSE(full.contains(gone)) << gone;
  }
}

TEST(OpenAiCodec, BaseUrlsAreUsedAsTheyAre) {
  EXPECT_EQ(MakeOpenAiCodec()->Url("http://h/v1"), "http://h/v1/chat/completions");
  EXPECT_EQ(MakeOpenAiCodec()->Url("http://h"), "http://h/chat/completions");
  EXPECT_EQ(MakeAnthropicCodec()->Url("http://h"), "http://h/v1/messages");
  EXPECT_EQ(MakeAnthropicCodec()->Url("http://h/v1"), "http://h/v1/messages");
}

TEST(OpenAiCodec, TakesReasoningUnderAnyName) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    const Decoded decoded =
        OpenAi({std::string(R"({"choices":[{"delta":{")") + name + R"(":"hm","content":null}}]})"});
    EXPECT_EQ(decoded.reasoning, "hm") << name;
  }
  // Both at once are the same text.
  EXPECT_EQ(
      OpenAi({R"({"choices":[{"delta":{"reasoning":"a","reasoning_content":"a"}}]})"}).reasoning,
      "a");
  EXPECT_EQ(
      OpenAi({R"({"choices":[{"delta":{"reasoning":"a","reasoning_content":""}}]})"}).reasoning,
      "a");
}

TEST(OpenAiCodec, TheLastUsageWins) {
  const Decoded decoded = OpenAi(
      {R"({"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}})",
       R"({"choices":null,"usage":{"prompt_tokens":5,"completion_tokens":9,
           "completion_tokens_details":{"reasoning_tokens":4},"prompt_cache_hit_tokens":3}})",
       R"({"usage":null})"});
  EXPECT_EQ(decoded.usage.output_total, 9);
  EXPECT_EQ(decoded.usage.output_reasoning, 4);
  EXPECT_EQ(decoded.usage.input_cache_read, 3);
  EXPECT_FALSE(decoded.finished);
}

TEST(OpenAiCodec, SurvivesOddChunks) {
  const Decoded decoded = OpenAi(
      {R"({"choices":[]})", R"({"choices":[null,1]})",
       R"({"choices":[{"index":1,"delta":{"content":"no"}}]})",
       R"({"new":{"deep":[1,2]},"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"},
           {"type":"thinking","thinking":"t"}],"new":1},"finish_reason":null,"logprobs":null}]})",
       R"({"choices":[{"delta":{"content":"\ud83d\ude00 \ud83d"},"finish_reason":"stop"}],
           "usage":{"prompt_tokens":-5,"completion_tokens":1e300}})",
       "[DONE]"});
  EXPECT_EQ(decoded.broken, "");
  EXPECT_EQ(decoded.text, "a\xF0\x9F\x98\x80 \xED\xA0\xBD");
  EXPECT_EQ(decoded.reasoning, "t");
  EXPECT_TRUE(decoded.finished);
  EXPECT_EQ(decoded.usage.input_total, 0);
  EXPECT_EQ(decoded.usage.output_total, 1'000'000'000'000);
}

TEST(OpenAiCodec, ErrorsInsideAStream) {
  EXPECT_EQ(OpenAi({R"({"error":{"message":"m","code":"c"}})"}).error->Text(),
            "error in the stream c: m");
  EXPECT_EQ(OpenAi({R"({"error":"words"})"}).error->message, "words");
  EXPECT_EQ(OpenAi({R"({"object":"error","message":"old","code":400})"}).error->message, "old");
  EXPECT_NE(OpenAi({"<html>"}).broken, "");
  EXPECT_NE(OpenAi({R"({"choices":[{"delta")"}).broken, "");
}

TEST(OpenAiCodec, ARefusalIsNoAnswer) {
  const Reply reply = ToReply(OpenAi(
      {R"({"choices":[{"message":{"content":null,"refusal":"I will not"},"finish_reason":"stop"}]})"}));
  EXPECT_EQ(reply.finish, Finish::kRefusal);
  EXPECT_EQ(reply.text, "I will not");
}

TEST(AnthropicCodec, WritesItsOwnShape) {
  const std::unique_ptr<Codec> codec = MakeAnthropicCodec();
  const Json body = Json::parse(
      codec->Body("m", {{"system", "s"}, {"user", "u"}, {"system", "t"}}, {.seed = 1}, {}, ""));
  EXPECT_EQ(body["system"], "s\n\nt");
  EXPECT_EQ(body["messages"].size(), 1U);
  EXPECT_GT(body["max_tokens"], 1000);
  EXPECT_FALSE(body.contains("seed"));
  EXPECT_EQ(codec->Unsent({.seed = 1}), (std::vector<std::string>{"seed"}));
}

TEST(AnthropicCodec, CountsCachedTokensIntoTheTotal) {
  const Decoded decoded = Events(
      *MakeAnthropicCodec(),
      {R"({"type":"message_start","message":{"id":"i","model":"m","usage":{"input_tokens":10,
           "cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":1}}})",
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}})",
       R"({"type":"later_invention","x":{}})",
       R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":25}})"});
  EXPECT_EQ(decoded.usage.input_total, 17);
  EXPECT_EQ(decoded.usage.input_cache_read, 4);
  EXPECT_EQ(decoded.usage.output_total, 25);
  EXPECT_EQ(decoded.reasoning, "t");
  const Reply reply = ToReply(decoded);
  EXPECT_EQ(reply.text, "a");
  EXPECT_EQ(reply.finish, Finish::kLength);
}

TEST(ApiError, IsClassifiedByStatusThenCodeThenWords) {
  const auto classify = [](int status, const std::string& body) {
    ApiError error = ParseErrorBody(status, body);
    const ErrorClass kind = Classify(error);
    return std::pair(kind, error.param);
  };
  using Pair = std::pair<ErrorClass, std::string>;
  EXPECT_EQ(classify(429, R"({"error":{"code":"rate_limit_exceeded"}})").first,
            ErrorClass::kRateLimit);
  EXPECT_EQ(classify(429, R"({"error":{"code":"insufficient_quota"}})").first,
            ErrorClass::kPermanent);
  EXPECT_EQ(classify(503, "").first, ErrorClass::kRetry);
  EXPECT_EQ(classify(408, "").first, ErrorClass::kRetry);
  EXPECT_EQ(classify(400, R"({"error":{"message":"bad"}})").first, ErrorClass::kPermanent);
  EXPECT_EQ(classify(400, R"({"error":{"message":"Unknown parameter: 'stream_options.x'."}})"),
            (Pair{ErrorClass::kDropParam, "stream_options"}));
  EXPECT_EQ(classify(400, R"({"type":"error","error":{"type":"invalid_request_error","message":
                "`temperature` and `top_p` cannot both be specified for this model."}})"),
            (Pair{ErrorClass::kDropParam, "top_p"}));
}

}  // namespace
}  // namespace kerf::llm
