// A switch stores the callee-saved registers on the stack that is left and loads them from the one
// that is entered; to the compiler it is an ordinary call. The floating-point control words are not
// stored: kernels do not change them.
#include "runtime/fiber.h"

#include <sys/mman.h>

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace kerf_simt {

bool MapStack(Fiber& fiber) {
  void* p = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (p == MAP_FAILED) return false;
  fiber.stack = static_cast<unsigned char*>(p);
  return mprotect(p, kGuardBytes, PROT_NONE) == 0;
}

namespace {

// Without it the tops of all stacks would fall into the same sets of the cache.
uintptr_t StackTop(const Fiber& fiber) {
  return reinterpret_cast<uintptr_t>(fiber.stack) + kStackBytes - (fiber.number % 30) * 128;
}

}  // namespace

#if defined(__x86_64__)

extern "C" KERF_SIMT_HIDDEN void kerf_simt_switch(void** from, void* to);
__asm__(
    ".pushsection .text\n"
    ".hidden kerf_simt_switch\n"
    ".globl kerf_simt_switch\n"
    ".type kerf_simt_switch,@function\n"
    "kerf_simt_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size kerf_simt_switch,.-kerf_simt_switch\n"
    ".popsection\n");

void ResetFiber(Fiber& fiber, void (*entry)()) {
  // After `ret` the stack must be 8 below a multiple of 16, as behind a call.
  auto* top = reinterpret_cast<uint64_t*>(StackTop(fiber) & ~uintptr_t{15});
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  fiber.stack_pointer = top;
}

void SwitchStack(void** from, void* to) { kerf_simt_switch(from, to); }

#elif defined(__aarch64__)

extern "C" KERF_SIMT_HIDDEN void kerf_simt_switch(void** from, void* to);
__asm__(
    ".pushsection .text\n"
    ".hidden kerf_simt_switch\n"
    ".globl kerf_simt_switch\n"
    ".type kerf_simt_switch,%function\n"
    "kerf_simt_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size kerf_simt_switch,.-kerf_simt_switch\n"
    ".popsection\n");

void ResetFiber(Fiber& fiber, void (*entry)()) {
  auto* frame = reinterpret_cast<uint64_t*>((StackTop(fiber) & ~uintptr_t{15}) - 160);
  for (int i = 0; i < 20; ++i) frame[i] = 0;
  frame[11] = reinterpret_cast<uint64_t>(entry);  // x30: where `ret` goes
  fiber.stack_pointer = frame;
}

void SwitchStack(void** from, void* to) { kerf_simt_switch(from, to); }

#else

// Slow, but right everywhere. The context lies at the lower end of the stack it belongs to.
void ResetFiber(Fiber& fiber, void (*entry)()) {
  auto* context = reinterpret_cast<ucontext_t*>(fiber.stack + kGuardBytes);
  getcontext(context);
  context->uc_stack.ss_sp = fiber.stack + kGuardBytes + sizeof(ucontext_t);
  context->uc_stack.ss_size =
      StackTop(fiber) - reinterpret_cast<uintptr_t>(context->uc_stack.ss_sp);
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  fiber.stack_pointer = context;
}

void SwitchStack(void** from, void* to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}

#endif

}  // namespace kerf_simt
