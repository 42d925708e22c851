#include "trace/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kerf::trace {
namespace {

using ::testing::HasSubstr;

constexpr Names kAllNames[] = {Names::kDoc, Names::kValue, Names::kAgent, Names::kIteration};
constexpr ActionType kActions[] = {ActionType::kDoDesigner,    ActionType::kFixDesigner,
                                   ActionType::kDoCoder,       ActionType::kFixCoder,
                                   ActionType::kDoCoderDirect, ActionType::kVerify};

RecordKind MainKind(ActionType action) {
  return action == ActionType::kVerify ? RecordKind::kVerifier : RecordKind::kDesignerOrCoder;
}

std::vector<std::string> Parameters(RecordKind kind) {
  if (kind == RecordKind::kVerifier) return {"verify_res.txt", "error_log.txt", "profile.json"};
  return {"result.txt", "prompt.txt", "reasoning.txt"};
}

TEST(TraceNames, SpellsMainRecordsInFourWays) {
  struct Row {
    ActionType action;
    const char* words[4];
  };
  constexpr Row kRows[] = {
      {ActionType::kDoDesigner, {"DO_DESIGNER", "DoDesigner", "designer", "designer"}},
      {ActionType::kFixDesigner, {"FIX_DESIGNER", "FixDesigner", "designer", "designer"}},
      {ActionType::kDoCoder, {"DO_CODER", "DoCoder", "coder", "coder"}},
      {ActionType::kFixCoder, {"FIX_CODER", "FixCoder", "coder", "coder"}},
      {ActionType::kDoCoderDirect, {"DO_CODER_DIRECT", "DoCoderDirect", "coder", "coder"}},
      {ActionType::kVerify, {"VERIFY", "Verify", "verifier", "verifier"}},
  };
  for (const Row& row : kRows) {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(ActionWord(kAllNames[i], MainKind(row.action), row.action), row.words[i]);
    }
  }
}

TEST(TraceNames, SpellsConductorRecordsInFourWays) {
  struct Row {
    ActionType action;
    const char* words[4];
  };
  constexpr Row kRows[] = {
      {ActionType::kDoDesigner,
       {"CheckDesigner", "CheckDesigner", "designer_decision", "designer_decision"}},
      {ActionType::kFixDesigner,
       {"CheckDesigner", "CheckDesigner", "designer_decision", "designer_decision"}},
      {ActionType::kDoCoder, {"CheckCoder", "CheckCoder", "coder_decision", "coder_decision"}},
      {ActionType::kFixCoder, {"CheckCoder", "CheckCoder", "coder_decision", "coder_decision"}},
      {ActionType::kDoCoderDirect,
       {"CheckCoder", "CheckCoder", "coder_decision", "coder_decision"}},
      {ActionType::kVerify,
       {"AnalyzeError", "AnalyzeError", "decision_decision", "conductor_decision"}},
  };
  for (const Row& row : kRows) {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(ActionWord(kAllNames[i], RecordKind::kConductor, row.action), row.words[i]);
    }
  }
}

TEST(TraceNames, WritesTheReferencesExamples) {
  EXPECT_EQ(FilePrefix(Names::kDoc, "exp_add_op", "123", 3, "DO_DESIGNER") + "prompt.txt",
            "I123_S03_exp_add_op_DO_DESIGNER_prompt.txt");
  EXPECT_EQ(FilePrefix(Names::kDoc, "exp_add_op", "123", 4, "DO_CODER") + "result.txt",
            "I123_S04_exp_add_op_DO_CODER_result.txt");
  EXPECT_EQ(FilePrefix(Names::kIteration, "exp_add_op", "123", 3, "designer") + "prompt.txt",
            "Iteration123_Step03_exp_add_op_designer_prompt.txt");
}

TEST(TraceNames, PadsStepsToTwoDigitsAtLeast) {
  EXPECT_EQ(FilePrefix(Names::kDoc, "op", "0", 0, "VERIFY"), "I0_S00_op_VERIFY_");
  EXPECT_EQ(FilePrefix(Names::kDoc, "op", "0", 9, "VERIFY"), "I0_S09_op_VERIFY_");
  EXPECT_EQ(FilePrefix(Names::kDoc, "op", "0", 10, "VERIFY"), "I0_S10_op_VERIFY_");
  EXPECT_EQ(FilePrefix(Names::kDoc, "op", "0", 100, "VERIFY"), "I0_S100_op_VERIFY_");
  EXPECT_EQ(FilePrefix(Names::kDoc, "op", "0", 123456, "VERIFY"), "I0_S123456_op_VERIFY_");
}

