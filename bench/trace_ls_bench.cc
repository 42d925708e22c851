// Claim: listing 100,000 steps without an index takes less than 2 s, whatever wrote them.
//
//   kerf_trace_ls_bench KERF_BINARY [--dir D] [--repeats N]
//
// Two directories of 100,000 steps: one that kerf recorded (with journals), one as AIKG leaves it
// (files only). The peer is `find DIR -type f`, which only reads the names.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/ids.h"
#include "base/subprocess.h"
#include "machine.h"
#include "trace/recorder.h"
#include "trace/redactor.h"

namespace {

namespace stdfs = std::filesystem;

constexpr int kOps = 20;
constexpr int kTasks = 10;
constexpr int kStepsPerTask = 500;

void Generate(const std::string& dir) {
  const auto fs = kerf::MakePosixFileSystem();
  const auto clock = kerf::MakeSystemClock();
  const auto ids = kerf::MakeRandomIds();
  auto recorder = kerf::trace::Recorder::Open(*fs, *clock, *ids, {.log_dir = dir});
  if (!recorder.ok()) {
    std::fprintf(stderr, "%s\n", recorder.error().message.c_str());
    std::exit(3);
  }
  const kerf::trace::Redactor redactor;
  for (int op = 0; op < kOps; ++op) {
    std::vector<kerf::trace::Submission> batch;
    for (int task = 0; task < kTasks; ++task) {
      for (int step = 0; step < kStepsPerTask; ++step) {
        kerf::StepInput input;
        input.action = kerf::ActionType::kFixCoder;
        input.res = "result " + std::to_string(step);
        input.prompt = "prompt";
        input.meta = R"({"duration_ms":1200,"model":"m","tokens":{"input":900,"output":300}})";
        batch.push_back(
            {"op" + std::to_string(op), std::to_string(task),
             kerf::trace::PrepareRecord(std::move(input), kerf::trace::Names::kDoc, redactor)
                 .value()});
      }
    }
    for (const auto& result : (*recorder)->RecordAll(std::move(batch))) {
      if (!result.ok()) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        std::exit(3);
      }
    }
  }
}

double MedianSeconds(const std::vector<std::string>& argv, int repeats) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto outcome = kerf::RunProcess({.argv = argv, .stdout_limit = size_t{256} << 20});
    if (!outcome.ok() || outcome->exit_code != 0) {
      std::fprintf(stderr, "%s failed\n", argv[0].c_str());
      std::exit(3);
    }
    seconds.push_back(std::chrono::duration<double>(outcome->wall_time).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void Report(const char* what, const std::string& kerf, const std::string& dir, int repeats) {
  const double tasks = MedianSeconds({kerf, "trace", "ls", dir}, repeats);
  const double steps = MedianSeconds({kerf, "trace", "ls", "--steps", dir}, repeats);
  const double find = MedianSeconds({"find", dir, "-type", "f"}, repeats);
  std::printf("%-24s ls %.2f s   ls --steps %.2f s   find -type f %.2f s\n", what, tasks, steps,
              find);
}

}  // namespace

int main(int argc, char** argv) {
  std::string kerf;
  std::string dir = stdfs::temp_directory_path() / "kerf_trace_ls_bench";
  int repeats = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--dir" && i + 1 < argc) {
      dir = argv[++i];
    } else if (arg == "--repeats" && i + 1 < argc) {
      repeats = std::atoi(argv[++i]);
    } else {
      kerf = arg;
    }
  }
  if (kerf.empty() || kerf.starts_with("-")) {
    std::fprintf(stderr, "usage: %s KERF_BINARY [--dir D] [--repeats N]\n", argv[0]);
    return 2;
  }
  stdfs::create_directories(dir);
  std::printf("%s\n", kerf::bench::MachineContext(dir).c_str());
  std::printf("%d steps in %d operators and %d tasks, 3 files each; no index; medians of %d\n",
              kOps * kTasks * kStepsPerTask, kOps, kOps * kTasks, repeats);
  Generate(dir + "/run");
  Report("recorded by kerf", kerf, dir + "/run", repeats);
  for (const auto& entry : stdfs::directory_iterator(dir + "/run")) {
    stdfs::remove(entry.path() / "journal.jsonl");
  }
  Report("files only, as AIKG's", kerf, dir + "/run", repeats);
  stdfs::remove_all(dir);
  return 0;
}
