// A launch: refused when a device would refuse it, else run to its end before the call returns.
#include <pthread.h>
#include <string.h>

#include "kerf_simt/error.h"
#include "runtime/worker.h"

namespace kerf_simt {
namespace {

constexpr int kMaxWorkers = 64;
constexpr int kMaxAllowances = 256;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Worker* idle[kMaxWorkers];
int idle_count = 0;
int worker_count = 1;
uint32_t launches = 0;
int last_error = cudaSuccess;

struct Allowance {
  char call[200];  // the arguments of cudaFuncSetAttribute
  uint64_t bytes;
};
Allowance allowances[kMaxAllowances];
int allowance_count = 0;

class MutexLock {
 public:
  MutexLock() { pthread_mutex_lock(&mutex); }
  ~MutexLock() { pthread_mutex_unlock(&mutex); }
};

Worker* TakeWorker() {
  {
    MutexLock lock;
    if (idle_count > 0) return idle[--idle_count];
  }
  return Worker::Create();
}

void GiveBack(Worker* w) {
  MutexLock lock;
  if (idle_count < kMaxWorkers) idle[idle_count++] = w;
}

bool WordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "ns::kernel<float, 4>" is known as "kernel".
bool NamesKernel(const char* call, const char* kernel) {
  size_t end = 0;
  while (kernel[end] != 0 && kernel[end] != '<') ++end;
  while (end > 0 && !WordChar(kernel[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && WordChar(kernel[begin - 1])) --begin;
  const size_t n = end - begin;
  if (n == 0) return false;
  for (const char* p = call; *p != 0; ++p) {
    if (strncmp(p, kernel + begin, n) == 0 && (p == call || !WordChar(p[-1])) && !WordChar(p[n]))
      return true;
  }
  return false;
}

uint64_t DynamicLimit(const LaunchInfo& info) {
  if (info.hip) return 64 * 1024;
  uint64_t limit = 48 * 1024;
  MutexLock lock;
  for (int i = 0; i < allowance_count; ++i) {
    if (allowances[i].bytes > limit && NamesKernel(allowances[i].call, info.kernel))
      limit = allowances[i].bytes;
  }
  return limit;
}

// cudaSuccess, or why no device would start this; `why` says it in words.
int CheckLaunch(const LaunchInfo& info, Text& why) {
  const dim3& g = info.grid;
  const dim3& b = info.block;
  const uint64_t threads = uint64_t{b.x} * b.y * b.z;
  if (threads == 0 || g.x == 0 || g.y == 0 || g.z == 0) {
    why << "a dimension of grid (" << g.x << "," << g.y << "," << g.z << ") or block (" << b.x
        << "," << b.y << "," << b.z << ") is zero";
    return cudaErrorInvalidConfiguration;
  }
  if (threads > kMaxThreads || b.x > 1024 || b.y > 1024 || b.z > (info.hip ? 1024u : 64u)) {
    why << "a block of (" << b.x << "," << b.y << "," << b.z
        << ") threads is too large: at most 1024, "
        << "(1024,1024," << (info.hip ? 1024 : 64) << ")";
    return cudaErrorInvalidConfiguration;
  }
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    why << "a grid of (" << g.x << "," << g.y << "," << g.z
        << ") is too large: at most (2147483647,65535,65535)";
    return cudaErrorInvalidConfiguration;
  }
  const uint64_t limit = DynamicLimit(info);
  if (info.dynamic_bytes > limit) {
    why << info.dynamic_bytes << " bytes of dynamic shared memory are more than " << limit;
    if (!info.hip && info.dynamic_bytes <= 227 * 1024) {
      why << "; cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more";
    }
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

void* WorkerMain(void* raw) {
  auto& launch = *static_cast<LaunchState*>(raw);
  UseAlternateStack();
  Worker* w = TakeWorker();
  if (w == nullptr) return nullptr;
  w->RunBlocks(launch);
  GiveBack(w);
  return nullptr;
}

void RunOnWorkers(LaunchState& launch) {
  pthread_t others[kMaxWorkers];
  int started = 0;
  while (started + 1 < worker_count && static_cast<uint64_t>(started) + 1 < launch.blocks) {
    if (pthread_create(&others[started], nullptr, WorkerMain, &launch) != 0) break;
    ++started;
  }
  Worker* w = TakeWorker();
  if (w != nullptr) {
    w->RunBlocks(launch);
    GiveBack(w);
  } else if (started == 0) {
    launch.failed = cudaErrorMemoryAllocation;
  }
  for (int i = 0; i < started; ++i) pthread_join(others[i], nullptr);
}

}  // namespace

int Launch(const LaunchInfo& info, void (*body)(void*), void* arguments) {
  if (worker != nullptr)
    Trap("unsupported", "a kernel launches a kernel; simt does not emulate that", info.line);
  Text why;
  int error = CheckLaunch(info, why);
  if (error != cudaSuccess) {
    Report(Finding{
        "launch_refused", Severity::kError, info.kernel, false, {}, {}, info.line, why.text(), 0});
    return SetError(error);
  }
  // After a fault in a kernel every later call fails, as in a CUDA context.
  if (last_error == cudaErrorLaunchFailure || last_error == cudaErrorIllegalAddress ||
      last_error == cudaErrorAssert) {
    return last_error;
  }
  InstallFaultHandlers();
  LaunchState launch{};
  launch.info = &info;
  launch.body = body;
  launch.arguments = arguments;
  launch.number = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
  launch.blocks = uint64_t{info.grid.x} * info.grid.y * info.grid.z;
  RunOnWorkers(launch);
  return launch.failed == cudaSuccess ? cudaSuccess : SetError(launch.failed);
}

int SetError(int error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

int TakeError(bool clear) {
  int error = last_error;
  // Faults of a kernel stay.
  if (clear && error != cudaErrorLaunchFailure && error != cudaErrorIllegalAddress &&
      error != cudaErrorAssert) {
    last_error = cudaSuccess;
  }
  return error;
}

int AllowDynamicShared(const char* call, int attribute, long long value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > 227 * 1024) return SetError(cudaErrorInvalidValue);
  MutexLock lock;
  if (allowance_count == kMaxAllowances) allowance_count = 0;
  Allowance& a = allowances[allowance_count++];
  strncpy(a.call, call, sizeof(a.call) - 1);
  a.bytes = static_cast<uint64_t>(value);
  return cudaSuccess;
}

}  // namespace kerf_simt

extern "C" void kerf_simt_threads(int count) {
  kerf_simt::worker_count = count < 1                        ? 1
                            : count > kerf_simt::kMaxWorkers ? kerf_simt::kMaxWorkers
                                                             : count;
}
