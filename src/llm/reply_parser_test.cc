// The corpus of odd replies. Each folder of test/data/replies is a case:
//
//   reply.txt      what a model sent, byte for byte
//   expected.json  "ask": cpp, python, aul, any, check or analyze; "finish": what the endpoint said
//                  of its end, if anything; the rest is what comes out
//
// With KERF_UPDATE_GOLDENS=1 the program rewrites expected.json and prints what changed.
#include "llm/reply_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kerf::llm {
namespace {

namespace stdfs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string ReadAll(const stdfs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : stdfs::directory_iterator(KERF_REPLIES)) {
    cases.push_back(entry.path().filename().string());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

// Long texts as a list of lines, so that a difference can be read.
Json Lines(const std::string& text) {
  if (text.find('\n') == std::string::npos) return text;
  Json lines = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

Json Outcome(const std::string& ask, const std::string& said, const std::string& reply) {
  Json out = {{"ask", ask}};
  if (!said.empty()) out["finish"] = said;
  const Finish finish = ParseFinish(said);
  if (ask == "check" || ask == "analyze") {
    const ParsedCheck parsed = ParseCheck(
        reply, ask == "check" ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{1, 2}, finish);
    if (parsed.ok()) out["result"] = parsed.result;
    out["reason"] = Lines(parsed.reason);
    out["suggestions"] = Lines(parsed.suggestions);
    out["repairs"] = parsed.repairs;
    out["truncated"] = parsed.truncated;
    out["complaint"] = parsed.complaint;
    return out;
  }
  const CodeLanguage language = ask == "cpp"      ? CodeLanguage::kCpp
                                : ask == "python" ? CodeLanguage::kPython
                                : ask == "aul"    ? CodeLanguage::kAul
                                                  : CodeLanguage::kAny;
  const ParsedReply parsed = ParseCode(reply, language, finish);
  out["form"] = parsed.form;
  out["code"] = Lines(parsed.code);
  out["description"] = Lines(parsed.description);
  out["repairs"] = parsed.repairs;
  out["truncated"] = parsed.truncated;
  out["complaint"] = parsed.complaint;
  return out;
}

class ReplyCorpus : public testing::TestWithParam<std::string> {};

TEST_P(ReplyCorpus, GivesWhatIsExpected) {
  const stdfs::path dir = stdfs::path(KERF_REPLIES) / GetParam();
  const std::string before = ReadAll(dir / "expected.json");
  const Json expected = Json::parse(before, nullptr, false);
  ASSERT_TRUE(expected.is_object() && expected.contains("ask")) << dir;
  const std::string after =
      Outcome(expected["ask"], expected.value("finish", ""), ReadAll(dir / "reply.txt")).dump(1) +
      "\n";
  if (std::getenv("KERF_UPDATE_GOLDENS") != nullptr) {
    if (after == before) return;
    std::ofstream(dir / "expected.json", std::ios::binary) << after;
    std::cout << GetParam() << ":\n" << after;
    return;
  }
  EXPECT_EQ(after, before) << "KERF_UPDATE_GOLDENS=1 rewrites it";
}

INSTANTIATE_TEST_SUITE_P(Replies, ReplyCorpus, testing::ValuesIn(Cases()),
                         [](const auto& param) { return param.param; });

TEST(ReplyParser, CutOffRepliesAreNeverTaken) {
  // Every proper prefix of an answer, behind prose and not: none may be taken for whole.
  const std::string answer =
      R"({"code": "#include <kerf/kernel.h>\nKERF_KERNEL(call) { return 0; }\n", "description": "d"})";
  for (const std::string& prose : {std::string(), std::string("Here it is {see below}:\n")}) {
    for (size_t size = 0; size < answer.size(); ++size) {
      const ParsedReply parsed = ParseCode(prose + answer.substr(0, size), CodeLanguage::kCpp);
      ASSERT_FALSE(parsed.ok()) << answer.substr(0, size);
      ASSERT_TRUE(parsed.code.empty());
    }
    EXPECT_TRUE(ParseCode(prose + answer, CodeLanguage::kCpp).ok());
  }
}

TEST(ReplyParser, HostileNestingTakesLinearTime) {
  for (const std::string& part : {std::string("{\"a\":"), std::string("{/*"), std::string("{'"),
                                  std::string("{\"code\":[{"), std::string("```\n{")}) {
    std::string text;
    while (text.size() < 200'000) text += part;
    EXPECT_FALSE(ParseCode(text, CodeLanguage::kCpp).ok());
  }
}

}  // namespace
}  // namespace kerf::llm
