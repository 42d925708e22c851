// Ctrl-C: the first time a wish, the second time an order.
#pragma once

#include <atomic>

namespace kerf::cli {

// While one lives, the first SIGINT, SIGTERM or SIGHUP only sets a flag, and the second ends the
// process at once with exit code 130. One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] bool interrupted() const;
};

}  // namespace kerf::cli
