#include "trace/append_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace kerf::trace {
namespace {

using ::testing::HasSubstr;

// The request refers to the line, which stays.
AppendRequest MustParse(const std::string& text) {
  static std::deque<std::string> lines;
  Result<AppendRequest> request = ParseAppendRequest(lines.emplace_back(text));
  EXPECT_TRUE(request.ok()) << text << ": " << request.error().message;
  return request.ok() ? *request : AppendRequest{};
}

std::string ErrorOf(std::string line) {
  const Result<AppendRequest> request = ParseAppendRequest(line);
  EXPECT_FALSE(request.ok()) << line;
  if (request.ok()) return "";
  EXPECT_EQ(request.error().code, ErrorCode::kInvalidInput);
  return request.error().message;
}

std::string Coder(const std::string& members) {
  return R"({"kind":"designer_or_coder","op_name":"relu","task_id":"0","action_type":"DO_CODER")" +
         members + "}";
}

std::string Verifier(const std::string& members) {
  return R"({"kind":"verifier","op_name":"relu","task_id":"0")" + members + "}";
}

TEST(AppendRequest, ReadsEveryMember) {
  const AppendRequest request = MustParse(Coder(
      R"(,"res":"r","prompt":"p","reasoning":"why","meta":{"model":"m","tokens":{"input":1}})"));
  EXPECT_EQ(request.op, "relu");
  EXPECT_EQ(request.task, "0");
  EXPECT_EQ(request.input.kind, RecordKind::kDesignerOrCoder);
  EXPECT_EQ(request.input.action, ActionType::kDoCoder);
  EXPECT_EQ(request.input.res, "r");
  EXPECT_EQ(request.input.prompt, "p");
  EXPECT_EQ(request.input.reasoning, "why");
  EXPECT_EQ(request.input.meta, R"({"model":"m","tokens":{"input":1}})");
}

TEST(AppendRequest, ReadsAVerification) {
  const AppendRequest request =
      MustParse(Verifier(R"(,"verify_res":"False","verify_log":"log","profile":"speedup: 1x")"));
  EXPECT_EQ(request.input.kind, RecordKind::kVerifier);
  EXPECT_EQ(request.input.action, ActionType::kVerify);
  EXPECT_EQ(request.input.verify_res, "False");
  EXPECT_EQ(request.input.verify_log, "log");
  EXPECT_EQ(request.input.profile, "speedup: 1x");
}

TEST(AppendRequest, ActionsHaveTwoSpellings) {
  EXPECT_EQ(
      MustParse(R"({"kind":"conductor","op_name":"a","task_id":"b","action_type":"FixCoder"})")
          .input.action,
      ActionType::kFixCoder);
  EXPECT_EQ(
      MustParse(R"({"kind":"conductor","op_name":"a","task_id":"b","action_type":"FIX_CODER"})")
          .input.action,
      ActionType::kFixCoder);
}

TEST(AppendRequest, MembersMayComeInAnyOrder) {
  EXPECT_EQ(MustParse(R"( { "res" : "r", "task_id": "t", "action_type":"DO_CODER",
                           "op_name":"o", "kind":"designer_or_coder" } )")
                .input.res,
            "r");
}

TEST(AppendRequest, ATaskIdMayBeANumber) {
  EXPECT_EQ(MustParse(R"({"kind":"verifier","op_name":"relu","task_id":123})").task, "123");
  EXPECT_THAT(ErrorOf(R"({"kind":"verifier","op_name":"relu","task_id":1.5})"),
              HasSubstr("task_id"));
}

TEST(AppendRequest, NullIsAnEmptyText) {
  const AppendRequest request = MustParse(Coder(R"(,"res":null,"prompt":null,"meta":null)"));
  EXPECT_EQ(request.input.res, "");
  EXPECT_EQ(request.input.meta, "");
}

TEST(AppendRequest, AVerdictMayBeABoolean) {
  EXPECT_EQ(MustParse(Verifier(R"(,"verify_res":true)")).input.verify_res, "True");
  EXPECT_EQ(MustParse(Verifier(R"(,"verify_res":false)")).input.verify_res, "False");
  EXPECT_THAT(ErrorOf(Verifier(R"(,"verify_log":false)")), HasSubstr("verify_log"));
}

TEST(AppendRequest, TextsAreExact) {
  EXPECT_EQ(MustParse(Coder(R"(,"res":"\ud800 \u0000 \r\n \ud83d\ude00")")).input.res,
            std::string("\xED\xA0\x80 \0 \r\n \xF0\x9F\x98\x80", 13));
  EXPECT_EQ(MustParse(Coder(",\"res\":\"\xFF\xC3\"")).input.res, "\xFF\xC3");
}

TEST(AppendRequest, Base64CarriesAnyBytes) {
  EXPECT_EQ(MustParse(Coder(R"(,"res":{"base64":"/wD+"})")).input.res,
            std::string("\xFF\0\xFE", 3));
  EXPECT_EQ(MustParse(Coder(R"(,"res":{"base64":""})")).input.res, "");
}

