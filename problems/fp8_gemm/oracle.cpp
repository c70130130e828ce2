// A blocked matrix product in double. Work is cut into tasks of at most 256 rows by 192 columns of C that threads take
// from a counter. Within a task, for each 128-block of k: B is converted once into panels of 12 columns, A into panels
// of 4 rows, and a 4x12 tile of sums stays in registers for the whole block.
//
// Why this is exact enough to be called the answer: e4m3fnuz values are integers times 2^-10 of at most 18 bits, so a
// product has 36 bits and the sum of a block 43: it is exact in double, in any order, fused or not. Only the product
// with the scales and the sum over the blocks round, each within 2^-53.

#include "problems/fp8_gemm/oracle.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "problems/number_formats.hpp"
#include "problems/parallel.hpp"

namespace hipbench::fp8_gemm {
namespace {

constexpr int64_t kTaskRows = 256, kTaskColumns = 192;
constexpr int64_t kTileRows = 4, kTileColumns = 12;
using Vector = double __attribute__((vector_size(32)));  // 4 doubles
constexpr int64_t kLanes = 4, kVectors = kTileColumns / kLanes;

// One block of one tile: c += a_scale (x) b_scale * (A . B). a is [depth][4], b is [depth][12], c has `stride` doubles
// a row.
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void tile_block(
    const double* a, const double* b, int64_t depth, const double* a_scale, const double* b_scale, double* c,
    int64_t stride) {
#pragma clang fp contract(fast)  // fused or not, the sums of a block are exact
  Vector sum[kTileRows][kVectors] = {};
  for (int64_t kk = 0; kk < depth; ++kk) {
    Vector right[kVectors];
    for (int64_t v = 0; v < kVectors; ++v)
      __builtin_memcpy(&right[v], b + kk * kTileColumns + v * kLanes, sizeof(Vector));
    for (int64_t row = 0; row < kTileRows; ++row) {
      const double left = a[kk * kTileRows + row];
      for (int64_t v = 0; v < kVectors; ++v) sum[row][v] += right[v] * left;
    }
  }
  for (int64_t row = 0; row < kTileRows; ++row) {
    for (int64_t column = 0; column < kTileColumns; ++column) {
#pragma clang fp contract(off)
      const double scale = a_scale[row] * b_scale[column];  // 24 x 24 bits: exact
      const double term = scale * sum[row][column / kLanes][column % kLanes];
      c[row * stride + column] = c[row * stride + column] + term;
    }
  }
}

struct Scratch {
  std::array<double, kTaskRows * kTaskColumns> c;
  std::array<double, kScaleBlock * kTaskColumns> b;
  std::array<double, kScaleBlock * kTileRows> a;
  std::array<double, kTaskColumns> b_scale;
};

class Task {
 public:
  Task(const Operands& operands, std::span<const int64_t> rows, int64_t first_column, int64_t columns,
       const std::array<double, 256>& decode, Scratch& scratch)
      : x_(operands), rows_(rows), first_column_(first_column), columns_(columns), decode_(decode), s_(scratch) {}

  void run(uint16_t* c, int64_t first_row) {
    s_.c.fill(0);
    for (int64_t block = 0; block * kScaleBlock < x_.k; ++block) {
      pack_b(block);
      for (int64_t row = 0; row < row_total(); row += kTileRows) multiply_panel(block, row);
    }
    for (int64_t row = 0; row < row_total(); ++row) {
      uint16_t* out = c + (first_row + row) * x_.n + first_column_;
      for (int64_t column = 0; column < columns_; ++column) {
        out[column] = double_to_bf16(s_.c[static_cast<size_t>(row * kTaskColumns + column)]);
      }
    }
  }

 private:
  int64_t row_total() const { return static_cast<int64_t>(rows_.size()); }
  int64_t depth(int64_t block) const { return std::min(kScaleBlock, x_.k - block * kScaleBlock); }

  // Columns beyond the edge are zero, so that tiles are always whole.
  void pack_b(int64_t block) {
    const int64_t scale_columns = (x_.n + kScaleBlock - 1) / kScaleBlock;
    for (int64_t panel = 0; panel * kTileColumns < columns_; ++panel) {
      double* out = s_.b.data() + panel * kTileColumns * kScaleBlock;
      for (int64_t kk = 0; kk < depth(block); ++kk) {
        const uint8_t* in = x_.b + (block * kScaleBlock + kk) * x_.n + first_column_;
        for (int64_t i = 0; i < kTileColumns; ++i) {
          const int64_t column = panel * kTileColumns + i;
          out[kk * kTileColumns + i] = column < columns_ ? decode_[in[column]] : 0;
        }
      }
    }
    for (int64_t column = 0; column < kTaskColumns; ++column) {
      const int64_t j = first_column_ + column;
      s_.b_scale[static_cast<size_t>(column)] = j < x_.n ? x_.b_scale[block * scale_columns + j / kScaleBlock] : 0;
    }
  }

  void multiply_panel(int64_t block, int64_t row) {
    double a_scale[kTileRows] = {};
    for (int64_t r = 0; r < kTileRows; ++r) {
      const bool inside = row + r < row_total();
      const int64_t i = inside ? rows_[static_cast<size_t>(row + r)] : 0;
      if (inside) a_scale[r] = x_.a_scale[block * x_.m + i];
      const uint8_t* in = x_.a + block * kScaleBlock * x_.m + i;
      for (int64_t kk = 0; kk < depth(block); ++kk) {
        s_.a[static_cast<size_t>(kk * kTileRows + r)] = inside ? decode_[in[kk * x_.m]] : 0;
      }
    }
    for (int64_t column = 0; column < columns_; column += kTileColumns) {
      tile_block(s_.a.data(), s_.b.data() + column * kScaleBlock, depth(block), a_scale,
                 &s_.b_scale[static_cast<size_t>(column)], &s_.c[static_cast<size_t>(row * kTaskColumns + column)],
                 kTaskColumns);
    }
  }

  const Operands& x_;
  std::span<const int64_t> rows_;
  int64_t first_column_, columns_;
  const std::array<double, 256>& decode_;
  Scratch& s_;
};

}  // namespace

std::vector<uint16_t> multiply(const Operands& operands, std::span<const int64_t> rows, unsigned threads) {
  std::array<double, 256> decode;
  for (size_t code = 0; code < 256; ++code) decode[code] = e4m3fnuz_to_double(static_cast<uint8_t>(code));

  const auto row_total = static_cast<int64_t>(rows.size());
  std::vector<uint16_t> c(static_cast<size_t>(row_total * operands.n));
  const int64_t column_tasks = (operands.n + kTaskColumns - 1) / kTaskColumns;
  const int64_t tasks = column_tasks * ((row_total + kTaskRows - 1) / kTaskRows);
  parallel_for(threads, tasks, [&](int64_t task) {
    thread_local const auto scratch = std::make_unique<Scratch>();
    const int64_t row = task / column_tasks * kTaskRows, column = task % column_tasks * kTaskColumns;
    const auto task_rows =
        rows.subspan(static_cast<size_t>(row), static_cast<size_t>(std::min(kTaskRows, row_total - row)));
    Task(operands, task_rows, column, std::min(kTaskColumns, operands.n - column), decode, *scratch).run(c.data(), row);
  });
  return c;
}

}  // namespace hipbench::fp8_gemm
