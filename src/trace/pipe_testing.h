// For tests that give their input through a pipe.
#pragma once

#include <unistd.h>

#include <string_view>

namespace kerf::trace {

// Gives up when nobody reads any more.
inline void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace kerf::trace
