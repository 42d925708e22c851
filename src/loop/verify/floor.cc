// The speed of light of a CPU, measured: how fast this machine touches bytes when it does nothing
// else.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "loop/verify/perform.h"

namespace kerf::verify {
namespace {

constexpr int kTries = 15;
constexpr uint64_t kWords = 8;  // of a cache line

uint64_t SumWords(const uint64_t* data, size_t count) {
  // Several sums, so that the loop waits for memory and not for its own additions.
  uint64_t sums[kWords] = {};
  size_t i = 0;
  for (; i + kWords <= count; i += kWords) {
    for (size_t k = 0; k < kWords; ++k) sums[k] += data[i + k];
  }
  uint64_t sum = 0;
  for (const uint64_t one : sums) sum += one;
  for (; i < count; ++i) sum += data[i];
  return sum;
}

}  // namespace

double MeasureFloor(uint64_t bytes, int threads) {
  const size_t count = bytes / sizeof(uint64_t);
  if (count == 0) return 0;
  std::vector<uint64_t> data(count, 1);
  // Starting a thread costs more than touching this much.
  constexpr size_t kAlone = size_t{1} << 18;
  const auto parts = static_cast<size_t>(count < kAlone ? 1 : std::max(threads, 1));
  volatile uint64_t sink = 0;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (size_t k = 1; k < parts; ++k) {
      workers.emplace_back([&, k] {
        sink = sink + SumWords(data.data() + count * k / parts,
                               count * (k + 1) / parts - count * k / parts);
      });
    }
    sink = sink + SumWords(data.data(), count / parts);
    for (std::thread& worker : workers) worker.join();
    const double ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    if (i == 0 || ns < best) best = ns;
  }
  return best;
}

}  // namespace kerf::verify
