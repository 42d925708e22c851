// `kerf trace diff` and `kerf trace export` from the command line on: what is printed where, files,
// exit codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/clock.h"
#include "cli/app.h"
#include "cli/export_output.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "trace/recorded_run.h"

namespace kerf::cli {
namespace {

class KeptOutput : public Output {
 public:
  void Data(std::string_view bytes) override { data += bytes; }
  void Note(std::string_view line) override { notes += std::string(line) + "\n"; }
  void Progress(std::string_view) override {}
  [[nodiscard]] bool Live() const override { return false; }
  void Fail(const Error& error) override { notes += error.message + "\n"; }
  Status Flush() override { return {}; }
  [[nodiscard]] std::string Styled(std::string_view text, Style style) const override {
    if (style == Style::kGood) return "<good>" + std::string(text) + "</>";
    if (style == Style::kBad) return "<bad>" + std::string(text) + "</>";
    return std::string(text);
  }
  [[nodiscard]] int Width() const override { return 0; }

  std::string data;
  std::string notes;
};

class TraceVerbsTest : public testing::Test {
 protected:
  TraceVerbsTest() {
    for (const char* task : {"0", "1"}) {
      run_.Model("relu", task, ActionType::kDoCoder, "write\n", std::string("a\n") + task + "\n",
                 "", R"({"duration_ms":100})");
      run_.Verify("relu", task, "True", "", "", "");
    }
  }

  int Run(std::vector<std::string> words) {
    out_ = KeptOutput();
    Context context{run_.fs(), clock_, out_};
    words.insert(words.begin(), "trace");
    return RunVerbs(AllVerbs(), words, context);
  }

  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  trace::RecordedRun run_;
  FakeClock clock_;
  KeptOutput out_;
};

TEST_F(TraceVerbsTest, DiffOfStepsIsUnifiedAndExitsLikeDiff) {
  const std::string relu = run_.Path("run/relu");
  EXPECT_EQ(Run({"diff", relu + ":0:1", relu + ":1:1", "--part", "result"}), 1);
  EXPECT_NE(out_.data.find("@@ -1,2 +1,2 @@\n a\n<bad>-0</>\n<good>+1</>\n"), std::string::npos)
      << out_.data;
  EXPECT_EQ(Run({"diff", relu + ":0:1", relu + ":1:1", "--part", "prompt"}), 0);
  EXPECT_EQ(out_.data, "");
  EXPECT_EQ(Run({"diff", relu + ":0:1", relu + ":1"}), 2);
}

TEST_F(TraceVerbsTest, DiffOfTasksNamesTheFirstDivergence) {
  const std::string relu = run_.Path("run/relu");
  EXPECT_EQ(Run({"diff", relu + ":0", relu + ":1"}), 1);
  EXPECT_NE(out_.data.find("first divergence: S01 DO_CODER and S01 DO_CODER (result)"),
            std::string::npos)
      << out_.data;
}

TEST_F(TraceVerbsTest, DiffAsJsonParses) {
  const std::string relu = run_.Path("run/relu");
  for (const char* step : {"", ":1", ":2"}) {
    Run({"diff", relu + ":0" + step, relu + ":1" + step, "--json"});
    const nlohmann::json json = nlohmann::json::parse(out_.data);
    EXPECT_EQ(json.at("identical"), std::string(step) == ":2");
  }
}

TEST_F(TraceVerbsTest, DiffMakesEscapeSequencesHarmless) {
  run_.Model("relu", "2", ActionType::kDoCoder, "write\n", "\x1b[2Jx\r\n",
             "\x9b"
             "31m\n",
             R"({"model":"\u001b]0;x\u0007"})");
  const std::string relu = run_.Path("run/relu");
  EXPECT_EQ(Run({"diff", relu + ":0:1", relu + ":2:1"}), 1);
  for (const char c : {'\x1b', '\r', '\x9b', '\x07'}) {
    EXPECT_EQ(out_.data.find(c), std::string::npos);
  }
  EXPECT_NE(out_.data.find("\\x1b[2Jx"), std::string::npos) << out_.data;
}

TEST_F(TraceVerbsTest, ExportWritesToStandardOutputOrAFile) {
  for (const char* format : {"otlp", "atif", "chrome"}) {
    EXPECT_EQ(Run({"export", run_.Path(), "--format", format}), 0) << out_.notes;
    const std::string printed = out_.data;
    EXPECT_FALSE(printed.empty());
    EXPECT_EQ(out_.notes, "");
    const std::string file = run_.Path("out.jsonl");
    EXPECT_EQ(Run({"export", run_.Path(), "--format", format, "-o", file}), 0) << out_.notes;
    EXPECT_EQ(out_.data, "");
    EXPECT_EQ(Read(file), printed);
    EXPECT_FALSE(std::filesystem::exists(file + ".tmp"));
  }
}

TEST_F(TraceVerbsTest, ExportWritesOneTrajectoryPerFileIntoAFolder) {
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "atif", "-o", run_.Path("new/")}), 0)
      << out_.notes;
  EXPECT_TRUE(std::filesystem::exists(run_.Path("new/relu_0.json")));
  EXPECT_TRUE(std::filesystem::exists(run_.Path("new/relu_1.json")));
}

