// Claim: recording a step durably costs little more than writing and syncing its files; recording
// in batches costs little more than writing them at all.
//
//   kerf_trace_append_bench KERF_BINARY [--steps N] [--repeats N] [--dir D] [--keep]
//
// kerf is measured as its users run it: the whole process `kerf trace append`, from JSON Lines in a
// file to the last answer. The peers write the very files kerf wrote: the same names, bytes and
// number. All take turns in one run, each in a fresh folder; ratios are of medians. Processor time
// stands beside the time on the wall: it is what a busy machine leaves as it is.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json_reader.h"
#include "base/subprocess.h"
#include "machine.h"

namespace {

namespace stdfs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string kerf;
  std::string dir;
  int durable_steps = 300;
  int batch_steps = 2000;
  int repeats = 7;
  // The folders stay: another run on this disk would wait for minutes until ext4 gives out their
  // inodes again.
  bool keep = false;
};

// Text like what models write: lines of code with indentation, quotes and escapes.
std::string CodeLike(size_t bytes, unsigned seed) {
  std::string text;
  while (text.size() < bytes) {
    seed = seed * 1664525U + 1013904223U;
    text += "    acc_" + std::to_string(seed % 97) + " = tl.load(x_ptr + offsets_" +
            std::to_string(seed % 1009) + ", mask=mask, other=0.0)  # \"row\" " +
            std::to_string(seed) + "\n";
  }
  text.resize(bytes);
  return text;
}

struct Step {
  std::string names[3];
  std::string texts[3];
};

std::vector<Step> MakeSteps(int count) {
  std::vector<Step> steps(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    Step& step = steps[static_cast<size_t>(i)];
    char number[16];
    std::snprintf(number, sizeof number, "%02d", i + 1);
    static const char* const kParameters[3] = {"result", "prompt", "reasoning"};
    for (int k = 0; k < 3; ++k) {
      step.names[k] =
          std::string("I0_S") + number + "_bench_op_DO_CODER_" + kParameters[k] + ".txt";
      step.texts[k] = CodeLike(k == 1 ? 40000 : 30000, static_cast<unsigned>(i * 3 + k + 1));
    }
  }
  return steps;
}

void WriteInput(const std::vector<Step>& steps, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  std::string line;
  for (const Step& step : steps) {
    line =
        R"({"kind":"designer_or_coder","op_name":"bench_op","task_id":"0","action_type":"DO_CODER","res":)";
    kerf::AppendJsonString(line, step.texts[0]);
    line += ",\"prompt\":";
    kerf::AppendJsonString(line, step.texts[1]);
    line += ",\"reasoning\":";
    kerf::AppendJsonString(line, step.texts[2]);
    line +=
        ",\"meta\":{\"duration_ms\":1234,\"model\":\"m\",\"tokens\":{\"input\":10,\"output\":20}}}"
        "\n";
    out << line;
  }
}

