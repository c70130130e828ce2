// Arrays indexed at run time: small ones that stay in registers, larger ones in scratch, a kernel with more live values than
// registers (spills), and pointers to locals passed through calls.
#include "check.hpp"

__global__ void small_array(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned slots[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  unsigned seed = in[i];
  for (int step = 0; step < 20; step++) {
    slots[seed & 7] += slots[(seed >> 3) & 7] ^ seed;
    seed = seed * 1664525u + 1013904223u;
    seed ^= slots[seed >> 29];
  }
  out[i] = slots[0] ^ slots[3] ^ slots[in[i] & 7] ^ seed;
}

// A uniform index: the compiler may use s_set_gpr_idx or v_movrel.
__global__ void uniform_index(const float* in, float* out, const unsigned* order, unsigned steps) {
  float values[16];
  for (int j = 0; j < 16; j++)
    values[j] = in[j * 64 + threadIdx.x];
  for (unsigned step = 0; step < steps; step++) {
    const unsigned k = order[step] & 15;
    values[k] = values[(k + 1) & 15] + values[k];
  }
  for (int j = 0; j < 16; j++)
    out[j * 64 + threadIdx.x] = values[j];
}

__device__ __noinline__ void sort_descending(int* values, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && values[j - 1] < values[j]; j--) {
      const int moved = values[j];
      values[j] = values[j - 1];
      values[j - 1] = moved;
    }
}

__global__ void scratch_sort(const int* in, int* out) {
  int local[50];
  const unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) * 50;
  for (int i = 0; i < 50; i++)
    local[i] = in[base + unsigned(i)];
  sort_descending(local, 50);
  for (int i = 0; i < 50; i++)
    out[base + unsigned(i)] = local[i];
}

// 160 values alive at once in at most 64 registers a lane.
__global__ void __launch_bounds__(1024) spilling(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned live[160];
#pragma unroll
  for (int j = 0; j < 160; j++)
    live[j] = in[(i * 7 + unsigned(j) * 13) % n];
  unsigned sum = 0;
#pragma unroll
  for (int j = 0; j < 160; j++) {
    sum = sum * 31 + live[159 - j];
    live[159 - j] = sum;
  }
#pragma unroll
  for (int j = 0; j < 160; j++)
    sum ^= live[j] >> (j % 7);
  out[i] = sum;
}

unsigned small_on_cpu(unsigned start) {
  unsigned slots[8] = {1, 2, 3, 4, 5, 6, 7, 8}, seed = start;
  for (int step = 0; step < 20; step++) {
    slots[seed & 7] += slots[(seed >> 3) & 7] ^ seed;
    seed = seed * 1664525u + 1013904223u;
    seed ^= slots[seed >> 29];
  }
  return slots[0] ^ slots[3] ^ slots[start & 7] ^ seed;
}

unsigned spilling_on_cpu(const std::vector<unsigned>& in, unsigned i) {
  unsigned live[160], sum = 0;
  for (unsigned j = 0; j < 160; j++)
    live[j] = in[(i * 7 + j * 13) % in.size()];
  for (unsigned j = 0; j < 160; j++)
    live[159 - j] = sum = sum * 31 + live[159 - j];
  for (unsigned j = 0; j < 160; j++)
    sum ^= live[j] >> (j % 7);
  return sum;
}

int main() {
  Check check("register_arrays");
  Rng rng(99);
  constexpr unsigned n = 500;
  std::vector<unsigned> in(n), order(40);
  for (unsigned& value : in)
    value = rng.u32();
  for (unsigned& value : order)
    value = rng.u32();
  DeviceBuffer<unsigned> d_in(in), d_out(n), d_order(order);
  small_array<<<ceil_div(n, 96), 96>>>(d_in.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  std::vector<unsigned> got = d_out.download();
  for (unsigned i = 0; i < n; i++)
    check.equal("small_array", i, got[i], small_on_cpu(in[i]));

  spilling<<<ceil_div(n, 1024), 1024>>>(d_in.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  got = d_out.download();
  for (unsigned i = 0; i < n; i++)
    check.equal("spilling", i, got[i], spilling_on_cpu(in, i));

  std::vector<float> values(16 * 64);
  for (float& value : values)
    value = float(rng.below(64));
  DeviceBuffer<float> d_values(values), d_results(values.size());
  uniform_index<<<1, 64>>>(d_values.get(), d_results.get(), d_order.get(), 12);  // sums stay exact
  HIP_CHECK_LAUNCH();
  for (unsigned step = 0; step < 12; step++)
    for (unsigned lane = 0; lane < 64; lane++)
      values[(order[step] & 15) * 64 + lane] += values[((order[step] + 1) & 15) * 64 + lane];
  check.all_equal("uniform_index", d_results.download(), values);

  std::vector<int> lists(130 * 50);
  for (int& value : lists)
    value = int(rng.below(1000));
  DeviceBuffer<int> d_lists(lists), d_sorted(lists.size());
  scratch_sort<<<2, 65>>>(d_lists.get(), d_sorted.get());
  HIP_CHECK_LAUNCH();
  for (unsigned i = 0; i < 130; i++)
    std::sort(lists.begin() + i * 50, lists.begin() + (i + 1) * 50, std::greater<int>());
  check.all_equal("scratch_sort", d_sorted.download(), lists);
  return check.finish();
}
