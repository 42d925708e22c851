// Claims: the timing model takes at least 5 million recorded instructions per second on one core;
// the whole directory of a run of 1 million instructions is written in under 3 s; memory is linear
// with a small constant.
//
//   kerf_sim_bench [--instructions N] [--cores N] [--dir D] [--chip FILE]
//
// The run is a ping-pong loop of loads, vector work and stores with all of its flags, as kernels
// have it: 8 of 11 instructions of a turn are flags. Peers: the same bytes written raw (recording),
// the log read as plain bytes (timing).
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/file_system.h"
#include "kerf_log/writer.h"
#include "machine.h"
#include "sim/output/analyse.h"

namespace {

namespace sim = kerf::sim;
namespace stdfs = std::filesystem;
using sim::Op;
using sim::Pipe;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

sim::Operand Tile(sim::Memory memory, uint64_t address, uint8_t access) {
  return {.address = address,
          .bytes = 6144,
          .rows = 24,
          .columns = 64,
          .valid_rows = 24,
          .valid_columns = 64,
          .memory = memory,
          .dtype = sim::Dtype::kF32,
          .access = access};
}

class Recorder {
 public:
  Recorder(kerf_log::LogFile& file, uint32_t core)
      : core_(file, kerf_log::CoreKind::kAiv, core / 2, static_cast<uint8_t>(core % 2)) {}

  void Work(Op op, Pipe pipe, uint32_t line, const sim::Operand& to, const sim::Operand& from) {
    kerf_log::Instruction& record =
        core_.Begin(op, pipe, core_.SiteOf("kernel.cpp", line, 0, "kernel_entry"));
    record.bytes = 6144;
    record.operations = 1536;
    core_.Add(to);
    core_.Add(from);
    core_.End();
    ++count;
  }
  void Flag(Op op, Pipe source, Pipe destination, uint8_t event, uint32_t line) {
    const Pipe pipe = op == Op::SET_FLAG ? source : destination;
    core_.AddSync(op, pipe, core_.SiteOf("kernel.cpp", line, 0, "kernel_entry"),
                  {static_cast<uint8_t>(source), static_cast<uint8_t>(destination), event, 0, 0});
    ++count;
  }

  // One turn of the loop: load, exp, store, with the flags of two buffers.
  void Turn(uint64_t turn) {
    const auto b = static_cast<uint8_t>(turn % 2);
    const uint64_t ub = uint64_t{b} * 32768;
    const uint64_t gm = (uint64_t{1} << 32) + turn * 6144;
    Flag(Op::WAIT_FLAG, Pipe::kVector, Pipe::kMte2, b, 10);
    Work(Op::TLOAD, Pipe::kMte2, 11, Tile(sim::Memory::kUb, ub, kerf_log::kWrite),
         Tile(sim::Memory::kGm, gm, kerf_log::kRead));
    Flag(Op::SET_FLAG, Pipe::kMte2, Pipe::kVector, b, 12);
    Flag(Op::WAIT_FLAG, Pipe::kMte2, Pipe::kVector, b, 13);
    Flag(Op::WAIT_FLAG, Pipe::kMte3, Pipe::kVector, b, 14);
    Work(Op::TEXP, Pipe::kVector, 15, Tile(sim::Memory::kUb, ub + 8192, kerf_log::kWrite),
         Tile(sim::Memory::kUb, ub, kerf_log::kRead));
    Flag(Op::SET_FLAG, Pipe::kVector, Pipe::kMte2, b, 16);
    Flag(Op::SET_FLAG, Pipe::kVector, Pipe::kMte3, b, 17);
    Flag(Op::WAIT_FLAG, Pipe::kVector, Pipe::kMte3, b, 18);
    Work(Op::TSTORE, Pipe::kMte3, 19,
         Tile(sim::Memory::kGm, gm + (uint64_t{1} << 40), kerf_log::kWrite),
         Tile(sim::Memory::kUb, ub + 8192, kerf_log::kRead));
    Flag(Op::SET_FLAG, Pipe::kMte3, Pipe::kVector, b, 20);
  }

  uint64_t count = 0;

