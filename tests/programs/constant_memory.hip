// Device globals: constant memory, symbols written and read by the host (whole, in part, asynchronously), globals with initial
// values, and a device pointer to a global.
#include "check.hpp"

__constant__ float coefficients[8];
__constant__ int fixed_table[4] = {10, -20, 30, -40};
__device__ unsigned counter = 5;
__device__ unsigned log_words[64];
__device__ const unsigned* indirect = log_words;
static __device__ double hidden = 2.5;

__global__ void use_globals(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 7; k >= 0; k--)
    sum = sum * x[i] + coefficients[k];
  out[i] = sum + float(fixed_table[i % 4]) + float(hidden);
  atomicAdd(&counter, 1u);
  if (i < 64)
    log_words[i] = i * i;
}

__global__ void read_indirect(unsigned* out) { out[threadIdx.x] = indirect[threadIdx.x] + 1; }

int main() {
  Check check("constant_memory");
  constexpr unsigned n = 300;
  const float values[8] = {1, -2, 3, -4, 5, -6, 7, -8};
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), values, sizeof values));
  const float patch = 11;
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), &patch, sizeof patch, 3 * sizeof(float)));
  std::vector<float> x(n);
  for (unsigned i = 0; i < n; i++)
    x[i] = float(int(i % 9) - 4);  // small integers: exact in float
  DeviceBuffer<float> d_x(x), d_out(n);
  use_globals<<<ceil_div(n, 128), 128>>>(d_x.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const std::vector<float> out = d_out.download();
  const int table[4] = {10, -20, 30, -40};
  for (unsigned i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 7; k >= 0; k--)
      sum = sum * x[i] + (k == 3 ? patch : values[k]);
    check.equal("polynomial", i, out[i], float(sum + table[i % 4] + 2.5));
  }

  unsigned count = 0;
  HIP_CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
  check.equal("counter", 0, count, 5 + n);
  void* address = nullptr;
  size_t size = 0;
  HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(log_words)));
  HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(log_words)));
  check.equal("size", 0, size, size_t{256});
  std::vector<unsigned> words(64), expected(64);
  HIP_CHECK(hipMemcpy(words.data(), address, size, hipMemcpyDeviceToHost));
  for (unsigned i = 0; i < 64; i++)
    expected[i] = i * i;
  check.all_equal("log_words", words, expected);

  const unsigned fresh[2] = {1000, 2000};
  HIP_CHECK(hipMemcpyToSymbolAsync(HIP_SYMBOL(log_words), fresh, sizeof fresh, 8, hipMemcpyHostToDevice, nullptr));
  DeviceBuffer<unsigned> through(64);
  read_indirect<<<1, 64>>>(through.get());
  HIP_CHECK_LAUNCH();
  expected[2] = 1000;
  expected[3] = 2000;
  for (unsigned& value : expected)
    value++;
  check.all_equal("through a pointer global", through.download(), expected);
  return check.finish();
}
