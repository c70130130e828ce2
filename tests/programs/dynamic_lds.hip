// Dynamic LDS (extern __shared__), carved into several arrays, beside static LDS, up to the full 64 KiB.
#include "check.hpp"

__global__ void reverse_and_sum(const unsigned* in, unsigned* reversed, unsigned* sums, unsigned per_block) {
  extern __shared__ unsigned storage[];
  __shared__ unsigned total;
  unsigned* values = storage;
  uint8_t* low_bytes = reinterpret_cast<uint8_t*>(storage + per_block);
  if (threadIdx.x == 0)
    total = 0;
  __syncthreads();
  const unsigned base = blockIdx.x * per_block;
  for (unsigned i = threadIdx.x; i < per_block; i += blockDim.x) {
    values[i] = in[base + i];
    low_bytes[i] = uint8_t(in[base + i]);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < per_block; i += blockDim.x) {
    reversed[base + i] = values[per_block - 1 - i];
    atomicAdd(&total, unsigned(low_bytes[(i * 7) % per_block]));
  }
  __syncthreads();
  if (threadIdx.x == 0)
    sums[blockIdx.x] = total;
}

__global__ void fill_all(unsigned words, unsigned* out) {
  extern __shared__ unsigned storage[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    storage[i] = i * 2654435761u;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
    out[i] = storage[words - 1 - i];
}

int main() {
  Check check("dynamic_lds");
  constexpr unsigned kBlocks = 3;
  for (unsigned per_block : {4u, 100u, 1000u, 8000u}) {  // 7 divides none of them: i * 7 visits every index
    Rng rng(per_block);
    const unsigned n = kBlocks * per_block;
    std::vector<unsigned> in(n), reversed(n), sums(kBlocks);
    for (unsigned i = 0; i < n; i++)
      in[i] = rng.u32();
    for (unsigned i = 0; i < n; i++) {
      const unsigned block = i / per_block;
      reversed[i] = in[block * per_block + per_block - 1 - i % per_block];
      sums[block] += in[i] & 255;
    }
    DeviceBuffer<unsigned> d_in(in), d_reversed(n), d_sums(kBlocks);
    reverse_and_sum<<<kBlocks, 160, per_block * 5>>>(d_in.get(), d_reversed.get(), d_sums.get(), per_block);
    HIP_CHECK_LAUNCH();
    check.all_equal("reversed", d_reversed.download(), reversed);
    check.all_equal("sums", d_sums.download(), sums);
  }

  constexpr unsigned kWords = 65536 / 4;
  DeviceBuffer<unsigned> all(kWords);
  fill_all<<<1, 256, kWords * 4>>>(kWords, all.get());
  HIP_CHECK_LAUNCH();
  const std::vector<unsigned> got = all.download();
  for (unsigned i = 0; i < kWords; i++)
    check.equal("64 KiB", i, got[i], (kWords - 1 - i) * 2654435761u);

  // One byte more is refused, and the refusal leaves the device usable.
  fill_all<<<1, 256, 65536 + 4>>>(kWords, all.get());
  check.that(hipGetLastError() != hipSuccess, "more than 64 KiB of LDS is refused");
  HIP_CHECK(hipDeviceSynchronize());
  return check.finish();
}
