#include "dataset/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "dataset/case_json.h"
#include "dataset/dataset_testing.h"
#include "dataset/folder_names.h"
#include "dataset/reproduce.h"
#include "dataset/workspace.h"

namespace kerf::dataset {
namespace {

namespace stdfs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Tree = std::map<std::string, std::string>;

Tree TreeOf(const std::string& path) {
  Tree tree;
  for (const auto& entry : stdfs::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    tree[stdfs::relative(entry.path(), path).string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return tree;
}

std::vector<std::string> Names(const Tree& tree) {
  std::vector<std::string> names;
  for (const auto& [name, text] : tree) names.push_back(name);
  return names;
}

class Extracting : public testing::Test {
 protected:
  void Write(const std::string& jsonl, const std::string& mem) {
    dir_.Write("x_0.jsonl", jsonl);
    dir_.Write("x_mem_0.json", mem);
  }

  Result<ExtractReport> TryRun(const Selection& selection = {}, const std::string& extension = "",
                               int threads = 2) {
    const auto jsonl = MappedFile::Open(dir_.path() + "/x_0.jsonl");
    const auto mem = MappedFile::Open(dir_.path() + "/x_mem_0.json");
    const auto catalog = Catalog::Read(*jsonl, &*mem, {});
    EXPECT_TRUE(catalog.ok());
    const std::vector<std::string> folders = AssignFolders(catalog->cases());
    auto selected = Select(catalog->cases(), folders, selection);
    if (!selected.ok()) return selected.error();
    ExtractOptions options;
    options.output = out_;
    options.files.extension = extension;
    options.threads = threads;
    return Extract(*catalog, {*jsonl, &*mem, catalog->schema().jsonl}, *selected, folders, options);
  }

  ExtractReport Run(const Selection& selection = {}, const std::string& extension = "") {
    auto report = TryRun(selection, extension);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? *report : ExtractReport{};
  }

  [[nodiscard]] Tree Out() const { return TreeOf(out_); }

  TestDir dir_;
  std::string out_ = dir_.path() + "/out/debug_workspace";
};

constexpr const char* kLine =
    R"({"filename":"a.py","instruction":"do\n","label":"import triton","predict":"#include <x>\n1\n","test_code":"\nt"})"
    "\n";
constexpr const char* kFull =
    R"({"a.py":{"call_err_msg":"first","exe_err_msg":"second","reflection":"r",
  "temp_strategy":"s","call_candidate":"#include <x>\n2\n","exe_candidate":"#include <x>\n1\n",
  "perf_candidates":[["#include <p>",0,0,"rep"]],"pass_call":false,"pass_exe":false,"pass_perf":false}})";

TEST_F(Extracting, WritesExactlyTheDocumentedFiles) {
  Write(kLine, kFull);
  Run();
  const Tree tree = Out();
  EXPECT_THAT(
      Names(tree),
      ElementsAre("a/0_instruction.txt", "a/1_label_source.py", "a/2_initial_predict.hip.cpp",
                  "a/3_test_code.py", "a/candidate_call_fix.hip.cpp", "a/candidate_exe_fix.hip.cpp",
                  "a/candidate_perf_fix_1.hip.cpp", "a/case.json",
                  "a/diffs/initial_to_call_fix.diff", "a/diffs/initial_to_perf_fix_1.diff",
                  "a/error_log.txt", "a/reflection_strategy.md", "index.html"));
  EXPECT_EQ(tree.at("a/0_instruction.txt"), "do\n");
  EXPECT_EQ(tree.at("a/3_test_code.py"), "\nt");
  EXPECT_EQ(tree.at("a/error_log.txt"), "first\nsecond");
  EXPECT_EQ(tree.at("a/reflection_strategy.md"), "s");
  EXPECT_EQ(tree.at("a/diffs/initial_to_call_fix.diff"),
            "--- 2_initial_predict.hip.cpp\n+++ candidate_call_fix.hip.cpp\n"
            "@@ -1,2 +1,2 @@\n #include <x>\n-1\n+2\n");
}

TEST_F(Extracting, CreatesNoFileWithoutContent) {
  Write(R"({"filename":"a.py","instruction":"","label":null,"predict":"  \n","test_code":5})",
        R"({"a.py":{"call_err_msg":"None","exe_err_msg":" ","reflection":"","temp_strategy":"None",
           "call_candidate":null,"exe_candidate":"None","perf_candidates":[],"pass_call":false}})");
  Run();
  EXPECT_THAT(Names(Out()), ElementsAre("a/case.json", "index.html"));
  EXPECT_THAT(Out().at("a/case.json"), HasSubstr("test_code is no text; left out"));
}

