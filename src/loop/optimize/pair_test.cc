#include "loop/optimize/pair.h"

#include <gtest/gtest.h>

namespace kerf::optimize {
namespace {

Case SomeCase() {
  Case one;
  one.name = "scale.py";
  one.instruction = "Scale \"x\" ×2";
  one.label = "import triton";
  one.test_code = "t";
  one.predict = "old";
  one.oneshot = "shot";
  one.others = {{"difficulty", "3"}, {"odd", "[NaN, 1]"}};
  return one;
}

Trial Right(int64_t iteration, const std::string& code, double speedup) {
  Trial trial;
  trial.iteration = iteration;
  trial.code = code;
  trial.strategy = "strategy of " + code;
  trial.reflection = "thoughts on " + code;
  trial.correct = trial.pass_call = trial.pass_exe = true;
  trial.status = "passed";
  if (speedup > 0) trial.speedup = speedup;
  return trial;
}

Trial Failed(int64_t iteration, const std::string& code, bool call) {
  Trial trial;
  trial.iteration = iteration;
  trial.code = code;
  trial.pass_call = call;
  trial.status = call ? "wrong_value" : "compile_error";
  trial.summary = "in short";
  trial.log = "log of " + code;
  return trial;
}

TEST(Pair, OfACaseWithNothingYet) {
  const Case one = SomeCase();
  const CaseState state{Rules()};
  const PairTexts texts = MakePair({{one, state, ""}});
  EXPECT_EQ(texts.jsonl,
            R"({"instruction":"Scale \"x\" \u00d72","label":"import triton","filename":"scale.py",)"
            R"("test_code":"t","predict":"old","speedup":0.0,"difficulty":3,"odd":"[NaN, 1]"})"
            "\n");
  EXPECT_EQ(texts.mem,
            R"({"scale.py":{"call_err_msg":"None","exe_err_msg":"None","reflection":null,)"
            R"("oneshot":"shot","perf_candidates":[],"perf_strategy":null,"call_candidate":null,)"
            R"("exe_candidate":null,"temp_strategy":null,"perf_debug_num":0,"pass_call":false,)"
            R"("pass_exe":false,"pass_perf":false}})");
}

TEST(Pair, IsAsciiWhateverTheTexts) {
  Case one = SomeCase();
  one.name = "größe.py";
  one.instruction = "\xE2\x80\xA8 \xF0\x9F\x98\x80 \xFF";  // U+2028, U+1F600, no UTF-8
  const CaseState state{Rules()};
  const PairTexts texts = MakePair({{one, state, ""}});
  EXPECT_NE(texts.jsonl.find(R"("instruction":"\u2028 \ud83d\ude00 \ufffd")"), std::string::npos)
      << texts.jsonl;
  EXPECT_EQ(texts.mem.rfind(R"({"gr\u00f6\u00dfe.py":{)", 0), 0U) << texts.mem;
  for (const std::string& text : {texts.jsonl, texts.mem}) {
    for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
  }
}

TEST(Pair, KeepsTheBestWhenTheLastRoundFailed) {
  const Case one = SomeCase();
  CaseState state{Rules()};
  state.EndIteration({Right(0, "fast", 1.5)});
  state.EndIteration({Right(1, "slow", 1.25)});
  state.EndIteration({Failed(2, "broken", false)});
  const PairTexts texts = MakePair({{one, state, ""}});
  EXPECT_NE(texts.jsonl.find(R"("predict":"fast","speedup":1.5)"), std::string::npos)
      << texts.jsonl;
  EXPECT_EQ(texts.mem,
            R"({"scale.py":{"call_err_msg":"log of broken","exe_err_msg":"None","reflection":null,)"
            R"("oneshot":"shot","perf_candidates":[["fast",1.5,0.0,"thoughts on fast",null],)"
            R"(["slow",1.25,0.0,"thoughts on slow",null]],"perf_strategy":null,)"
            R"("call_candidate":"slow","exe_candidate":"slow","temp_strategy":"strategy of slow",)"
            R"("perf_debug_num":0,"pass_call":false,"pass_exe":false,"pass_perf":false}})");
}

TEST(Pair, RightWithoutAMeasurementDoesNotPassPerf) {
  const Case one = SomeCase();
  CaseState state{Rules()};
  state.EndIteration({Right(0, "right", 0)});
  const PairTexts texts = MakePair({{one, state, ""}});
  EXPECT_NE(texts.jsonl.find(R"("predict":"right","speedup":0.0)"), std::string::npos);
  EXPECT_NE(texts.mem.find(R"("perf_candidates":[],)"), std::string::npos);
  EXPECT_NE(texts.mem.find(R"("exe_candidate":"right")"), std::string::npos);
  EXPECT_NE(texts.mem.find(R"("pass_call":true,"pass_exe":true,"pass_perf":false)"),
            std::string::npos);
}

TEST(Pair, TellsTheStageOfAnError) {
  const Case one = SomeCase();
  CaseState state{Rules()};
  state.EndIteration({Failed(0, "wrong", true)});
  const std::string mem = MakePair({{one, state, ""}}).mem;
  EXPECT_NE(mem.find(R"("call_err_msg":"None","exe_err_msg":"log of wrong")"), std::string::npos);
  EXPECT_NE(mem.find(R"("call_candidate":"wrong","exe_candidate":null)"), std::string::npos);
}

TEST(Pair, ACaseThatWasNotJudgedGoesThrough) {
  Case one = SomeCase();
  one.not_here = "no test";
  one.named_by_file = true;
  const CaseState state{Rules()};
  const PairTexts texts = MakePair({{one, state, ""}});
  EXPECT_NE(texts.jsonl.find(R"("file":"scale.py")"), std::string::npos);
  EXPECT_NE(texts.jsonl.find(R"("predict":"old")"), std::string::npos);
  EXPECT_NE(texts.mem.find(R"("call_err_msg":"kerf did not judge this case: no test")"),
            std::string::npos);
}

}  // namespace
}  // namespace kerf::optimize
