// `kerf trace` as its users meet it: the built binary, a real disk, SIGKILL, full and vanished
// disks.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/file_system.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "live_process.h"
#include "temp_dir.h"
#include "trace/reader.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;

std::string RecordLine(const std::string& op, const std::string& task, int number,
                       size_t bytes = 200) {
  return Json({{"kind", "designer_or_coder"},
               {"op_name", op},
               {"task_id", task},
               {"action_type", number % 2 == 0 ? "DO_CODER" : "FIX_CODER"},
               {"res", "result " + std::to_string(number) + std::string(bytes, 'x')},
               {"prompt", "prompt " + std::to_string(number)},
               {"reasoning", ""}})
             .dump() +
         "\n";
}

ProcessOutcome RunKerf(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.begin(), KERF_BINARY);
  Result<ProcessOutcome> outcome = RunProcess({.argv = std::move(args), .input = input});
  EXPECT_TRUE(outcome.ok());
  return std::move(outcome).value();
}

// Every record a reader shows must be whole. Returns how many there are.
int64_t ExpectAllShownWhole(FileSystem& fs, const std::string& logs, const std::string& op) {
  const Result<trace::OpTrace> read = trace::ReadOp(fs, logs, op);
  if (!read.ok()) return 0;  // not there yet
  int64_t records = 0;
  for (const trace::TaskSteps& task : read->tasks) {
    for (const Step& step : task.steps) {
      ++records;
      EXPECT_TRUE(step.journaled) << "a file without its line was shown";
      for (const StepFile& file : step.files) {
        const Result<std::string> content = trace::ReadStepFile(fs, read->dir, file);
        EXPECT_TRUE(content.ok() && Sha256Hex(*content) == file.sha256) << file.name;
      }
    }
  }
  return records;
}

class KilledRecorder : public testing::TestWithParam<const char*> {};

// 220 kills in all, at moments spread from before the first answer to well into the run. Batches
// take longer, and instrumented builds, which look for other mistakes, much longer.
int Kills(bool batch) {
#ifdef KERF_SLOW_BUILD
  return batch ? 16 : 32;
#else
  return batch ? 64 : 156;
#endif
}

TEST_P(KilledRecorder, LosesNothingItAcknowledged) {
  const std::unique_ptr<FileSystem> fs = MakePosixFileSystem();
  TempDir input_dir;
  const std::string input = input_dir.path() + "/input.jsonl";
  const bool batch = std::string(GetParam()) == "batch";
  const int kills = Kills(batch);
  {
    std::ofstream out(input);
    for (int i = 0; i < 200; ++i) {
      out << RecordLine("relu", i % 3 == 0 ? "1" : "0", i, batch ? 8000 : 200);
    }
  }
  std::unique_ptr<TempDir> logs;
  std::set<std::string> acked;
  uint64_t random = 12345;
  int64_t acked_in_all = 0;
  for (int kill = 0; kill < kills; ++kill) {
    if (kill % 8 == 0) {  // a new run now and then: what is verified below grows with it
      logs = std::make_unique<TempDir>();
      acked.clear();
    }
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    // The moment: after so many answers, and a little later. Answers, because disks differ by a
    // factor of a hundred in speed.
    const uint64_t answers_before = (random >> 33) % (batch ? 60 : 8);
    const auto delay = std::chrono::microseconds((random >> 40) % 3000);
    std::atomic<bool> done = false;
    std::thread watcher([&] {  // nobody may see half a record while it is written
      while (!done) ExpectAllShownWhole(*fs, logs->path(), "relu");
    });
    LiveProcess kerf(
        {KERF_BINARY, "trace", "append", "--log-dir", logs->path(), "--durability", GetParam()},
        input);
    std::vector<std::string> answers;
    while (answers.size() < answers_before) {
      std::optional<std::string> line = kerf.ReadLine();
      ASSERT_TRUE(line.has_value());
      answers.push_back(std::move(*line));
    }
    for (std::string& line : kerf.ReadFor(delay)) answers.push_back(std::move(line));
    for (std::string& line : kerf.Kill()) answers.push_back(std::move(line));
    done = true;
    watcher.join();
    for (const std::string& line : answers) {
      const Json answer = Json::parse(line);
      ASSERT_TRUE(answer["ok"].get<bool>()) << line;
      for (const auto& file : answer["files"]) {
        EXPECT_TRUE(acked.insert(file.get<std::string>()).second)
            << file << " was acknowledged twice: a step number was used again";
      }
      ++acked_in_all;
    }
    for (const std::string& file : acked) {
      ASSERT_TRUE(fs->Stat(logs->path() + "/" + file).value().has_value())
          << "acknowledged and lost: " << file << " after kill " << kill;
    }
    ExpectAllShownWhole(*fs, logs->path(), "relu");
    if (kill % 8 == 7) {
      // The tail of the last kill is a note; acknowledged records are sound; recording goes on.
      const std::string next = RecordLine("relu", "0", 1) + RecordLine("relu", "1", 1);
      EXPECT_EQ(RunKerf({"trace", "append", "--log-dir", logs->path()}, next).exit_code, 0);
      const ProcessOutcome check = RunKerf({"trace", "check", logs->path()});
      EXPECT_EQ(check.exit_code, 0) << check.stdout_text;
    }
  }
  // The kills must not all have come before the first record, or nothing was tested.
  EXPECT_GT(acked_in_all, kills);
}

