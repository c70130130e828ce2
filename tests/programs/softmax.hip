// Row-wise softmax, one workgroup a row: the plain three-pass form and the online form that keeps a running maximum.
#include "check.hpp"

constexpr unsigned kBlock = 128;

template <class Combine>
__device__ float block_all(float value, Combine combine) {
  __shared__ float scratch[kBlock / 64];
  for (int mask = 32; mask > 0; mask /= 2)
    value = combine(value, __shfl_xor(value, mask));
  __syncthreads();  // the last call's readers are done
  if (threadIdx.x % 64 == 0)
    scratch[threadIdx.x / 64] = value;
  __syncthreads();
  return combine(scratch[0], scratch[1]);
}

__global__ void softmax_three_pass(const float* in, float* out, unsigned columns) {
  const float* row = in + blockIdx.x * columns;
  float largest = -INFINITY;
  for (unsigned i = threadIdx.x; i < columns; i += kBlock)
    largest = fmaxf(largest, row[i]);
  largest = block_all(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (unsigned i = threadIdx.x; i < columns; i += kBlock)
    sum += expf(row[i] - largest);
  sum = block_all(sum, [](float a, float b) { return a + b; });
  for (unsigned i = threadIdx.x; i < columns; i += kBlock)
    out[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}

__global__ void softmax_online(const float* in, float* out, unsigned columns) {
  const float* row = in + blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (unsigned i = threadIdx.x; i < columns; i += kBlock) {
    const float next = fmaxf(largest, row[i]);
    sum = sum * __expf(largest - next) + __expf(row[i] - next);
    largest = next;
  }
  const float overall = block_all(largest, [](float a, float b) { return fmaxf(a, b); });
  // A thread without elements still has the maximum -inf: exp(-inf) is 0.
  sum = block_all(sum * __expf(largest - overall), [](float a, float b) { return a + b; });
  for (unsigned i = threadIdx.x; i < columns; i += kBlock)
    out[blockIdx.x * columns + i] = __expf(row[i] - overall) * __frcp_rn(sum);
}

int main() {
  Check check("softmax");
  constexpr unsigned kRows = 9;
  for (unsigned columns : {1u, 100u, 128u, 1000u}) {
    for (double spread : {1.0, 60.0}) {
      Rng rng(columns);
      std::vector<float> in(kRows * columns);
      for (float& value : in)
        value = float(rng.uniform(-spread, spread));
      DeviceBuffer<float> d_in(in), d_three(in.size()), d_online(in.size());
      softmax_three_pass<<<kRows, kBlock>>>(d_in.get(), d_three.get(), columns);
      softmax_online<<<kRows, kBlock>>>(d_in.get(), d_online.get(), columns);
      HIP_CHECK_LAUNCH();
      const std::vector<float> three = d_three.download(), online = d_online.download();
      for (unsigned r = 0; r < kRows; r++) {
        const auto row = in.begin() + r * columns;
        const float largest = *std::max_element(row, row + columns);
        double sum = 0;
        for (unsigned i = 0; i < columns; i++)
          sum += std::exp(double(row[i] - largest));
        for (unsigned i = 0; i < columns; i++) {
          const double expected = std::exp(double(row[i] - largest)) / sum;  // the difference rounds to float on both sides
          check.close("three passes", r * columns + i, three[r * columns + i], expected, 2e-6 * expected + 1e-37);
          check.close("online", r * columns + i, online[r * columns + i], expected, 1e-4 * expected + 1e-37);
        }
      }
    }
  }
  return check.finish();
}