TEST(TraceNames, VerifyFolderHasTwoForms) {
  EXPECT_EQ(VerifyFolder(Names::kDoc, "123", 4), "I123_S04_verify");
  EXPECT_EQ(VerifyFolder(Names::kValue, "123", 4), "I123_S04_verify");
  EXPECT_EQ(VerifyFolder(Names::kAgent, "123", 4), "I123_S04_verify");
  EXPECT_EQ(VerifyFolder(Names::kIteration, "123", 104), "Iteration123_Step104_verify");
}

TEST(TraceNames, WordsOfTheFlagRoundTrip) {
  for (const Names names : kAllNames) EXPECT_EQ(ParseNames(NamesWord(names)), names);
  EXPECT_EQ(ParseNames("Doc"), std::nullopt);
  EXPECT_EQ(ParseNames(""), std::nullopt);
}

// The awkward ones: words of the format inside operator names and task ids.
constexpr const char* kOps[] = {"relu",
                                "exp_add_op",
                                "2d_conv",
                                "coder",
                                "DO_CODER",
                                "S01",
                                "my_coder_",
                                "_coder_x",
                                "a_coder_b",
                                "verify",
                                "result",
                                "prompt.txt",
                                "算子",
                                "op with space",
                                "I0_S01_x",
                                "conductor",
                                "CheckCoder_2",
                                "DO_CODER_result",
                                "_",
                                "__",
                                "Step02",
                                "x_designer_S01_y",
                                "error_log",
                                "-"};
constexpr const char* kTasks[] = {"0",
                                  "123",
                                  "a_S01_",
                                  "a_S01",
                                  "a_Step02_",
                                  "a_Step02",
                                  "_S01_relu_DO_CODER",
                                  "I0_S01_relu",
                                  "teration0",
                                  "teration0_Step02",
                                  "Iteration0_Step02",
                                  "_",
                                  "任务",
                                  "a b",
                                  "_S",
                                  "relu",
                                  "0_S02_coder"};

void ExpectMainRoundTrip(Names names, const std::string& op, const std::string& task, int64_t step,
                         ActionType action) {
  const RecordKind kind = MainKind(action);
  const std::string word = ActionWord(names, kind, action);
  for (const std::string& parameter : Parameters(kind)) {
    const std::string name = FilePrefix(names, op, task, step, word) + parameter;
    const std::optional<ParsedName> parsed = ParseFileName(op, "", name);
    ASSERT_TRUE(parsed.has_value()) << name;
    EXPECT_EQ(parsed->task, task) << name;
    EXPECT_EQ(parsed->step, step) << name;
    EXPECT_EQ(parsed->kind, kind) << name;
    EXPECT_EQ(parsed->word, word) << name;
    EXPECT_EQ(parsed->names, names) << name;
    EXPECT_EQ(parsed->parameter, parameter.substr(0, parameter.find('.'))) << name;
    EXPECT_EQ(parsed->attempt, 1) << name;
    const bool determined =
        names == Names::kDoc || names == Names::kValue || kind == RecordKind::kVerifier;
    EXPECT_EQ(parsed->action, determined ? std::optional(action) : std::nullopt) << name;
  }
}

TEST(TraceNames, MainNamesRoundTrip) {
  for (const Names names : kAllNames) {
    for (const char* op : kOps) {
      for (const char* task : kTasks) {
        for (const ActionType action : kActions) ExpectMainRoundTrip(names, op, task, 7, action);
      }
    }
  }
}

TEST(TraceNames, ConductorNamesRoundTripWithTheirAttempt) {
  for (const Names names : kAllNames) {
    for (const char* op : kOps) {
      for (const char* task : kTasks) {
        for (const ActionType action : kActions) {
          const std::string word = ActionWord(names, RecordKind::kConductor, action);
          for (const int64_t attempt : {1, 2, 10}) {
            const std::string spelled = attempt == 1 ? word : word + "_" + std::to_string(attempt);
            const std::string name = FilePrefix(names, op, task, 12, spelled) + "result.txt";
            const std::optional<ParsedName> parsed = ParseFileName(op, "conductor", name);
            ASSERT_TRUE(parsed.has_value()) << name;
            EXPECT_EQ(parsed->task, task) << name;
            EXPECT_EQ(parsed->step, 12) << name;
            EXPECT_EQ(parsed->kind, RecordKind::kConductor) << name;
            EXPECT_EQ(parsed->word, word) << name;
            EXPECT_EQ(parsed->check, ConductorCheck(action)) << name;
            EXPECT_EQ(parsed->attempt, attempt) << name;
          }
        }
      }
    }
  }
}

