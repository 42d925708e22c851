// How much a program in the sandbox may use. A limit that is hit ends the whole tree and is named
// in the Outcome (outcome.h), unless the comment says that the program only gets an error.
#pragma once

#include <chrono>
#include <cstdint>

namespace kerf::sandbox {

struct Limits {
  std::chrono::milliseconds wall_time = std::chrono::minutes(1);
  // Of all processes together, those that have ended included.
  std::chrono::milliseconds cpu_time = std::chrono::minutes(2);
  // Of all processes together. Held by a cgroup where there is one; elsewhere the watchdog looks
  // every 20 ms, so that a program may overshoot by what it can touch in that time.
  uint64_t memory_bytes = uint64_t{4} << 30;
  // Per process; more is refused (ENOMEM). 0: no limit, because GPU drivers and sanitizers reserve
  // terabytes that they never touch.
  uint64_t address_space_bytes = 0;
  // Processes and threads together.
  uint64_t processes = 256;
  // Per process; more are refused (EMFILE).
  uint64_t open_files = 1024;
  // Of each file. A program that ignores SIGXFSZ, as Python does, gets EFBIG and goes on.
  uint64_t file_bytes = uint64_t{1} << 30;
  // Of stdout and stderr each.
  uint64_t output_bytes = uint64_t{16} << 20;
  // Of /tmp and /dev/shm each.
  uint64_t tmp_bytes = uint64_t{256} << 20;
  // Of all files in the writable folders together, and how many files and folders there may be.
  uint64_t work_bytes = uint64_t{4} << 30;
  uint64_t work_files = 100'000;
};

}  // namespace kerf::sandbox
