#include "trace/search.h"

#include "trace/index_testing.h"

namespace kerf::trace {
namespace {

class SearchTest : public RunTest {
 protected:
  static std::string Marked(const SearchHit& hit) {
    std::string text;
    for (const SnippetPiece& piece : hit.snippet) {
      text += piece.match ? "[" + piece.text + "]" : piece.text;
    }
    return text;
  }
};

TEST_F(SearchTest, FindsWordsInEveryPart) {
  Code("relu", "0", "alpha in result", "beta in prompt", "gamma in reasoning");
  Verify("relu", "0", "False", "delta in log", "{\"epsilon\": 1}");
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"alpha", "result", "I0_S01_relu_DO_CODER_result.txt"},
      {"beta", "prompt", "I0_S01_relu_DO_CODER_prompt.txt"},
      {"gamma", "reasoning", "I0_S01_relu_DO_CODER_reasoning.txt"},
      {"delta", "log", "I0_S02_relu_VERIFY_error_log.txt"},
      {"epsilon", "log", "I0_S02_relu_VERIFY_profile.json"},
      {"false", "log", "I0_S02_relu_VERIFY_verify_res.txt"},
  };
  for (const auto& [word, part, file] : cases) {
    const std::vector<SearchHit> hits = Find(word);
    ASSERT_EQ(hits.size(), 1u) << word;
    EXPECT_EQ(hits[0].part, part);
    EXPECT_EQ(hits[0].file, run_ + "/relu/" + file);
    EXPECT_EQ(hits[0].run, run_);
    EXPECT_EQ(hits[0].op, "relu");
    EXPECT_EQ(hits[0].step.task, "0");
    EXPECT_TRUE(hits[0].step.journaled);
  }
  EXPECT_EQ(Find("delta")[0].step.verification, Verification::kFailed);
  EXPECT_EQ(Find("delta")[0].step.step, 2);
  EXPECT_EQ(Find("alpha")[0].step.action, "DO_CODER");
}

TEST_F(SearchTest, KeepsToThePartThatIsAskedFor) {
  Code("relu", "0", "alpha", "beta");
  EXPECT_EQ(Count("result: alpha"), 1u);
  EXPECT_EQ(Count("prompt: alpha"), 0u);
  EXPECT_EQ(Count("{result prompt}: beta"), 1u);
}

TEST_F(SearchTest, Filters) {
  Code("relu", "0", "word");
  Verify("relu", "0", "True", "word");
  Verify("relu", "1", "False", "word");
  Verify("swish", "1", "who knows", "word");
  StepInput check;
  check.kind = RecordKind::kConductor;
  check.action = ActionType::kVerify;
  check.res = "word";
  Insert("relu", "0", check);
  const auto count = [&](const std::function<void(SearchRequest&)>& set) {
    SearchRequest request;
    request.query = "word";
    set(request);
    return Find(request).size();
  };
  EXPECT_EQ(count([](SearchRequest&) {}), 5u);
  EXPECT_EQ(count([](SearchRequest& r) { r.op = "relu"; }), 4u);
  EXPECT_EQ(count([](SearchRequest& r) { r.op = "rel"; }), 0u);
  EXPECT_EQ(count([](SearchRequest& r) { r.task = "1"; }), 2u);
  EXPECT_EQ(count([](SearchRequest& r) { r.action = "DO_CODER"; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) { r.action = "AnalyzeError"; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) { r.verdict = Verification::kPassed; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) { r.verdict = Verification::kFailed; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) { r.verdict = Verification::kUnknown; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) { r.kind = RecordKind::kConductor; }), 1u);
  EXPECT_EQ(count([](SearchRequest& r) {
              r.op = "relu";
              r.task = "1";
              r.kind = RecordKind::kVerifier;
            }),
            1u);
}

TEST_F(SearchTest, FiltersByTimeToTheMicrosecond) {
  for (int i = 0; i < 4; ++i) Code("relu", "0", "word");
  std::vector<SearchHit> hits = Find("word");
  ASSERT_EQ(hits.size(), 4u);
  SearchRequest request;
  request.query = "word";
  request.since_ns = ParseUtc(hits[2].step.time);
  request.until_ns = ParseUtc(hits[1].step.time);
  hits = Find(request);
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].step.step, 3);
  EXPECT_EQ(hits[1].step.step, 2);
  request.since_ns = *request.since_ns + 1000;
  EXPECT_EQ(Find(request).size(), 1u);
}

TEST_F(SearchTest, GivesTheNewestFirstAcrossOperators) {
  Code("relu", "0", "word");
  Code("swish", "0", "word");
  Code("relu", "1", "word");
  Code("abs", "0", "word");
  const std::vector<SearchHit> hits = Find("word");
  ASSERT_EQ(hits.size(), 4u);
  EXPECT_EQ(hits[0].op, "abs");
  EXPECT_EQ(hits[1].op, "relu");
  EXPECT_EQ(hits[2].op, "swish");
  EXPECT_EQ(hits[3].op, "relu");
  for (size_t i = 1; i < hits.size(); ++i) EXPECT_GT(hits[i - 1].step.time, hits[i].step.time);
}