TEST(TraceNames, EveryStepNumberRoundTrips) {
  for (int64_t step = 1; step <= 100'000; ++step) {
    for (const Names names : {Names::kDoc, Names::kIteration}) {
      const std::string name =
          FilePrefix(names, "relu", "0_S01", step,
                     ActionWord(names, RecordKind::kVerifier, ActionType::kVerify)) +
          "error_log.txt";
      const std::optional<ParsedName> parsed = ParseFileName("relu", "", name);
      ASSERT_TRUE(parsed.has_value()) << name;
      ASSERT_EQ(parsed->step, step) << name;
      ASSERT_EQ(parsed->task, "0_S01") << name;
    }
  }
}

TEST(TraceNames, VerifyFoldersRoundTrip) {
  for (const Names names : kAllNames) {
    for (const char* task : kTasks) {
      for (const int64_t step : {0, 1, 99, 100, 100'000}) {
        const std::optional<ParsedVerifyFolder> parsed =
            ParseVerifyFolder(VerifyFolder(names, task, step));
        ASSERT_TRUE(parsed.has_value()) << VerifyFolder(names, task, step);
        EXPECT_EQ(parsed->task, task);
        EXPECT_EQ(parsed->step, step);
      }
    }
  }
}

TEST(TraceNames, UnderstandsWordsOfLaterGenerations) {
  for (const char* word : {"kernel_gen", "fix_code_gen", "code_checker", "kernel_designer",
                           "test_case_generator", "OpTaskBuilder", "sketch"}) {
    const std::string name = "Iteration7_Step102_matmul_" + std::string(word) + "_result.txt";
    const std::optional<ParsedName> parsed = ParseFileName("matmul", "", name);
    ASSERT_TRUE(parsed.has_value()) << name;
    EXPECT_EQ(parsed->word, word);
    EXPECT_EQ(parsed->step, 102);
    EXPECT_EQ(parsed->action, std::nullopt);
    EXPECT_EQ(parsed->names, Names::kIteration);
    EXPECT_EQ(parsed->kind, RecordKind::kDesignerOrCoder);
  }
}

TEST(TraceNames, EveryErrorAnalysisOfLaterGenerationsIsAnalyzeError) {
  for (const char* word :
       {"conductor_decision", "kernel_conductor_decision", "decision", "decision_decision"}) {
    const std::string name = "Iteration0_Step03_matmul_" + std::string(word) + "_result.txt";
    const std::optional<ParsedName> parsed = ParseFileName("matmul", "conductor", name);
    ASSERT_TRUE(parsed.has_value()) << name;
    EXPECT_EQ(parsed->word, word);
    EXPECT_EQ(parsed->check, "AnalyzeError") << word;
  }
}

TEST(TraceNames, UnknownConductorWordIsKept) {
  const auto parsed = ParseFileName("op", "conductor", "I0_S03_op_ReviewDesign_2_result.txt");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->check, "ReviewDesign");
  EXPECT_EQ(parsed->attempt, 2);
}

TEST(TraceNames, ReadsParsedRepliesInTheRecorderFolder) {
  const auto parsed = ParseFileName("relu", "recorder", "I0_S01_relu_designer_parsed.txt");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->parameter, "parsed");
  EXPECT_EQ(parsed->word, "designer");
  EXPECT_EQ(parsed->kind, RecordKind::kDesignerOrCoder);
}

TEST(TraceNames, NamesThatAreNoRecordsAreNotParsed) {
  for (const char* name :
       {"", "I", "journal.jsonl", "I0_S01_relu_DO_CODER_result", "I0_S01_relu_DO_CODER_result.txt~",
        "I0_S1_relu_DO_CODER_result.txt", "I_S01_relu_DO_CODER_result.txt",
        "0_S01_relu_DO_CODER_result.txt", "I0_S01_relu__result.txt", "I0_S01_relu_result.txt",
        "I0_S01_gelu_DO_CODER_result.txt", "I0_S0x_relu_DO_CODER_result.txt",
        "I0_S01_relu_VERIFY_profile.txt", "I0_S01_relu_DO_CODER_result.json",
        "I0_S1234567890_relu_DO_CODER_result.txt", "I0_S-1_relu_DO_CODER_result.txt",
        "I0_S01relu_DO_CODER_result.txt", "verification_results.jsonl",
        "I0_S01_relu_DO_CODER.txt"}) {
    EXPECT_FALSE(ParseFileName("relu", "", name).has_value()) << name;
  }
}

