#include "trace/redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(Redactor, KnowsCredentialNames) {
  for (const char* name : {"OPENAI_API_KEY", "GITHUB_TOKEN", "x-api-key", "apiKey", "api_key",
                           "password", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
                           "GOOGLE_APPLICATION_CREDENTIALS", "Authorization", "Cookie",
                           "session.token", "GH_PAT", "AIKG_DEEPSEEK_API_KEY", "clientSecret"}) {
    EXPECT_TRUE(LooksLikeCredentialName(name)) << name;
  }
}

TEST(Redactor, LeavesOrdinaryNamesAlone) {
  for (const char* name : {"PATH", "HOME", "PWD", "KEYBOARD", "MONKEY", "TOKENIZER", "MAX_TOKENS",
                           "tokens", "max_tokens", "LANG", "model", "", "_", "KEYS"}) {
    EXPECT_FALSE(LooksLikeCredentialName(name)) << name;
  }
}

TEST(Redactor, TakesCredentialsFromTheEnvironment) {
  Redactor redactor;
  redactor.AddEnvironment({"OPENAI_API_KEY=sk-123456", "HOME=/home/someone", "NOEQUALS",
                           "EMPTY_KEY=", "SHORT_KEY=12345", "WITH_EQUALS_KEY=a=b=c=d", "=x"});
  std::string text = "sk-123456 /home/someone 12345 a=b=c=d";
  Redactor::Counts counts;
  EXPECT_TRUE(redactor.Redact(text, counts));
  EXPECT_EQ(text, "[REDACTED:OPENAI_API_KEY] /home/someone 12345 [REDACTED:WITH_EQUALS_KEY]");
  EXPECT_THAT(counts, ElementsAre(Pair("OPENAI_API_KEY", 1), Pair("WITH_EQUALS_KEY", 1)));
}

TEST(Redactor, CountsEveryOccurrence) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "secret");
  std::string text = "secretsecret x secret";
  Redactor::Counts counts;
  redactor.Redact(text, counts);
  EXPECT_EQ(text, "[REDACTED:A_KEY][REDACTED:A_KEY] x [REDACTED:A_KEY]");
  EXPECT_THAT(counts, ElementsAre(Pair("A_KEY", 3)));
}

TEST(Redactor, SaysWhenNothingChanged) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "secret");
  std::string text = "nothing here";
  Redactor::Counts counts;
  EXPECT_FALSE(redactor.Redact(text, counts));
  EXPECT_EQ(text, "nothing here");
  EXPECT_TRUE(counts.empty());
}

TEST(Redactor, ReplacesTheLongerOfNestedSecretsWhole) {
  Redactor redactor;
  redactor.AddSecret("SHORT_KEY", "abcdef");
  redactor.AddSecret("LONG_KEY", "abcdefghi");
  std::string text = "abcdefghi abcdef";
  Redactor::Counts counts;
  redactor.Redact(text, counts);
  EXPECT_EQ(text, "[REDACTED:LONG_KEY] [REDACTED:SHORT_KEY]");
}

TEST(Redactor, FindsASecretInsideAJsonBody) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "ab\"cd\\ef\n");
  std::string text = R"({"auth": "ab\"cd\\ef\n"})";
  Redactor::Counts counts;
  EXPECT_TRUE(redactor.Redact(text, counts));
  EXPECT_EQ(text, R"({"auth": "[REDACTED:A_KEY]"})");
}

TEST(Redactor, WorksOnAnyBytes) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "secret");
  ASSERT_TRUE(redactor.AddPattern("x[0-9]+").ok());
  std::string text = std::string("\xFF\0", 2) + "secret\xC3 x12\xFE";
  Redactor::Counts counts;
  redactor.Redact(text, counts);
  EXPECT_EQ(text, std::string("\xFF\0", 2) + "[REDACTED:A_KEY]\xC3 [REDACTED:pattern 1]\xFE");
}

TEST(Redactor, NumbersPatterns) {
  Redactor redactor;
  ASSERT_TRUE(redactor.AddPattern("sk-[a-z0-9]+").ok());
  ASSERT_TRUE(redactor.AddPattern("ghp_\\w+").ok());
  std::string text = "ghp_A1 sk-a1 sk-b2";
  Redactor::Counts counts;
  redactor.Redact(text, counts);
  EXPECT_EQ(text, "[REDACTED:pattern 2] [REDACTED:pattern 1] [REDACTED:pattern 1]");
  EXPECT_THAT(counts, ElementsAre(Pair("pattern 1", 2), Pair("pattern 2", 1)));
}

