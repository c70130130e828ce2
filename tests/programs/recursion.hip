// Recursion on the device stack, with different depths in neighbouring lanes.
#include "check.hpp"

__host__ __device__ __attribute__((noinline)) unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__host__ __device__ __attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0)
    return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

// Mutual recursion that carries an array on each frame.
__host__ __device__ unsigned odd_step(unsigned n, const unsigned* trail);
__host__ __device__ __attribute__((noinline)) unsigned even_step(unsigned n, const unsigned* trail) {
  const unsigned mine[2] = {trail[0] + n, trail[1] ^ (n * 2654435761u)};
  return n == 0 ? mine[0] ^ mine[1] : odd_step(n - 1, mine);
}
__host__ __device__ __attribute__((noinline)) unsigned odd_step(unsigned n, const unsigned* trail) {
  const unsigned mine[2] = {trail[0] * 3 + n, trail[1] + 17};
  return n == 0 ? mine[0] + mine[1] : even_step(n - 1, mine) + 1;
}

__host__ __device__ __attribute__((noinline)) void quicksort(int* values, int low, int high) {
  if (low >= high)
    return;
  const int pivot = values[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot)
      i++;
    while (values[j] > pivot)
      j--;
    if (i <= j) {
      const int swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
  }
  quicksort(values, low, j);
  quicksort(values, i, high);
}

constexpr unsigned kLength = 17;

__global__ void recurse(unsigned* fib, unsigned* ack, unsigned* steps, int* sorted, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  fib[i] = fibonacci(i % 13);
  ack[i] = ackermann(i % 3, i % 5);
  const unsigned trail[2] = {i, ~i};
  steps[i] = even_step(i % 29, trail);
  quicksort(sorted + i * kLength, 0, kLength - 1);
}

int main() {
  Check check("recursion");
  constexpr unsigned n = 150;
  std::vector<int> values(n * kLength);
  Rng rng(5);
  for (int& value : values)
    value = int(rng.below(100)) - 50;
  DeviceBuffer<int> d_values(values);
  DeviceBuffer<unsigned> fib(n), ack(n), steps(n);
  recurse<<<3, 64>>>(fib.get(), ack.get(), steps.get(), d_values.get(), n);
  HIP_CHECK_LAUNCH();
  const auto got_fib = fib.download(), got_ack = ack.download(), got_steps = steps.download();
  for (unsigned i = 0; i < n; i++) {
    const unsigned trail[2] = {i, ~i};
    check.equal("fibonacci", i, got_fib[i], fibonacci(i % 13));
    check.equal("ackermann", i, got_ack[i], ackermann(i % 3, i % 5));
    check.equal("steps", i, got_steps[i], even_step(i % 29, trail));
    std::sort(values.begin() + i * kLength, values.begin() + (i + 1) * kLength);
  }
  check.all_equal("quicksort", d_values.download(), values);
  return check.finish();
}
