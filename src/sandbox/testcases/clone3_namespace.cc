// The same through clone3, whose flags a filter cannot see.
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/testcases/attack.h"

int main() {
  clone_args args{};
  args.flags = CLONE_NEWUSER;
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) return 0;
  if (pid > 0) Escaped("clone3");
  if (errno != ENOSYS) return 2;  // libc falls back on ENOSYS alone
  Repelled();
}
