#include "runtime/worker.h"

#include <string.h>
#include <sys/mman.h>

#include <new>

// GCC forgets the model unless the definition says it again.
__thread uint3 threadIdx KERF_SIMT_TLS = {};
__thread uint3 blockIdx KERF_SIMT_TLS = {};
__thread dim3 blockDim KERF_SIMT_TLS = {};
__thread dim3 gridDim KERF_SIMT_TLS = {};

namespace kerf_simt {

__thread Current current KERF_SIMT_TLS = {};
__thread Worker* worker KERF_SIMT_TLS = nullptr;

namespace {

void* Reserve(size_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

uint64_t Bit(int thread) { return uint64_t{1} << (thread & 63); }

// The race check costs more than the access it checks. A race shows in every block or in the last,
// ragged one.
constexpr uint64_t kRecordedBlocks = 16;
constexpr uint64_t kRecordedEvery = 61;

}  // namespace

Worker* Worker::Create() {
  void* self = Reserve(sizeof(Worker), PROT_READ | PROT_WRITE);
  if (self == nullptr) return nullptr;
  auto* w = new (self) Worker;
  w->shared_ = static_cast<unsigned char*>(Reserve(kSharedArea, PROT_NONE));
  w->words_ = static_cast<Cell*>(Reserve(sizeof(Cell) * (kSharedArea / 4), PROT_READ | PROT_WRITE));
  w->bytes_ = static_cast<Cell*>(Reserve(sizeof(Cell) * kSharedArea, PROT_READ | PROT_WRITE));
  if (w->shared_ == nullptr || w->words_ == nullptr || w->bytes_ == nullptr) return nullptr;
  unsigned char* statics = w->shared_ + kGuardBytes;
  unsigned char* dynamic = statics + kStaticArea + kGuardBytes;
  if (mprotect(statics, kStaticArea, PROT_READ | PROT_WRITE) != 0) return nullptr;
  if (mprotect(dynamic, kDynamicArea, PROT_READ | PROT_WRITE) != 0) return nullptr;
  return w;
}

void Worker::RunBlocks(LaunchState& launch) {
  launch_ = &launch;
  const LaunchInfo& info = *launch.info;
  thread_count_ = static_cast<int>(info.block.x * info.block.y * info.block.z);
  warp_size_ = info.warp;
  blockDim = info.block;
  gridDim = info.grid;
  uint3 index = {0, 0, 0};
  for (int i = 0; i < thread_count_; ++i) {
    threads_[i].index = index;
    if (++index.x < info.block.x) continue;
    index.x = 0;
    if (++index.y < info.block.y) continue;
    index.y = 0;
    ++index.z;
  }
  current.launch = launch.number;
  current.static_shared = shared_ + kGuardBytes;
  // At the end of its area, so that the guard behind it catches what runs over.
  current.dynamic_bytes = info.dynamic_bytes;
  current.dynamic_shared =
      shared_ + kSharedArea - kGuardBytes - ((info.dynamic_bytes + 15) & ~size_t{15});
  worker = this;
  while (__atomic_load_n(&launch.failed, __ATOMIC_RELAXED) == 0) {
    uint64_t block = __atomic_fetch_add(&launch.next_block, 1, __ATOMIC_RELAXED);
    if (block >= launch.blocks) break;
    StartBlock(block);
  }
  worker = nullptr;
  current = Current{};
}

void Worker::StartBlock(uint64_t block) {
  const dim3& grid = launch_->info->grid;
  blockIdx.x = static_cast<unsigned>(block % grid.x);
  blockIdx.y = static_cast<unsigned>(block / grid.x % grid.y);
  blockIdx.z = static_cast<unsigned>(block / grid.x / grid.y);
  current.record =
      block < kRecordedBlocks || block % kRecordedEvery == 0 || block + 1 == launch_->blocks;
  ++stamp_;
  PoisonShared();
  alive_ = thread_count_;
  first_exited_ = -1;
  barrier_waiting_ = 0;
  for (int i = 0; i < kWords; ++i) {
    int left = thread_count_ - i * 64;
    ready_[i] = left >= 64 ? ~uint64_t{0} : left > 0 ? (uint64_t{1} << left) - 1 : 0;
    at_barrier_[i] = 0;
  }
  for (int i = 0; i < thread_count_; ++i) threads_[i].fiber = nullptr;
  for (int i = 0; i * warp_size_ < thread_count_; ++i) {
    warps_[i] = Warp{WarpReady(i), 0, 0, warps_[i].epoch};
  }
  Fiber* fiber = FreeFiber();
  if (fiber != nullptr) {
    threads_[0].fiber = fiber;
    Enter(0);
    SwitchStack(&main_stack_, fiber->stack_pointer);
    SettleWrite();
  }
  running_ = -1;
  if (__atomic_load_n(&launch_->failed, __ATOMIC_RELAXED) == 0) return;
  // Stacks of threads that will never go on.
  free_count_ = 0;
  for (int i = fibers_made_ - 1; i >= 0; --i) {
    ResetFiber(fibers_[i], FiberMain);
    free_[free_count_++] = &fibers_[i];
  }
}

void Worker::PoisonShared() {
  auto fill = [](unsigned char* p, size_t n) {
    auto* word = reinterpret_cast<uint32_t*>(p);
    for (size_t i = 0; i < n / 4; ++i) word[i] = kPoison;
  };
  fill(current.static_shared,
       (__atomic_load_n(&launch_->static_used, __ATOMIC_RELAXED) + 15) & ~15u);
  fill(current.dynamic_shared, (current.dynamic_bytes + 15) & ~size_t{15});
}

Fiber* Worker::FreeFiber() {
  if (free_count_ > 0) return free_[--free_count_];
  Fiber& fiber = fibers_[fibers_made_];
  fiber.number = static_cast<unsigned>(fibers_made_);
  if (!MapStack(fiber)) {
    Text detail;
    detail << "no memory for the stacks of the block's threads";
    if (running_ >= 0) Fail("out_of_memory", running_, launch_line(), detail, 2);
    Warn("out_of_memory", Severity::kFatal, 0, launch_line(), detail);
    __atomic_store_n(&launch_->failed, 2, __ATOMIC_RELAXED);
    return nullptr;
  }
  ++fibers_made_;
  ResetFiber(fiber, FiberMain);
  return &fiber;
}

void Worker::FiberMain() {
  Worker& w = *worker;
  for (;;) {
    w.launch_->body(w.launch_->arguments);
    w.Leave();
  }
}

void Worker::Enter(int thread) {
  running_ = thread;
  threadIdx = threads_[thread].index;
  current.atomics_since = 0;
}

uint64_t Worker::WarpReady(int warp) const {
  int first = warp * warp_size_;
  uint64_t word = ready_[first / 64];
  return warp_size_ == 64 ? word : (word >> (first & 63)) & ((uint64_t{1} << warp_size_) - 1);
}

void Worker::SetWarpReady(int warp, uint64_t lanes) {
  int first = warp * warp_size_;
  ready_[first / 64] |= lanes << (first & 63);
}

int Worker::Next() const {
  if (running_ >= 0) {
    int warp = running_ / warp_size_;
    uint64_t mine = WarpReady(warp);
    if (mine != 0) return warp * warp_size_ + __builtin_ctzll(mine);
  }
  for (int i = 0; i < kWords; ++i) {
    if (ready_[i] != 0) return i * 64 + __builtin_ctzll(ready_[i]);
  }
  return -1;
}

int Worker::NextAfter(int thread) const {
  for (int step = 1; step <= thread_count_; ++step) {
    int i = (thread + step) % thread_count_;
    if ((ready_[i / 64] & Bit(i)) != 0) return i;
  }
  return -1;
}

// The running thread is no longer ready.
void Worker::Block() {
  int warp = running_ / warp_size_;
  if (warps_[warp].waiting_here != 0 && WarpReady(warp) == 0) TryUnmasked(warp);
  int next = Next();
  if (next < 0) FailStuck();
  if (next == running_) return;
  SwitchTo(next);
}

void Worker::SwitchTo(int thread) {
  Fiber* from = threads_[running_].fiber;
  Fiber*& to = threads_[thread].fiber;
  if (to == nullptr) to = FreeFiber();
  Enter(thread);
  SwitchStack(&from->stack_pointer, to->stack_pointer);
}

// The running thread has left the kernel. On return its fiber runs another thread that has not
// started.
void Worker::Leave() {
  int thread = running_;
  Fiber* fiber = threads_[thread].fiber;
  int warp = thread / warp_size_;
  Warp& w = warps_[warp];
  --alive_;
  if (first_exited_ < 0) first_exited_ = thread;
  ready_[thread / 64] &= ~Bit(thread);
  w.alive &= ~(uint64_t{1} << (thread % warp_size_));
  if (alive_ == 0) {
    free_[free_count_++] = fiber;
    SwitchStack(&fiber->stack_pointer, main_stack_);
    return;
  }
  if (w.waiting != 0) TryMasked(warp);
  if (w.waiting_here != 0 && WarpReady(warp) == 0) TryUnmasked(warp);
  if (barrier_waiting_ == alive_) FinishBarrier();
  int next = Next();
  if (next < 0) FailStuck();
  if (threads_[next].fiber == nullptr) {
    threads_[next].fiber = fiber;
    Enter(next);
    return;
  }
  free_[free_count_++] = fiber;
  Enter(next);
  SwitchStack(&fiber->stack_pointer, threads_[next].fiber->stack_pointer);
}

void Worker::Yield() {
  current.atomics_since = 0;
  int next = NextAfter(running_);
  if (next < 0 || next == running_) return;
  SwitchTo(next);
}

int Worker::Barrier(BarrierKind kind, int predicate, int line) {
  if (barrier_waiting_ == 0) {
    barrier_line_ = line;
    barrier_kind_ = kind;
    barrier_first_ = running_;
    barrier_sum_ = 0;
  } else if (line != barrier_line_ || kind != barrier_kind_) {
    Text detail;
    detail << "this thread is at the barrier in line " << line << ", while thread ";
    NameThread(detail, barrier_first_);
    detail << " waits at the one in line " << barrier_line_
           << "; all threads of a block must reach the same barrier";
    Fail("divergent_barrier", running_, line, detail, 719);
  }
  barrier_sum_ += predicate;
  ++barrier_waiting_;
  if (barrier_waiting_ == alive_) {
    FinishBarrier();
    return barrier_result_;
  }
  at_barrier_[running_ / 64] |= Bit(running_);
  ready_[running_ / 64] &= ~Bit(running_);
  Block();
  return barrier_result_;
}

void Worker::FinishBarrier() {
  // Devices let the barrier pass without the threads that left; the language says it is undefined.
  if (alive_ < thread_count_) {
    Text detail;
    detail << (thread_count_ - alive_) << " of " << thread_count_
           << " threads left the kernel before the barrier that the others wait at";
    if (Strict()) Fail("barrier_after_exit", first_exited_, barrier_line_, detail, 719);
    Warn("barrier_after_exit", Severity::kWarning, first_exited_, barrier_line_, detail);
  }
  SettleWrite();
  barrier_result_ = barrier_kind_ == BarrierKind::kCount ? barrier_sum_
                    : barrier_kind_ == BarrierKind::kAnd ? barrier_sum_ == barrier_waiting_
                                                         : barrier_sum_ != 0;
  barrier_waiting_ = 0;
  ++stamp_;
  for (int i = 0; i < kWords; ++i) {
    ready_[i] |= at_barrier_[i];
    at_barrier_[i] = 0;
  }
}

void Worker::NameThread(Text& out, int thread) const { out << threads_[thread].index; }

void Worker::Warn(const char* kind, Severity severity, int thread, int line, const Text& detail) {
  Report(Finding{kind, severity, kernel(), true, blockIdx, threads_[thread].index, line,
                 detail.text(), 0});
}

void Worker::Fail(const char* kind, int thread, int line, const Text& detail, int error) {
  Warn(kind, Severity::kFatal, thread, line, detail);
  __atomic_store_n(&launch_->failed, error, __ATOMIC_RELAXED);
  write_.at = nullptr;
  void* nowhere;
  SwitchStack(&nowhere, main_stack_);
  __builtin_unreachable();
}

bool Worker::DescribeOwnAddress(uint64_t address, Text& out) const {
  auto inside = [address](const unsigned char* p, size_t n) {
    return address - reinterpret_cast<uint64_t>(p) < n;
  };
  if (inside(shared_, kSharedArea)) {
    out.Hex(address) << ", outside of shared memory";
    auto begin = reinterpret_cast<uint64_t>(current.dynamic_shared);
    if (address >= begin + current.dynamic_bytes) {
      out << ": " << (address - begin - current.dynamic_bytes) << " bytes past the end of the "
          << current.dynamic_bytes << " bytes of dynamic shared memory";
    }
    return true;
  }
  for (int i = 0; i < fibers_made_; ++i) {
    if (!inside(fibers_[i].stack, kGuardBytes)) continue;
    out << "the thread's local variables and calls need more than " << kStackBytes << " bytes";
    return true;
  }
  return false;
}

int Barrier(BarrierKind kind, int predicate, int line) {
  return worker == nullptr ? predicate : worker->Barrier(kind, predicate, line);
}
void Yield() {
  if (worker != nullptr) worker->Yield();
}
int LinearThread() { return worker == nullptr ? 0 : worker->running(); }

void Trap(const char* kind, const char* detail, int line) {
  if (worker == nullptr) __builtin_trap();
  worker->Fail(kind, worker->running(), line, Text() << detail, kind[0] == 'a' ? 710 : 719);
}

}  // namespace kerf_simt
