// A call that can stop in the middle and go on later, on a stack of its own, in one thread.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kerf::sim {

class Fiber {
 public:
  static constexpr size_t kStackBytes = size_t{8} << 20;  // touched pages only are real

  explicit Fiber(std::function<void()> body) : body_(std::move(body)) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Runs until the body yields or ends. Not to be called from within it.
  void Resume();
  // From within the body: back to who resumed it. A fiber that is not resumed again is abandoned;
  // what stands on its stack is not destroyed.
  void Yield();
  [[nodiscard]] bool done() const { return done_; }
  // Behind its stack.
  [[nodiscard]] uint64_t stack_end() const {
    return reinterpret_cast<uint64_t>(stack_) + kStackBytes;
  }

 private:
  static void Enter(unsigned high, unsigned low);

  std::function<void()> body_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  void* stack_ = nullptr;
  // What the address sanitizer wants to be told of a switch; unused without it.
  void* inside_fake_ = nullptr;
  void* outside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_bytes_ = 0;
  bool started_ = false;
  bool done_ = false;
};

}  // namespace kerf::sim
