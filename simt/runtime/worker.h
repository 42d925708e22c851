// One block at a time, on one OS thread: its threads, warps, fibers and shared memory.
//
// A thread is ready, waits in a barrier, waits in a warp operation, or has left; sets of threads
// are bit sets over the linear thread number. There is no scheduler to return to: the thread that
// blocks chooses the next and switches to it, first of its own warp, so that a warp's operations
// finish while its stacks are in the cache. A fiber whose thread leaves takes up the next thread
// that has not started: a kernel without barriers runs on one fiber.
#pragma once

#include "kerf_simt/runtime.h"
#include "runtime/fiber.h"
#include "runtime/report.h"

namespace kerf_simt {

constexpr int kMaxThreads = 1024;
constexpr int kWords = kMaxThreads / 64;
constexpr uint32_t kStaticArea = 64 * 1024;  // HIP's limit; CUDA's is 48 KB
constexpr uint32_t kDynamicArea =
    57 * 4096;  // 227 KB, the most a block of compute capability 9.0 can have
constexpr uint32_t kSharedArea = kStaticArea + kDynamicArea + 3 * kGuardBytes;
constexpr uint32_t kPoison =
    0x7fffffff;  // NaN as float, double, half and bfloat16; as an index it faults

struct Thread {
  Fiber* fiber;  // null: not started
  uint3 index;
  // In a warp operation:
  WarpOp op;
  uint64_t mask;  // 0: without a mask
  uint64_t value;
  uint64_t result;
  int arg;
  int width;
  int line;
};

struct Warp {
  uint64_t alive;
  uint64_t waiting;       // in an operation with a mask
  uint64_t waiting_here;  // in one without
  uint32_t
      epoch;  // operations finished: what was accessed before one is ordered before what follows it
};

// The launch as all workers see it.
struct LaunchState {
  const LaunchInfo* info;
  void (*body)(void*);
  void* arguments;
  uint32_t number;
  uint64_t blocks;
  uint64_t next_block;   // atomic
  uint32_t static_used;  // atomic
  int failed;            // atomic; a cudaError_t
};

// Who accessed an element of shared memory last, for the race check. See shared_check.cc.
struct Cell {
  uint32_t write_stamp, read_stamp;
  uint32_t write_epoch, read_epoch;
  uint16_t writer, reader, other_reader;
  uint16_t write_line, read_line;
};

class Worker {
 public:
  // Null: no memory.
  static Worker* Create();

  // Runs blocks until the launch has no more or failed.
  void RunBlocks(LaunchState& launch);

  int Barrier(BarrierKind kind, int predicate, int line);
  uint64_t WarpCollective(WarpOp op, uint64_t mask, uint64_t value, int arg, int width, int line);
  void Yield();
  void PlaceShared(Slot& slot, uint32_t bytes, uint32_t align, const char* name, int line);
  void RecordAccess(const void* p, unsigned bytes, Access access, const char* name, int line);
  void Warn(const char* kind, Severity severity, int thread, int line, const Text& detail);
  // Gives the launch up. Nobody unwinds: the fibers' stacks are simply used anew.
  [[noreturn]] void Fail(const char* kind, int thread, int line, const Text& detail, int error);

  [[nodiscard]] int running() const { return running_; }
  [[nodiscard]] const char* kernel() const { return launch_->info->kernel; }
  [[nodiscard]] int launch_line() const { return launch_->info->line; }
  [[nodiscard]] uint3 block() const { return blockIdx; }
  [[nodiscard]] uint3 index(int thread) const { return threads_[thread].index; }
  // Appends what lies at the address; false: neither a stack nor shared memory.
  bool DescribeOwnAddress(uint64_t address, Text& out) const;

 private:
  Worker() = default;
  void StartBlock(uint64_t block);
  void PoisonShared();
  static void FiberMain();
  Fiber* FreeFiber();
  void Enter(int thread);
  int Next() const;
  int NextAfter(int thread) const;
  void Block();
  void SwitchTo(int thread);
  void Leave();
  void FinishBarrier();
  void TryMasked(int warp);
  void TryUnmasked(int warp);
  void FinishWarp(int warp, uint64_t group);
  uint64_t WarpResult(int warp, int lane, uint64_t group);
  void SetWarpReady(int warp, uint64_t lanes);
  uint64_t WarpReady(int warp) const;
  [[noreturn]] void FailStuck();
  void CheckSameOperation(int warp, uint64_t group);
  void SettleWrite();
  void ReportRace(const Cell& cell, bool with_writer, int other, const char* how, const char* name,
                  int line);
  bool Unordered(int other, uint32_t epoch) const;
  void NameThread(Text& out, int thread) const;

  LaunchState* launch_ = nullptr;
  int thread_count_ = 0;
  int warp_size_ = 32;
  int running_ = -1;
  int alive_ = 0;
  int first_exited_ = -1;

  uint64_t ready_[kWords] = {};
  uint64_t at_barrier_[kWords] = {};
  int barrier_waiting_ = 0;
  int barrier_line_ = 0;
  int barrier_first_ = 0;
  int barrier_sum_ = 0;
  int barrier_result_ = 0;
  BarrierKind barrier_kind_ = BarrierKind::kSync;

  Thread threads_[kMaxThreads] = {};
  Warp warps_[kMaxThreads / 32] = {};

  void* main_stack_ = nullptr;
  Fiber fibers_[kMaxThreads + 1] = {};
  int fibers_made_ = 0;
  Fiber* free_[kMaxThreads + 1] = {};
  int free_count_ = 0;

  unsigned char* shared_ = nullptr;  // guard, static area, guard, dynamic area, guard
  Cell* words_ = nullptr;            // one for each 4 bytes of shared_
  Cell* bytes_ = nullptr;            // one for each byte, for smaller elements
  uint32_t stamp_ = 0;               // barriers passed, over all blocks

  // A second write to the same place is a race only if it brings another value, which is known a
  // little later.
  struct {
    const unsigned char* at = nullptr;
    unsigned bytes = 0;
    unsigned char old[32] = {};
    Cell cell = {};
    const char* name = nullptr;
    int thread = 0;
    int line = 0;
  } write_;
};

extern __thread Worker* worker KERF_SIMT_TLS;  // null outside kernels

}  // namespace kerf_simt
