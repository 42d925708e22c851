// A journal from anywhere beside a small set of files: reading, checking and repairing it must end
// well, lose no committed record, remove no file that is not an unfinished record's, and be done
// after one repair.
//
// A random mutation almost never has the right checksum, so a line that ends in ,"sum":"?"} gets
// the sum that fits.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/clock.h"
#include "base/fake_file_system.h"
#include "base/hash.h"
#include "base/ids.h"
#include "expect.h"
#include "trace/checker.h"
#include "trace/names.h"
#include "trace/trace.h"

namespace {

using kerf::Expect;
using kerf::FakeFileSystem;
using kerf::FileKind;
using kerf::Step;
using kerf::trace::CheckReport;
using kerf::trace::JournalLine;
using kerf::trace::LineKind;
using kerf::trace::OpTrace;
using kerf::trace::RepairReport;

using Files = std::map<std::string, std::string>;

constexpr std::string_view kSumMark = ",\"sum\":\"?\"}";

// What stands beside the journal. The corpus has lines that vouch for some of these.
const Files& Beside() {
  static const Files files = {{"I0_S01_op_DO_CODER_result.txt", "a"},
                              {"I0_S01_op_DO_CODER_prompt.txt", ""},
                              {"I0_S02_op_VERIFY_verify_res.txt", "True"},
                              {"conductor/I0_S01_op_CheckCoder_result.txt", "ok"},
                              {"I1_S01_op_coder_result.txt", "b"},
                              {"recorder/I1_S01_op_coder_parsed.txt", "c"},
                              {"notes.md", "not a record"}};
  return files;
}

std::string WithSums(std::string_view input) {
  std::string journal;
  while (!input.empty()) {
    const size_t end = input.find('\n');
    const std::string_view line = input.substr(0, end);
    if (line.ends_with(kSumMark)) {
      const std::string_view body = line.substr(0, line.size() - kSumMark.size());
      journal += body;
      journal += ",\"sum\":\"" + kerf::Hex64(kerf::Xxh3(body)) + "\"}";
    } else {
      journal += line;
    }
    if (end == std::string_view::npos) break;
    journal += '\n';
    input.remove_prefix(end + 1);
  }
  return journal;
}

void Put(FakeFileSystem& fs, const std::string& name, std::string_view bytes) {
  const std::string path = "logs/op/" + name;
  Expect(fs.CreateDirs(kerf::ParentPath(path)).ok(), "the folder can be made");
  auto file = fs.OpenNew(path);
  Expect(file.ok() && (*file)->Write(bytes).ok(), "the file can be written");
}

Files FilesOf(FakeFileSystem& fs, const std::string& prefix = "") {
  Files files;
  for (const kerf::DirEntry& entry : fs.List("logs/op/" + prefix).value()) {
    if (entry.kind == FileKind::kDirectory) {
      files.merge(FilesOf(fs, prefix + entry.name + "/"));
    } else {
      files[prefix + entry.name] = fs.ReadFile("logs/op/" + prefix + entry.name).value();
    }
  }
  return files;
}

using Place = std::tuple<std::string, int64_t, bool, std::string, int64_t>;

Place PlaceOf(const Step& step) {
  return {step.task, step.step, step.kind == kerf::RecordKind::kConductor, step.check,
          step.attempt};
}

// What the lines say by themselves, worked out without the code under test beyond decoding.
struct Truth {
  std::vector<Step> committed;      // and the only record of their place
  std::set<std::string> removable;  // files of records that have no commit
  bool strange = false;             // a record names a file that is not its own
};

bool IsOwnFile(const Step& step, const std::string& name) {
  const std::string folder = name.find('/') == std::string::npos ? "" : kerf::ParentPath(name);
  const auto parsed = kerf::trace::ParseFileName("op", folder, kerf::BaseName(name));
  return parsed.has_value() && parsed->task == step.task && parsed->step == step.step;
}

Truth TruthOf(const std::string& journal) {
  enum class State { kOpen, kCommitted, kAbandoned };
  struct Record {
    Step step;
    std::string batch;
    State state = State::kOpen;
  };
  std::vector<Record> records;
  std::map<Place, int> count;
  kerf::trace::ScanJournal(journal, 0, [&](JournalLine&& line, uint64_t) {
    if (line.kind == LineKind::kRecord) {
      ++count[PlaceOf(line.step)];
      records.push_back({line.step, line.batch});
      return;
    }
    for (Record& record : records) {
      if (record.batch != line.batch) continue;
      if (line.kind == LineKind::kAbandon) record.state = State::kAbandoned;
      if (line.kind == LineKind::kCommit && record.state == State::kOpen) {
        record.state = State::kCommitted;
      }
    }
  });
  Truth truth;
  for (const Record& record : records) {
    if (record.state == State::kCommitted && count[PlaceOf(record.step)] == 1) {
      truth.committed.push_back(record.step);
    }
    for (const kerf::StepFile& file : record.step.files) {
      const bool own = IsOwnFile(record.step, file.name);
      truth.strange = truth.strange || !own;
      if (own && record.state != State::kCommitted) truth.removable.insert(file.name);
    }
  }
  return truth;
}

bool HasRecord(const OpTrace& trace, const Step& wanted) {
  for (const kerf::trace::TaskSteps& task : trace.tasks) {
    for (const Step& step : task.steps) {
      if (PlaceOf(step) != PlaceOf(wanted) || step.action != wanted.action) continue;
      std::set<std::string> names;
      for (const kerf::StepFile& file : step.files) names.insert(file.name);
      bool all = true;
      for (const kerf::StepFile& file : wanted.files) all = all && names.contains(file.name);
      if (all) return true;
    }
  }
  return false;
}

class Session {
 public:
  explicit Session(std::string journal) : journal_(std::move(journal)), truth_(TruthOf(journal_)) {
    for (const auto& [name, bytes] : Beside()) Put(fs_, name, bytes);
    Put(fs_, kerf::trace::kJournalName, journal_);
  }

