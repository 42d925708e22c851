// What earlier attempts of a task teach the next one, in words for a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "artifact/attempt.h"

namespace kerf::conduct {

class Reflection {
 public:
  void Add(Attempt attempt);

  // Passed before failed, then the larger speedup, then the earlier one; nullptr when nothing
  // passed.
  [[nodiscard]] const Attempt* best() const;
  [[nodiscard]] const Attempt* last() const {
    return attempts_.empty() ? nullptr : &attempts_.back();
  }
  [[nodiscard]] const std::vector<Attempt>& attempts() const { return attempts_; }
  [[nodiscard]] bool Knows(const std::string& code) const;

  // At most `budget` bytes. The best so far, then the failures, equal ones once with how often they
  // happened, newest first. `with_best_code`: the code too, for a prompt that does not show it
  // elsewhere. Empty when nothing was tried.
  [[nodiscard]] std::string Text(size_t budget, bool with_best_code) const;

 private:
  std::vector<Attempt> attempts_;
};

// The end of a log matters less than its beginning (first cause) and last lines: both stay, and a
// line tells how much is gone.
std::string Shorten(const std::string& log, size_t budget);

}  // namespace kerf::conduct