TEST_F(Extracting, GivesAMemOnlyCaseWhatTheMemFileHas) {
  Write("{\"filename\":\"other.py\"}\n", kFull);
  Run();
  const Tree tree = Out();
  EXPECT_TRUE(tree.contains("a/candidate_call_fix.hip.cpp"));
  EXPECT_FALSE(tree.contains("a/0_instruction.txt"));
  EXPECT_FALSE(tree.contains("other/case.json"));
}

TEST_F(Extracting, NamesCodeByItsLanguageUnlessTold) {
  Write(
      R"({"filename":"a.py","predict":"import triton"})",
      R"({"a.py":{"call_candidate":"__global__ void k();","exe_candidate":"what","pass_call":false}})");
  Run();
  Tree tree = Out();
  EXPECT_TRUE(tree.contains("a/2_initial_predict.py"));
  EXPECT_TRUE(tree.contains("a/candidate_call_fix.hip.cpp"));
  EXPECT_TRUE(tree.contains("a/candidate_exe_fix.hip.cpp"));
  Run({}, ".cu");
  tree = Out();
  EXPECT_TRUE(tree.contains("a/2_initial_predict.cu"));
  EXPECT_FALSE(tree.contains("a/2_initial_predict.py")) << "what is no longer there goes";
}

TEST_F(Extracting, SelectsAsAsked) {
  Write(
      "",
      R"({"c.py":{"pass_call":false,"perf_candidates":[["x",2.0,0,"r"]]},"e.py":{"pass_exe":false},
    "p.py":{"pass_perf":false,"exe_candidate":"x"},
    "s.py":{"pass_call":true,"pass_exe":true,"pass_perf":true,"perf_candidates":[["x",2.0,0,"r"]]}})");
  const auto folders = [&](const Selection& selection) {
    std::error_code ignored;
    stdfs::remove_all(out_, ignored);
    Run(selection);
    std::string found;
    for (const std::string& name : Names(Out()))
      found += name == "index.html" ? "" : name.substr(0, 1);
    return found;
  };
  EXPECT_EQ(folders({}), "ccepp");  // one letter for each file
  EXPECT_EQ(folders({.only = LastStatus::kExe}), "e");
  EXPECT_EQ(folders({.best_ever = true}), "epp");
  EXPECT_EQ(folders({.cases = {"s", "c.py"}}), "ccss");
  Selection all;
  all.all = true;
  EXPECT_EQ(folders(all), "cceppss");
  EXPECT_FALSE(TryRun({.cases = {"nobody"}}).ok());
}

TEST_F(Extracting, GivesTheSameBytesHoweverManyThreads) {
  std::string jsonl;
  std::string mem;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "case" + std::to_string(i) + ".py";
    jsonl +=
        R"({"filename":")" + name + R"(","predict":"import triton\n)" + std::to_string(i) + "\"}\n";
    mem += (i == 0 ? "{" : ",") + ("\"" + name) +
           R"(":{"call_candidate":"import triton\nx","pass_call":false})";
  }
  Write(jsonl, mem + "}");
  ASSERT_TRUE(TryRun({}, "", 1).ok());
  const Tree one = Out();
  stdfs::remove_all(out_);
  ASSERT_TRUE(TryRun({}, "", 8).ok());
  EXPECT_EQ(Out(), one);
  EXPECT_EQ(one.size(), 40U * 4 + 1);
}

TEST_F(Extracting, KeepsWhatAPersonAddedOrChanged) {
  Write(kLine, kFull);
  Run();
  dir_.Write("out/debug_workspace/a/my_notes.txt", "mine");
  dir_.Write("out/debug_workspace/a/mine/deep/x", "deep");
  dir_.Write("out/debug_workspace/a/diffs/own.diff", "own");
  dir_.Write("out/debug_workspace/a/error_log.txt", "changed by hand");
  dir_.Write("out/debug_workspace/unrelated.txt", "u");
  EXPECT_EQ(Run().updated, 1U);
  Tree tree = Out();
  EXPECT_EQ(tree.at("a/my_notes.txt"), "mine");
  EXPECT_EQ(tree.at("a/mine/deep/x"), "deep");
  EXPECT_EQ(tree.at("a/diffs/own.diff"), "own");
  EXPECT_EQ(tree.at("a/error_log.txt"), "first\nsecond");
  EXPECT_EQ(tree.at("a/error_log.txt.edited"), "changed by hand");
  EXPECT_EQ(tree.at("unrelated.txt"), "u");
  EXPECT_EQ(Run().unchanged, 1U);
  EXPECT_EQ(Out(), tree);
  EXPECT_FALSE(dir_.Has("out/debug_workspace/.kerf-staging"));
}