TEST(AppendRequest, BadBase64IsRefused) {
  for (const char* text : {"/wD", "****", "/wD+=", "/wD +", "=", "/w=="}) {
    std::string line = Coder(R"(,"res":{"base64":")" + std::string(text) + "\"}");
    const bool ok = ParseAppendRequest(line).ok();
    EXPECT_EQ(ok, std::string(text) == "/w==") << text;
  }
}

TEST(AppendRequest, AProfileMayBeAnObject) {
  EXPECT_EQ(MustParse(Verifier(R"(,"profile":{"speedup": 1.5, "base64": 1})")).input.profile,
            R"({"speedup": 1.5, "base64": 1})");
  EXPECT_THAT(ErrorOf(Verifier(R"(,"verify_log":{"a": 1})")), HasSubstr("verify_log"));
}

TEST(AppendRequest, AMisspeltMemberIsRefused) {
  EXPECT_THAT(ErrorOf(Coder(R"(,"propmt":"p")")), HasSubstr("unknown member \"propmt\""));
}

TEST(AppendRequest, ARepeatedMemberIsRefused) {
  EXPECT_THAT(ErrorOf(Coder(R"(,"res":"a","res":"b")")), HasSubstr("\"res\" appears twice"));
  EXPECT_THAT(ErrorOf(Coder(R"(,"res":"a","res":null)")), HasSubstr("\"res\" appears twice"));
}

TEST(AppendRequest, ATextOfAnotherKindIsRefused) {
  EXPECT_THAT(ErrorOf(Verifier(R"(,"res":"x")")), HasSubstr("no \"res\""));
  EXPECT_THAT(ErrorOf(Verifier(R"(,"prompt":"x")")), HasSubstr("no \"prompt\""));
  EXPECT_THAT(ErrorOf(Verifier(R"(,"reasoning":"x")")), HasSubstr("no \"reasoning\""));
  EXPECT_THAT(ErrorOf(Coder(R"(,"verify_res":"x")")), HasSubstr("no \"verify_res\""));
  EXPECT_THAT(ErrorOf(Coder(R"(,"verify_log":"x")")), HasSubstr("no \"verify_log\""));
  EXPECT_THAT(ErrorOf(Coder(R"(,"profile":"x")")), HasSubstr("no \"profile\""));
}

TEST(AppendRequest, AnEmptyTextOfAnotherKindIsFine) {
  MustParse(Coder(R"(,"verify_res":"","verify_log":null,"profile":"")"));
  MustParse(Verifier(R"(,"res":"","prompt":"","reasoning":"")"));
}

struct Refused {
  const char* line;
  const char* says;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.line; }

class RefusedRequest : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedRequest, SaysWhy) {
  EXPECT_THAT(ErrorOf(GetParam().line), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    AppendRequest, RefusedRequest,
    ::testing::Values(
        Refused{"", "not a JSON object"}, Refused{"[]", "not a JSON object"},
        Refused{"x", "not a JSON object"}, Refused{"\xEF\xBB\xBF{}", "not a JSON object"},
        Refused{"{", "not valid JSON"}, Refused{"{}", "\"kind\" is missing"},
        Refused{"{} {}", "not valid JSON"},
        Refused{R"({"kind":"verifier"})", "\"op_name\" is missing"},
        Refused{R"({"kind":"verifier","op_name":""})", "\"op_name\" is missing or empty"},
        Refused{R"({"kind":"verifier","op_name":"a"})", "\"task_id\" is missing"},
        Refused{R"({"kind":"conductor","op_name":"a","task_id":"b"})",
                "\"action_type\" is missing"},
        Refused{R"({"kind":"designer","op_name":"a","task_id":"b"})", "\"designer\" is none of"},
        Refused{R"({"kind":1})", "\"kind\" must be a string"},
        Refused{R"({"action_type":"DO_IT"})", "\"DO_IT\" is none of"},
        Refused{R"({"action_type":["DO_CODER"]})", "\"action_type\" must be"},
        Refused{R"({"res":1})", "\"res\" must be a string"},
        Refused{R"({"res":["a"]})", "\"res\" must be a string"},
        Refused{R"({"res":"a)", "not valid JSON in \"res\""},
        Refused{R"({"res":"\x"})", "not valid JSON in \"res\""},
        Refused{"{\"res\":\"a\nb\"}", "not valid JSON in \"res\""},
        Refused{R"({"meta":[]})", "\"meta\" must be a JSON object"},
        Refused{R"({"meta":"x"})", "\"meta\" must be a JSON object"},
        Refused{R"({"meta":{"a":})", "not valid JSON in \"meta\""},
        Refused{R"({"op_name":null})", "\"op_name\" must be a string"}));

TEST(AppendRequest, DeepNestingIsRefused) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(ErrorOf(Coder(",\"meta\":{\"a\":" + deep + "}")), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace kerf::trace
