// Single-pass inclusive scan with decoupled look-back (Merrill and Garland): workgroups spin on their predecessors' status,
// so it finishes only if workgroups make progress while others wait.
#include "check.hpp"

constexpr unsigned kBlock = 128, kPerThread = 4, kTile = kBlock * kPerThread;
enum : uint64_t { kEmpty = 0, kAggregate = 1, kPrefix = 2 };

// Status in the upper half, value in the lower: one 64-bit word, so both become visible at once.
__device__ uint64_t pack(uint64_t status, unsigned value) { return status << 32 | value; }

__device__ unsigned look_back(uint64_t* states, unsigned tile) {
  unsigned prefix = 0;
  for (int previous = int(tile) - 1; previous >= 0;) {
    const uint64_t state = __hip_atomic_load(&states[previous], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    if (state >> 32 == kEmpty)
      continue;  // not there yet: spin
    prefix += unsigned(state);
    if (state >> 32 == kPrefix)
      break;
    previous--;
  }
  return prefix;
}

__global__ void scan(const unsigned* in, unsigned* out, unsigned n, uint64_t* states, unsigned* ticket) {
  __shared__ unsigned tile, exclusive_prefix, thread_sums[kBlock];
  if (threadIdx.x == 0)
    tile = atomicAdd(ticket, 1u);  // the order in which workgroups really start
  __syncthreads();
  const unsigned first = tile * kTile + threadIdx.x * kPerThread;
  unsigned values[kPerThread], sum = 0;
  for (unsigned i = 0; i < kPerThread; i++) {
    sum += first + i < n ? in[first + i] : 0;
    values[i] = sum;
  }
  thread_sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned offset = 1; offset < kBlock; offset *= 2) {  // Hillis-Steele over the threads' sums
    const unsigned left = threadIdx.x >= offset ? thread_sums[threadIdx.x - offset] : 0;
    __syncthreads();
    thread_sums[threadIdx.x] += left;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const unsigned aggregate = thread_sums[kBlock - 1];
    __hip_atomic_store(&states[tile], pack(tile == 0 ? kPrefix : kAggregate, aggregate), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    exclusive_prefix = 0;
    if (tile > 0) {
      exclusive_prefix = look_back(states, tile);
      __hip_atomic_store(&states[tile], pack(kPrefix, exclusive_prefix + aggregate), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
  }
  __syncthreads();
  const unsigned before = exclusive_prefix + thread_sums[threadIdx.x] - sum;
  for (unsigned i = 0; i < kPerThread; i++)
    if (first + i < n)
      out[first + i] = before + values[i];
}

int main() {
  Check check("scan_lookback");
  for (unsigned n : {1u, 511u, 512u, 513u, 4099u, 70001u}) {
    Rng rng(n + 7);
    std::vector<unsigned> in(n), expected(n);
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
      in[i] = rng.u32() >> 8;
      expected[i] = sum += in[i];
    }
    const unsigned tiles = ceil_div(n, kTile);
    DeviceBuffer<unsigned> d_in(in), d_out(n), ticket(1);
    DeviceBuffer<uint64_t> states(tiles);
    ticket.fill_bytes(0);
    states.fill_bytes(0);
    scan<<<tiles, kBlock>>>(d_in.get(), d_out.get(), n, states.get(), ticket.get());
    HIP_CHECK_LAUNCH();
    check.all_equal("scan", d_out.download(), expected);
  }
  return check.finish();
}
