#include "dataset/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/data_file.h"
#include "dataset/dataset_testing.h"
#include "dataset/file_index.h"
#include "dataset/text.h"

namespace kerf::dataset {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  std::vector<std::string> names;
  std::vector<std::string> problems;
  Catalog catalog;
  const CaseEntry& operator[](const std::string& name) const {
    for (const CaseEntry& entry : catalog.cases()) {
      if (entry.name == name) return entry;
    }
    ADD_FAILURE() << "no case " << name;
    static const CaseEntry none;
    return none;
  }
};

Read ReadPair(const std::string& jsonl, const std::string& mem, const SymbolCheck& symbols = {}) {
  const TestDir dir;
  const auto jsonl_file = MappedFile::Open(dir.Write("x_0.jsonl", jsonl));
  const auto mem_file = MappedFile::Open(dir.Write("x_mem_0.json", mem));
  EXPECT_TRUE(jsonl_file.ok() && mem_file.ok());
  auto catalog = Catalog::Read(*jsonl_file, &*mem_file, symbols);
  EXPECT_TRUE(catalog.ok()) << (catalog.ok() ? "" : catalog.error().message);
  Read read;
  if (!catalog.ok()) return read;
  read.catalog = *std::move(catalog);
  for (const CaseEntry& entry : read.catalog.cases()) read.names.push_back(entry.name);
  for (const Problem& problem : read.catalog.problems().kept()) {
    read.problems.push_back(ProblemText(problem));
  }
  return read;
}

constexpr const char* kMem = R"({"a.py":{"pass_call":true,"pass_exe":true,"pass_perf":true}})";

TEST(Catalog, ReadsMarksCrlfBlankLinesAndAMissingLastFeed) {
  const Read read =
      ReadPair("\xEF\xBB\xBF{\"filename\":\"a.py\"}\r\n\r\n  \n{\"filename\":\"b.py\"}", kMem);
  EXPECT_THAT(read.names, ElementsAre("a.py", "b.py"));
  EXPECT_EQ(read["b.py"].jsonl_line, 4U);
}

TEST(Catalog, ReadsOneArrayAndObjectsOverSeveralLines) {
  const Read array =
      ReadPair("[\n  {\n \"filename\": \"a.py\"\n },\n {\"file\": \"b.py\"}\n]\n", kMem);
  EXPECT_THAT(array.names, ElementsAre("a.py", "b.py"));
  EXPECT_EQ(array["b.py"].jsonl_line, 5U);
  const Read spread = ReadPair("{\n\"filename\": \"a.py\"\n}\n{\"filename\":\n\"b.py\"}\n", kMem);
  EXPECT_THAT(spread.names, ElementsAre("a.py", "b.py"));
}

TEST(Catalog, SkipsBrokenLinesAndSaysWhere) {
  const Read read = ReadPair(
      "{\"filename\":\"a.py\"}\n{\"filename\": \"x.py\", \"predict\": \"no end\n"
      "{\"filename\":\"b.py\"}\nrubbish\n[1,2]\n7\n{\"label\":\"no name\",\"filename\":5}\n"
      "{\"filename\":\"c.py\"}\n",
      kMem);
  EXPECT_THAT(read.names, ElementsAre("a.py", "b.py", "c.py"));
  EXPECT_THAT(read.problems,
              Contains(AllOf(HasSubstr("x_0.jsonl:2 (byte 20)"), HasSubstr("broken JSON"))));
  EXPECT_THAT(read.problems, Contains(AllOf(HasSubstr("x_0.jsonl:4"), HasSubstr("no JSON"))));
  EXPECT_THAT(read.problems,
              Contains(AllOf(HasSubstr(":7"), HasSubstr("neither filename nor file"))));
}

TEST(Catalog, KeepsTheLastOfAName) {
  const Read read = ReadPair("{\"filename\":\"a.py\"}\n{\"filename\":\"a.py\",\"predict\":\"2\"}\n",
                             R"({"a.py":{"pass_call":false},"a.py":{"pass_call":true}})");
  EXPECT_THAT(read.names, ElementsAre("a.py"));
  EXPECT_EQ(read["a.py"].jsonl_line, 2U);
  EXPECT_EQ(read["a.py"].flags[0], Flag::kTrue);
  EXPECT_EQ(read.problems.size(), 2U);
}

TEST(Catalog, ListsNamesOfOneFileOnly) {
  const Read read = ReadPair("{\"filename\":\"only_jsonl.py\"}\n", kMem);
  EXPECT_THAT(read.names, ElementsAre("a.py", "only_jsonl.py"));
  EXPECT_EQ(read["only_jsonl.py"].last, LastStatus::kUnknown);
  EXPECT_THAT(read.problems,
              Contains(AllOf(HasSubstr("only_jsonl.py"), HasSubstr("not in the mem"))));
  EXPECT_THAT(read.problems, Contains(AllOf(HasSubstr("a.py"), HasSubstr("not in the jsonl"))));
}