TEST_F(Extracting, UpdatesWhenTheDataChange) {
  Write(kLine, kFull);
  Run();
  std::string mem = kFull;
  mem.replace(mem.find("\"first\""), 7, "null");
  mem.replace(mem.find("\"exe_candidate\":\"#"), 18, "\"exe_candidate\":\"\",\"z\":\"");
  Write(kLine, mem);
  EXPECT_EQ(Run().updated, 1U);
  const Tree tree = Out();
  EXPECT_EQ(tree.at("a/error_log.txt"), "second");
  EXPECT_FALSE(tree.contains("a/candidate_exe_fix.hip.cpp"));
}

TEST_F(Extracting, RefusesLinksInTheWay) {
  Write(kLine, kFull);
  stdfs::create_directories(out_);
  stdfs::create_directories(dir_.path() + "/elsewhere");
  stdfs::create_symlink(dir_.path() + "/elsewhere", out_ + "/a");
  const ExtractReport report = Run();
  ASSERT_EQ(report.refused.size(), 1U);
  EXPECT_THAT(report.refused[0], HasSubstr("symbolic link"));
  EXPECT_TRUE(stdfs::is_empty(dir_.path() + "/elsewhere"));

  stdfs::remove_all(out_);
  stdfs::create_symlink(dir_.path() + "/elsewhere", out_);
  EXPECT_EQ(TryRun().error().code, ErrorCode::kDenied);
  EXPECT_TRUE(stdfs::is_empty(dir_.path() + "/elsewhere"));
  stdfs::remove(out_);

  stdfs::create_directories(out_);
  stdfs::create_symlink(dir_.path() + "/elsewhere/page", out_ + "/index.html");
  EXPECT_EQ(TryRun().error().code, ErrorCode::kDenied);
  EXPECT_TRUE(stdfs::is_empty(dir_.path() + "/elsewhere"));
}

TEST_F(Extracting, WritesBesideALinkInsideTheFolder) {
  Write(kLine, kFull);
  Run();
  // Somebody replaced a file of the case by a link to something precious.
  const std::string precious = dir_.Write("precious", "p");
  stdfs::remove(out_ + "/a/error_log.txt");
  stdfs::create_symlink(precious, out_ + "/a/error_log.txt");
  Run();
  EXPECT_EQ(dir_.Read("precious"), "p");
  EXPECT_EQ(Out().at("a/error_log.txt"), "first\nsecond");
}

TEST_F(Extracting, BringsBackWhatAKilledRunHadInStaging) {
  Write(kLine, kFull);
  Run();
  dir_.Write("out/debug_workspace/.kerf-staging/a/case.json", "{");
  dir_.Write("out/debug_workspace/.kerf-staging/a/mine/x", "folder of a person");
  dir_.Write("out/debug_workspace/.kerf-staging/gone.kerf-old/case.json", "old");
  dir_.Write("out/debug_workspace/.kerf-staging/half/0_instruction.txt", "half");
  Run();
  const Tree tree = Out();
  EXPECT_EQ(tree.at("a/mine/x"), "folder of a person");
  EXPECT_EQ(tree.at("gone/case.json"), "old");
  EXPECT_FALSE(tree.contains("half/0_instruction.txt"));
  EXPECT_FALSE(dir_.Has("out/debug_workspace/.kerf-staging"));
}

TEST_F(Extracting, OneRunAtATime) {
  Write(kLine, kFull);
  const auto first = Workspace::Open(out_, false);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(TryRun().error().code, ErrorCode::kUnavailable);
}

