// Communication between workgroups while they run: a producer and a consumer with __threadfence and a volatile flag, a ring of
// workgroups that hand a token on, a spin lock, and the last workgroup to finish doing the final sum.
#include "check.hpp"

__global__ void producer_consumer(volatile unsigned* data, volatile unsigned* ready, unsigned* out, unsigned rounds) {
  for (unsigned round = 1; round <= rounds; round++) {
    if (blockIdx.x == 0) {
      data[threadIdx.x] = round * 1000 + threadIdx.x;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) {
        ready[0] = round;
        while (ready[1] != round)
          __builtin_amdgcn_s_sleep(1);
      }
      __syncthreads();
    } else {
      if (threadIdx.x == 0)
        while (ready[0] != round)
          __builtin_amdgcn_s_sleep(1);
      __syncthreads();
      __threadfence();
      out[(round - 1) * blockDim.x + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        ready[1] = round;
      }
    }
  }
}

__global__ void ring(unsigned* token, unsigned* order, unsigned laps) {
  if (threadIdx.x != 0)
    return;
  for (unsigned lap = 0; lap < laps; lap++) {
    const unsigned turn = lap * gridDim.x + blockIdx.x;
    while (__hip_atomic_load(token, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != turn) {
    }
    order[turn] = blockIdx.x + 1;
    __hip_atomic_store(token, turn + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

__global__ void locked_increments(unsigned* lock, volatile unsigned* counter) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0)
      __builtin_amdgcn_s_sleep(2);
    __threadfence();
    *counter = *counter + 1 + blockIdx.x;
    __threadfence();
    atomicExch(lock, 0u);
  }
}

__global__ void last_block_sums(const unsigned* in, unsigned n, unsigned* partial, unsigned* done, unsigned* out) {
  __shared__ unsigned sum, last;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    unsigned total = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
      total += static_cast<volatile unsigned*>(partial)[b];
    *out = total;
  }
}

int main() {
  Check check("message_passing");
  constexpr unsigned kThreads = 100, kRounds = 6, kBlocks = 19, kLaps = 4;
  DeviceBuffer<unsigned> data(kThreads), ready(2), received(kThreads * kRounds);
  ready.fill_bytes(0);
  producer_consumer<<<2, kThreads>>>(data.get(), ready.get(), received.get(), kRounds);
  HIP_CHECK_LAUNCH();
  const auto got = received.download();
  for (unsigned i = 0; i < got.size(); i++)
    check.equal("producer and consumer", i, got[i], (i / kThreads + 1) * 1000 + kThreads - 1 - i % kThreads);

  DeviceBuffer<unsigned> token(1), order(kBlocks * kLaps);
  token.fill_bytes(0);
  ring<<<kBlocks, 64>>>(token.get(), order.get(), kLaps);
  HIP_CHECK_LAUNCH();
  const auto turns = order.download();
  for (unsigned i = 0; i < turns.size(); i++)
    check.equal("ring", i, turns[i], i % kBlocks + 1);

  DeviceBuffer<unsigned> lock(1), counter(1);
  lock.fill_bytes(0);
  counter.fill_bytes(0);
  locked_increments<<<40, 64>>>(lock.get(), counter.get());
  HIP_CHECK_LAUNCH();
  check.equal("spin lock", 0, counter.download()[0], 40u + 40 * 39 / 2);

  std::vector<unsigned> in(5003);
  Rng rng(12);
  unsigned total = 0;
  for (unsigned& value : in)
    total += value = rng.u32();
  DeviceBuffer<unsigned> d_in(in), partial(kBlocks), done(1), sum(1);
  done.fill_bytes(0);
  last_block_sums<<<kBlocks, 128>>>(d_in.get(), unsigned(in.size()), partial.get(), done.get(), sum.get());
  HIP_CHECK_LAUNCH();
  check.equal("last block", 0, sum.download()[0], total);
  return check.finish();
}
