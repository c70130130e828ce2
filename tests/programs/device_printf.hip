// printf from the device: the runner compares the whole output with device_printf.expected. One lane prints at a time, so the order
// is defined.
#include "check.hpp"

__global__ void print_formats() {
  printf("integers %d %u %x %o %c\n", -42, 4000000000u, 0xbeef, 8, 'q');
  printf("wide %lld %llu %llx\n", -1234567890123ll, 18446744073709551615ull, 0x123456789abcdefull);
  printf("floats %f %.3e %g %8.2f|%-8.1f|\n", 3.25, 12345.678, 0.0001, 2.5, -1.5);
  printf("strings %s and %10s|%-6s|\n", "alpha", "right", "left");
  printf("width %5d|%-5d|%05d|%+d|%#x\n", 42, 42, 42, 42, 255);
  printf("percent %% done, no arguments\n");
  printf("two lines\nin one call\n");
}

__global__ void print_lanes(const int* values) {
  for (unsigned turn = 0; turn < blockDim.x; turn++) {
    if (threadIdx.x == turn && turn % 30 == 0)
      printf("lane %u holds %d\n", threadIdx.x, values[threadIdx.x]);
    __syncthreads();
  }
}

__global__ void print_result(int* out) { *out = printf("12345\n"); }

int main() {
  Check check("device_printf");
  print_formats<<<1, 1>>>();
  HIP_CHECK_LAUNCH();
  std::vector<int> values(128);
  for (unsigned i = 0; i < values.size(); i++)
    values[i] = int(i * i) - 1000;
  DeviceBuffer<int> d_values(values), result(1);
  print_lanes<<<1, 128>>>(d_values.get());
  HIP_CHECK_LAUNCH();
  print_result<<<1, 1>>>(result.get());
  HIP_CHECK_LAUNCH();
  std::fflush(stdout);
  check.that(result.download()[0] >= 0, "printf reports success");
  return check.finish();
}
