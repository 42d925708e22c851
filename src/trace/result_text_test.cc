#include "trace/result_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"

namespace kerf::trace {
namespace {

// Through the journal and the result file, as a reader does it.
std::string RoundTrip(const CodeReply& reply) {
  const std::string encoded = EncodeReplyFrame(reply.frame);
  JsonReader reader(encoded);
  ReplyFrame frame;
  EXPECT_TRUE(DecodeReplyFrame(reader, frame) && reader.Finish()) << encoded;
  const Result<std::string> raw = RebuildReply(frame, FormatCodeReply(reply));
  EXPECT_TRUE(raw.ok());
  return raw.ok() ? *raw : "";
}

struct Row {
  const char* name;
  std::string reply;
  const char* code;  // nullptr: stored raw
  const char* description = "";
};

// Without it gtest prints bytes of the struct.
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class ResultTextRows : public ::testing::TestWithParam<Row> {};

TEST_P(ResultTextRows, FindsTheObjectAndKeepsTheRest) {
  const std::optional<CodeReply> found = FindCodeReply(GetParam().reply);
  ASSERT_EQ(found.has_value(), GetParam().code != nullptr);
  if (!found.has_value()) return;
  EXPECT_EQ(found->code, GetParam().code);
  EXPECT_EQ(found->description, GetParam().description);
  EXPECT_EQ(RoundTrip(*found), GetParam().reply);
}

// The table of replies on which AIKG loses or accepts the wrong thing, and docs/formats/trace.md's
// rule for each.
INSTANTIATE_TEST_SUITE_P(
    Replies, ResultTextRows,
    ::testing::Values(
        Row{"WholeReply", R"({"code": "x = 1", "description": "sets x"})", "x = 1", "sets x"},
        Row{"NoSpaces", R"({"code":"x","description":"d"})", "x", "d"},
        Row{"DescriptionFirst", R"({"description": "d", "code": "c"})", "c", "d"},
        Row{"EmptyStrings", R"({"code": "", "description": ""})", "", ""},
        Row{"ProseThenCodeWithBraces", R"(Here: {"code": "d = {}", "description": "d"})", "d = {}",
            "d"},
        Row{"ProseThenLoneOpenBrace", R"j(Here: {"code": "print('{')", "description": "d"})j",
            "print('{')", "d"},
        Row{"ProseThenLoneCloseBrace", R"j(Here: {"code": "print('}')", "description": "d"})j",
            "print('}')", "d"},
        Row{"ProseThenNestedDict", R"(Here: {"code": "d = {'a': {'b': 1}}", "description": "d"})",
            "d = {'a': {'b': 1}}", "d"},
        Row{"ProseThenFString", R"(Here: {"code": "f'{x}'", "description": "d"})", "f'{x}'", "d"},
        Row{"BracesInProse",
            R"(The set {x | x > 0} and {"a": 1}: {"code": "c", "description": "d"})", "c", "d"},
        Row{"CheckReplyIsNoCode", R"(Well: {"result": 1, "reason": "{}", "suggestions": "code"})",
            nullptr},
        Row{"TwoObjects", R"({"code": "1", "description": "a"} {"code": "2", "description": "b"})",
            "2", "b"},
        Row{"ProseAndTwoObjects",
            R"(See {"code": "1", "description": "a"} or {"code": "2", "description": "b"} end)",
            "2", "b"},
        Row{"ObjectThenFormatExample",
            R"(See {"code": "1", "description": "a"} in the form {"code": 0, "other": "x"})", "1",
            "a"},
        Row{"ThinkingDraftThenFinal",
            "<think>perhaps {\"code\": \"draft\", \"description\": \"d\"}</think>\n"
            "{\"code\": \"final\", \"description\": \"f\"}",
            "final", "f"},
        Row{"Fenced", "```json\n{\"code\": \"c\", \"description\": \"d\"}\n```", "c", "d"},
        Row{"ProseAndFence",
            "Sure!\n```json\n{\"code\": \"c\", \"description\": \"d\"}\n```\nDone.", "c", "d"},
        Row{"FenceInsideTheCode", R"({"code": "```python\nx\n```", "description": "d"})",
            "```python\nx\n```", "d"},
        Row{"CutOffInsideDescription", R"({"code": "c", "description": "d)", nullptr},
        Row{"CutOffInsideCode", R"({"code": "def f(): {)", nullptr},
        Row{"CutOffBeforeTheBrace", R"({"code": "c", "description": "d")", nullptr},
        Row{"RawNewlineInAString", "Here: {\"code\": \"a\nb\", \"description\": \"d\"}", "a\nb",
            "d"},
        Row{"RawTabAndCarriageReturn", "{\"code\": \"a\r\n\tb\", \"description\": \"d\"}",
            "a\r\n\tb", "d"},
        Row{"TrailingComma", R"({"code": "c", "description": "d",})", nullptr},
        Row{"SingleQuotes", R"({'code': 'c', 'description': 'd'})", nullptr},
        Row{"NoDescription", R"({"code": "c"})", nullptr},
        Row{"NoCode", R"({"description": "the \"code\" is missing"})", nullptr},
        Row{"EmptyReply", "", nullptr},
        Row{"NullField", R"({"code": null, "description": "d"})", nullptr},
        Row{"NumberField", R"({"code": 1, "description": "d"})", nullptr},
        Row{"LoneSurrogate", R"({"code": "a\ud800b", "description": "d"})",
            "a\xED\xA0\x80"
            "b",
            "d"},
        Row{"ByteOrderMark", "\xEF\xBB\xBF{\"code\": \"c\", \"description\": \"d\"}", "c", "d"},
        Row{"CrLfBetween", "{\r\n  \"code\": \"c\",\r\n  \"description\": \"d\"\r\n}\r\n", "c",
            "d"},
        Row{"OtherMembers",
            R"({"id": [1, {"x": "}"}], "code": "c", "n": null, "description": "d", "z": 1.5e3})",
            "c", "d"},
        Row{"RepeatedMember", R"({"code": "1", "code": "2", "description": "d"})", "2", "d"},
        Row{"InsideAnotherObject", R"({"answer": {"code": "c", "description": "d"}})", nullptr},
        Row{"UpperCaseEscapes", R"({"code": "\u00E9\u4E2D", "description": "\/"})", "é中", "/"},
        Row{"QuotesAroundTheEnd", R"({"code": "\n\n\n'''\n", "description": "\n'''"})",
            "\n\n\n'''\n", "\n'''"}),
    [](const auto& row) { return row.param.name; });

TEST(ResultText, KeepsNulInCode) {
  const std::string reply = R"({"code": "a\u0000b", "description": "d"})";
  const std::optional<CodeReply> found = FindCodeReply(reply);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->code, std::string("a\0b", 3));
  EXPECT_EQ(RoundTrip(*found), reply);
}

