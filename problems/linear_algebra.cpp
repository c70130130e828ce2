// OpenBLAS, because it picks its kernels for the processor at run time: 35 GFLOP/s on a core where Eigen, compiled for
// AVX2, has 22. Every call to it runs on the thread that makes it; the threads are ours, so that the caller says how
// many.

#include "problems/linear_algebra.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "common/result.hpp"

namespace hipbench {
namespace {

// Slices of C's columns start at multiples of this, a whole number of tiles of every kernel that OpenBLAS has.
constexpr int64_t kSliceStep = 48;

int blas_int(int64_t value) {
  CHECK(value >= 0 && value <= std::numeric_limits<int>::max(), "the size fits BLAS");
  return static_cast<int>(value);
}

void multiply_columns(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, double c_factor, int64_t first,
                      int64_t count) {
  const double* right = b.data + (b.is_transposed ? first * b.stride : first);
  // The serial OpenBLAS hands out its work buffers without a lock: two calls at once may get the same, and wrong
  // results.
  static const bool is_serial = openblas_get_parallel() == OPENBLAS_SEQUENTIAL;
  static std::mutex one_at_a_time;
  std::unique_lock turn(one_at_a_time, std::defer_lock);
  if (is_serial) turn.lock();
  cblas_dgemm(CblasRowMajor, a.is_transposed ? CblasTrans : CblasNoTrans, b.is_transposed ? CblasTrans : CblasNoTrans,
              blas_int(c.rows), blas_int(count), blas_int(a.columns), 1, a.data, blas_int(a.stride), right,
              blas_int(b.stride), c_factor, c.data + first, blas_int(c.stride));
}

}  // namespace

void multiply(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, double c_factor, unsigned threads) {
  CHECK(a.rows == c.rows && b.columns == c.columns && a.columns == b.rows, "the matrices fit");
  if (c.rows == 0 || c.columns == 0) return;
  // A machine may have the OpenBLAS that starts threads of its own.
  static const bool single_threaded = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(single_threaded);

  const int64_t steps = (c.columns + kSliceStep - 1) / kSliceStep;
  const int64_t slices = std::clamp<int64_t>(threads, 1, steps);
  const auto work = [&](int64_t slice) {
    const int64_t first = steps * slice / slices * kSliceStep;
    const int64_t end = std::min(c.columns, steps * (slice + 1) / slices * kSliceStep);
    multiply_columns(a, b, c, c_factor, first, end - first);
  };
  std::vector<std::thread> helpers;
  for (int64_t slice = 1; slice < slices; ++slice) helpers.emplace_back(work, slice);
  work(0);
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace hipbench
