// Tiled matrix multiplication through LDS in float, double and half, against double on the CPU; ragged shapes.
#include <hip/hip_fp16.h>

#include "check.hpp"

constexpr unsigned kTile = 16;

template <class T, class Accumulator>
__global__ void matmul(const T* a, const T* b, T* c, unsigned m, unsigned n, unsigned k) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  Accumulator sum = 0;
  for (unsigned start = 0; start < k; start += kTile) {
    const unsigned ka = start + threadIdx.x, kb = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : T(0);
    tile_b[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : T(0);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kTile; i++)
      sum += Accumulator(tile_a[threadIdx.y][i]) * Accumulator(tile_b[i][threadIdx.x]);
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = T(sum);
}

template <class T, class Accumulator>
void test(Check& check, const char* where, unsigned m, unsigned n, unsigned k, double relative) {
  Rng rng(m * 10000 + n * 100 + k);
  std::vector<T> a(m * k), b(k * n);
  for (T& value : a)
    value = T(float(rng.uniform(-1, 1)));
  for (T& value : b)
    value = T(float(rng.uniform(-1, 1)));
  DeviceBuffer<T> d_a(a), d_b(b), d_c(m * n);
  matmul<T, Accumulator><<<dim3(ceil_div(n, kTile), ceil_div(m, kTile)), dim3(kTile, kTile)>>>(d_a.get(), d_b.get(), d_c.get(), m, n, k);
  HIP_CHECK_LAUNCH();
  const std::vector<T> c = d_c.download();
  for (unsigned i = 0; i < m; i++)
    for (unsigned j = 0; j < n; j++) {
      double expected = 0, magnitude = 0;
      for (unsigned p = 0; p < k; p++) {
        const double product = double(float(a[i * k + p])) * double(float(b[p * n + j]));
        expected += product;
        magnitude += std::fabs(product);
      }
      check.close(where, i * n + j, double(c[i * n + j]), expected, relative * magnitude);
    }
}

int main() {
  Check check("matmul");
  const unsigned shapes[][3] = {{1, 1, 1}, {16, 16, 16}, {33, 17, 45}, {50, 70, 61}};
  for (const auto& [m, n, k] : shapes) {
    test<float, float>(check, "float", m, n, k, 1e-5);
    test<double, double>(check, "double", m, n, k, 1e-13);
    test<__half, float>(check, "half", m, n, k, 1e-3);
  }
  return check.finish();
}