TEST_F(Extracting, NeverLeavesTheOutputFolderWhateverTheNames) {
  const std::string long_name(300, 'x');
  const std::vector<std::string> names = {
      "/etc/passwd",   "../../up.py",   "..",      ".",         "",           "a/b.py",
      "a_b.py",        "A_B",           "a\\\\b",  "CON",       "nul.txt",    "index.html.py",
      "-rf",           ".hidden",       "tail. ",  "x\\u0000y", "x\\ny",      long_name,
      long_name + "y", ".kerf-staging", "\\ud800", "con.py.py", "\\u202eevil"};
  std::string mem = "{";
  for (const std::string& name : names) {
    mem +=
        (mem.size() == 1 ? "\"" : ",\"") + name + R"(":{"pass_call":false,"call_candidate":"c"})";
  }
  Write("", mem + "}");
  const auto report = Run();
  EXPECT_EQ(report.fresh, names.size());
  EXPECT_TRUE(report.refused.empty());
  size_t folders = 0;
  for (const auto& entry : stdfs::directory_iterator(out_)) folders += entry.is_directory() ? 1 : 0;
  EXPECT_EQ(folders, names.size());
  // Nothing beside the workspace but what the test wrote.
  EXPECT_THAT(Names(TreeOf(dir_.path() + "/out")),
              Not(testing::Contains(Not(testing::StartsWith("debug_workspace/")))));
}

TEST_F(Extracting, LetsNoTextEscapeFromThePage) {
  Write(
      R"({"filename":"</script><b>.py","label":"</script><script>alert(1)</script>","predict":"<!--"})",
      R"({"</script><b>.py":{"pass_call":false,"call_err_msg":"<img src=x onerror=alert(1)>"}})");
  Run();
  const std::string page = dir_.Read("out/debug_workspace/index.html");
  const size_t data = page.find("id=\"data\">");
  ASSERT_NE(data, std::string::npos);
  const std::string behind = page.substr(data + 10);
  EXPECT_EQ(behind.find('<'), behind.find("</script>\n<script>\n\"use strict\""));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
}

TEST(FolderNames, MapsHostileNames) {
  EXPECT_EQ(SafeFolderName("rowscale.py"), "rowscale");
  EXPECT_EQ(SafeFolderName("a.py.py"), "a.py");
  EXPECT_EQ(SafeFolderName(".py"), "_");
  EXPECT_EQ(SafeFolderName("/abs/x.hip"), "_abs_x.hip");
  EXPECT_EQ(SafeFolderName(".."), "__");
  EXPECT_EQ(SafeFolderName("x. . "), "x____");
  EXPECT_EQ(SafeFolderName("aux.c"), "_aux.c");
  EXPECT_EQ(SafeFolderName("COM1"), "_COM1");
  EXPECT_EQ(SafeFolderName("Index.HTML"), "_Index.HTML");
  EXPECT_EQ(SafeFolderName("na\xC3\xAFve"), "na\xC3\xAFve");
  EXPECT_EQ(SafeFolderName("\xFF\xFE"), "__");
  const std::string cut =
      SafeFolderName(std::string(119, 'a') + "\xC3\xA9\xC3\xA9" + std::string(100, 'b'));
  EXPECT_LE(cut.size(), 120U);
  EXPECT_NE(cut,
            SafeFolderName(std::string(119, 'a') + "\xC3\xA9\xC3\xA9" + std::string(101, 'b')));
  FolderNames names;
  EXPECT_EQ(names.Next("a.py"), "a");
  EXPECT_EQ(names.Next("A"), "A~2");
  EXPECT_EQ(names.Next("a~2"), "a~2~2");
  EXPECT_EQ(names.Next("a"), "a~3");
}

TEST(ShellQuoted, HoldsAnythingInOneWord) {
  EXPECT_EQ(ShellQuoted("it's $(rm -rf ~) `x`"), "'it'\\''s $(rm -rf ~) `x`'");
  EXPECT_EQ(ShellQuoted("a\nb\x1b[2J\xFF"), "'a?b?[2J?'");
}

TEST(CaseJson, IsReadBack) {
  EXPECT_EQ(Indented(R"({"a":[],"b":{"c":"x,\"}"},"d":[1,2]})"),
            "{\n  \"a\": [],\n  \"b\": {\n    \"c\": \"x,\\\"}\"\n  },\n  \"d\": [\n    1,\n    "
            "2\n  ]\n}");
  const auto read = ReadCaseJson(
      R"({"format":"kerf-debug-case","name":"n","sources":{"mem":{"path":"p","begin":3,"end":9,"xxh3":"h"}},
          "files":[{"path":"f","bytes":2,"sha256":"s"}],"more":[{}]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->files[0].bytes, 2U);
  EXPECT_EQ(read->sources[0].end, 9U);
  EXPECT_FALSE(ReadCaseJson("{}").has_value());
  EXPECT_FALSE(ReadCaseJson("{\"format\":\"kerf-debug-case\"").has_value());
}

}  // namespace
}  // namespace kerf::dataset
