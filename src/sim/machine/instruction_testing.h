// Runs pieces of kernels in the test's own process, written with the headers that kernels include.
#pragma once

#include <gtest/gtest.h>
#include <kerf_log/writer.h>
#include <pto/pto-inst.hpp>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/machine/launch.h"
#include "sim/machine/tile_io.h"

namespace kerf::sim {

inline kerf_pto::Core* test_core = nullptr;

// One core; `global` holds what the body may touch.
inline LaunchResult RunBody(GlobalMemory& global, const std::function<void()>& body,
                            kerf_log::CoreKind kind = kerf_log::CoreKind::kAiv) {
  kerf_pto_bind(&test_core);
  Launch launch({}, global, &test_core);
  launch.AddCore({kind, 0, 0, body, nullptr, nullptr});
  return launch.Run();
}

// A row-major matrix in global memory.
template <typename T>
struct Matrix {
  Matrix(int rows_, int cols_)
      : rows(rows_), cols(cols_), data(static_cast<size_t>(rows_ * cols_)) {}
  T& at(int r, int c) { return data[static_cast<size_t>(r * cols + c)]; }
  int rows, cols;
  std::vector<T> data;
};

// Values that show mistakes: of both signs, of different sizes, exact in every type here.
template <typename T>
Matrix<T> Sample(int rows, int cols, int seed) {
  Matrix<T> matrix(rows, cols);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (T& value : matrix.data) {
    const int whole = static_cast<int>(random() % 41) - 20;
    if constexpr (std::is_unsigned_v<T>)
      value = static_cast<T>(whole + 20);
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(whole);
    else
      value = static_cast<T>(static_cast<float>(whole) / 4);
  }
  return matrix;
}

using DynamicShape = pto::Shape<1, 1, 1, pto::DYNAMIC, pto::DYNAMIC>;
using DynamicStride =
    pto::Stride<pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC, pto::DYNAMIC>;
template <typename T>
using View = pto::GlobalTensor<T, DynamicShape, DynamicStride>;

template <typename T>
View<T> ViewOf(Matrix<T>& matrix) {
  const int all = matrix.rows * matrix.cols;
  return View<T>(matrix.data.data(), DynamicShape(matrix.rows, matrix.cols),
                 DynamicStride(all, all, all, matrix.cols, 1));
}

template <typename T>
void AddTo(GlobalMemory& global, Matrix<T>& matrix, const char* name) {
  global.AddRegion(name, matrix.data.data(), matrix.data.size() * sizeof(T));
}

// A vector tile with a valid region that is known when it runs.
template <typename T, int Rows, int Cols>
using Vec = pto::Tile<pto::TileType::Vec, T, Rows, Cols, pto::BLayout::RowMajor, pto::DYNAMIC,
                      pto::DYNAMIC>;
// One value per row.
template <typename T, int Rows>
using Column = pto::Tile<pto::TileType::Vec, T, Rows, 1, pto::BLayout::ColMajor, pto::DYNAMIC, 1>;

inline std::string Text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.instruction + ": " + finding.text + "\n";
  return text;
}

inline void ExpectClean(const LaunchResult& result) {
  EXPECT_EQ(result.finished, result.cores);
  EXPECT_TRUE(result.findings.empty()) << Text(result.findings);
}

template <typename T>
void ExpectNear(Matrix<T>& got, const std::function<double(int, int)>& wanted, double relative,
                const char* what) {
  for (int r = 0; r < got.rows; ++r) {
    for (int c = 0; c < got.cols; ++c) {
      const double value = static_cast<double>(got.at(r, c));
      const double want = wanted(r, c);
      ASSERT_NEAR(value, want, relative * std::max(1.0, std::fabs(want)))
          << what << " at " << r << ", " << c;
    }
  }
}

}  // namespace kerf::sim
