// Splits [0, count) into one contiguous range for each thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace kerf::verify {

// Borders are multiples of `grain`. `work` gets the number of its part, and the range; it runs on
// the calling thread too. Returns how many parts there were.
inline int ForEachRange(int64_t count, int64_t grain, int threads,
                        const std::function<void(int, int64_t, int64_t)>& work) {
  const int64_t grains = (count + grain - 1) / grain;
  // Below a few grains each, starting a thread costs more than it saves.
  const auto parts = static_cast<int>(std::clamp<int64_t>(grains / 16, 1, std::max(threads, 1)));
  const auto border = [&](int part) { return std::min(count, grains * part / parts * grain); };
  std::vector<std::thread> workers;
  for (int part = 1; part < parts; ++part) {
    workers.emplace_back([&, part] { work(part, border(part), border(part + 1)); });
  }
  work(0, 0, border(1));
  for (std::thread& worker : workers) worker.join();
  return parts;
}

}  // namespace kerf::verify
