#include "sim/machine/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/check.h"

namespace kerf::sim {

Fiber::~Fiber() {
  if (stack_ != nullptr) ::munmap(stack_, kStackBytes);
}

// makecontext passes ints only.
void Fiber::Enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((static_cast<uint64_t>(high) << 32) | low);
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
  ::swapcontext(&outside_, &inside_);
}

void Fiber::Yield() { ::swapcontext(&inside_, &outside_); }

}  // namespace kerf::sim
