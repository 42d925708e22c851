// Claims about data sets (a generated pair of files of 2 GB):
// - reading it and deciding takes a 20th of a straightforward Python script with json, a 5th of one
//   with orjson, and less than 200 MB of memory;
// - writing all folders takes at most 1.5 times as long as opening, writing and closing the same
//   files;
// - twice the data take twice the time.
//
//   kerf_dataset_bench KERF_BINARY PEER.py [--dir D] [--mb N] [--repeats N] [--python P]
//                      [--only reading|writing]
//
// PEER.py is bench/dataset_peer.py. Each figure is the median of the repeats, taken in turns.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "machine.h"

namespace {

namespace stdfs = std::filesystem;
using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(3);
}

// Deterministic, so that every machine reads the same bytes.
class Random {
 public:
  uint32_t Next(uint32_t below) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<uint32_t>((state_ >> 33) % below);
  }

 private:
  uint64_t state_ = 42;
};

// Texts as they stand between the quotes of a JSON string.
class Texts {
 public:
  std::string Code(size_t bytes, bool hip) {
    static const char* const kHip[] = {
        R"(  const int idx = blockIdx.x * blockDim.x + threadIdx.x;\n)",
        R"(  if (idx >= n_elements) return;\n)",
        R"(  float acc = 0.0f;\n  #pragma unroll\n  for (int k = 0; k < BLOCK_K; ++k) {\n)",
        R"(    acc = fmaf(static_cast<float>(a[row * lda + k]), b[k * ldb + col], acc);\n  }\n)",
        R"(  TORCH_CHECK(x.is_contiguous(), \"x must be contiguous\");\n)",
        R"(  // keep the tile in shared memory, one row per wavefront\n\n)"};
    static const char* const kTriton[] = {
        R"(    pid = tl.program_id(axis=0)\n    offsets = pid * BLOCK + tl.arange(0, BLOCK)\n)",
        R"(    mask = offsets < n_elements\n)",
        R"(    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)\n)",
        R"(    tl.store(out_ptr + offsets, tl.exp(x) / denominator, mask=mask)\n)",
        R"(    \"\"\"Row-wise work: one program per row.\"\"\"\n\n)"};
    std::string text =
        hip ? R"(#include <hip/hip_runtime.h>\n#include <torch/extension.h>\n\n__global__ void k() {\n)"
            : R"(import torch\nimport triton\n\n@triton.jit\ndef k(x_ptr):\n)";
    while (text.size() < bytes) {
      text += hip ? kHip[random_.Next(6)] : kTriton[random_.Next(5)];
      if (random_.Next(4) == 0)
        text += "    // step " + std::to_string(random_.Next(10000)) + R"(\n)";
    }
    if (hip) text += R"(}\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"k\", &k); }\n)";
    return text;
  }

  // `code` with every tenth line or so changed: what a model makes of its own code.
  std::string Edited(const std::string& code) {
    std::string text;
    for (size_t at = 0; at < code.size();) {
      const size_t feed = code.find(R"(\n)", at);
      const size_t end = feed == std::string::npos ? code.size() : feed + 2;
      if (random_.Next(10) == 0)
        text += "    // changed " + std::to_string(random_.Next(10000)) + R"(\n)";
      if (random_.Next(10) != 0) text.append(code, at, end - at);
      at = end;
    }
    return text;
  }

  std::string Prose(size_t bytes) {
    static const char* const kWords[] = {
        "memory ",     "access ", "the kernel ", "wavefront ", "is bound by ",
        "vectorised ", "loads; ", "occupancy ",  "could use ", "fewer registers. "};
    std::string text = R"(```reflection\n)";
    while (text.size() < bytes) {
      text += kWords[random_.Next(10)];
      if (random_.Next(12) == 0) text += R"(\n- )";
    }
    return text + R"(\n```)";
  }

  std::string Error() {
    switch (random_.Next(4)) {
      case 0:
        return R"(x.hip:12:3: error: no matching function for call to 'k'\n   12 |   k<<<1, 2>>>(x);\n)" +
               Prose(600);
      case 1:
        return R"(Traceback (most recent call last):\n  File \"t.py\", line 3\nAttributeError: module 'm' has no attribute 'call_kernel')";
      case 2:
        return R"(Generated output does not match reference output for file: a.py\nMismatched elements: 12 / 4096)";
      default:
        return R"(RuntimeError: HIP error: invalid configuration argument\n)" + Prose(400);
    }
  }

  uint32_t Dice(uint32_t below) { return random_.Next(below); }

 private:
  Random random_;
};

struct Pair {
  std::string jsonl;
  std::string mem;
  uint64_t bytes = 0;
  uint64_t cases = 0;
};

