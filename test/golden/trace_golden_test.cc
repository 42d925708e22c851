// The layout on disk, byte for byte. Each folder of trace/ is a case:
//
//   names         the spelling: doc, value, agent or iteration
//   input.jsonl   what `kerf trace append` would be given
//   before/       optional: what stands in the log directory first, as AIKG would have left it
//   expected/     the log directory afterwards, without kerf's own folder
//   answers.txt   one line for each input line: its step and files, or why it was refused
//
// Clock and ids are fake: the clock starts at 2025-11-15T03:29:31.123456Z and moves one second for
// each line, batches are 1, 2, 3 …; the value sk-golden-0000 is a secret named OPENAI_API_KEY, and
// ghp_[A-Za-z0-9]+ a pattern to redact.
//
// With KERF_UPDATE_GOLDENS=1 the program rewrites expected/ and answers.txt and prints what
// changed.
#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "base/ids.h"
#include "trace/append_request.h"
#include "trace/prepared_record.h"
#include "trace/recorder.h"
#include "trace/redactor.h"
#include "tree.h"

namespace kerf::trace {
namespace {

namespace stdfs = std::filesystem;
using golden::LinesOf;
using golden::ReadAll;
using golden::ReadTree;
using golden::Tree;
using golden::TreeDiff;
using golden::WriteTree;

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : stdfs::directory_iterator(KERF_GOLDENS)) {
    if (entry.is_directory()) cases.push_back(entry.path().filename().string());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

// Runs one case on an in-memory disk.
class Recording {
 public:
  Recording(Names names, const Tree& before) : names_(names) {
    redactor_.AddSecret("OPENAI_API_KEY", "sk-golden-0000");
    EXPECT_TRUE(redactor_.AddPattern("ghp_[A-Za-z0-9]+").ok());
    for (const auto& [name, bytes] : before) {
      const std::string path = "logs/" + name;
      EXPECT_TRUE(fs_.CreateDirs(ParentPath(path)).ok());
      EXPECT_TRUE((*fs_.OpenNew(path))->Write(bytes).ok());
    }
  }

  void Run(const std::string& input) {
    Result<std::unique_ptr<Recorder>> recorder =
        Recorder::Open(fs_, clock_, ids_, {.log_dir = "logs", .names = names_});
    ASSERT_TRUE(recorder.ok()) << recorder.error().message;
    for (const std::string& line : LinesOf(input)) {
      const Result<Recorded> done = RecordLine(**recorder, line);
      answers_ += done.ok() ? Describe(*done) : "refused: " + done.error().message + "\n";
      clock_.Advance(1'000'000'000);
    }
  }

  Tree Files() { return FilesBelow("logs", ""); }
  [[nodiscard]] const std::string& answers() const { return answers_; }

 private:
  Result<Recorded> RecordLine(Recorder& recorder, std::string line) {
    KERF_ASSIGN_OR_RETURN(AppendRequest request, ParseAppendRequest(line));
    KERF_ASSIGN_OR_RETURN(PreparedRecord record,
                          PrepareRecord(std::move(request.input), names_, redactor_));
    return recorder.Record(request.op, request.task, std::move(record));
  }

  static std::string Describe(const Recorded& done) {
    std::string text = "step " + std::to_string(done.step) + ":";
    for (const std::string& file : done.files) text += " " + file;
    return text + "\n";
  }

  Tree FilesBelow(const std::string& dir, const std::string& prefix) {
    Tree tree;
    for (const DirEntry& entry : fs_.List(dir).value()) {
      const std::string path = JoinPath(dir, entry.name);
      if (entry.name == kPrivateFolder) continue;
      if (entry.kind == FileKind::kDirectory) {
        tree.merge(FilesBelow(path, prefix + entry.name + "/"));
      } else {
        tree[prefix + entry.name] = fs_.ReadFile(path).value();
      }
    }
    return tree;
  }

  const Names names_;
  FakeFileSystem fs_;
  FakeClock clock_{1'763'177'371'123'456'000};
  FakeIds ids_;
  Redactor redactor_;
  std::string answers_;
};

class TraceGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(TraceGolden, LayoutIsByteForByteTheSame) {
  const stdfs::path dir = stdfs::path(KERF_GOLDENS) / GetParam();
  const std::vector<std::string> words = LinesOf(ReadAll(dir / "names"));
  ASSERT_EQ(words.size(), 1U) << dir / "names";
  const std::optional<Names> names = ParseNames(words[0]);
  ASSERT_TRUE(names.has_value()) << words[0];
  Recording recording(*names, ReadTree(dir / "before"));
  recording.Run(ReadAll(dir / "input.jsonl"));

  const std::string diff = TreeDiff(ReadTree(dir / "expected"), recording.Files()) +
                           TreeDiff({{"answers.txt", ReadAll(dir / "answers.txt")}},
                                    {{"answers.txt", recording.answers()}});
  const char* update = std::getenv("KERF_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1") {
    WriteTree(dir / "expected", recording.Files());
    std::ofstream(dir / "answers.txt", std::ios::binary) << recording.answers();
    std::cout << GetParam() << ":\n" << (diff.empty() ? "  no change\n" : diff);
    return;
  }
  EXPECT_TRUE(diff.empty()) << diff << "If that is meant, refresh with:\n  KERF_UPDATE_GOLDENS=1 "
                            << program_invocation_name;
}

INSTANTIATE_TEST_SUITE_P(Case, TraceGolden, ::testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param; });

TEST(TraceGoldens, HaveEverySpelling) {
  std::map<std::string, int> count;
  for (const std::string& name : Cases()) {
    ++count[LinesOf(ReadAll(stdfs::path(KERF_GOLDENS) / name / "names")).at(0)];
  }
  for (const char* names : {"doc", "value", "agent", "iteration"}) {
    EXPECT_GE(count[names], 2) << names;
  }
}

}  // namespace
}  // namespace kerf::trace
