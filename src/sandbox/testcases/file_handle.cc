// Opens a file by its number on the disk instead of its path: the way out of old containers.
#include <fcntl.h>

#include "sandbox/testcases/attack.h"

int main() {
  union {
    file_handle handle;
    char room[sizeof(struct file_handle) + 8];
  } root{};
  root.handle.handle_bytes = 8;
  root.handle.handle_type = 1;
  root.handle.f_handle[0] = 2;
  if (::open_by_handle_at(::open("/usr", O_RDONLY), &root.handle, O_RDONLY) >= 0) {
    Escaped("open_by_handle_at");
  }
  Repelled();
}
