// Reads kerf's memory through the process that started it.
#include <sys/uio.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  char local[16];
  iovec to{local, sizeof local};
  iovec from{reinterpret_cast<void*>(&main), sizeof local};
  if (::process_vm_readv(::getppid(), &to, 1, &from, 1, 0) > 0) Escaped("process_vm_readv");
  Repelled();
}
