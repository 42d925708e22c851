// How long `kerf trace search` takes over 100,000 steps, as a whole process, beside grep over the
// same files.
//
//   kerf_trace_search_bench [--dir DIR] [--ops 100] [--tasks 10] [--steps 100] [--rounds 20]
//
// DIR is made and kept when given, and used again as it is when it holds a run; without it a
// temporary directory is made and removed.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "machine.h"
#include "trace/recorder.h"
#include "trace/redactor.h"

namespace {

using kerf::trace::Submission;

struct Options {
  std::string dir;
  int ops = 100;
  int tasks = 10;
  int steps = 100;
  int rounds = 20;
};

// Few words are frequent and most are rare, as in any text: the n-th has a frequency of about 1/n.
class Writer {
 public:
  Writer() {
    for (int i = 0; i < 20000; ++i) words_.push_back(MakeWord());
  }
  std::string Text(size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      const double uniform = std::uniform_real_distribution<>(0, 1)(random_);
      const auto rank = static_cast<size_t>(std::pow(20000.0, uniform)) - 1;
      text += words_[std::min<size_t>(rank, words_.size() - 1)];
      text += random_() % 12 == 0 ? '\n' : ' ';
    }
    return text;
  }

 private:
  std::string MakeWord() {
    std::string word;
    for (size_t length = 3 + random_() % 8; length > 0; --length) {
      word += static_cast<char>('a' + random_() % 26);
    }
    return word;
  }
  std::mt19937_64 random_{42};
  std::vector<std::string> words_;
};

// Every look at it takes 1.3 seconds, so that no two records have the same time.
class TickingClock : public kerf::Clock {
 public:
  explicit TickingClock(int64_t now) : now_(now) {}
  int64_t WallNanos() override { return now_ += 1'300'000'000; }
  int64_t MonotonicNanos() override { return now_; }

 private:
  int64_t now_;
};

void Require(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "kerf_trace_search_bench: %s\n", what.c_str());
  std::exit(1);
}

// Every step says "kernel"; one in 20,000 says "zanzibar"; one in 500 says "quagga".
kerf::StepInput MakeStep(Writer& writer, int64_t number, int step) {
  kerf::StepInput input;
  const std::string marks = std::string("kernel tl.load(x) ") +
                            (number % 20000 == 7 ? "zanzibar " : "") +
                            (number % 500 == 3 ? "quagga " : "");
  if (step % 2 == 0) {
    input.action = step == 0 ? kerf::ActionType::kDoCoder : kerf::ActionType::kFixCoder;
    input.res = marks + writer.Text(900);
    input.prompt = writer.Text(800);
    input.reasoning = writer.Text(300);
  } else {
    input.kind = kerf::RecordKind::kVerifier;
    input.action = kerf::ActionType::kVerify;
    input.verify_res = number % 3 == 0 ? "True" : "False";
    input.verify_log = marks + writer.Text(2000);
  }
  return input;
}

void Generate(const Options& options) {
  const auto fs = kerf::MakePosixFileSystem();
  const auto ids = kerf::MakeRandomIds();
  const kerf::trace::Redactor redactor;
  constexpr int64_t kStart = 1'790'000'000'000'000'000;
  Writer writer;
  int64_t number = 0;
  for (int op = 0; op < options.ops; ++op) {
    // Operators run side by side: each begins a little after the one before.
    TickingClock clock(kStart + op * 7'000'000);
    auto recorder = kerf::trace::Recorder::Open(*fs, clock, *ids,
                                                {.log_dir = options.dir, .max_open_tasks = 16});
    Require(recorder.ok(), "cannot record in " + options.dir);
    for (int task = 0; task < options.tasks; ++task) {
      std::vector<Submission> batch;
      for (int step = 0; step < options.steps; ++step) {
        auto record = kerf::trace::PrepareRecord(MakeStep(writer, number++, step),
                                                 (*recorder)->names(), redactor);
        Require(record.ok(), "cannot prepare a record");
        batch.push_back({"op" + std::to_string(op), std::to_string(task), std::move(*record)});
      }
      for (const auto& done : (*recorder)->RecordAll(std::move(batch))) {
        Require(done.ok(), done.ok() ? "" : done.error().message);
      }
    }
    std::fprintf(stderr, "\rrecording operator %d of %d ", op + 1, options.ops);
  }
  std::fprintf(stderr, "\n");
}

// Wall time of a whole process in milliseconds; its output goes nowhere.
double RunProcess(const std::vector<std::string>& words, int* exit_code) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  if (failed == 0) ::waitpid(child, &status, 0);
  const auto end = std::chrono::steady_clock::now();
  posix_spawn_file_actions_destroy(&actions);
  *exit_code = failed == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

