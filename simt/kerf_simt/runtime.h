// Between the headers a candidate includes and the runtime (simt/runtime/*.cc) it is linked with.
// Nothing here is for candidates.
//
// A launch runs its blocks one after another. The threads of a block are fibers of one OS thread: a
// thread runs until it blocks in a barrier or a warp operation, and the order in which threads run
// is fixed, so that a run repeats bit for bit. threadIdx and its kin are thread-local because
// blocks may run on several OS threads (kerf_simt_threads).
#pragma once

#include "kerf_simt/types.h"

// initial-exec: two loads instead of a call to __tls_get_addr, also in a library that is loaded by
// dlopen.
#define KERF_SIMT_TLS __attribute__((tls_model("initial-exec"), visibility("hidden")))

extern __thread uint3 threadIdx KERF_SIMT_TLS;
extern __thread uint3 blockIdx KERF_SIMT_TLS;
extern __thread dim3 blockDim KERF_SIMT_TLS;
extern __thread dim3 gridDim KERF_SIMT_TLS;
static constexpr int warpSize = KERF_SIMT_WARP;

namespace kerf_simt {

// What the headers need to know of the block that runs on this OS thread.
struct Current {
  unsigned char* static_shared;
  unsigned char* dynamic_shared;
  uint64_t dynamic_bytes;
  uint32_t launch;  // number of the launch; 0: no kernel runs
  uint32_t
      record;  // whether accesses to shared memory are recorded for the race check in this block
  uint32_t atomics_since;  // since this thread last let others run: a spinning thread must yield
};
extern __thread Current current KERF_SIMT_TLS;

struct LaunchInfo {
  const char* kernel;
  int line;
  dim3 grid;
  dim3 block;
  size_t dynamic_bytes;
  int warp;
  bool hip;
};
// Runs the grid; returns a cudaError_t and keeps it for cudaGetLastError.
KERF_SIMT_HIDDEN int Launch(const LaunchInfo& info, void (*body)(void*), void* arguments);

enum class BarrierKind : int { kSync, kCount, kAnd, kOr };
KERF_SIMT_HIDDEN int Barrier(BarrierKind kind, int predicate, int line);

enum class WarpOp : int {
  kSync,
  kStep,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kAny,
  kAll,
  kUniform,
  kBallot,
  kActive,
  kMatchAny,
  kMatchAll,
  kAdd,
  kMinSigned,
  kMaxSigned,
  kMinUnsigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor
};
// Waits for the lanes of `mask`; with mask 0 for the lanes that are converged here, as a HIP
// wavefront in lock step.
KERF_SIMT_HIDDEN uint64_t WarpCollective(WarpOp op, uint64_t mask, uint64_t value, int arg,
                                         int width, int line);
KERF_SIMT_HIDDEN int LinearThread();

KERF_SIMT_HIDDEN void Yield();
[[noreturn]] KERF_SIMT_HIDDEN void Trap(const char* kind, const char* detail, int line);

// One shared variable of one function instance: where it lies in the block's shared memory during a
// launch.
struct Slot {
  uint32_t launch;
  uint32_t offset;
};
KERF_SIMT_HIDDEN void PlaceShared(Slot& slot, uint32_t bytes, uint32_t align, const char* name,
                                  int line);

enum class Access : int { kRead, kWrite, kUpdate, kAddress };
KERF_SIMT_HIDDEN void RecordAccess(const void* p, unsigned bytes, Access access, const char* name,
                                   int line);
// `last` is the largest index the whole array holds from here on: rows may flow into each other
// with a warning.
KERF_SIMT_HIDDEN void SharedIndex(const char* name, long long index, unsigned long long size,
                                  long long last, int line);

// Behind cudaMalloc and its kin; errors are cudaError_t.
KERF_SIMT_HIDDEN int Allocate(void** p, size_t bytes);
KERF_SIMT_HIDDEN int Release(void* p);
KERF_SIMT_HIDDEN int TakeError(bool clear);
KERF_SIMT_HIDDEN int SetError(int error);
KERF_SIMT_HIDDEN const char* ErrorName(int error);
KERF_SIMT_HIDDEN const char* ErrorText(int error);
// `call` is the text of cudaFuncSetAttribute's arguments; its kernel is known by name (see
// docs/simt.md).
KERF_SIMT_HIDDEN int AllowDynamicShared(const char* call, int attribute, long long value);
KERF_SIMT_HIDDEN int64_t ClockNanoseconds();

}  // namespace kerf_simt

// For the program that loads a candidate; docs/simt.md tells the order of calls.
extern "C" {
#define KERF_SIMT_EXPORT __attribute__((visibility("default")))
KERF_SIMT_EXPORT void kerf_simt_register(const char* name, const void* p, uint64_t bytes);
KERF_SIMT_EXPORT void kerf_simt_forget_buffers(void);
KERF_SIMT_EXPORT void kerf_simt_report_fd(int fd);
KERF_SIMT_EXPORT void kerf_simt_threads(int count);
KERF_SIMT_EXPORT void kerf_simt_strict(int on);
KERF_SIMT_EXPORT void kerf_simt_time_limit(uint32_t milliseconds);
KERF_SIMT_EXPORT uint64_t kerf_simt_findings(void);
}