TEST_F(TraceVerbsTest, ExportRefusesTwoTrajectoriesInOneFileAndLeavesNothing) {
  const std::string file = run_.Path("two.json");
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "atif", "-o", file}), 2);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".tmp"));
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "atif", "-o", file, "--task", "1"}), 0);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(TraceVerbsTest, ExportNeverReplacesALinkOrAFolder) {
  std::filesystem::create_symlink("/dev/null", run_.Path("link"));
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "otlp", "-o", run_.Path("link")}), 2);
  EXPECT_TRUE(std::filesystem::is_symlink(run_.Path("link")));
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "otlp", "-o", run_.Path()}), 2);
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "otlp", "-o", "/dev/null"}), 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(TraceVerbsTest, ExportTellsOfTextsItCouldNotRead) {
  std::filesystem::remove(run_.Path("run/relu/I0_S01_relu_DO_CODER_result.txt"));
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "atif"}), 4);
  EXPECT_NE(out_.notes.find("1 unreadable texts"), std::string::npos) << out_.notes;
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "otlp"}), 0) << "texts are not in it anyway";
}

TEST_F(TraceVerbsTest, ExportNeverWritesIntoTheTrace) {
  const std::string journal = run_.Path("run/relu/journal.jsonl");
  const std::string before = Read(journal);
  for (const std::string& place :
       {journal, run_.Path("run/relu/new.json"), run_.Path("run/relu/deep/")}) {
    EXPECT_EQ(Run({"export", run_.Path(), "--format", "atif", "--task", "0", "-o", place}), 2);
    EXPECT_NE(out_.notes.find("which is exported"), std::string::npos) << out_.notes;
  }
  EXPECT_EQ(Read(journal), before);
  EXPECT_FALSE(std::filesystem::exists(run_.Path("run/relu/deep")));
}

TEST_F(TraceVerbsTest, ExportAndIndexTellOfFoldersTheyLeaveOut) {
  std::filesystem::create_directory_symlink("relu", run_.Path("run/linked"));
  std::filesystem::create_directory_symlink("/", run_.Path("run/no_operator"));
  EXPECT_EQ(Run({"export", run_.Path(), "--format", "otlp"}), 4);
  EXPECT_NE(out_.notes.find("run/linked: a symbolic link"), std::string::npos) << out_.notes;
  EXPECT_EQ(out_.notes.find("no_operator"), std::string::npos) << out_.notes;
  EXPECT_EQ(Run({"index", run_.Path("run")}), 4);
  EXPECT_NE(out_.notes.find("run/linked: a symbolic link"), std::string::npos) << out_.notes;
  EXPECT_EQ(Run({"search", run_.Path("run"), "write", "--json"}), 0);
  EXPECT_NE(out_.data.find("\"complete\":false"), std::string::npos) << out_.data;
  EXPECT_EQ(out_.notes.find("no_operator"), std::string::npos) << out_.notes;
}

