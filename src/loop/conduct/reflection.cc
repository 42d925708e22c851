#include "loop/conduct/reflection.h"

#include <fmt/core.h>

#include <algorithm>

namespace kerf::conduct {
namespace {

// Larger than a half type's noise between two runs, smaller than what anybody would call a gain.
bool IsBetter(const Attempt& one, const Attempt& other) {
  if (one.passed != other.passed) return one.passed;
  return one.speedup.value_or(0) > other.speedup.value_or(0);
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string Kind(const Attempt& attempt) {
  return attempt.reason.empty() ? attempt.status : attempt.status + "/" + attempt.reason;
}

struct Failure {
  const Attempt* newest;
  int times;
};

// Failures of one kind with one summary are one failure, however often they came.
std::vector<Failure> Failures(const std::vector<Attempt>& attempts) {
  std::vector<Failure> failures;
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    if (attempt->passed) continue;
    const auto same = std::find_if(failures.begin(), failures.end(), [&](const Failure& failure) {
      return Kind(*failure.newest) == Kind(*attempt) && failure.newest->summary == attempt->summary;
    });
    if (same == failures.end()) {
      failures.push_back({&*attempt, 1});
    } else {
      ++same->times;
    }
  }
  return failures;
}

}  // namespace

void Reflection::Add(Attempt attempt) { attempts_.push_back(std::move(attempt)); }

bool Reflection::Knows(const std::string& code) const {
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [&](const Attempt& attempt) { return attempt.code == code; });
}

const Attempt* Reflection::best() const {
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts_) {
    if (attempt.passed && (best == nullptr || IsBetter(attempt, *best))) best = &attempt;
  }
  return best;
}

std::string Reflection::Text(size_t budget, bool with_best_code) const {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (text.size() + part.size() <= budget) text += part;
  };
  if (const Attempt* found = best(); found != nullptr) {
    add(fmt::format("- Best so far (step {}): passed", found->step) +
        (found->speedup.has_value()
             ? fmt::format(", {:.3f}x the reference's speed", *found->speedup)
             : "") +
        (found->strategy.empty() ? "" : "; " + OneLine(found->strategy)) + "\n");
    if (with_best_code) add("\n```\n" + found->code + "\n```\n");
  }
  for (const Attempt& attempt : attempts_) {
    if (!attempt.passed || &attempt == best()) continue;
    add(fmt::format("- Step {}: passed", attempt.step) +
        (attempt.speedup.has_value() ? fmt::format(", {:.3f}x", *attempt.speedup) : "") +
        (attempt.strategy.empty() ? "" : "; " + OneLine(attempt.strategy)) + "\n");
  }
  for (const Failure& failure : Failures(attempts_)) {
    add(fmt::format("- Step {}: {}{}: {}", failure.newest->step, Kind(*failure.newest),
                    failure.times > 1 ? fmt::format(" ({} times)", failure.times) : "",
                    OneLine(failure.newest->summary)) +
        (failure.newest->strategy.empty() ? "" : "; tried: " + OneLine(failure.newest->strategy)) +
        "\n");
  }
  return text;
}

std::string Shorten(const std::string& log, size_t budget) {
  if (log.size() <= budget) return log;
  const size_t head = log.rfind('\n', budget * 2 / 3);
  const size_t tail = log.find('\n', log.size() - budget / 3);
  const size_t head_end = head == std::string::npos ? budget * 2 / 3 : head;
  const size_t tail_begin = tail == std::string::npos ? log.size() - budget / 3 : tail;
  return log.substr(0, head_end) + fmt::format("\n[… {} bytes left out …]", tail_begin - head_end) +
         log.substr(tail_begin);
}

}  // namespace kerf::conduct
