#include "sim/machine/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERF_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KERF_ADDRESS_SANITIZER
#endif
#ifdef KERF_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kerf::sim {
namespace {

// The sanitizer must know which stack is in use. `leaving`: where it keeps what belongs to the one
// that is left; null when that is left for good.
void BeforeSwitch([[maybe_unused]] void** leaving, [[maybe_unused]] const void* stack,
                  [[maybe_unused]] size_t bytes) {
#ifdef KERF_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(leaving, stack, bytes);
#endif
}

void AfterSwitch([[maybe_unused]] void* entered, [[maybe_unused]] const void** stack,
                 [[maybe_unused]] size_t* bytes) {
#ifdef KERF_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(entered, stack, bytes);
#endif
}

}  // namespace

Fiber::~Fiber() {
  if (stack_ == nullptr) return;
#ifdef KERF_ADDRESS_SANITIZER
  // Frames of an abandoned fiber are still marked; the address may be used again.
  __asan_unpoison_memory_region(stack_, kStackBytes);
#endif
  ::munmap(stack_, kStackBytes);
}

// makecontext passes ints only.
void Fiber::Enter(unsigned high, unsigned low) {
  const uint64_t address = (static_cast<uint64_t>(high) << 32) | low;
  auto* self = reinterpret_cast<Fiber*>(address);  // NOLINT: it was a pointer
  AfterSwitch(nullptr, &self->outside_stack_, &self->outside_bytes_);
  self->body_();
  self->done_ = true;
  self->Yield();
}

void Fiber::Resume() {
  KERF_CHECK(!done_, "a fiber that has ended cannot go on");
  if (!started_) {
    started_ = true;
    // The lowest page stays inaccessible: a kernel that recurses for ever faults.
    stack_ = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    KERF_CHECK(stack_ != MAP_FAILED, "no room for a core's stack");
    ::mprotect(stack_, 4096, PROT_NONE);
    ::getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_;
    inside_.uc_stack.ss_size = kStackBytes;
    inside_.uc_link = nullptr;
    const auto self = reinterpret_cast<uint64_t>(this);
    ::makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::Enter), 2,
                  static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  BeforeSwitch(&outside_fake_, stack_, kStackBytes);
  ::swapcontext(&outside_, &inside_);
  AfterSwitch(outside_fake_, nullptr, nullptr);
}

void Fiber::Yield() {
  BeforeSwitch(done_ ? nullptr : &inside_fake_, outside_stack_, outside_bytes_);
  ::swapcontext(&inside_, &outside_);
  AfterSwitch(inside_fake_, &outside_stack_, &outside_bytes_);
}

}  // namespace kerf::sim