void Measure(const std::string& what, const std::vector<std::string>& words, int rounds) {
  std::vector<double> times;
  int exit_code = 0;
  for (int i = 0; i < rounds; ++i) times.push_back(RunProcess(words, &exit_code));
  std::sort(times.begin(), times.end());
  const size_t p95 = std::min(times.size() - 1, times.size() * 95 / 100);
  std::printf("%-44s %10.1f %10.1f   exit %d\n", what.c_str(), times[times.size() / 2], times[p95],
              exit_code);
  std::fflush(stdout);
}

std::string KerfPath() {
  // build/release/bench/kerf_trace_search_bench → build/release/kerf
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "kerf")
      .string();
}

void MeasureAll(const Options& options) {
  const std::string kerf = KerfPath();
  const auto search = [&](const std::string& what, std::vector<std::string> rest) {
    std::vector<std::string> words = {kerf, "trace", "search", options.dir};
    words.insert(words.end(), rest.begin(), rest.end());
    Measure(what, words, options.rounds);
  };
  std::printf("%-44s %10s %10s\n", "whole process, milliseconds", "median", "p95");
  Measure("kerf --version", {kerf, "--version"}, options.rounds);
  search("rare word (1 step in 20,000)", {"zanzibar"});
  search("word in 1 step of 500", {"quagga"});
  search("word in every step", {"kernel"});
  search("word in no step", {"xylophone"});
  search("phrase in every step, not FTS5: tl.load(x)", {"tl.load(x)"});
  search("prefix in every step: kern*", {"kern*"});
  search("rare word and frequent word", {"kernel zanzibar"});
  search("every step, --op (1 of the operators)", {"kernel", "--op", "op3"});
  search("every step, --op --task", {"kernel", "--op", "op3", "--task", "0"});
  search("every step, --verdict failed", {"kernel", "--verdict", "failed"});
  search("every step, --action DO_CODER", {"kernel", "--action", "DO_CODER"});
  search("every step, --until the oldest minute", {"kernel", "--until", "2026-09-21T14:14:20Z"});
  search("every step, --limit 200", {"kernel", "--limit", "200"});
  search("word in 1 step of 500, --sort rank", {"quagga", "--sort", "rank"});
  search("word in every step, --sort rank", {"kernel", "--sort", "rank"});
  const int few = std::min(options.rounds, 3);
  Measure("peer: grep -r -l -F zanzibar", {"grep", "-r", "-l", "-F", "zanzibar", options.dir}, few);
  Measure("peer: grep -r -l -F kernel", {"grep", "-r", "-l", "-F", "kernel", options.dir}, few);
  int exit_code = 0;
  RunProcess({"rg", "--version"}, &exit_code);
  if (exit_code == 0) {
    Measure("peer: rg -l -F zanzibar", {"rg", "-l", "-F", "zanzibar", options.dir}, few);
    Measure("peer: rg -l -F kernel", {"rg", "-l", "-F", "kernel", options.dir}, few);
  } else {
    std::printf("%-44s not installed\n", "peer: rg");
  }
}

void MeasureBuild(const Options& options) {
  int exit_code = 0;
  const double ms = RunProcess({KerfPath(), "trace", "index", options.dir}, &exit_code);
  Require(exit_code == 0, "kerf trace index failed");
  const auto size = std::filesystem::file_size(options.dir + "/.kerf/index.sqlite");
  std::printf("index build  %.1f s for %d steps, %.1f MB\n\n", ms / 1000,
              options.ops * options.tasks * options.steps, static_cast<double>(size) / 1e6);
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    Require(i + 1 < argc && flag != "--help",
            "flags: --dir DIR --ops N --tasks N --steps N --rounds N");
    const std::string value = argv[++i];
    if (flag == "--dir") {
      options.dir = value;
      continue;
    }
    int* number = flag == "--ops"      ? &options.ops
                  : flag == "--tasks"  ? &options.tasks
                  : flag == "--steps"  ? &options.steps
                  : flag == "--rounds" ? &options.rounds
                                       : nullptr;
    Require(number != nullptr, "unknown flag " + flag);
    *number = std::atoi(value.c_str());
    Require(*number > 0, flag + " needs a number above 0");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = Parse(argc, argv);
  const bool temporary = options.dir.empty();
  if (temporary) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "kerf_search_bench.XXXXXX").string();
    Require(::mkdtemp(pattern.data()) != nullptr, "cannot make a temporary directory");
    options.dir = pattern;
  }
  if (!std::filesystem::exists(options.dir + "/op0")) Generate(options);
  std::printf("%s\n", kerf::bench::MachineContext(options.dir).c_str());
  MeasureBuild(options);
  MeasureAll(options);
  if (temporary) std::filesystem::remove_all(options.dir);
  return 0;
}
