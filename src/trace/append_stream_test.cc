#include "trace/append_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/json_reader.h"
#include "trace/checker.h"
#include "trace/fake_disk.h"
#include "trace/pipe_testing.h"
#include "trace/reader.h"

namespace kerf::trace {
namespace {

struct Sizes {
  size_t hashers;
  size_t writers;
  size_t batch_bytes;
};

class AppendStream : public testing::TestWithParam<Sizes> {
 protected:
  // Gives `input` in a pipe; the answers, line by line.
  std::vector<std::string> Run(const std::string& input, Durability durability) {
    int fds[2];
    EXPECT_EQ(::pipe(fds), 0);
    std::thread writing([&] {
      WriteAll(fds[1], input);
      if (!stop_after_answers_) ::close(fds[1]);
    });
    std::string answers;
    {
      const auto recorder =
          Recorder::Open(disk_.fs, disk_.clock, disk_.ids,
                         {.log_dir = "/logs", .overlap = true, .writers = GetParam().writers});
      EXPECT_TRUE(recorder.ok());
      summary_ = RunAppendStream(**recorder, Redactor(),
                                 {.durability = durability,
                                  .input_fd = fds[0],
                                  .stop = [&] { return stop_after_answers_ && answered_.load(); },
                                  .hashers = GetParam().hashers,
                                  .batch_bytes = GetParam().batch_bytes},
                                 [&](std::string_view lines) -> Status {
                                   if (answers.size() > most_answers_)
                                     return IoError("nobody reads the answers");
                                   answers += lines;
                                   answered_ = true;
                                   return {};
                                 });
    }
    ::close(fds[0]);  // before join: the writer may wait for somebody who reads
    writing.join();
    if (stop_after_answers_) ::close(fds[1]);
    std::vector<std::string> lines;
    for (size_t at = 0; at < answers.size();) {
      const size_t end = answers.find('\n', at);
      lines.push_back(answers.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  FakeDisk disk_;
  AppendSummary summary_;
  size_t most_answers_ = std::string::npos;
  bool stop_after_answers_ = false;
  std::atomic<bool> answered_ = false;
};

// Differs from its neighbours, and long enough that several batches are on their way at once.
std::string TextOf(int step) {
  std::string text;
  while (text.size() < 20000) text += "line \"" + std::to_string(step * 7919) + "\"\n";
  return text;
}

std::string LineOf(int step) {
  std::string line = R"({"kind":"designer_or_coder","op_name":"relu","task_id":")";
  line += std::to_string(step % 3) + R"(","action_type":"DO_CODER","res":)";
  AppendJsonString(line, TextOf(step));
  line += ",\"prompt\":";
  AppendJsonString(line, "prompt of " + std::to_string(step));
  return line + ",\"reasoning\":\"because\"}\n";
}

TEST_P(AppendStream, EveryFileHasTheHashOfItsText) {
  constexpr int kSteps = 601;  // odd, so that one is left when two go together
  std::string input;
  for (int i = 0; i < kSteps; ++i) input += LineOf(i);
  const std::vector<std::string> answers = Run(input, Durability::kBatch);
  EXPECT_TRUE(summary_.status.ok());
  EXPECT_EQ(summary_.recorded, kSteps);
  ASSERT_EQ(answers.size(), size_t{kSteps});
  for (int i = 0; i < kSteps; ++i) {
    char number[16];
    std::snprintf(number, sizeof number, "%02d", i / 3 + 1);
    const std::string name =
        "relu/I" + std::to_string(i % 3) + "_S" + number + "_relu_DO_CODER_result.txt";
    EXPECT_NE(answers[static_cast<size_t>(i)].find(name), std::string::npos) << i;
    EXPECT_EQ(disk_.Read("/logs/" + name), TextOf(i));
  }
  const auto runs = FindRuns(disk_.fs, "/logs");
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 1U);
  const auto report = CheckRun(disk_.fs, runs->front(), [](const std::string&) {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->findings.empty());
  EXPECT_EQ(report->records, kSteps);
}

TEST_P(AppendStream, AnswersComeInOrderBesideRefusals) {
  for (const Durability durability : {Durability::kStep, Durability::kBatch}) {
    disk_.fs.Crash();
    std::string input;
    for (int i = 0; i < 40; ++i) input += i % 5 == 3 ? std::string("{broken\n") : LineOf(i);
    const std::vector<std::string> answers = Run(input, durability);
    EXPECT_EQ(summary_.recorded, 32);
    EXPECT_EQ(summary_.refused, 8);
    ASSERT_EQ(answers.size(), 40U);
    for (size_t i = 0; i < answers.size(); ++i) {
      const std::string wanted =
          i % 5 == 3 ? "{\"ok\":false,\"line\":" + std::to_string(i + 1) + "," : "{\"ok\":true,";
      EXPECT_EQ(answers[i].substr(0, wanted.size()), wanted);
    }
  }
}

TEST_P(AppendStream, ManySmallRecords) {
  const int steps = GetParam().batch_bytes == 1 ? 200 : 20000;
  std::string input = "\xEF\xBB\xBF\r\n";  // a line with nothing but the mark of an editor
  for (int i = 0; i < steps; ++i) {
    input += R"({"kind":"verifier","op_name":"relu","task_id":"0","verify_res":"True"})";
    input += '\n';
  }
  const std::vector<std::string> answers = Run(input, Durability::kBatch);
  EXPECT_EQ(summary_.recorded, steps);
  EXPECT_EQ(summary_.refused, 0);
  ASSERT_EQ(answers.size(), static_cast<size_t>(steps));
  EXPECT_NE(answers.back().find("\"step\":" + std::to_string(steps) + ","), std::string::npos);
}

TEST_P(AppendStream, StoppedItRecordsWhatItHasRead) {
  std::string input;
  for (int i = 0; i < 600; ++i) input += LineOf(i);
  input.resize(input.size() - 100);  // the last line is not finished
  stop_after_answers_ = true;
  (void)std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> answers = Run(input, Durability::kBatch);
  EXPECT_TRUE(summary_.status.ok());
  EXPECT_EQ(summary_.refused, 0);
  EXPECT_GT(summary_.recorded, 0);
  EXPECT_EQ(answers.size(), static_cast<size_t>(summary_.recorded));
  size_t files = 0;
  for (const auto& [name, content] : disk_.Files("/logs/relu")) {
    files += static_cast<size_t>(name.find("_result.txt") != std::string::npos);
  }
  EXPECT_EQ(files, answers.size());
}

TEST_P(AppendStream, EndsWhenNobodyTakesTheAnswers) {
  std::string input;
  for (int i = 0; i < 600; ++i) input += LineOf(i);
  most_answers_ = 0;
  (void)std::signal(SIGPIPE, SIG_IGN);  // the pipe is closed while there is more to give
  Run(input, Durability::kBatch);
  EXPECT_FALSE(summary_.status.ok());
}

INSTANTIATE_TEST_SUITE_P(Machines, AppendStream,
                         testing::Values(Sizes{0, 1, 4 << 20}, Sizes{1, 1, 1 << 20},
                                         Sizes{2, 3, 2 << 20}, Sizes{2, 2, 1}),
                         [](const auto& test) {
                           return "Hashers" + std::to_string(test.param.hashers) + "Writers" +
                                  std::to_string(test.param.writers) + "Bytes" +
                                  std::to_string(test.param.batch_bytes);
                         });

}  // namespace
}  // namespace kerf::trace