TEST_F(SearchTest, GivesTheBestFirstWhenAsked) {
  Code("relu", "0", "word word word word");
  Code("relu", "0", "word " + std::string(2000, 'x') + " y z a b c d e f g");
  SearchRequest request;
  request.query = "word";
  request.order = SearchOrder::kBestFirst;
  const std::vector<SearchHit> hits = Find(request);
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].step.step, 1);
  EXPECT_LT(hits[0].rank, hits[1].rank);
}

TEST_F(SearchTest, StopsAtTheLimitAndSaysThatThereIsMore) {
  for (int i = 0; i < 3; ++i) Code("relu", "0", "word");
  const auto index = Open();
  Update(*index);
  SearchRequest request;
  request.query = "word";
  request.limit = 2;
  EXPECT_EQ(Search(*index, request)->hits.size(), 2u);
  EXPECT_TRUE(Search(*index, request)->more);
  request.limit = 3;
  EXPECT_FALSE(Search(*index, request)->more);
}

TEST_F(SearchTest, MarksTheMatches) {
  Code("relu", "0", "before tl.load(ptr) after");
  EXPECT_EQ(Marked(Find("LOAD")[0]), "before tl.[load](ptr) after");
  EXPECT_EQ(Marked(Find("before after")[0]), "[before] tl.load(ptr) [after]");
  EXPECT_EQ(Marked(Find("tl.load(ptr)")[0]), "before [tl.load(ptr]) after");
  EXPECT_EQ(Marked(Find("aft*")[0]), "before tl.load(ptr) [after]");
  EXPECT_EQ(Marked(Find("tl ^ after")[0]), "before [tl].load(ptr) [after]");
  EXPECT_EQ(Marked(Find("^after")[0]), "before tl.load(ptr) [after]");
}

TEST_F(SearchTest, CutsLongTextsAroundTheBestPlace) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "filler" + std::to_string(i) + " ";
  Code("relu", "0", "apple " + text + "apple banana " + text);
  const SearchHit hit = Find("apple OR banana")[0];
  const std::string marked = Marked(hit);
  EXPECT_NE(marked.find("[apple] [banana]"), std::string::npos) << marked;
  EXPECT_LT(marked.size(), 420u);
  EXPECT_TRUE(hit.cut_before);
  EXPECT_TRUE(hit.cut_after);
}

TEST_F(SearchTest, DoesNotCutCharactersOrRunOnInTextWithoutSpaces) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "矩";
  Code("relu", "0", text + "溢出" + text);
  const SearchHit hit = Find("溢出")[0];
  const std::string marked = Marked(hit);
  EXPECT_NE(marked.find("[溢出]"), std::string::npos) << marked;
  EXPECT_LT(marked.size(), 420u);
  for (const SnippetPiece& piece : hit.snippet) EXPECT_EQ(piece.text.size() % 3, 0u);
  Code("relu", "0", std::string(100000, 'a'));
  ASSERT_EQ(Count("aaa*"), 1u);
  EXPECT_LT(Marked(Find("aaa*")[0]).size(), 420u);
}

TEST_F(SearchTest, FindsWordsInsideUnspacedScripts) {
  Code("relu", "0", "避免整数溢出的内核 kernel核函数");
  EXPECT_EQ(Count("溢出"), 1u);
  EXPECT_EQ(Count("出溢"), 0u);
  EXPECT_EQ(Count("kernel"), 1u);
  EXPECT_EQ(Count("核函数"), 1u);
  EXPECT_EQ(Marked(Find("整数")[0]), "避免[整数]溢出的内核 kernel核函数");
}

TEST_F(SearchTest, TakesAnyTextAsAQuery) {
  Code("relu", "0",
       "x = tl.load(ptr); C++ a-b don't \"quoted\" f(x) col: 100% [1] {2} /path/to \\n");
  for (const char* query : {"tl.load(ptr)",
                            "C++",
                            "a-b",
                            "don't",
                            "\"unbalanced",
                            "\"quoted",
                            "f(x",
                            "f(x)",
                            "100%",
                            "[1]",
                            "{2}",
                            "/path/to",
                            "col: 100%",
                            "a AND",
                            "(a",
                            "a)",
                            "ptr);",
                            "x = tl",
                            "^x",
                            "+",
                            "a + b",
                            "NEAR(x",
                            "*reads",
                            "*",
                            "a*b",
                            "-a",
                            "\\n",
                            "a) OR (b",
                            "no:such:column",
                            "rowid:1",
                            "kerf_facet: x",
                            "NOT a",
                            "a NOT",
                            "\"\"",
                            "\" \"",
                            "tl.load(ptr) AND \"C",
                            "' OR 1=1 --",
                            "\xff\xfe",
                            "%",
                            "; DROP TABLE step",
                            "NEAR(a b, x)"}) {
    SearchRequest request;
    request.query = query;
    const auto index = Open();
    Update(*index);
    const auto page = Search(*index, request);
    if (!page.ok()) {
      EXPECT_EQ(page.error().code, ErrorCode::kInvalidInput) << query;
      EXPECT_EQ(page.error().message.find("fts5"), std::string::npos) << page.error().message;
      EXPECT_EQ(page.error().message.find("SQL"), std::string::npos) << page.error().message;
    }
  }
  for (const char* query : {"tl.load(ptr)", "C++", "a-b", "don't", "\"quoted", "f(x)", "100%",
                            "/path/to", "col: 100%", "x = tl", "(a", "ptr);", "[1]"}) {
    EXPECT_EQ(Count(query), 1u) << query;
  }
}