TEST(ResultText, FormatsAsAikgDoes) {
  CodeReply reply;
  reply.code = "x = 1";
  reply.description = "sets x";
  EXPECT_EQ(FormatCodeReply(reply), "x = 1\n\n\n'''\nsets x\n'''");
}

TEST(ResultText, BytesThatAreNoTextAreStoredRaw) {
  EXPECT_EQ(FindCodeReply("{\"code\": \"\xFF\", \"description\": \"d\"}"), std::nullopt);
}

TEST(ResultText, FramesOfUsualRepliesAreSmall) {
  std::string code;
  for (int i = 0; i < 1000; ++i) code += "    x[i] = \\\"ü\\\"\\n";
  const auto found = FindCodeReply("{\"code\": \"" + code + "\", \"description\": \"d\"}");
  ASSERT_TRUE(found.has_value());
  EXPECT_LT(EncodeReplyFrame(found->frame).size(), 200U);
}

TEST(ResultText, RebuildRefusesAnotherFilesContent) {
  const auto found = FindCodeReply(R"({"code": "abc", "description": "d"})");
  ASSERT_TRUE(found.has_value());
  for (const char* result : {"", "abc", "abcd\n\n\n'''\nd\n'''", "abc\n\n\n'''\nd\n''",
                             "ab\n\n\n'''\nd\n'''", "abc\n\n\n'''\n'''"}) {
    const Result<std::string> raw = RebuildReply(found->frame, result);
    ASSERT_FALSE(raw.ok()) << result;
    EXPECT_EQ(raw.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ResultText, RebuildRefusesHugeCodeLength) {
  ReplyFrame frame;
  frame.code_bytes = ~uint64_t{0};
  EXPECT_FALSE(RebuildReply(frame, "x\n\n\n'''\nd\n'''").ok());
}

// Random strings in random JSON spellings, in random surroundings.
class RandomReply {
 public:
  explicit RandomReply(uint32_t seed) : random_(seed) {}

  std::string Make() {
    std::string reply =
        Pick({"", "Sure: ", "```json\n", "{x} ", "\xEF\xBB\xBF", "<think>{\"</think>"});
    reply += "{" + Space();
    const bool description_first = Below(2) == 0;
    if (Below(3) == 0) reply += "\"n\":[1,{}]," + Space();
    reply += Member(description_first ? "description" : "code") + "," + Space();
    if (Below(3) == 0) reply += "\"m\":\"}\"," + Space();
    reply += Member(description_first ? "code" : "description") + Space() + "}";
    return reply + Pick({"", "\n", "\n```", " and so on", " {\"a\":1}"});
  }

 private:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string Pick(std::vector<std::string> choices) {
    return choices[Below(static_cast<uint32_t>(choices.size()))];
  }
  std::string Space() { return Pick({"", "", " ", "\n  ", "\r\n", "\t"}); }
  std::string Member(const std::string& name) {
    return "\"" + name + "\"" + Space() + ":" + Space() + Literal();
  }
  std::string Literal() {
    const uint32_t style = Below(4);
    std::string out = "\"";
    for (uint32_t length = Below(30); length > 0; --length) {
      out += style == 3 ? Element(Below(8)) : style == 0 ? Element(Below(3)) : Element(2 + style);
    }
    return out + "\"";
  }
  std::string Element(uint32_t kind) {
    switch (kind) {
      case 0:
        return Pick({"a", "{", "}", "'", " ", "[", ":"});
      case 1:
        return Pick({"é", "中", "\xF0\x9F\x98\x80"});
      case 2:
        return Pick({"\\n", "\\t", "\\\"", "\\\\", "\\u001f", "\\b", "\\f", "\\r"});
      case 3:
        return Pick({"\\u00e9", "\\ud83d\\ude00", "\\u4e2d"});
      case 4:
        return Pick({"\n", "\t", "\r\n", "\r"});
      case 5:
        return Pick({"\\u00E9", "\\uD83D\\uDE00", "\\/", "\\u0041"});
      case 6:
        return Pick({"\\ud800", "\\udc00", "\\ud800\\ud800"});
      default:
        return Pick({"\x01", "\x7F", "\\u0000"});
    }
  }

  std::mt19937 random_;
};

TEST(ResultText, EveryEncodingOfAReplyComesBack) {
  int found_count = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const std::string reply = RandomReply(seed).Make();
    const std::optional<CodeReply> found = FindCodeReply(reply);
    if (!found.has_value()) continue;  // such as bytes that are no text
    ++found_count;
    ASSERT_EQ(RoundTrip(*found), reply) << "seed " << seed;
  }
  EXPECT_GT(found_count, 2000);
}

std::string Repeat(const std::string& text, size_t bytes) {
  std::string out = "\"code\" ";
  while (out.size() < bytes) out += text;
  return out;
}

// A second is a thousand times what a linear walk takes, and a thousandth of a quadratic one.
// Quadratic work would take hours here and run into the test's time-out.
TEST(ResultText, HostileNestingHoldsNoReply) {
  for (const char* piece : {"{\"a\":", "{", "{\"", "{\"a\":\"", "{\"code\":\"",
                            "[{\"a\":", "{\"a\":1,", "{\"code\":\"x\",\"description\":", "{}",
                            "{\"a\":{}}", "\\\"{", "{\"a\":[", "{\n", "{\"\\"}) {
    EXPECT_FALSE(FindCodeReply(Repeat(piece, 1 << 20)).has_value()) << piece;
  }
}

TEST(ResultText, FindsTheObjectBehindALotOfCode) {
  std::string prose;
  for (int i = 0; i < 20'000; ++i) prose += "if (x) { y(\"a\"); }\n";
  const auto found = FindCodeReply(prose + R"({"code": "c", "description": "d"})");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->code, "c");
}

}  // namespace
}  // namespace kerf::trace
