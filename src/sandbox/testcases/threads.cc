// Honest: a team of threads, as an OpenMP program has.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  std::atomic<int> sum{0};
  std::vector<std::thread> team;
  for (int i = 1; i <= 8; ++i) team.emplace_back([&sum, i] { sum += i; });
  for (std::thread& thread : team) thread.join();
  std::printf("%d\n", sum.load());
  return sum == 36 ? 0 : 1;
}
