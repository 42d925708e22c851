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
                            kerf_log::CoreKind kind = kerf_log::CoreKind::kAiv,
                            const MemorySizes& memories = kA2A3Memories) {
  kerf_pto_bind(&test_core);
  LaunchConfig config;
  config.memories = &memories;
  Launch launch(config, global, &test_core);
  launch.AddCore({kind, 0, 0, body, nullptr, nullptr});
  return launch.Run();
}

// A row-major matrix in global memory.
template <typename T>
struct Matrix {
  Matrix(int rows_, int cols_)
      : rows(rows_), cols(cols_), data(static_cast<size_t>(rows_) * static_cast<size_t>(cols_)) {}
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

// Gives tiles addresses of their own, one behind the other.
class Tiles {
 public:
  template <typename T, int Rows, int Cols>
  Vec<T, Rows, Cols> New(int rows, int cols) {
    Vec<T, Rows, Cols> tile(rows, cols);
    pto::TASSIGN(tile, next_);
    next_ += (static_cast<uint64_t>(Rows) * Cols * sizeof(T) + 31) / 32 * 32;
    return tile;
  }
  template <typename T, int Rows>
  Column<T, Rows> NewColumn(int rows) {
    Column<T, Rows> tile(rows);
    pto::TASSIGN(tile, next_);
    next_ += (Rows * sizeof(T) + 31) / 32 * 32;
    return tile;
  }
  template <int Rows, int Cols, typename T>
  Vec<T, Rows, Cols> Load(Matrix<T>& matrix) {
    auto tile = New<T, Rows, Cols>(matrix.rows, matrix.cols);
    pto::TLOAD(tile, ViewOf(matrix));
    return tile;
  }

 private:
  uint64_t next_ = 0;
};

// A column of a matrix with one column, in global memory.
template <typename T>
auto ColumnView(Matrix<T>& matrix) {
  using ColumnShape = pto::Shape<1, 1, 1, pto::DYNAMIC, 1>;
  return pto::GlobalTensor<T, ColumnShape, pto::Stride<1, 1, 1, 1, 1>, pto::Layout::DN>(
      matrix.data.data(), ColumnShape(matrix.rows));
}

// All of them, named after their place.
template <typename... M>
GlobalMemory MemoryOf(M&... matrices) {
  GlobalMemory global;
  int number = 0;
  (AddTo(global, matrices, ("m" + std::to_string(number++)).c_str()), ...);
  return global;
}

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