Pair Generate(const std::string& dir, uint64_t bytes) {
  const std::string root = dir + "/bench_" + std::to_string(bytes >> 20);
  Pair pair{root + "_0.jsonl", root + "_mem_0.json"};
  std::FILE* jsonl = std::fopen(pair.jsonl.c_str(), "w");
  std::FILE* mem = std::fopen(pair.mem.c_str(), "w");
  if (jsonl == nullptr || mem == nullptr) Fail("cannot write into " + dir);
  Texts texts;
  std::string line;
  const char* flags[] = {R"("pass_call": false, "pass_exe": false, "pass_perf": false)",
                         R"("pass_call": true, "pass_exe": false, "pass_perf": false)",
                         R"("pass_call": true, "pass_exe": true, "pass_perf": false)",
                         R"("pass_call": true, "pass_exe": true, "pass_perf": true)"};
  for (; pair.bytes < bytes; ++pair.cases) {
    const std::string name = "kernel_" + std::to_string(pair.cases) + ".py";
    const std::string predict = texts.Code(8000, true);
    line = R"({"instruction": ")" + texts.Prose(1500) + R"(", "label": ")" +
           texts.Code(6000, false) + R"(", "filename": ")" + name + R"(", "test_code": ")" +
           texts.Code(2500, false) + R"(", "predict": ")" + predict + "\", \"speedup\": 1.25}\n";
    pair.bytes += line.size();
    std::fwrite(line.data(), 1, line.size(), jsonl);
    const uint32_t class_of = texts.Dice(5);
    const bool failed = class_of < 3;
    line = (pair.cases == 0 ? "{\"" : ", \"") + name +
           R"(": {"call_err_msg": "None", "exe_err_msg": ")" + (failed ? texts.Error() : "None") +
           R"(", "reflection": null, "oneshot": ")" + texts.Code(10000, false) +
           R"(", "perf_candidates": [)";
    const uint32_t candidates = texts.Dice(4);
    for (uint32_t i = 0; i < candidates; ++i) {
      line += std::string(i == 0 ? "[\"" : ", [\"") + texts.Edited(predict) + "\", 1." +
              std::to_string(30 - i) + ", 0.0, \"" + texts.Prose(2500) + "\", null]";
    }
    line += R"(], "perf_strategy": null, "call_candidate": ")" + texts.Edited(predict) +
            R"(", "exe_candidate": )" +
            (candidates > 0 ? "\"" + texts.Edited(predict) + "\"" : "null") +
            R"(, "temp_strategy": ")" + texts.Prose(700) + R"(", "perf_debug_num": 1, )" +
            flags[std::min<uint32_t>(class_of, 3)] + "}";
    pair.bytes += line.size();
    std::fwrite(line.data(), 1, line.size(), mem);
  }
  std::fputs("}", mem);
  std::fclose(jsonl);
  std::fclose(mem);
  return pair;
}

struct Run {
  double seconds = 0;
  double processor = 0;  // seconds, of all its threads
  double peak_mb = 0;
};

// Runs a program with its output thrown away.
Run RunProgram(const std::vector<std::string>& argv) {
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 1);
    ::dup2(null, 2);
    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) Fail("cannot run " + argv[0]);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) Fail(argv[0] + " failed");
  if (WEXITSTATUS(status) == 9) return {-1, 0, 0};  // the peer lacks a package
  if (WEXITSTATUS(status) != 0) Fail(argv[0] + " " + argv[1] + " failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {Seconds(begin), seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct File {
  std::string path;  // relative
  std::string bytes;
  bool folder = false;
};

std::vector<File> ReadTree(const std::string& root) {
  std::vector<File> files;
  for (const auto& entry : stdfs::recursive_directory_iterator(root)) {
    File file{stdfs::relative(entry.path(), root).string(), "", entry.is_directory()};
    if (!file.folder) {
      std::ifstream in(entry.path(), std::ios::binary);
      file.bytes = {std::istreambuf_iterator<char>(in), {}};
    }
    files.push_back(std::move(file));
  }
  return files;
}

// The physical limit: the same folders and files, by open, write and close.
double WriteRaw(const std::vector<File>& files, const std::string& root) {
  const auto begin = Clock::now();
  if (::mkdir(root.c_str(), 0777) != 0) Fail("cannot make " + root);
  for (const File& file : files) {
    const std::string path = root + "/" + file.path;
    if (file.folder) {
      if (::mkdir(path.c_str(), 0777) != 0) Fail("cannot make " + path);
      continue;
    }
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 ||
        ::write(fd, file.bytes.data(), file.bytes.size()) !=
            static_cast<ssize_t>(file.bytes.size()) ||
        ::close(fd) != 0) {
      Fail("cannot write " + path);
    }
  }
  return Seconds(begin);
}

void Remove(const std::string& path) {
  std::error_code ignored;
  stdfs::remove_all(path, ignored);
  // So that one side's dirty pages are not written at the other side's expense.
  ::sync();
}

