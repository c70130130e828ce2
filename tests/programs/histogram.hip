// Histograms: LDS atomics merged by global atomics, and global atomics alone with heavy contention on few bins.
#include "check.hpp"

constexpr unsigned kBins = 256, kBlock = 192;

__global__ void lds_histogram(const uint8_t* in, unsigned n, unsigned* bins) {
  __shared__ unsigned local[kBins];
  for (unsigned i = threadIdx.x; i < kBins; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kBins; i += blockDim.x)
    if (local[i] != 0)
      atomicAdd(&bins[i], local[i]);
}

// Returns each element's rank among the equal ones before it: the results of the atomics are all different.
__global__ void ranked_histogram(const uint8_t* in, unsigned n, unsigned* bins, unsigned* rank) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    rank[i] = atomicAdd(&bins[in[i] % 3], 1u);
}

int main() {
  Check check("histogram");
  for (unsigned n : {5u, 191u, 10007u, 65537u}) {
    Rng rng(n);
    std::vector<uint8_t> in(n);
    std::vector<unsigned> expected(kBins), few(3);
    for (uint8_t& value : in) {
      value = uint8_t(rng.below(16) * rng.below(17));  // skewed
      expected[value]++;
      few[value % 3]++;
    }
    DeviceBuffer<uint8_t> d_in(in);
    DeviceBuffer<unsigned> bins(kBins), three(3), rank(n);
    bins.fill_bytes(0);
    three.fill_bytes(0);
    lds_histogram<<<std::min(ceil_div(n, kBlock), 20u), kBlock>>>(d_in.get(), n, bins.get());
    ranked_histogram<<<ceil_div(n, kBlock), kBlock>>>(d_in.get(), n, three.get(), rank.get());
    HIP_CHECK_LAUNCH();
    check.all_equal("lds_histogram", bins.download(), expected);
    check.all_equal("ranked_histogram", three.download(), few);
    std::vector<std::vector<bool>> seen(3);
    for (unsigned bin = 0; bin < 3; bin++)
      seen[bin].resize(few[bin]);
    const std::vector<unsigned> ranks = rank.download();
    for (unsigned i = 0; i < n; i++) {
      auto& bin = seen[in[i] % 3];
      const bool fresh = ranks[i] < bin.size() && !bin[ranks[i]];
      check.that(fresh, "every rank occurs once");
      if (fresh)
        bin[ranks[i]] = true;
    }
  }
  return check.finish();
}