INSTANTIATE_TEST_SUITE_P(Trace, KilledRecorder, testing::Values("step", "batch"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(TraceAppend, AnswersEachLineBeforeTheNextIsSent) {
  for (const char* durability : {"step", "batch"}) {
    TempDir logs;
    LiveProcess kerf(
        {KERF_BINARY, "trace", "append", "--log-dir", logs.path(), "--durability", durability});
    for (int i = 1; i <= 5; ++i) {
      ASSERT_TRUE(kerf.Send(RecordLine("relu", "0", i)));
      const std::optional<std::string> line = kerf.ReadLine();
      ASSERT_TRUE(line.has_value()) << "no answer with --durability " << durability;
      EXPECT_EQ(Json::parse(*line)["step"], i);
    }
    kerf.CloseInput();
    EXPECT_EQ(kerf.Wait(), 0);
  }
}

TEST(TraceAppend, InterruptedItRecordsWhatItHasRead) {
  for (const char* durability : {"step", "batch"}) {
    TempDir logs;
    LiveProcess kerf(
        {KERF_BINARY, "trace", "append", "--log-dir", logs.path(), "--durability", durability});
    ASSERT_TRUE(kerf.Send(RecordLine("relu", "0", 1)));
    ASSERT_TRUE(kerf.ReadLine().has_value());
    // The signal comes while there is more to read, the last of it not a whole line.
    std::string lines;
    for (int i = 2; i <= 400; ++i) lines += RecordLine("relu", "0", i);
    lines += RecordLine("relu", "0", 401).substr(0, 20);
    std::thread sending([&] { kerf.Send(lines); });
    ASSERT_TRUE(kerf.ReadLine().has_value());
    kerf.Signal(SIGINT);
    int answers = 2;
    while (const std::optional<std::string> line = kerf.ReadLine()) {
      EXPECT_EQ(Json::parse(*line)["step"], ++answers);
    }
    EXPECT_EQ(kerf.Wait(), 130);
    sending.join();
    const ProcessOutcome check = RunKerf({"trace", "check", logs.path(), "--json"});
    EXPECT_EQ(check.exit_code, 0) << check.stdout_text;
    EXPECT_NE(check.stdout_text.find("\"records\":" + std::to_string(answers)), std::string::npos)
        << check.stdout_text.substr(0, 200);
  }
}

TEST(TraceAppend, AnswersInTheOrderOfTheLinesWithBadOnesBetween) {
  TempDir logs;
  std::string input;
  for (int i = 0; i < 300; ++i) {
    input +=
        i % 7 == 3 ? "{\"kind\":\"nonsense\"}\n" : RecordLine("op" + std::to_string(i % 2), "0", i);
  }
  const ProcessOutcome outcome =
      RunKerf({"trace", "append", "--log-dir", logs.path(), "--durability", "batch"}, input);
  EXPECT_EQ(outcome.exit_code, 1);
  std::istringstream answers(outcome.stdout_text);
  int number = 0;
  std::map<std::string, int> steps;
  for (std::string line; std::getline(answers, line); ++number) {
    const Json answer = Json::parse(line);
    ASSERT_EQ(answer["ok"].get<bool>(), number % 7 != 3) << line;
    if (number % 7 == 3) {
      EXPECT_EQ(answer["line"], number + 1);
    } else {
      EXPECT_EQ(answer["op_name"], "op" + std::to_string(number % 2));
      EXPECT_EQ(answer["step"], ++steps[answer["op_name"]]);
    }
  }
  EXPECT_EQ(number, 300);
}

TEST(TraceAppend, RefusesATaskThatAnotherProcessRecords) {
  TempDir logs;
  LiveProcess first({KERF_BINARY, "trace", "append", "--log-dir", logs.path()});
  ASSERT_TRUE(first.Send(RecordLine("relu", "0", 1)));
  ASSERT_TRUE(first.ReadLine().has_value());
  const ProcessOutcome second = RunKerf({"trace", "append", "--log-dir", logs.path()},
                                        RecordLine("relu", "0", 2) + RecordLine("relu", "1", 1));
  std::istringstream answers(second.stdout_text);
  std::string line;
  ASSERT_TRUE(std::getline(answers, line));
  const Json refused = Json::parse(line);
  EXPECT_FALSE(refused["ok"].get<bool>());
  EXPECT_EQ(refused["error"]["code"], "unavailable");
  EXPECT_NE(refused["error"]["message"].get<std::string>().find("is being recorded by process"),
            std::string::npos);
  // Another task of the same operator is free.
  ASSERT_TRUE(std::getline(answers, line));
  EXPECT_TRUE(Json::parse(line)["ok"].get<bool>());
}

TEST(TraceAppend, FourProcessesShareOneOperator) {
  TempDir logs;
  std::vector<std::thread> recorders;
  for (int task = 0; task < 4; ++task) {
    recorders.emplace_back([&, task] {
      std::string input;
      for (int i = 0; i < 60; ++i) input += RecordLine("relu", std::to_string(task), i);
      const ProcessOutcome outcome = RunKerf({"trace", "append", "--log-dir", logs.path(),
                                              "--durability", task % 2 == 0 ? "step" : "batch"},
                                             input);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
    });
  }
  for (std::thread& recorder : recorders) recorder.join();
  const std::unique_ptr<FileSystem> fs = MakePosixFileSystem();
  EXPECT_EQ(ExpectAllShownWhole(*fs, logs.path(), "relu"), 240);
  EXPECT_EQ(RunKerf({"trace", "check", logs.path()}).exit_code, 0);
}

TEST(TraceAppend, SaysSoWhenTheDirectoryIsRemovedMeanwhile) {
  for (const char* kind : {"designer_or_coder", "conductor"}) {
    TempDir logs;
    LiveProcess kerf({KERF_BINARY, "trace", "append", "--log-dir", logs.path()});
    ASSERT_TRUE(kerf.Send(RecordLine("relu", "0", 1)));
    ASSERT_TRUE(kerf.ReadLine().has_value());
    std::filesystem::remove_all(logs.path() + "/relu");
    Json record = {
        {"kind", kind}, {"op_name", "relu"}, {"task_id", "0"}, {"action_type", "DO_CODER"}};
    ASSERT_TRUE(kerf.Send(record.dump() + "\n"));
    const std::optional<std::string> line = kerf.ReadLine();
    ASSERT_TRUE(line.has_value());
    const Json answer = Json::parse(*line);
    EXPECT_FALSE(answer["ok"].get<bool>()) << *line;
    EXPECT_NE(answer["error"]["message"].get<std::string>().find("relu was removed or replaced"),
              std::string::npos)
        << *line;
  }
}

// Runs a script in its own mount namespace, where it may mount a small or a read-only disk.
std::optional<ProcessOutcome> RunWithMounts(const std::string& script, const std::string& dir) {
  const Result<ProcessOutcome> probe =
      RunProcess({.argv = {"unshare", "-rm", "sh", "-c", "mount -t tmpfs none \"$0\"", dir}});
  if (!probe.ok() || probe->exit_code != 0) return std::nullopt;
  Result<ProcessOutcome> outcome =
      RunProcess({.argv = {"unshare", "-rm", "sh", "-c", script, KERF_BINARY, dir}});
  EXPECT_TRUE(outcome.ok());
  return std::move(outcome).value();
}

TEST(TraceAppend, StopsAcknowledgingWhenTheDiskIsFull) {
  TempDir dir;
  TempDir input_dir;
  const std::string input = input_dir.path() + "/input.jsonl";
  {
    std::ofstream out(input);
    for (int i = 0; i < 40; ++i) out << RecordLine("relu", "0", i, 20000);
  }
  for (const char* durability : {"step", "batch"}) {
    // After the disk was full, what was acknowledged is checked, and room lets recording go on.
    const std::string script =
        "mount -t tmpfs -o size=400k none \"$1\" && mkdir \"$1/l\" && "
        "\"$0\" trace append --log-dir \"$1/l\" --durability " +
        std::string(durability) + " < '" + input +
        "'; echo \"exit $?\"; "
        "\"$0\" trace check \"$1/l\" >&2; echo \"check $?\"; "
        "mount -o remount,size=4m \"$1\"; head -1 '" +
        input +
        "' | \"$0\" trace append --log-dir \"$1/l\"; \"$0\" trace check \"$1/l\" >&2; echo \"again "
        "$?\"";
    const std::optional<ProcessOutcome> outcome = RunWithMounts(script, dir.path());
    if (!outcome.has_value()) GTEST_SKIP() << "this machine allows no mounts in a user namespace";
    std::istringstream lines(outcome->stdout_text);
    int64_t acked = 0;
    int64_t refused = 0;
    int64_t last_step = 0;
    std::string rest;
    for (std::string line; std::getline(lines, line);) {
      if (line[0] != '{') {
        rest += line + "; ";
        continue;
      }
      const Json answer = Json::parse(line);
      if (answer["ok"].get<bool>()) {
        ++acked;
        EXPECT_EQ(answer["step"], ++last_step);
      } else {
        ++refused;
        EXPECT_NE(answer["error"]["message"].get<std::string>().find("No space left"),
                  std::string::npos)
            << line;
      }
    }
    EXPECT_GT(acked, 3) << outcome->stdout_text;
    EXPECT_GT(refused, 3);
    EXPECT_EQ(rest, "exit 1; check 0; again 0; ") << outcome->stderr_text;
  }
}

TEST(TraceAppend, SaysSoWhenTheDirectoryIsReadOnly) {
  TempDir dir;
  const std::optional<ProcessOutcome> outcome = RunWithMounts(
      "mount -t tmpfs none \"$1\" && mount -o remount,ro \"$1\" && echo '{}' | "
      "\"$0\" trace append --log-dir \"$1/l\"; echo \"exit $?\"",
      dir.path());
  if (!outcome.has_value()) GTEST_SKIP() << "this machine allows no mounts in a user namespace";
  EXPECT_EQ(outcome->stdout_text, "exit 3\n");
  EXPECT_NE(outcome->stderr_text.find("read-only"), std::string::npos) << outcome->stderr_text;
}

TEST(TraceAppend, KeepsSecretsOfTheEnvironmentOutOfEveryFile) {
  TempDir logs;
  const std::string secret = "sk-test-0123456789abcdef\"quoted\\";
  const Json record = {{"kind", "designer_or_coder"},
                       {"op_name", "relu"},
                       {"task_id", "0"},
                       {"action_type", "DO_CODER"},
                       {"res", Json({{"code", "key = " + secret}, {"description", secret}}).dump()},
                       {"prompt", "use " + secret},
                       {"reasoning", "user ann@example.org"},
                       {"meta", {{"headers", {{"x-api-key", "other-secret"}}}, {"note", secret}}}};
  Result<ProcessOutcome> outcome = RunProcess(
      {.argv = {KERF_BINARY, "trace", "append", "--log-dir", logs.path(), "--redact",
                "[a-z]+@[a-z.]+"},
       .environment = std::vector<std::string>{"OPENAI_API_KEY=" + secret, "PATH=/usr/bin:/bin"},
       .input = record.dump() + "\n"});
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->exit_code, 0) << outcome->stdout_text;
  std::string all = outcome->stdout_text + outcome->stderr_text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(logs.path())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    all += std::string(std::istreambuf_iterator<char>(in), {});
  }
  EXPECT_EQ(all.find("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(all.find("other-secret"), std::string::npos);
  EXPECT_EQ(all.find("ann@example.org"), std::string::npos);
  EXPECT_NE(all.find("[REDACTED:OPENAI_API_KEY]"), std::string::npos);
  EXPECT_NE(all.find("[REDACTED:x-api-key]"), std::string::npos);
  EXPECT_NE(all.find("[REDACTED:pattern 1]"), std::string::npos);
}

TEST(TraceCheck, RepairNeverRemovesWhatMayHaveBeenAcknowledged) {
  TempDir logs;
  ASSERT_EQ(RunKerf({"trace", "append", "--log-dir", logs.path()},
                    RecordLine("relu", "0", 1) + RecordLine("relu", "0", 2))
                .exit_code,
            0);
  // The commit of the last record is torn off and one of its files was edited.
  const std::string op = logs.path() + "/relu/";
  std::filesystem::resize_file(op + "journal.jsonl",
                               std::filesystem::file_size(op + "journal.jsonl") - 5);
  std::ofstream(op + "I0_S02_relu_DO_CODER_prompt.txt", std::ios::app) << "edited";
  (void)RunKerf({"trace", "check", logs.path(), "--repair"});
  EXPECT_TRUE(std::filesystem::exists(op + "I0_S02_relu_DO_CODER_result.txt"));
  EXPECT_TRUE(std::filesystem::exists(op + "I0_S02_relu_DO_CODER_prompt.txt"));
  const ProcessOutcome next =
      RunKerf({"trace", "append", "--log-dir", logs.path()}, RecordLine("relu", "0", 3));
  EXPECT_EQ(Json::parse(next.stdout_text)["step"], 3);
}

TEST(TraceCheck, SaysWhatItCouldNotLookInto) {
  TempDir logs;
  ASSERT_EQ(RunKerf({"trace", "append", "--log-dir", logs.path()},
                    RecordLine("relu", "0", 1) + RecordLine("gelu", "0", 1))
                .exit_code,
            0);
  std::filesystem::rename(logs.path() + "/gelu", logs.path() + "/.elsewhere");
  std::filesystem::create_directory_symlink(".elsewhere", logs.path() + "/gelu");
  std::filesystem::create_directory(logs.path() + "/bad");
  std::filesystem::create_directory(logs.path() + "/bad/journal.jsonl");
  const ProcessOutcome check = RunKerf({"trace", "check", logs.path()});
  EXPECT_EQ(check.exit_code, 4);
  EXPECT_NE(check.stdout_text.find("/gelu: not checked: a symbolic link"), std::string::npos)
      << check.stdout_text;
  EXPECT_NE(check.stdout_text.find("/bad/journal.jsonl"), std::string::npos) << check.stdout_text;
}

TEST(TraceShow, DoesNotFollowALinkInPlaceOfARecord) {
  TempDir logs;
  ASSERT_EQ(
      RunKerf({"trace", "append", "--log-dir", logs.path()}, RecordLine("relu", "0", 2)).exit_code,
      0);
  const std::string file = logs.path() + "/relu/I0_S01_relu_DO_CODER_result.txt";
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/etc/passwd", file);
  const ProcessOutcome show = RunKerf({"trace", "show", logs.path()});
  EXPECT_EQ(show.stdout_text.find("root:"), std::string::npos) << show.stdout_text;
  EXPECT_NE(show.stdout_text.find("not a regular file"), std::string::npos) << show.stdout_text;
}

TEST(TraceAppend, RefusesNamesOfPartsOfTheLogDirectory) {
  TempDir logs;
  for (const char* name : {"journal.jsonl", "passed_cases",
                           "a\xC2\x9B"
                           "31mb",
                           "a\xE2\x80\xAE"
                           "b"}) {
    const ProcessOutcome outcome =
        RunKerf({"trace", "append", "--log-dir", logs.path()}, RecordLine(name, "0", 1));
    EXPECT_EQ(outcome.exit_code, 1) << name;
  }
}

TEST(TraceAppend, GoesOnAfterAStepThatAnotherProgramWrote) {
  for (const char* durability : {"step", "batch"}) {
    TempDir logs;
    LiveProcess kerf(
        {KERF_BINARY, "trace", "append", "--log-dir", logs.path(), "--durability", durability});
    ASSERT_TRUE(kerf.Send(RecordLine("relu", "0", 2)));
    ASSERT_TRUE(kerf.ReadLine().has_value());
    const std::string foreign = logs.path() + "/relu/I0_S02_relu_DO_CODER_result.txt";
    std::ofstream(foreign) << "another program's";
    ASSERT_TRUE(kerf.Send(RecordLine("relu", "0", 2)));
    const std::optional<std::string> line = kerf.ReadLine();
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(Json::parse(*line)["step"], 3) << *line;
    kerf.CloseInput();
    EXPECT_EQ(kerf.Wait(), 0);
    EXPECT_EQ(RunKerf({"trace", "check", logs.path()}).exit_code, 0);
    EXPECT_EQ(
        RunKerf({"trace", "show", logs.path(), "--step", "2", "--part", "result"}).stdout_text,
        "another program's");
  }
}

TEST(TraceAppend, EndsWhenStandardInputIsClosed) {
  TempDir logs;
  const Result<ProcessOutcome> outcome =
      RunProcess({.argv = {"/bin/sh", "-c", "exec \"$0\" trace append --log-dir \"$1\" <&-",
                           KERF_BINARY, logs.path()},
                  .timeout = std::chrono::seconds(20)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->timed_out);
  EXPECT_EQ(outcome->exit_code, 0);
}

TEST(TraceAppend, StoresALargeReplyByteForByte) {
  TempDir logs;
  std::string text;
  for (int i = 0; text.size() < (100U << 20); ++i)
    text += "line " + std::to_string(i) + " \"q\" \\ \r\n\t";
  const Json record = {{"kind", "designer_or_coder"},
                       {"op_name", "relu"},
                       {"task_id", "0"},
                       {"action_type", "DO_CODER"},
                       {"res", text},
                       {"prompt", ""},
                       {"reasoning", ""}};
  const ProcessOutcome outcome =
      RunKerf({"trace", "append", "--log-dir", logs.path()}, record.dump() + "\n");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.stderr_text;
  const std::unique_ptr<FileSystem> fs = MakePosixFileSystem();
  const Result<std::string> stored =
      fs->ReadFile(logs.path() + "/relu/I0_S01_relu_DO_CODER_result.txt");
  ASSERT_TRUE(stored.ok());
  EXPECT_TRUE(*stored == text);
}

}  // namespace
}  // namespace kerf::e2e
