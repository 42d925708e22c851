// Takes control of the process that started it.
#include <sys/ptrace.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  if (::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0) Escaped("ptrace");
  Repelled();
}