// What one turn took, in seconds.
struct Took {
  double wall = 0;
  double processor = 0;  // of the process
  double machine = 0;    // of all processors, the kernel's own threads included
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double ProcessorSeconds(int who) {
  struct rusage usage {};
  ::getrusage(who, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

// Whatever is not idle, waiting or stolen.
double MachineSeconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double wait = 0;
  double irq = 0;
  double soft = 0;
  stat >> word >> user >> nice >> system >> idle >> wait >> irq >> soft;
  return (user + nice + system + irq + soft) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class Stopwatch {
 public:
  // RUSAGE_SELF or RUSAGE_CHILDREN.
  explicit Stopwatch(int who)
      : who_(who),
        machine_(MachineSeconds()),
        processor_(ProcessorSeconds(who)),
        start_(Clock::now()) {}
  [[nodiscard]] Took Stop() const {
    const double wall = std::chrono::duration<double>(Clock::now() - start_).count();
    return {wall, ProcessorSeconds(who_) - processor_, MachineSeconds() - machine_};
  }

 private:
  int who_;
  double machine_;
  double processor_;
  Clock::time_point start_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Folders in it are spread over the disk, as far from each other as ext4 can: a folder beside one
// whose files were deleted a moment ago would have to search for inodes. Other file systems do not
// know it.
void SpreadFolders(const std::string& dir) {
  const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int flags = 0;
  if (fd < 0) return;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_TOPDIR_FL;
    (void)::ioctl(fd, FS_IOC_SETFLAGS, &flags);
  }
  ::close(fd);
}

// Hands the memory that holds a turn's files back, for the next turn. A virtual machine would
// otherwise go on to memory it has never used, and each page of that is a trip to its host: three
// to five times slower, for whoever comes first.
void DropFromMemory(const std::string& dir) {
  for (const stdfs::directory_entry& entry : stdfs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

// A quiet start for every measurement: nothing dirty left from the one before. Old folders stay
// until the end: for seconds after files were deleted, ext4 searches long for inodes that were not
// in use recently.
std::string FreshDir(const Options& options, const char* name) {
  static int turn = 0;
  static std::string last;
  ::sync();
  if (!last.empty()) DropFromMemory(last);
  last = options.dir + "/" + name + std::to_string(++turn);
  stdfs::create_directories(last + "/bench_op");
  ::sync();
  return last;
}

Took RunKerf(const Options& options, const std::string& input, const char* durability) {
  const std::string dir = FreshDir(options, "kerf");
  const std::string script =
      "exec \"$0\" trace append --log-dir \"$1\" --durability \"$2\" < \"$3\"";
  const Stopwatch watch(RUSAGE_CHILDREN);
  auto outcome =
      kerf::RunProcess({.argv = {"/bin/sh", "-c", script, options.kerf, dir, durability, input},
                        .stdout_limit = size_t{64} << 20});
  const Took took = watch.Stop();
  if (!outcome.ok() || outcome->exit_code != 0) {
    std::fprintf(stderr, "kerf failed: %s\n",
                 outcome.ok() ? outcome->stderr_text.c_str() : outcome.error().message.c_str());
    std::exit(3);
  }
  return took;
}

void WriteRaw(const Step& step, const std::string& dir, bool sync) {
  for (int k = 0; k < 3; ++k) {
    const int fd =
        ::open((dir + step.names[k]).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 ||
        ::write(fd, step.texts[k].data(), step.texts[k].size()) !=
            static_cast<ssize_t>(step.texts[k].size()) ||
        (sync && ::fsync(fd) != 0)) {
      std::perror("raw write");
      std::exit(3);
    }
    ::close(fd);
  }
}

Took RunRaw(const Options& options, const std::vector<Step>& steps, bool sync) {
  const std::string dir = FreshDir(options, "raw") + "/bench_op/";
  const Stopwatch watch(RUSAGE_SELF);
  for (const Step& step : steps) WriteRaw(step, dir, sync);
  return watch.Stop();
}

// The least that anybody must do whose answers mean that a batch is on the device: the same files,
// and a second thread that syncs whenever another 4 MB are written. No reading, no hashes, no
// journal.
Took RunRawAndSync(const Options& options, const std::vector<Step>& steps) {
  constexpr size_t kBatch = 40;
  const std::string dir = FreshDir(options, "synced") + "/bench_op/";
  const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::mutex mu;
  std::condition_variable changed;
  size_t written = 0;
  const Stopwatch watch(RUSAGE_SELF);
  std::thread syncer([&] {
    for (size_t synced = 0; synced < steps.size();) {
      {
        std::unique_lock lock(mu);
        changed.wait(lock, [&] { return written >= std::min(synced + kBatch, steps.size()); });
        synced = written;
      }
      ::syncfs(fd);
    }
  });
  for (size_t i = 0; i < steps.size(); ++i) {
    WriteRaw(steps[i], dir, false);
    if ((i + 1) % kBatch != 0 && i + 1 != steps.size()) continue;
    const std::lock_guard lock(mu);
    written = i + 1;
    changed.notify_one();
  }
  syncer.join();
  const Took took = watch.Stop();
  ::close(fd);
  return took;
}

// AIKG's way: parse the reply, join the path, make the folder, open, write, close, for each text.
constexpr char kPythonLoop[] = R"py(
import json, os, sys, time
steps = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
start = time.perf_counter()
trace_list = []
for s in steps:
    trace_list.append(s)
    for name in ("res", "prompt", "reasoning"):
        target_dir = os.path.join(os.path.expanduser(sys.argv[2]), s["op_name"])
        os.makedirs(target_dir, exist_ok=True)
        label = {"res": "result"}.get(name, name)
        path = os.path.join(target_dir, f"I{s['task_id']}_S{len(trace_list):02d}_{s['op_name']}_DoCoder_{label}.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(str(s[name]))
print(time.perf_counter() - start)
)py";

double RunPython(const Options& options, const std::string& input) {
  const std::string dir = FreshDir(options, "python");
  auto outcome = kerf::RunProcess({.argv = {"python3", "-c", kPythonLoop, input, dir}});
  return outcome.ok() && outcome->exit_code == 0 ? std::atof(outcome->stdout_text.c_str()) : -1;
}

Took MedianOf(const std::vector<Took>& turns) {
  const auto median = [&](double Took::*member) {
    std::vector<double> values;
    for (const Took& took : turns) values.push_back(took.*member);
    return Median(values);
  };
  return {median(&Took::wall), median(&Took::processor), median(&Took::machine)};
}

void Row(const char* who, int steps, const std::vector<Took>& turns, double raw) {
  const double scale = 1e6 / steps;
  const Took took = MedianOf(turns);
  std::printf("  %-28s %8.1f us/step, %.2f of raw   processor %8.1f   whole machine %8.1f\n", who,
              took.wall * scale, took.wall / raw, took.processor * scale, took.machine * scale);
}

void Measure(const Options& options, const char* what, int count, const char* durability) {
  const bool sync = std::string(durability) == "step";
  const std::vector<Step> steps = MakeSteps(count);
  const std::string input = options.dir + "/input.jsonl";
  WriteInput(steps, input);
  std::vector<Took> kerf;
  std::vector<Took> raw;
  std::vector<Took> synced;
  std::vector<double> python;
  for (int i = 0; i < options.repeats; ++i) {
    raw.push_back(RunRaw(options, steps, sync));
    kerf.push_back(RunKerf(options, input, durability));
    if (sync) continue;
    synced.push_back(RunRawAndSync(options, steps));
    python.push_back(RunPython(options, input));
  }
  const double base = MedianOf(raw).wall;
  std::printf("%s\n", what);
  Row("raw", count, raw, base);
  Row("kerf", count, kerf, base);
  if (sync) return;
  Row("raw, synced every 4 MB", count, synced, base);
  std::printf("  %-28s %8.1f us/step\n", "python loop, not synced", Median(python) * 1e6 / count);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--steps" && i + 1 < argc) {
      options.batch_steps = std::atoi(argv[++i]);
    } else if (arg == "--repeats" && i + 1 < argc) {
      options.repeats = std::atoi(argv[++i]);
    } else if (arg == "--dir" && i + 1 < argc) {
      options.dir = argv[++i];
    } else if (arg == "--keep") {
      options.keep = true;
    } else {
      options.kerf = arg;
    }
  }
  if (options.kerf.empty()) {
    std::fprintf(stderr, "usage: %s KERF_BINARY [--steps N] [--repeats N] [--dir D] [--keep]\n",
                 argv[0]);
    return 2;
  }
  if (options.dir.empty()) options.dir = stdfs::temp_directory_path() / "kerf_trace_append_bench";
  stdfs::create_directories(options.dir);
  SpreadFolders(options.dir);
  std::printf("%s\n", kerf::bench::MachineContext(options.dir).c_str());
  std::printf("steps of 100 KB in 3 files; medians of %d turns\n", options.repeats);
  Measure(options, "durable append, against write+fsync", options.durable_steps, "step");
  Measure(options, "batch append, against open/write/close", options.batch_steps, "batch");
  if (!options.keep) stdfs::remove_all(options.dir);
  return 0;
}
