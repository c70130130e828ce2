// Matrix transpose through a padded LDS tile, on shapes that no tile divides; 2D workgroups and grids.
#include "check.hpp"

constexpr unsigned kTile = 32, kRows = 8;

template <class T>
__global__ void transpose(const T* in, T* out, unsigned rows, unsigned columns) {
  __shared__ T tile[kTile][kTile + 1];
  unsigned x = blockIdx.x * kTile + threadIdx.x;
  unsigned y = blockIdx.y * kTile + threadIdx.y;
  for (unsigned j = 0; j < kTile; j += kRows)
    if (x < columns && y + j < rows)
      tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (unsigned j = 0; j < kTile; j += kRows)
    if (x < rows && y + j < columns)
      out[size_t(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <class T>
void test(Check& check, const char* where, unsigned rows, unsigned columns) {
  Rng rng(rows * 1000 + columns);
  std::vector<T> in(size_t{rows} * columns), expected(in.size());
  for (T& value : in)
    value = T(rng.u64());
  for (unsigned r = 0; r < rows; r++)
    for (unsigned c = 0; c < columns; c++)
      expected[size_t{c} * rows + r] = in[size_t{r} * columns + c];
  DeviceBuffer<T> d_in(in), d_out(in.size());
  transpose<T><<<dim3(ceil_div(columns, kTile), ceil_div(rows, kTile)), dim3(kTile, kRows)>>>(d_in.get(), d_out.get(), rows, columns);
  HIP_CHECK_LAUNCH();
  check.all_equal(where, d_out.download(), expected);
}

int main() {
  Check check("transpose");
  const unsigned shapes[][2] = {{1, 1}, {31, 33}, {32, 64}, {77, 129}, {200, 3}, {1, 300}};
  for (const auto& shape : shapes) {
    test<uint8_t>(check, "bytes", shape[0], shape[1]);
    test<uint16_t>(check, "words", shape[0], shape[1]);
    test<uint32_t>(check, "dwords", shape[0], shape[1]);
    test<uint64_t>(check, "quadwords", shape[0], shape[1]);
  }
  return check.finish();
}
