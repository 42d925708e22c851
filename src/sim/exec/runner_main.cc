// Lays out global memory as a runtime would (descriptors, arguments, contexts), each tensor at the
// end of a mapping, so that a scalar access behind it faults, and runs all cores.
#include "sim/exec/runner_main.h"

#include <fcntl.h>
#include <kerf_log/writer.h>
#include <kerf_pto/abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "base/file_system.h"
#include "sim/exec/library_image.h"
#include "sim/exec/run_files.h"
#include "sim/machine/launch.h"

namespace kerf::sim {
namespace {

constexpr size_t kPage = 4096;
constexpr int kSlots = 50;

size_t RoundUp(size_t value, size_t step) { return (value + step - 1) / step * step; }

// Between inaccessible pages; nullptr when there is no room.
char* Map(size_t bytes) {
  const size_t inside = RoundUp(std::max<size_t>(bytes, 1), kPage);
  auto* base = static_cast<char*>(::mmap(nullptr, inside + 2 * kPage, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (base == MAP_FAILED) return nullptr;
  if (::mprotect(base + kPage, inside, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // The end of the buffer at the end of the page, aligned as a device allocation is to a line.
  return base + kPage + inside - RoundUp(std::max<size_t>(bytes, 1), 64);
}

bool ReadInto(const std::string& path, char* to, size_t bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::read(fd, to + done, bytes - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  ::close(fd);
  return done == bytes;
}

bool WriteFrom(const std::string& path, const char* from, size_t bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return false;
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::write(fd, from + done, bytes - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  ::close(fd);
  return done == bytes;
}

// --- faults: the handler has to find these ---
Launch* running = nullptr;
int fault_fd = -1;

void OnFault(int signal, siginfo_t* info, void*) {
  std::signal(signal, SIG_DFL);
  char text[1024];
  const std::string place = running == nullptr ? "" : running->LastPlace();
  const int length = std::snprintf(text, sizeof text, "%s at address %p, %s", ::strsignal(signal),
                                   info->si_addr, place.c_str());
  if (fault_fd >= 0 && length > 0) {
    [[maybe_unused]] const ssize_t n =
        ::write(fault_fd, text, std::min<size_t>(static_cast<size_t>(length), sizeof text - 1));
  }
  ::raise(signal);
}

void CatchFaults(const std::string& path) {
  static char stack[65536];
  const stack_t alternate{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&alternate, nullptr);
  fault_fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::sigaction(signal, &action, nullptr);
}

// --- the launch ---
class Runner {
 public:
  Runner(std::string folder, RunRequest request)
      : folder_(std::move(folder)), request_(std::move(request)) {}

  RunResult Run() {
    RunResult result;
    if (result.error = LoadAll(); !result.error.empty()) return result;
    if (result.error = PlaceTensors(); !result.error.empty()) return result;
    kerf_log::LogFile log;
    if (request_.record) {
      log.set_limit(request_.most_instructions);
      if (!log.Open((folder_ + "/run.kilog").c_str())) {
        result.error = log.error();
        return result;
      }
    }
    LaunchConfig config;
    config.memories = request_.a5 ? &kA5Memories : &kA2A3Memories;
    config.lane_register = request_.lane_register;
    config.log = request_.record ? &log : nullptr;
    config.code = CodeOf();
    for (const RunDispatch& dispatch : request_.dispatches)
      config.block_count += static_cast<uint32_t>(dispatch.blocks);
    config.block_count -= 1;
    {
      Launch launch(config, global_, &current_);
      AddCores(launch);
      running = &launch;
      const auto begin = std::chrono::steady_clock::now();
      LaunchResult done = launch.Run();
      result.run_seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      running = nullptr;
      result.findings = std::move(done.findings);
      result.instructions = done.instructions;
      result.cores = done.cores;
      result.finished = done.finished;
      result.printed = std::move(done.printed);
    }
    log.Close();
    if (request_.record && !log.ok()) result.error = log.error();
    if (result.error.empty()) result.error = SaveTensors();
    return result;
  }

 private:
  std::string LoadAll() {
    for (const std::string* path : {&request_.aic, &request_.aiv[0], &request_.aiv[1]}) {
      if (path->empty() || images_.count(*path) != 0) continue;
      if (std::string problem = images_[*path].Load(*path, &current_); !problem.empty())
        return problem;
    }
    return images_.empty() ? "no core has a kernel" : "";
  }

  // Numbered as Libraries() orders them.
  std::vector<CodeRange> CodeOf() {
    std::vector<CodeRange> code;
    for (const std::string& path : Libraries(request_)) {
      CodeRange range = images_[path].code();
      range.label = CodeLabel(code.size());
      code.push_back(range);
    }
    return code;
  }

  std::string PlaceTensors() {
    for (const RunTensor& tensor : request_.tensors) {
      char* data = Map(tensor.bytes);
      if (data == nullptr) return "no memory for slot " + std::to_string(tensor.slot);
      if (!ReadInto(folder_ + "/t" + std::to_string(tensor.slot) + ".in", data, tensor.bytes)) {
        return "the bytes of slot " + std::to_string(tensor.slot) + " are not there";
      }
      char* descriptor = Map(128);
      if (descriptor == nullptr || tensor.descriptor.size() != 128)
        return "a descriptor is not right";
      std::memcpy(descriptor, tensor.descriptor.data(), 128);
      const auto address = reinterpret_cast<uint64_t>(data);
      std::memcpy(descriptor, &address, sizeof address);
      global_.AddRegion("slot " + std::to_string(tensor.slot) + " (" + tensor.name + ")", data,
                        tensor.bytes);
      global_.AddRegion("the descriptor of slot " + std::to_string(tensor.slot), descriptor, 128);
      data_.push_back(data);
      slots_[static_cast<size_t>(tensor.slot)] = reinterpret_cast<int64_t>(descriptor);
    }
    for (const RunScalar& scalar : request_.scalars)
      slots_[static_cast<size_t>(scalar.slot)] = static_cast<int64_t>(scalar.bits);
    return request_.comm_slot >= 0 ? PlaceCommContext() : "";
  }

  // One rank: its windows cover every tensor, so that a remote address is the local one.
  std::string PlaceCommContext() {
    char* context = Map(1056);
    if (context == nullptr) return "no memory for the communication context";
    const uint32_t ranks = 1;
    const uint64_t whole = UINT64_MAX;
    std::memcpy(context + 20, &ranks, sizeof ranks);
    std::memcpy(context + 24, &whole, sizeof whole);
    global_.AddRegion("the communication context", context, 1056);
    slots_[static_cast<size_t>(request_.comm_slot)] = reinterpret_cast<int64_t>(context);
    return "";
  }

  std::string SaveTensors() {
    for (size_t i = 0; i < request_.tensors.size(); ++i) {
      const RunTensor& tensor = request_.tensors[i];
      if (!tensor.output) continue;
      if (!WriteFrom(folder_ + "/t" + std::to_string(tensor.slot) + ".out", data_[i],
                     tensor.bytes)) {
        return "slot " + std::to_string(tensor.slot) + " could not be saved";
      }
    }
    return "";
  }

  void AddCores(Launch& launch) {
    uint32_t row = 0;
    for (const RunDispatch& dispatch : request_.dispatches) {
      for (int64_t block = 0; block < dispatch.blocks; ++block, ++row) {
        if (!request_.aic.empty())
          AddCore(launch, {dispatch, block, row, kerf_log::CoreKind::kAic, 0});
        for (uint8_t lane = 0; lane < 2; ++lane) {
          if (!request_.aiv[lane].empty())
            AddCore(launch, {dispatch, block, row, kerf_log::CoreKind::kAiv, lane});
        }
      }
    }
  }

  char* DmaWorkspace() {
    constexpr size_t kBytes = 65536;
    if (dma_workspace_ == nullptr) {
      dma_workspace_ = Map(kBytes);
      global_.AddRegion("the DMA workspace", dma_workspace_, kBytes);
    }
    return dma_workspace_;
  }

  struct Place {
    const RunDispatch& dispatch;
    int64_t block;
    uint32_t row;
    kerf_log::CoreKind kind;
    uint8_t lane;
  };
  void AddCore(Launch& launch, const Place& place) {
    const bool aic = place.kind == kerf_log::CoreKind::kAic;
    LibraryImage& image = images_[aic ? request_.aic : request_.aiv[place.lane]];
    const size_t number = image.AddCore();
    // 50 words, then the two contexts, 256 zero bytes each.
    auto* args = reinterpret_cast<int64_t*>(Map(kSlots * 8 + 512));
    std::memcpy(args, slots_, sizeof slots_);
    for (const RunScalar& scalar : place.dispatch.overrides)
      args[scalar.slot] = static_cast<int64_t>(scalar.bits);
    auto* local = reinterpret_cast<int32_t*>(args + kSlots);
    auto* global = local + 64;
    local[0] = static_cast<int32_t>(place.block);
    local[1] =
        static_cast<int32_t>(request_.block_num > 0 ? request_.block_num : place.dispatch.blocks);
    global[0] = aic ? 0 : place.lane;
    // DMA engines are there; what they need is memory of their own.
    const auto workspace = reinterpret_cast<uint64_t>(DmaWorkspace());
    for (const int at : {2, 4}) std::memcpy(global + at, &workspace, sizeof workspace);
    args[48] = reinterpret_cast<int64_t>(local);
    args[49] = reinterpret_cast<int64_t>(global);
    global_.AddRegion("the arguments", args, kSlots * 8 + 512);
    CoreSpec spec;
    spec.kind = place.kind;
    spec.block = place.row;
    spec.lane = place.lane;
    spec.body = [entry = image.entry(), args] { entry(args); };
    spec.enter = [&image, number] { image.SwitchTo(number); };
    launch.AddCore(std::move(spec));
  }

  const std::string folder_;
  const RunRequest request_;
  kerf_pto::Core* current_ = nullptr;
  GlobalMemory global_;
  std::map<std::string, LibraryImage> images_;
  std::vector<char*> data_;  // by tensor
  int64_t slots_[kSlots] = {};
  char* dma_workspace_ = nullptr;
};

}  // namespace

int SimRunnerMain(int argc, char** argv) {
  const std::string folder = argc > 0 ? argv[0] : ".";
  const auto fs = MakePosixFileSystem();
  Result<std::string> text = fs->ReadFile(folder + "/request.json");
  if (!text.ok()) return 2;
  Result<RunRequest> request = ReadRunRequest(*text);
  if (!request.ok()) return 2;
  CatchFaults(folder + "/fault.txt");
  const std::string result = WriteRunResult(Runner(folder, std::move(*request)).Run());
  return WriteFrom(folder + "/result.json", result.data(), result.size()) ? 0 : 3;
}

}  // namespace kerf::sim
