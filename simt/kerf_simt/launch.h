// What `kernel<<<grid, block, bytes, stream>>>(arguments)` becomes:
//   ::kerf_simt::Kernel("kernel", [&](auto&... a) { kernel(a...); }).Config(grid, block, bytes,
//   stream).Run(arguments)
// The arguments are evaluated and copied once, as on a device; each thread gets its own copies of
// them.
#pragma once

#include "kerf_simt/runtime.h"

namespace kerf_simt {

template <typename F>
struct Kernel {
  const char* name;
  F call;
  int line;
  dim3 grid{};
  dim3 block{};
  size_t bytes = 0;

  Kernel(const char* kernel_name, F f, int source_line = __builtin_LINE())
      : name(kernel_name), call(f), line(source_line) {}

  Kernel& Config(dim3 grid_size, dim3 block_size, size_t dynamic_bytes = 0,
                 cudaStream_t = nullptr) {
    grid = grid_size;
    block = block_size;
    bytes = dynamic_bytes;
    return *this;
  }

  template <typename... Args>
  void Run(Args... args) {
    auto body = [&] { call(args...); };
    using Body = decltype(body);
#if defined(KERF_SIMT_HIP)
    const bool hip = true;
#else
    const bool hip = false;
#endif
    Launch(
        LaunchInfo{name, line, grid, block, bytes, warpSize, hip},
        [](void* p) { (*static_cast<Body*>(p))(); }, &body);
  }
};

}  // namespace kerf_simt