  void Run() {
    CheckNothingIsLost();
    (void)Check();
    RepairReport repaired = Repair();
    // A file that a stranger's line gave to another task is free, and taken in, only after that.
    if (truth_.strange) repaired = Repair();
    CheckFilesAreKept();
    CheckNothingIsLost();
    const Files after = FilesOf(fs_);
    const CheckReport report = Check();
    for (const kerf::trace::Finding& finding : report.findings) {
      const bool mendable = finding.what == "torn_tail" || finding.what == "damaged_line" ||
                            finding.what == "missing_line";
      Expect(!mendable, "after a repair the journal is in order");
      if (repaired.not_done.empty()) {
        Expect(finding.what != "unjournaled_file", "after a repair every record is in the journal");
      }
    }
    const RepairReport again = Repair();
    Expect(again.committed + again.abandoned + again.recovered + again.journal_damage == 0,
           "a second repair finds nothing to do");
    Expect(FilesOf(fs_) == after, "a second repair changes nothing");
    Continue();
  }

 private:
  CheckReport Check() {
    kerf::Result<CheckReport> report = kerf::trace::CheckRun(fs_, run_, [](const std::string&) {});
    Expect(report.ok(), "a trace can be checked");
    return *report;
  }
  RepairReport Repair() {
    kerf::Result<RepairReport> report =
        kerf::trace::RepairRun(fs_, clock_, ids_, run_, "the fuzzer");
    if (!report.ok()) std::fprintf(stderr, "%s\n", report.error().message.c_str());
    Expect(report.ok(), "a trace can be repaired");
    return *report;
  }
  void CheckNothingIsLost() {
    kerf::Result<OpTrace> trace = kerf::trace::ReadOp(fs_, "logs", "op");
    Expect(trace.ok(), "a trace can be read");
    for (const Step& step : truth_.committed) {
      Expect(HasRecord(*trace, step), "no committed record is lost");
    }
  }
  void CheckFilesAreKept() {
    const Files now = FilesOf(fs_);
    for (const auto& [name, bytes] : Beside()) {
      if (truth_.removable.contains(name)) continue;
      const auto file = now.find(name);
      Expect(file != now.end() && file->second == bytes, "no file is removed or changed");
    }
  }
  // Recording goes on, or is refused in words.
  void Continue() {
    auto trace = kerf::trace::Trace::Open(fs_, clock_, ids_,
                                          {.op_name = "op", .task_id = "0", .log_dir = "logs"});
    if (!trace.ok()) {
      std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    }
    Expect(trace.ok(), "a repaired task can be opened");
    (void)(*trace)->InsertVerifierRecord("True", "log", "");
    CheckNothingIsLost();
  }

  FakeFileSystem fs_;
  kerf::FakeClock clock_;
  kerf::FakeIds ids_;
  const kerf::trace::Run run_{"logs", {"op"}};
  const std::string journal_;
  const Truth truth_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Session(WithSums({reinterpret_cast<const char*>(data), size})).Run();
  return 0;
}
