// Faults. On a device an access outside of all allocations ends the context; here the guard pages
// around buffers make it a signal, and the handler knows which thread of which block ran.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <initializer_list>

#include "runtime/worker.h"

namespace kerf_simt {
namespace {

constexpr size_t kAlternateStack = 64 * 1024;
__thread bool has_alternate_stack = false;

uint64_t CodeAddress(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

// "read", "write", or "access" where the processor does not say.
const char* Direction(const ucontext_t& context) {
#if defined(__x86_64__)
  return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "write to " : "read of ";
#else
  (void)context;
  return "access to ";
#endif
}

// The kernel gives no address for one that the processor cannot form (not canonical).
void DescribeFault(const siginfo_t& info, const ucontext_t& context, Text& detail,
                   const char*& kind) {
  auto address = reinterpret_cast<uint64_t>(info.si_addr);
  Text own;
  kind = "out_of_bounds";
  if (worker != nullptr && worker->DescribeOwnAddress(address, own)) {
    bool shared = own.text()[0] == '0';
    kind = shared ? "shared_out_of_bounds" : "stack_overflow";
    if (shared) detail << Direction(context);
    detail << own.text();
    return;
  }
  detail << Direction(context);
  if (info.si_code == SI_KERNEL && address == 0) {
    detail << "a wild pointer";
    return;
  }
  DescribeAddress(address, detail);
}

void OnSignal(int number, siginfo_t* info, void* raw_context) {
  const auto& context = *static_cast<const ucontext_t*>(raw_context);
  Text detail;
  const char* kind = "abort";
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
      DescribeFault(*info, context, detail, kind);
      break;
    case SIGFPE:
      kind = "divide_by_zero";
      detail << "integer division by zero (a device would go on with an undefined value)";
      break;
    case SIGALRM:
      kind = "time_limit";
      detail << "the kernel ran longer than the time limit";
      break;
    case SIGILL:
      kind = "trap";
      detail << "the program executed a trap";
      break;
    default:
      detail << "the program called abort()";
      break;
  }
  uint64_t code = CodeAddress(context);
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(code), &library) != 0)
    code -= reinterpret_cast<uint64_t>(library.dli_fbase);
  if (worker != nullptr) {
    int thread = worker->running();
    Report(Finding{kind, Severity::kFatal, worker->kernel(), true, worker->block(),
                   worker->index(thread < 0 ? 0 : thread), worker->launch_line(), detail.text(),
                   code});
  } else {
    detail << ", in host code";
    Report(Finding{kind, Severity::kFatal, "", false, {}, {}, 0, detail.text(), code});
  }
  _exit(kFaultExitCode);
}

void InstallOnce() {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

pthread_once_t install_once = PTHREAD_ONCE_INIT;

}  // namespace

void UseAlternateStack() {
  if (has_alternate_stack) return;
  has_alternate_stack = true;
  void* p =
      mmap(nullptr, kAlternateStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  stack_t stack;
  memset(&stack, 0, sizeof(stack));
  stack.ss_sp = p;
  stack.ss_size = kAlternateStack;
  sigaltstack(&stack, nullptr);
}

void InstallFaultHandlers() {
  UseAlternateStack();
  pthread_once(&install_once, InstallOnce);
}

}  // namespace kerf_simt

extern "C" {

void kerf_simt_time_limit(uint32_t milliseconds) {
  kerf_simt::InstallFaultHandlers();
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = kerf_simt::OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  struct itimerval timer;
  memset(&timer, 0, sizeof(timer));
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000) * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// assert() in a kernel. Hidden: it stands for libc's only inside this library.
KERF_SIMT_HIDDEN void __assert_fail(const char* text, const char* file, unsigned line,
                                    const char*) noexcept {
  kerf_simt::Text detail;
  detail << "assertion failed: " << text;
  if (kerf_simt::worker != nullptr)
    kerf_simt::Trap("assert", detail.text(), static_cast<int>(line));
  kerf_simt::Report(kerf_simt::Finding{"assert",
                                       kerf_simt::Severity::kFatal,
                                       "",
                                       false,
                                       {},
                                       {},
                                       static_cast<int>(line),
                                       detail.text(),
                                       0});
  (void)file;
  _exit(kerf_simt::kFaultExitCode);
}
}