TEST(Catalog, ReadsOddFlagsAndTakesMissingOnesAsUnknown) {
  const Read read = ReadPair("", R"({
    "a":{"pass_call":"True","pass_exe":1,"pass_perf":0},
    "b":{"pass_call":true,"pass_exe":true},
    "c":{"pass_call":"maybe","pass_exe":null,"pass_perf":true},
    "d":{"pass_call":true,"pass_exe":false,"pass_perf":true}})");
  EXPECT_EQ(read["a"].last, LastStatus::kPerf);
  EXPECT_EQ(read["b"].last, LastStatus::kUnknown);
  EXPECT_FALSE(read["b"].failed());
  EXPECT_EQ(read["c"].last, LastStatus::kUnknown);
  EXPECT_EQ(read["d"].last, LastStatus::kExe);
  EXPECT_THAT(read.problems, Contains(HasSubstr("pass_call is no JSON boolean; taken as unknown")));
}

TEST(Catalog, KeepsWhatStandsBeforeABreakInTheMemFile) {
  const Read read = ReadPair("", R"({"a":{"pass_call":false},"b":{"pass_call":false,"call_err_ms)");
  EXPECT_THAT(read.names, ElementsAre("a"));
  EXPECT_THAT(read.problems, Contains(HasSubstr("breaks off")));
}

TEST(Catalog, RefusesAMemFileThatIsNoObject) {
  const TestDir dir;
  const auto jsonl = MappedFile::Open(dir.Write("x_0.jsonl", "{}"));
  for (const char* text : {"[]", "\"text\"", "", "  ", "12"}) {
    const auto mem = MappedFile::Open(dir.Write("x_mem_0.json", text));
    EXPECT_FALSE(Catalog::Read(*jsonl, &*mem, {}).ok()) << text;
  }
}

TEST(Catalog, TellsLastRoundFromBestEver) {
  const Read read = ReadPair("", R"({
    "measured":{"perf_candidates":[["code",1.5,0.0,"r",null]],"pass_call":false},
    "zero":{"perf_candidates":[["code",0,0,"r"]],"pass_call":false},
    "exe":{"perf_candidates":[],"exe_candidate":"x","pass_call":false},
    "call":{"call_candidate":"x","exe_candidate":"None","pass_call":false},
    "nan":{"perf_candidates":[["code",NaN,-Infinity,"r"]],"pass_call":false},
    "none":{"call_candidate":null,"pass_call":false}})");
  EXPECT_EQ(read["measured"].best, BestStatus::kMeasured);
  EXPECT_EQ(read["zero"].best, BestStatus::kExe);
  EXPECT_EQ(read["exe"].best, BestStatus::kExe);
  EXPECT_EQ(read["call"].best, BestStatus::kCall);
  EXPECT_EQ(read["nan"].best, BestStatus::kExe);
  EXPECT_EQ(read["none"].best, BestStatus::kNothing);
  EXPECT_THAT(read.problems, Contains(HasSubstr("NaN is no number")));
}

TEST(Catalog, ReportsCandidatesOfUnknownShape) {
  const Read read = ReadPair("", R"({"a":{"perf_candidates":[7,{"code":"x"},[[["x"]]],[5,1]],
    "call_candidate":["x"],"pass_call":false}})");
  EXPECT_EQ(read.problems.size(), 6U);  // four candidates, one call_candidate, not in the jsonl
  EXPECT_EQ(read["a"].best, BestStatus::kNothing);
}

TEST(Catalog, AsksForNamesOnlyWhereNoErrorTells) {
  int asked = 0;
  const SymbolCheck symbols = [&](std::string_view code, std::string_view test) {
    ++asked;
    EXPECT_EQ(code, "#include \"a\"");
    EXPECT_EQ(test, "t");
    return std::optional<std::string>("calls x, which is not bound\nbound: y");
  };
  const char* line = R"({"filename":"%","predict":"#include \"a\"","test_code":"t"})";
  std::string jsonl;
  for (const char* name : {"a", "b", "c"}) {
    std::string one = line;
    jsonl += one.replace(one.find('%'), 1, name) + "\n";
  }
  const Read read = ReadPair(jsonl, R"({
    "a":{"call_err_msg":"None","exe_err_msg":"","pass_call":false},
    "b":{"call_err_msg":"x.cc:3:1: error: no","pass_call":false},
    "c":{"call_err_msg":"None","pass_call":true,"pass_exe":true,"pass_perf":false}})",
                             symbols);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(read["a"].diagnosis.kind, DiagnosisKind::kSymbolError);
  EXPECT_EQ(read["a"].diagnosis.line, "calls x, which is not bound");
  EXPECT_EQ(read["b"].diagnosis.kind, DiagnosisKind::kCompileError);
  EXPECT_EQ(read["c"].diagnosis.kind, DiagnosisKind::kNotMeasured);
}

