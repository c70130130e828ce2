// Sum reductions: an LDS tree, wave shuffles, and one atomic a workgroup. Sizes around the wave and workgroup borders.
#include "check.hpp"

constexpr unsigned kBlock = 256;

__global__ void tree_sum(const int* in, unsigned n, long long* out) {
  __shared__ long long partial[kBlock];
  long long sum = 0;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock)
    sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = partial[0];
}

template <class T>
__device__ T wave_sum(T value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down(value, offset);
  return value;
}

template <class T>
__global__ void shuffle_sum(const T* in, unsigned n, T* out) {
  __shared__ T per_wave[kBlock / 64];
  T sum = 0;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock)
    sum += in[i];
  sum = wave_sum(sum);
  if (threadIdx.x % 64 == 0)
    per_wave[threadIdx.x / 64] = sum;
  __syncthreads();
  if (threadIdx.x < 64) {
    sum = wave_sum(threadIdx.x < kBlock / 64 ? per_wave[threadIdx.x] : T(0));
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

// Minimum, maximum and where the maximum is, by butterfly exchange.
__global__ void butterfly_extremes(const float* in, unsigned n, float* low, float* high, unsigned* where) {
  float smallest = INFINITY, largest = -INFINITY;
  unsigned index = ~0u;
  for (unsigned i = threadIdx.x; i < n; i += 64) {
    smallest = fminf(smallest, in[i]);
    if (in[i] > largest) {
      largest = in[i];
      index = i;
    }
  }
  for (int mask = 1; mask < 64; mask *= 2) {
    smallest = fminf(smallest, __shfl_xor(smallest, mask));
    const float other = __shfl_xor(largest, mask);
    const unsigned other_index = __shfl_xor(index, mask);
    if (other > largest || (other == largest && other_index < index)) {
      largest = other;
      index = other_index;
    }
  }
  if (threadIdx.x == 0) {
    *low = smallest;
    *high = largest;
    *where = index;
  }
}

int main() {
  Check check("reduction");
  for (unsigned n : {1u, 63u, 64u, 65u, 257u, 1000u, 100003u}) {
    Rng rng(n);
    std::vector<int> ints(n);
    std::vector<double> doubles(n);
    std::vector<float> floats(n);
    long long int_sum = 0;
    double double_sum = 0;
    for (unsigned i = 0; i < n; i++) {
      ints[i] = int(rng.u32());
      doubles[i] = double(int(rng.below(2000001)) - 1000000) / 1024;  // exact in any order
      floats[i] = float(rng.uniform(-1000, 1000));
      int_sum += ints[i];
      double_sum += doubles[i];
    }

    const unsigned blocks = std::min(ceil_div(n, kBlock), 37u);
    DeviceBuffer<int> d_ints(ints);
    DeviceBuffer<long long> partial(blocks);
    tree_sum<<<blocks, kBlock>>>(d_ints.get(), n, partial.get());
    HIP_CHECK_LAUNCH();
    long long got = 0;
    for (long long value : partial.download())
      got += value;
    check.equal("tree_sum", n, got, int_sum);

    DeviceBuffer<double> d_doubles(doubles), sum(1);
    sum.fill_bytes(0);
    shuffle_sum<double><<<blocks, kBlock>>>(d_doubles.get(), n, sum.get());
    HIP_CHECK_LAUNCH();
    check.equal("shuffle_sum<double>", n, sum.download()[0], double_sum);

    DeviceBuffer<int> int_total(1);
    int_total.fill_bytes(0);
    shuffle_sum<int><<<blocks, kBlock>>>(d_ints.get(), n, int_total.get());
    HIP_CHECK_LAUNCH();
    check.equal("shuffle_sum<int>", n, int_total.download()[0], int(int_sum));

    DeviceBuffer<float> d_floats(floats), low(1), high(1);
    DeviceBuffer<unsigned> where(1);
    butterfly_extremes<<<1, 64>>>(d_floats.get(), n, low.get(), high.get(), where.get());
    HIP_CHECK_LAUNCH();
    const auto largest = std::max_element(floats.begin(), floats.end());
    check.equal("minimum", n, low.download()[0], *std::min_element(floats.begin(), floats.end()));
    check.equal("maximum", n, high.download()[0], *largest);
    check.equal("where", n, where.download()[0], unsigned(largest - floats.begin()));
  }
  return check.finish();
}
