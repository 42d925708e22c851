// The whole runtime as one file, for a single compiler call: docs/simt.md has the command.
#include "runtime/device_memory.cc"
#include "runtime/fault.cc"
#include "runtime/fiber.cc"
#include "runtime/launch.cc"
#include "runtime/report.cc"
#include "runtime/shared_check.cc"
#include "runtime/warp.cc"
#include "runtime/worker.cc"
