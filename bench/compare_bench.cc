// Claim: comparing two float32 tensors of 64 M elements with full statistics takes less than a
// fifth of numpy.allclose, and less than twice as long as reading their bytes once.
//
//   KERF_PYTHON=.venv/bin/python kerf_compare_bench [--elements N] [--repeats N] [--threads N]
//
// "Full statistics": every element against its budget, maximum, mean and RMS by magnitude class,
// the 99.9 % quantile, the ten worst. The candidate differs from the reference in most elements by
// a few units in the last place, as honest kernels do. Reading and comparing take turns, so that
// both meet the same machine; numpy runs in its own process in between.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/subprocess.h"
#include "loop/verify/compare.h"
#include "loop/verify/parallel.h"
#include "machine.h"

namespace {

using kerf::DType;
using kerf::verify::Budget;
using kerf::verify::Comparison;
using kerf::verify::Expected;

constexpr const char* kNumpyScript = R"(
import sys, time
import numpy
n, repeats = int(sys.argv[1]), int(sys.argv[2])
a = numpy.random.default_rng(1).standard_normal(n, dtype=numpy.float32)
b = numpy.nextafter(a, numpy.float32(9))
times = []
for _ in range(repeats + 1):
    start = time.perf_counter()
    assert numpy.allclose(a, b)
    times.append(time.perf_counter() - start)
print(sorted(times[1:])[repeats // 2], min(times))
)";

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Sums 64-bit words: the least a program can do with bytes it must look at.
uint64_t ReadOnce(const void* data, size_t bytes, int threads) {
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  kerf::verify::ForEachRange(static_cast<int64_t>(bytes / 8), 4096, threads,
                             [&](int part, int64_t begin, int64_t end) {
                               const auto* words = static_cast<const uint64_t*>(data);
                               uint64_t sum = 0;
                               for (int64_t i = begin; i < end; ++i) sum += words[i];
                               sums[static_cast<size_t>(part)] = sum;
                             });
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

struct Data {
  std::unique_ptr<float[]> reference;
  std::unique_ptr<float[]> candidate;
  std::unique_ptr<double[]> oracle;
};

Data Generate(size_t elements) {
  // Allocated without touching it, so that the pages are first written below.
  Data data{std::make_unique_for_overwrite<float[]>(elements),
            std::make_unique_for_overwrite<float[]>(elements),
            std::make_unique_for_overwrite<double[]>(elements)};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  // A pool of random values is enough; 64 M of them would take longer than all the rest.
  std::vector<double> pool(1 << 20);
  for (double& value : pool) value = normal(random);
  for (size_t i = 0; i < elements; ++i) {
    const double exact = pool[(i * 2654435761U) % pool.size()] * (1 + 1e-3 * pool[i % pool.size()]);
    data.oracle[i] = exact;
    data.reference[i] = static_cast<float>(exact);
    data.candidate[i] = static_cast<float>(exact * (1 + 1e-7 * pool[(i + 7) % pool.size()]));
  }
  return data;
}

// Of one thing measured several times. The best one is what the machine can do when nobody else
// wants it.
struct Times {
  double median = 0;
  double best = 0;
};

Times NumpyTimes(size_t elements, int repeats) {
  const char* python = std::getenv("KERF_PYTHON");
  if (python == nullptr) return {};
  const auto outcome = kerf::RunProcess(
      {.argv = {python, "-c", kNumpyScript, std::to_string(elements), std::to_string(repeats)}});
  if (!outcome.ok() || outcome->exit_code != 0) {
    std::fprintf(stderr, "numpy did not run\n");
    return {};
  }
  Times times;
  std::sscanf(outcome->stdout_text.c_str(), "%lf %lf", &times.median, &times.best);
  return times;
}

void Measure(const char* what, const Data& data, const Expected& expected, size_t elements,
             int repeats, int threads, const Times& numpy) {
  const size_t bytes = elements * 4;
  std::vector<double> budget_times;
  std::vector<double> read_times;
  std::vector<double> compare_times;
  std::vector<double> ratios;
  Budget budget = Budget::Make(expected, threads);
  Comparison result;
  uint64_t sink = 0;
  for (int i = 0; i < repeats; ++i) {
    read_times.push_back(Seconds([&] {
      sink += ReadOnce(data.candidate.get(), bytes, threads);
      sink += expected.oracle ? ReadOnce(data.oracle.get(), bytes * 2, threads)
                              : ReadOnce(data.reference.get(), bytes, threads);
    }));
    compare_times.push_back(Seconds([&] {
      result = Compare({expected.reference.spec, data.candidate.get()}, expected, budget, nullptr,
                       threads);
    }));
    ratios.push_back(compare_times.back() / read_times.back());
    if (i < 3) budget_times.push_back(Seconds([&] { budget = Budget::Make(expected, threads); }));
  }
  const double compare = Median(compare_times);
  const double best = *std::min_element(compare_times.begin(), compare_times.end());
  const double best_read = *std::min_element(read_times.begin(), read_times.end());
  std::printf("%s: medians: compare %.1f ms, read once %.1f ms, ratio %.2f; budget %.1f ms", what,
              compare * 1e3, Median(read_times) * 1e3, Median(ratios), Median(budget_times) * 1e3);
  if (numpy.median > 0) std::printf("; allclose/compare %.1f", numpy.median / compare);
  std::printf("\n  best: compare %.1f ms, read once %.1f ms, ratio %.2f", best * 1e3,
              best_read * 1e3, best / best_read);
  if (numpy.best > 0) std::printf("; allclose/compare %.1f", numpy.best / best);
  std::printf("\n  %s%s\n", result.Summary().c_str(), sink == 1 ? " " : "");
}

}  // namespace

int main(int argc, char** argv) {
  size_t elements = size_t{64} << 20;
  int repeats = 15;
  int threads = static_cast<int>(std::min(2U, std::thread::hardware_concurrency()));
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--elements" && i + 1 < argc) {
      elements = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--repeats" && i + 1 < argc) {
      repeats = std::atoi(argv[++i]);
    } else if (arg == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--elements N] [--repeats N] [--threads N]\n", argv[0]);
      return 2;
    }
  }
  if (elements == 0 || repeats < 1 || threads < 1) return 2;
  std::printf("%s\n", kerf::bench::MachineContext("/tmp").c_str());
  std::printf("%zu float32 elements, %d threads, medians of %d\n", elements, threads, repeats);
  const Times numpy = NumpyTimes(elements, std::min(repeats, 7));
  if (numpy.median > 0) {
    std::printf("numpy.allclose: median %.1f ms, best %.1f ms\n", numpy.median * 1e3,
                numpy.best * 1e3);
  } else {
    std::printf("numpy.allclose skipped: $KERF_PYTHON does not name a python with numpy\n");
  }
  const Data data = Generate(elements);
  const auto count = static_cast<int64_t>(elements);
  const Expected weak{{{DType::kFloat32, {count}}, data.reference.get()}};
  Expected with_oracle = weak;
  with_oracle.oracle = {{DType::kFloat64, {count}}, data.oracle.get()};
  Measure("float32 reference", data, weak, elements, repeats, threads, numpy);
  Measure("float64 oracle", data, with_oracle, elements, repeats, threads, numpy);
  return 0;
}