TEST(Catalog, IgnoresErrorsThatASuccessLeftBehind) {
  const Read read = ReadPair("", R"({
    "a":{"call_err_msg":"x: error: y","ms":1.0,"efficiency":2.0,"pass_call":true,"pass_exe":true,"pass_perf":false},
    "c":{"exe_err_msg":"Generated output is None","temp_strategy":"s","pass_call":true,"pass_exe":true,"pass_perf":false}})");
  EXPECT_EQ(read["a"].diagnosis.kind, DiagnosisKind::kNotMeasured);
  EXPECT_EQ(read["c"].diagnosis.kind, DiagnosisKind::kNoOutput);
}

// Texts that look like the beginning of records, at every place where a file may be cut.
TEST(ReadIndexes, GivesTheSameHoweverTheFilesAreCut) {
  std::string jsonl;
  std::string mem = "{";
  for (int i = 0; i < 60; ++i) {
    const std::string name = "case" + std::to_string(i % 50) + ".py";
    jsonl += i % 7 == 3 ? "\n" : "";
    jsonl += i % 11 == 5 ? "{broken\n" : "";
    jsonl += R"({"filename":")" + name + R"(","predict":"x\n{\"a\": 1}, \"b\": {","more":{"k":)" +
             "\n" + R"({"n": {}}}})" + "\n";
    mem +=
        (i == 0 ? "" : ", ") + ("\"" + name) +
        R"(": {"call_err_msg": "}, \"y\": {", "nested": {"p": {"q": 1}, "fake": {"pass_call": true}}, )" +
        R"("pass_call": false})";
  }
  mem += "}";
  const TestDir dir;
  const auto jsonl_file = MappedFile::Open(dir.Write("x_0.jsonl", jsonl));
  const auto mem_file = MappedFile::Open(dir.Write("x_mem_0.json", mem));
  const auto read = [&](size_t part_bytes) {
    FileIndex a;
    FileIndex b;
    EXPECT_TRUE(ReadIndexes(*jsonl_file, &*mem_file, a, b, part_bytes).ok());
    std::string text;
    for (const FileIndex* index : {&a, &b}) {
      for (const CaseEntry& entry : index->entries) {
        text += entry.name + " " + std::to_string(entry.jsonl_begin) + " " +
                std::to_string(entry.jsonl_line) + " " + std::to_string(entry.mem_begin) + "-" +
                std::to_string(entry.mem_end) + "\n";
      }
      for (const Problem& problem : index->problems.kept()) text += ProblemText(problem) + "\n";
    }
    return text;
  };
  const std::string whole = read(1 << 20);
  EXPECT_THAT(whole, HasSubstr("broken JSON"));
  for (size_t part_bytes = 20; part_bytes < 400; part_bytes += 7) {
    ASSERT_EQ(read(part_bytes), whole) << part_bytes;
  }
}

TEST(MemPathOf, PairsFromTheEnd) {
  EXPECT_EQ(MemPathOf("r/X_3.jsonl"), "r/X_mem_3.json");
  EXPECT_EQ(MemPathOf("r_1/X_mem_2_15.jsonl"), "r_1/X_mem_2_mem_15.json");
  EXPECT_EQ(MemPathOf("_0.jsonl"), "_mem_0.json");
  EXPECT_EQ(MemPathOf("X.jsonl"), "");
  EXPECT_EQ(MemPathOf("X3.jsonl"), "");
  EXPECT_EQ(MemPathOf("r_1/X.jsonl"), "");
  EXPECT_EQ(MemPathOf("iter_3"), "");
}

TEST(DecodeText, KeepsBytesAndReplacesLoneSurrogates) {
  std::string out;
  EXPECT_FALSE(DecodeText(R"(a\n\t\"\\\/\u00e9\ud83d\ude00)", out).odd());
  EXPECT_EQ(out, "a\n\t\"\\/\xC3\xA9\xF0\x9F\x98\x80");
  out.clear();
  EXPECT_EQ(DecodeText(R"(\ud800x\udc00\ud800\u0041)", out).lone_surrogates, 3U);
  EXPECT_EQ(out,
            "\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
  out.clear();
  EXPECT_EQ(DecodeText("\\q\\u12\\", out).unknown_escapes, 3U);
  EXPECT_EQ(out, "\\q\\u12\\");
  out.clear();
  EXPECT_EQ(DecodeText("\xFF\xFE ok", out).bad_bytes, 2U);
  EXPECT_EQ(out, "\xFF\xFE ok");
}

}  // namespace
}  // namespace kerf::dataset
