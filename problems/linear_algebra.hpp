#pragma once
// The matrix product of the oracles, in double. The only user of the BLAS library.

#include <cstdint>

namespace hipbench {

// A block of a row-major matrix; `stride` doubles from one row to the next.
struct ConstMatrix {
  const double* data;
  int64_t rows, columns, stride;
  bool is_transposed = false;  // stored as [columns][rows]: `rows` and `columns` are those of the matrix that is meant

  ConstMatrix transposed() const { return {data, columns, rows, stride, !is_transposed}; }
};

struct Matrix {
  double* data;
  int64_t rows, columns, stride;
};

// c = a . b + c_factor * c, on at most `threads` threads (0 counts as 1); c_factor = 0 does not read c. Several threads
// may call it at a time. Which rows and columns of a larger product are asked for may change the last bits of an
// element.
void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, double c_factor, unsigned threads);

}  // namespace hipbench