TEST_F(SearchTest, RefusesAQueryWithoutAWord) {
  Code("relu", "0", "word");
  const auto index = Open();
  for (const char* query : {"", "  ", "++", "\"\"", "***"}) {
    SearchRequest request;
    request.query = query;
    const auto page = Search(*index, request);
    ASSERT_FALSE(page.ok()) << query;
    EXPECT_EQ(page.error().code, ErrorCode::kInvalidInput);
  }
}

TEST_F(SearchTest, BearsVeryLongQueries) {
  Code("relu", "0", "word");
  std::string words;
  const std::string nested(2000, '(');
  for (int i = 0; i < 3000; ++i) words += "word ";
  SearchRequest request;
  const auto index = Open();
  Update(*index);
  for (const std::string& query : {words, nested + "word", std::string(300000, 'w')}) {
    request.query = query;
    const auto page = Search(*index, request);
    if (!page.ok()) {
      EXPECT_EQ(page.error().code, ErrorCode::kInvalidInput) << page.error().message;
    }
  }
}

TEST_F(SearchTest, FindsWordsBesideBytesThatAreNoText) {
  constexpr char kBytes[] = "\xff\xfe bad \x80 needle \0 after\x1b[31m \xed\xa0\x80";
  Code("relu", "0", std::string(kBytes, sizeof kBytes - 1));
  const std::vector<SearchHit> hits = Find("needle");
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_NE(Marked(hits[0]).find("[needle]"), std::string::npos);
  EXPECT_EQ(Count("after"), 1u);
}

TEST_F(SearchTest, TellsWhenTheFileIsGone) {
  Code("relu", "0", "needle", "keep");
  EXPECT_EQ(Count("needle"), 1u);
  std::filesystem::remove(run_ + "/relu/I0_S01_relu_DO_CODER_result.txt");
  const std::vector<SearchHit> hits = Find("needle");
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_TRUE(hits[0].snippet.empty());
  EXPECT_EQ(hits[0].file, run_ + "/relu/I0_S01_relu_DO_CODER_result.txt");
}

TEST_F(SearchTest, MarksNothingInAFileThatHasChanged) {
  Code("relu", "0", "please code", "keep");
  EXPECT_EQ(Marked(Find("please CODE")[0]), "[please] [code]");
  EXPECT_EQ(Marked(Find("cod* OR x")[0]), "please [code]");
  Write(run_ + "/relu/I0_S01_relu_DO_CODER_result.txt", "completely different");
  const std::vector<SearchHit> hits = Find("please code");
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_TRUE(hits[0].snippet.empty());
}

TEST_F(SearchTest, OddNamesAreFilteredExactly) {
  Code("op with spaces \" and 'quotes'", "0_S01_x", "word");
  Code("7_算子", "0", "word");
  SearchRequest request;
  request.query = "word";
  request.op = "op with spaces \" and 'quotes'";
  EXPECT_EQ(Find(request).size(), 1u);
  request.op = "7_算子";
  EXPECT_EQ(Find(request).size(), 1u);
}

TEST(ParseMoment, ReadsTimesAndAges) {
  const int64_t now = *ParseUtc("2026-11-15T12:00:00Z");
  EXPECT_EQ(ParseMoment("2h", now, false), ParseUtc("2026-11-15T10:00:00Z"));
  EXPECT_EQ(ParseMoment("3d", now, true), ParseUtc("2026-11-12T12:00:00Z"));
  EXPECT_EQ(ParseMoment("90s", now, false), ParseUtc("2026-11-15T11:58:30Z"));
  EXPECT_EQ(ParseMoment("1w", now, false), ParseUtc("2026-11-08T12:00:00Z"));
  EXPECT_EQ(ParseMoment("2026-11-14", now, false), ParseUtc("2026-11-14T00:00:00Z"));
  EXPECT_EQ(ParseMoment("2026-11-14", now, true), *ParseUtc("2026-11-15T00:00:00Z") - 1);
  // As times are shown: without their fraction.
  EXPECT_EQ(ParseMoment("2026-11-14T01:02:03Z", now, true), *ParseUtc("2026-11-14T01:02:04Z") - 1);
  EXPECT_EQ(ParseMoment("2026-11-14T01:02:03.5Z", now, true), ParseUtc("2026-11-14T01:02:03.5Z"));
  EXPECT_EQ(ParseMoment("9999999999999d", now, false), now % (86400 * int64_t{1'000'000'000}));
  for (const char* bad : {"", "h", "2", "2x", "-2h", "2hh", "yesterday", "99999999999999999999h"}) {
    EXPECT_FALSE(ParseMoment(bad, now, false).has_value()) << bad;
  }
}

}  // namespace
}  // namespace kerf::trace