struct Options {
  std::string kerf;
  std::string peer;
  std::string dir = "/tmp";
  std::string python = "python3";
  uint64_t mb = 2048;
  std::string only;  // "reading" or "writing"
  int repeats = 3;
};

void BenchReading(const Options& options, const Pair& pair, const char* title) {
  std::vector<double> kerf;
  std::vector<double> kerf_processor;
  std::vector<double> json;
  std::vector<double> orjson;
  double peak = 0;
  double json_peak = 0;
  for (int i = 0; i < options.repeats; ++i) {
    const Run own =
        RunProgram({options.kerf, "debug", "extract", pair.jsonl, pair.mem, "--summary-only"});
    kerf.push_back(own.seconds);
    kerf_processor.push_back(own.processor);
    peak = std::max(peak, own.peak_mb);
    const Run slow =
        RunProgram({options.python, options.peer, "json", "decide", pair.jsonl, pair.mem});
    json.push_back(slow.seconds);
    json_peak = std::max(json_peak, slow.peak_mb);
    const Run fast =
        RunProgram({options.python, options.peer, "orjson", "decide", pair.jsonl, pair.mem});
    if (fast.seconds >= 0) orjson.push_back(fast.seconds);
  }
  std::printf("%s: %.2f GB, %lu cases\n", title, static_cast<double>(pair.bytes) / 1e9,
              static_cast<unsigned long>(pair.cases));
  std::printf("  kerf --summary-only  %7.3f s   %.1f GB/s, peak %.0f MB; processor time %.3f s\n",
              Median(kerf), static_cast<double>(pair.bytes) / 1e9 / Median(kerf), peak,
              Median(kerf_processor));
  std::printf("  python, json         %7.3f s   %.1fx kerf, peak %.0f MB\n", Median(json),
              Median(json) / Median(kerf), json_peak);
  if (orjson.empty()) {
    std::printf("  python, orjson       not installed in %s\n", options.python.c_str());
  } else {
    std::printf("  python, orjson       %7.3f s   %.1fx kerf\n", Median(orjson),
                Median(orjson) / Median(kerf));
  }
}

void BenchWriting(const Options& options, const Pair& pair) {
  const std::string out = options.dir + "/bench_out";
  Remove(out);
  RunProgram({options.kerf, "debug", "extract", pair.jsonl, pair.mem, "-o", out});
  const std::vector<File> files = ReadTree(out);
  Remove(out);
  uint64_t bytes = 0;
  for (const File& file : files) bytes += file.bytes.size();
  std::vector<double> kerf;
  std::vector<double> kerf_processor;
  std::vector<double> raw;
  std::vector<double> python;
  for (int i = 0; i < options.repeats; ++i) {
    raw.push_back(WriteRaw(files, out));
    Remove(out);
    const Run own = RunProgram({options.kerf, "debug", "extract", pair.jsonl, pair.mem, "-o", out});
    kerf.push_back(own.seconds);
    kerf_processor.push_back(own.processor);
    Remove(out);
    python.push_back(
        RunProgram({options.python, options.peer, "json", "extract", pair.jsonl, pair.mem, out})
            .seconds);
    Remove(out);
  }
  std::printf("writing %zu files and folders, %.2f GB\n", files.size(),
              static_cast<double>(bytes) / 1e9);
  std::printf("  open, write, close   %7.3f s\n", Median(raw));
  std::printf(
      "  kerf debug extract   %7.3f s   %.2fx raw (reading included); processor time %.3f s\n",
      Median(kerf), Median(kerf) / Median(raw), Median(kerf_processor));
  std::printf(
      "  python, json         %7.3f s   %.1fx kerf (the texts alone: no diffs, case.json, page)\n",
      Median(python), Median(python) / Median(kerf));
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  if (argc < 3)
    Fail("usage: kerf_dataset_bench KERF PEER.py [--dir D] [--mb N] [--repeats N] [--python P]");
  options.kerf = argv[1];
  options.peer = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--dir") options.dir = argv[i + 1];
    if (flag == "--mb") options.mb = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--repeats") options.repeats = std::atoi(argv[i + 1]);
    if (flag == "--python") options.python = argv[i + 1];
    if (flag == "--only") options.only = argv[i + 1];
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("%s\n", kerf::bench::MachineContext(options.dir).c_str());
  std::vector<Pair> pairs;
  if (options.only != "writing") {
    pairs.push_back(Generate(options.dir, options.mb << 19));
    pairs.push_back(Generate(options.dir, options.mb << 20));
    BenchReading(options, pairs[0], "half the data");
    BenchReading(options, pairs[1], "all the data");
  }
  if (options.only != "reading") {
    // An eighth: the folders of all of it are a hundred thousand files.
    pairs.push_back(Generate(options.dir, options.mb << 17));
    BenchWriting(options, pairs.back());
  }
  for (const Pair& pair : pairs) {
    Remove(pair.jsonl);
    Remove(pair.mem);
  }
  return 0;
}
