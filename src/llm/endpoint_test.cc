#include "llm/endpoint.h"

#include <gtest/gtest.h>

#include <map>

#include "llm/thinking.h"

namespace kerf::llm {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Endpoint> Resolve(const char* spec, const Variables& variables,
                         const EndpointConfig& config = {}) {
  return ResolveEndpoint(*ParseModelSpec(spec), config,
                         [&](const std::string& name) -> std::optional<std::string> {
                           const auto found = variables.find(name);
                           if (found == variables.end()) return std::nullopt;
                           return found->second;
                         });
}

TEST(Endpoint, TakesTheVariablesPeopleHave) {
  const Result<Endpoint> openai = Resolve("openai:gpt-5", {{"OPENAI_API_KEY", " sk-1 \n"}});
  ASSERT_TRUE(openai.ok());
  EXPECT_EQ(openai->base_url, "https://api.openai.com/v1");
  EXPECT_EQ(openai->base_url_origin, "default");
  EXPECT_EQ(openai->key, "sk-1");
  EXPECT_EQ(openai->key_origin, "OPENAI_API_KEY");
  const Result<Endpoint> local = Resolve("openai:m", {{"OPENAI_API_BASE", "http://h:8000/v1/"}});
  ASSERT_TRUE(local.ok()) << "a local server needs no key";
  EXPECT_EQ(local->base_url, "http://h:8000/v1");
  EXPECT_EQ(local->key, "");
  const Result<Endpoint> deepseek =
      Resolve("openai:deepseek-chat", {{"OPENAI_BASE_URL", "https://api.deepseek.com"},
                                       {"OPENAI_API_KEY", "sk-openai"},
                                       {"DEEPSEEK_API_KEY", "sk-deep"},
                                       {"SSL_CERT_FILE", "/ca.pem"}});
  ASSERT_TRUE(deepseek.ok());
  EXPECT_EQ(deepseek->key, "sk-deep") << "one vendor's key is not sent to another";
  EXPECT_EQ(deepseek->ca_file, "/ca.pem");
  const Result<Endpoint> preset =
      Resolve("openai:m", {{"MY_KEY", "k"}, {"OPENAI_BASE_URL", "http://other"}},
              {.base_url = "https://h/v2", .key_variable = "MY_KEY"});
  EXPECT_EQ(preset->base_url, "https://h/v2");
  EXPECT_EQ(preset->key, "k");
}

TEST(Endpoint, RefusesWhatCannotWork) {
  const Result<Endpoint> no_key = Resolve("anthropic:claude", {});
  ASSERT_FALSE(no_key.ok());
  EXPECT_EQ(no_key.error().message, "no key for https://api.anthropic.com: set ANTHROPIC_API_KEY");
  EXPECT_FALSE(Resolve("openai:m", {{"OPENAI_BASE_URL", "ftp://h"}}).ok());
  EXPECT_FALSE(Resolve("openai:m", {{"OPENAI_BASE_URL", "localhost:80"}}).ok());
  const Result<Endpoint> two_lines = Resolve("openai:m", {{"OPENAI_API_KEY", "sk-a\nX-Evil: 1"}});
  ASSERT_FALSE(two_lines.ok());
  EXPECT_EQ(two_lines.error().message.find("sk-a"), std::string::npos);
  EXPECT_FALSE(Resolve("openai:m", {{"OPENAI_API_KEY", "sk-a"}}, {.extra_body = "[1]"}).ok());
}

TEST(Endpoint, ShowsUrlsWithoutSecrets) {
  EXPECT_EQ(ShownUrl("https://u:p@h:1/v1?key=x#f"), "https://h:1/v1");
  EXPECT_EQ(ShownUrl("https://h/a@b"), "https://h/a@b");
}

TEST(Endpoint, RedactsTheKeyAndItsRemains) {
  Endpoint endpoint;
  endpoint.key = "sk-abcdefghij\"x";
  endpoint.key_origin = "K";
  EXPECT_EQ(RedactKey("a sk-abcdefghij\"x b sk-abcdefghij\\\"x c sk-abc****j\"x d", endpoint),
            "a [REDACTED:K] b [REDACTED:K] c [REDACTED:K]\"x d");
  EXPECT_EQ(RedactKey("sk-other stays", endpoint), "sk-other stays");
  endpoint.key = "none";
  EXPECT_EQ(RedactKey("none of it", endpoint), "none of it");
}

TEST(Thinking, IsSplitOff) {
  const auto split = [](const char* text) {
    const SplitText result = SplitThinking(text);
    return result.text + "|" + result.reasoning + (result.open ? "|open" : "");
  };
  EXPECT_EQ(split("plain"), "plain|");
  EXPECT_EQ(split("<think>a</think>b"), "b|a");
  EXPECT_EQ(split("  <think>\na\n</think>\n\nb\n"), "b\n|a");
  EXPECT_EQ(split("a\n</think>\nb"), "b|a");
  EXPECT_EQ(split("x <think> y </think> z"), "x <think> y </think> z|");
  EXPECT_EQ(split("<think>a"), "|a|open");
  EXPECT_EQ(split("<think></think>b"), "b|");
  EXPECT_EQ(split("{\"code\": \"</think>\"}"), "{\"code\": \"</think>\"}|");
}

}  // namespace
}  // namespace kerf::llm
