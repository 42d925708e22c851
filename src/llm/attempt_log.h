// The tries of one call, collected while it runs: an Error does not carry them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "llm/provider.h"

namespace kerf::llm {

class AttemptLog {
 public:
  // Listens to the request's tries, from whichever thread makes them, beside who listens already.
  static std::shared_ptr<AttemptLog> Attach(Request& request) {
    auto log = std::make_shared<AttemptLog>();
    request.on_attempt = [log, outer = std::move(request.on_attempt)](const Attempt& attempt) {
      log->Add(attempt);
      if (outer) outer(attempt);
    };
    return log;
  }

  [[nodiscard]] std::vector<Attempt> list() const {
    const std::lock_guard lock(mu_);
    return list_;
  }

 private:
  void Add(const Attempt& attempt) {
    const std::lock_guard lock(mu_);
    list_.push_back(attempt);
  }

  mutable std::mutex mu_;
  std::vector<Attempt> list_;  // guarded by mu_
};

}  // namespace kerf::llm