 private:
  kerf_log::CoreLog core_;
};

void RecordCore(kerf_log::LogFile& file, uint32_t core, uint64_t instructions) {
  Recorder recorder(file, core);
  for (uint8_t b = 0; b < 2; ++b) {
    recorder.Flag(Op::SET_FLAG, Pipe::kVector, Pipe::kMte2, b, 1);
    recorder.Flag(Op::SET_FLAG, Pipe::kMte3, Pipe::kVector, b, 2);
  }
  for (uint64_t turn = 0; recorder.count + 15 < instructions; ++turn)
    recorder.Turn(turn + core * instructions);
  for (uint8_t b = 0; b < 2; ++b) {
    recorder.Flag(Op::WAIT_FLAG, Pipe::kVector, Pipe::kMte2, b, 30);
    recorder.Flag(Op::WAIT_FLAG, Pipe::kMte3, Pipe::kVector, b, 31);
  }
}

void Record(const std::string& path, uint64_t instructions, uint32_t cores) {
  kerf_log::LogFile file;
  if (!file.Open(path.c_str())) {
    std::fprintf(stderr, "%s\n", file.error().c_str());
    std::exit(3);
  }
  for (uint32_t core = 0; core < cores; ++core) RecordCore(file, core, instructions / cores);
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

uint64_t TreeBytes(const std::string& dir) {
  uint64_t bytes = 0;
  for (const auto& entry : stdfs::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void RawWrite(const std::string& path, uint64_t bytes) {
  const std::string piece(size_t{1} << 20, 'x');
  std::ofstream file(path, std::ios::binary);
  for (uint64_t at = 0; at < bytes; at += piece.size())
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
}

void Row(const char* what, double seconds, double count, const char* unit) {
  std::printf("%-44s %8.3f s  %8.2f M %s/s\n", what, seconds, count / seconds / 1e6, unit);
}

bool WriteDirectories(const sim::InstructionLog& log, const kerf::CoreModel& model,
                      const std::string& dir, double count) {
  double at = 0;
  const auto fs = kerf::MakePosixFileSystem();
  for (const bool perfetto : {false, true}) {
    const std::string out = dir + (perfetto ? "/with" : "/without");
    at = Seconds();
    const auto report = sim::Analyse(
        *fs, log, model, {.parent = out, .stamp = "20260101000000000", .perfetto = perfetto});
    const double seconds = Seconds() - at;
    if (!report.ok()) {
      std::fprintf(stderr, "%s\n", report.error().message.c_str());
      return false;
    }
    Row(perfetto ? "analyse and write, with Perfetto" : "analyse and write the directory", seconds,
        count, "instructions");
    const uint64_t bytes = TreeBytes(out);
    at = Seconds();
    RawWrite(dir + "/raw", bytes);
    std::printf("  %.0f MB; peer: the same bytes, raw %.3f s\n", static_cast<double>(bytes) / 1e6,
                Seconds() - at);
    stdfs::remove_all(out);
  }
  return true;
}

int Run(uint64_t instructions, uint32_t cores, const std::string& dir, const std::string& chip) {
  const auto model = kerf::ParseCoreModel(ReadAll(chip));
  if (!model.ok()) {
    std::fprintf(stderr, "%s: %s\n", chip.c_str(), model.error().message.c_str());
    return 3;
  }
  stdfs::create_directories(dir);
  const std::string path = dir + "/run.kilog";
  std::printf("%s\n%llu instructions on %u cores\n\n", kerf::bench::MachineContext(dir).c_str(),
              static_cast<unsigned long long>(instructions), cores);

  double at = Seconds();
  Record(path, instructions, cores);
  const double recording = Seconds() - at;
  const auto count = static_cast<double>(instructions);
  Row("record", recording, count, "instructions");
  at = Seconds();
  RawWrite(dir + "/raw", stdfs::file_size(path));
  Row("  peer: the same bytes, raw", Seconds() - at, count, "instructions");

  at = Seconds();
  const auto log = sim::ReadInstructionLog(path);
  if (!log.ok()) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 3;
  }
  Row("read the log", Seconds() - at, count, "instructions");
  const double before = PeakMegabytes();
  for (int again = 0; again < 3; ++again) {
    at = Seconds();
    const sim::RunTiming timing = sim::Time(*log, *model);
    Row("timing model", Seconds() - at, count, "instructions");
    if (!timing.blocked.empty()) std::printf("the run hangs\n");
  }
  at = Seconds();
  const sim::Checked checked = sim::TimeAndCheck(*log, *model);
  Row("timing and hazards", Seconds() - at, count, "instructions");
  std::printf("  %zu hazards, %llu cycles\n", checked.hazards.size(),
              static_cast<unsigned long long>(checked.timing.cycles));
  std::printf("  memory: log %.0f B, timing and hazards %.0f B more per instruction (peaks)\n",
              before * 1048576 / count, (PeakMegabytes() - before) * 1048576 / count);

  if (!WriteDirectories(*log, *model, dir, count)) return 3;
  std::printf("  peak memory of the process %.0f MB\n", PeakMegabytes());
  stdfs::remove_all(dir);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t instructions = 1'000'000;
  uint32_t cores = 1;
  std::string dir = "sim_bench.tmp";
  std::string chip = KERF_SOURCE_DIR "/chips/ascend910b1.yaml";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--instructions") == 0) instructions = std::stoull(argv[i + 1]);
    if (std::strcmp(argv[i], "--cores") == 0)
      cores = static_cast<uint32_t>(std::stoul(argv[i + 1]));
    if (std::strcmp(argv[i], "--dir") == 0) dir = argv[i + 1];
    if (std::strcmp(argv[i], "--chip") == 0) chip = argv[i + 1];
  }
  return Run(instructions, cores, dir, chip);
}