TEST_F(TraceVerbsTest, ShowSaysTheSameOfDamageInBothForms) {
  const std::string relu = run_.Path("run/relu");
  EXPECT_EQ(Run({"show", relu + ":0"}), 0);
  std::ofstream(relu + "/I0_S01_relu_DO_CODER_result.txt") << "evil";
  std::filesystem::remove(relu + "/I0_S01_relu_DO_CODER_prompt.txt");
  EXPECT_EQ(Run({"show", relu + ":0"}), 4);
  EXPECT_NE(out_.data.find("altered since it was recorded"), std::string::npos) << out_.data;
  EXPECT_NE(out_.data.find("step 02"), std::string::npos) << "what is sound is shown";
  EXPECT_EQ(Run({"show", relu + ":0", "--json"}), 4);
  const size_t line_end = out_.data.find('\n');
  const nlohmann::json first = nlohmann::json::parse(out_.data.substr(0, line_end));
  const nlohmann::json second = nlohmann::json::parse(out_.data.substr(line_end + 1));
  EXPECT_EQ(first.at("damaged").size(), 2U);
  EXPECT_EQ(first.at("texts").at("result"), "evil");
  EXPECT_FALSE(second.contains("damaged"));
  EXPECT_EQ(Run({"show", relu + ":1:1"}), 0) << "another task is sound";
}

TEST_F(TraceVerbsTest, ShowRefusesWhatContradictsItself) {
  const std::string relu = run_.Path("run/relu");
  EXPECT_EQ(Run({"show", relu + ":0:2", "--step", "1"}), 2);
  EXPECT_EQ(Run({"show", relu + ":0:2", "--step", "2"}), 0);
  EXPECT_EQ(Run({"show", relu + ":0:1", "--part", "result", "--json"}), 2);
  EXPECT_EQ(Run({"search", relu, "write", "--op", "gelu"}), 2);
  EXPECT_EQ(Run({"search", run_.Path("run"), "write", "--op", "gelu"}), 2) << "a typing mistake";
  EXPECT_EQ(Run({"search", run_.Path("run"), "write", "--op", "relu"}), 0);
}

TEST_F(TraceVerbsTest, LostLinesOfAJournalAreTold) {
  const std::string journal = run_.Path("run/relu/journal.jsonl");
  std::string bytes = Read(journal);
  bytes.erase(0, bytes.find('\n') + 1);
  std::ofstream(journal) << bytes;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"ls", run_.Path("run")}, {"show", run_.Path("run/relu") + ":1"}}) {
    EXPECT_EQ(Run(words), 0);
    EXPECT_NE(out_.notes.find("damaged or missing"), std::string::npos) << out_.notes;
  }
}

TEST_F(TraceVerbsTest, NumbersThatAreNoneStayReadable) {
  run_.Model("huge", "0", ActionType::kDoCoder, "p", "r", "",
             R"({"duration_ms":1e300,"cost_usd":1e300})");
  EXPECT_EQ(Run({"show", run_.Path("run/huge")}), 0);
  EXPECT_NE(out_.data.find("1e+297 s"), std::string::npos) << out_.data;
  EXPECT_NE(out_.data.find("$1e+300"), std::string::npos) << out_.data;
}

TEST(TaskFileNames, StayInTheirFolder) {
  TaskFileNames names;
  EXPECT_EQ(names.Next("", "relu", "/../../x"), "relu__.._.._x.json");
  EXPECT_EQ(names.Next("", "relu", "a\x1b[2J\nb"), "relu_a_[2J_b.json");
}

TEST(TaskFileNames, AreUniqueAndNeverTooLong) {
  TaskFileNames names;
  EXPECT_EQ(names.Next("", "relu", "0"), "relu_0.json");
  EXPECT_EQ(names.Next("run 1", "relu", "0"), "run 1_relu_0.json");
  EXPECT_EQ(names.Next("", "a_b", "c"), "a_b_c.json");
  EXPECT_EQ(names.Next("", "a", "b_c"), "a_b_c_2.json");
  EXPECT_EQ(names.Next("", "-o", "0"), "_-o_0.json");
  std::string long_op;
  for (int i = 0; i < 100; ++i) long_op += "\xE7\xAE\x97";
  const std::string first = names.Next("", long_op, "0");
  EXPECT_LE(first.size(), 250U);
  EXPECT_NE(first, names.Next("", long_op, "1"));
}

}  // namespace
}  // namespace kerf::cli