// The journal is JSON and could not name such a file again.
TEST(TraceNames, NameThatIsNotUtf8IsNotParsed) {
  EXPECT_FALSE(ParseFileName("relu", "", "I0_S01_relu_ker\xFF_result.txt").has_value());
  EXPECT_FALSE(ParseFileName("relu", "", "I\xC3_S01_relu_DO_CODER_result.txt").has_value());
}

TEST(TraceNames, VerifyFolderOfNoTaskIsNotParsed) {
  for (const char* name : {"", "verify", "_verify", "I_S01_verify", "I0_S1_verify", "I0_S01_verif",
                           "Iteration_Step01_verify", "I0_verify"}) {
    EXPECT_FALSE(ParseVerifyFolder(name).has_value()) << name;
  }
}

TEST(TraceNames, OrdinaryNamesAreAccepted) {
  for (const char* op : kOps) {
    for (const char* task : kTasks) {
      EXPECT_TRUE(CheckNames("logs", op, task).ok()) << op << " " << task;
    }
  }
  EXPECT_TRUE(CheckNames("logs", "...", ".hidden").ok() == false);
  EXPECT_TRUE(CheckNames("logs", "op", ".hidden").ok());
  EXPECT_TRUE(CheckNames("logs", "op", "...").ok());
}

struct Refusal {
  std::string op;
  std::string task;
  const char* rule;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.rule; }

class RefusedNames : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedNames, SayWhichRule) {
  const Status status = CheckNames("logs", GetParam().op, GetParam().task);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(status.error().message, HasSubstr(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    TraceNames, RefusedNames,
    ::testing::Values(
        Refusal{"", "0", "op_name is empty"}, Refusal{"op", "", "task_id is empty"},
        Refusal{".", "0", "would leave the log directory"},
        Refusal{"..", "0", "would leave the log directory"},
        Refusal{"op", ".", "would leave the log directory"},
        Refusal{"op", "..", "would leave the log directory"},
        Refusal{"../../x", "0", "contains '/'"}, Refusal{"a/b", "0", "contains '/'"},
        Refusal{"/etc", "0", "contains '/'"}, Refusal{"op", "a/../b", "contains '/'"},
        Refusal{std::string("a\0b", 3), "0", "NUL or another control character"},
        Refusal{"op", std::string("\0", 1), "NUL or another control character"},
        Refusal{"a\nb", "0", "control character"}, Refusal{"op", "a\x1B[31m", "control character"},
        Refusal{"op", "\x7F", "control character"}, Refusal{"a\xFF", "0", "not valid UTF-8"},
        Refusal{"op", "\xC3", "not valid UTF-8"}, Refusal{"\xED\xA0\x80", "0", "not valid UTF-8"},
        Refusal{"op", "\xC0\xAF", "not valid UTF-8"}, Refusal{".kerf", "0", "begins with a dot"},
        Refusal{".hidden", "0", "begins with a dot"}));

TEST(TraceNames, LongestNamesAreAcceptedAndOneByteMoreIsNot) {
  const std::string op(100, 'x');
  const std::string task(94, 't');
  EXPECT_TRUE(CheckNames("logs", op, task).ok());
  const Status status = CheckNames("logs", op, task + "t");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("255 bytes, shorten them by 1"));
}

// What CheckNames accepts must fit whatever is recorded later, the longest spelling included.
TEST(TraceNames, AcceptedNamesNeverGiveFileNamesBeyondTheLimit) {
  const std::string op(100, 'x');
  const std::string task(94, 't');
  ASSERT_TRUE(CheckNames("logs", op, task).ok());
  for (const Names names : kAllNames) {
    for (const ActionType action : kActions) {
      for (const RecordKind kind : {MainKind(action), RecordKind::kConductor}) {
        std::string word = ActionWord(names, kind, action);
        if (kind == RecordKind::kConductor) word += "_999";
        for (const std::string& parameter : Parameters(kind)) {
          const std::string name = FilePrefix(names, op, task, 999'999'999, word) + parameter;
          EXPECT_LE(name.size(), 255U) << name;
        }
      }
    }
  }
}

TEST(TraceNames, BytesCountNotCharacters) {
  std::string op;
  for (int i = 0; i < 66; ++i) op += "算";
  const Status status = CheckNames("logs", op, "0");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("255 bytes"));
}

TEST(TraceNames, LongestPathIsAcceptedAndOneByteMoreIsNot) {
  // 78 = "/op/conductor/" and the longest file name of operator "op" and task "0".
  const std::string log_dir(4095 - 78, 'd');
  EXPECT_TRUE(CheckNames(log_dir, "op", "0").ok());
  const Status status = CheckNames(log_dir + "d", "op", "0");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("4095 bytes"));
}

}  // namespace
}  // namespace kerf::trace