TEST(Redactor, RefusesABrokenPattern) {
  Redactor redactor;
  const Status status = redactor.AddPattern("a(b");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(status.error().message, HasSubstr("a(b"));
}

// Such a pattern would sprinkle marks over every text.
TEST(Redactor, RefusesPatternsThatMatchNothingAtAll) {
  for (const char* pattern :
       {"", "a*", "^", "$", "x?", "(?m)^", "\\b", "\\B", "a|\\b", "\\b$", "abc|", "a|\\b$"}) {
    Redactor redactor;
    const Status status = redactor.AddPattern(pattern);
    ASSERT_FALSE(status.ok()) << pattern;
    EXPECT_THAT(status.error().message, HasSubstr("stricter")) << pattern;
  }
}

TEST(Redactor, AcceptsPatternsWithBoundaries) {
  for (const char* pattern : {"\\bkey\\b", "^token: .*", "a+", "(?i)bearer \\S+"}) {
    Redactor redactor;
    EXPECT_TRUE(redactor.AddPattern(pattern).ok()) << pattern;
  }
}

TEST(Redactor, CleansMetaByKeyAndByValue) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "secret");
  Redactor::Counts counts;
  const Result<std::string> meta = redactor.RedactMeta(
      R"({"model":"m secret","api_key":"anything","headers":{"Authorization":["Bearer x",""]},"n":1})",
      counts);
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(*meta, R"({"model":"m [REDACTED:A_KEY]","api_key":"[REDACTED:api_key]",)"
                   R"("headers":{"Authorization":["[REDACTED:Authorization]",""]},"n":1})");
  EXPECT_THAT(counts, ElementsAre(Pair("A_KEY", 1), Pair("Authorization", 1), Pair("api_key", 1)));
}

TEST(Redactor, CleansNamesInMeta) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "hidden");
  Redactor::Counts counts;
  EXPECT_EQ(*redactor.RedactMeta(R"({"x hidden":"y"})", counts), R"({"x [REDACTED:A_KEY]":"y"})");
}

TEST(Redactor, MarksAndNotesDoNotCarryTheSecretOfAName) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "hidden");
  Redactor::Counts counts;
  const Result<std::string> meta = redactor.RedactMeta(R"({"token hidden":["y"]})", counts);
  ASSERT_TRUE(meta.ok());
  EXPECT_THAT(*meta, Not(HasSubstr("hidden")));
  for (const auto& [what, count] : counts) EXPECT_THAT(what, Not(HasSubstr("hidden")));
}

TEST(Redactor, KeepsTokenCountsInMeta) {
  const Redactor redactor;
  Redactor::Counts counts;
  const std::string meta = R"({"tokens":{"input":10,"output":20},"cost_usd":0.1})";
  EXPECT_EQ(*redactor.RedactMeta(meta, counts), meta);
  EXPECT_TRUE(counts.empty());
}

TEST(Redactor, MetaStaysOnOneLine) {
  const Redactor redactor;
  Redactor::Counts counts;
  EXPECT_EQ(*redactor.RedactMeta("{\n \"a\":\n\"x\\ny\" }", counts), R"({"a":"x\ny"})");
}

TEST(Redactor, RefusesMetaThatIsNoObject) {
  const Redactor redactor;
  Redactor::Counts counts;
  for (const char* meta :
       {"[]", "1", "\"x\"", "null", "{", "{} x", "{\"a\":\"\xFF\"}", "{'a':1}"}) {
    const Result<std::string> result = redactor.RedactMeta(meta, counts);
    ASSERT_FALSE(result.ok()) << meta;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(Redactor, RefusesMetaNestedTooDeeply) {
  const Redactor redactor;
  Redactor::Counts counts;
  std::string meta = "{\"a\":";
  meta += std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_FALSE(redactor.RedactMeta(meta, counts).ok());
}

TEST(Redactor, NotesNeverHoldTheValue) {
  Redactor redactor;
  redactor.AddSecret("A_KEY", "secret-value");
  std::string text = "secret-value";
  Redactor::Counts counts;
  redactor.Redact(text, counts);
  const std::vector<RedactionNote> notes = ToNotes(counts);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].what, "A_KEY");
  EXPECT_EQ(notes[0].count, 1);
  EXPECT_THAT(text, Not(HasSubstr("secret-value")));
}

}  // namespace
}  // namespace kerf::trace
