// Kernels whose results must not depend on how many host threads emulate the device: floats summed in the kernel's own order, matrix
// instructions, cross-lane sums, integer atomics, workgroups that wait for each other. With --print the bits of every result are
// printed as one hash each; the test programs.same_bits.everywhere compares them between numbers of threads and processors.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

#include "check.hpp"

constexpr unsigned kGroups = 96, kBlock = 256, kTile = 16;

__global__ void tiled_product(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const unsigned row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (unsigned start = 0; start < n; start += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned i = 0; i < kTile; i++)
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// One wave a workgroup: 32x32 of the product of its own operands, in f16 and in fp8.
__global__ void matrix_products(const float* in, float* out) {
  typedef _Float16 half4 __attribute__((ext_vector_type(4)));
  typedef float float16v __attribute__((ext_vector_type(16)));
  const unsigned base = blockIdx.x * 64 + threadIdx.x;
  float16v sum = {};
  for (unsigned step = 0; step < 8; step++) {
    const float x = in[(base * 7 + step) % (kGroups * 64)], y = in[(base * 5 + step * 3) % (kGroups * 64)];
    const half4 a = {_Float16(x), _Float16(y), _Float16(x + y), _Float16(x * y)};
    const half4 b = {_Float16(y), _Float16(x), _Float16(y - x), _Float16(3 * x)};
    sum = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, sum, 0, 0, 0);
    const long codes = static_cast<long>(__float_as_uint(x) & 0x77777777u) << 32 | (__float_as_uint(y) & 0x37373737u);
    sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(codes, codes, sum, 0, 0, 0);
  }
  for (unsigned k = 0; k < 16; k++)
    out[base * 16 + k] = sum[k];
}

__global__ void row_softmax(const float* in, float* out, unsigned columns) {
  float largest = -INFINITY, sum = 0;
  for (unsigned i = threadIdx.x; i < columns; i += 64)
    largest = fmaxf(largest, in[blockIdx.x * columns + i]);
  for (int step = 32; step > 0; step /= 2)
    largest = fmaxf(largest, __shfl_xor(largest, step));
  for (unsigned i = threadIdx.x; i < columns; i += 64)
    sum += __expf(in[blockIdx.x * columns + i] - largest);
  for (int step = 32; step > 0; step /= 2)
    sum += __shfl_xor(sum, step);
  for (unsigned i = threadIdx.x; i < columns; i += 64)
    out[blockIdx.x * columns + i] = __expf(in[blockIdx.x * columns + i] - largest) / sum;
}

__global__ void count(const float* in, unsigned* bins, unsigned size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    atomicAdd(&bins[(__float_as_uint(in[i]) >> 20) % 64], i % 5 + 1);
}

// Each workgroup adds its own sum to the one before it, for which it waits; the order of the additions is that of the groups.
__global__ void running_sum(const float* in, float* sums, unsigned* ready) {
  __shared__ float part[kBlock];
  part[threadIdx.x] = in[blockIdx.x * kBlock + threadIdx.x];
  __syncthreads();
  for (unsigned step = kBlock / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x != 0)
    return;
  float before = 0;
  if (blockIdx.x > 0) {
    while (__hip_atomic_load(&ready[blockIdx.x - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
    before = __hip_atomic_load(&sums[blockIdx.x - 1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  __hip_atomic_store(&sums[blockIdx.x], before + part[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_store(&ready[blockIdx.x], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// The grid meets after every step of a smoothing filter.
__global__ void smooth(float* even, float* odd, unsigned size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 0; step < 6; step++) {
    const float* from = step % 2 == 0 ? even : odd;
    float* to = step % 2 == 0 ? odd : even;
    to[i] = 0.25f * from[(i + size - 1) % size] + 0.5f * from[i] + 0.25f * from[(i + 1) % size];
    cooperative_groups::this_grid().sync();
  }
}

template <class T>
uint64_t hash(const std::vector<T>& values) {
  uint64_t state = 0xcbf29ce484222325u;
  for (const T& value : values) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char byte : bytes)
      state = (state ^ byte) * 0x100000001b3u;
  }
  return state;
}

bool print_bits = false;

template <class T>
std::vector<T> result(const char* name, const DeviceBuffer<T>& buffer) {
  HIP_CHECK_LAUNCH();
  std::vector<T> values = buffer.download();
  if (print_bits)
    std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash(values)));
  return values;
}

int main(int argc, char** argv) {
  print_bits = argc > 1 && std::string(argv[1]) == "--print";
  Check check("same_bits");
  Rng rng(3);
  constexpr unsigned kSize = kGroups * kBlock, kSide = 128;
  std::vector<float> in(kSize);
  for (float& value : in)
    value = float(rng.uniform(-1, 1));
  const DeviceBuffer<float> d_in(in);

  DeviceBuffer<float> product(kSide * kSide);
  tiled_product<<<dim3(kSide / kTile, kSide / kTile), dim3(kTile, kTile)>>>(d_in.get(), d_in.get() + 1000, product.get(), kSide);
  const std::vector<float> c = result("tiled_product", product);
  double expected = 0;
  for (unsigned i = 0; i < kSide; i++)
    expected += double(in[i]) * double(in[1000 + i * kSide]);
  check.close("tiled_product", 0, c[0], expected, 1e-4);

  DeviceBuffer<float> tiles(kGroups * 64 * 16);
  matrix_products<<<kGroups, 64>>>(d_in.get(), tiles.get());
  result("matrix_products", tiles);

  DeviceBuffer<float> softmax(kSize);
  row_softmax<<<kGroups, 64>>>(d_in.get(), softmax.get(), kBlock);
  const std::vector<float> rows = result("row_softmax", softmax);
  double total = 0;
  for (unsigned i = 0; i < kBlock; i++)
    total += rows[i];
  check.close("row_softmax", 0, total, 1.0, 1e-5);

  DeviceBuffer<unsigned> bins(std::vector<unsigned>(64, 0));
  count<<<kGroups, kBlock>>>(d_in.get(), bins.get(), kSize);
  uint64_t counted = 0, wanted = 0;
  for (unsigned bin : result("count", bins))
    counted += bin;
  for (unsigned i = 0; i < kSize; i++)
    wanted += i % 5 + 1;
  check.equal("count", 0, counted, wanted);

  DeviceBuffer<float> sums(kGroups);
  DeviceBuffer<unsigned> ready(std::vector<unsigned>(kGroups, 0));
  running_sum<<<kGroups, kBlock>>>(d_in.get(), sums.get(), ready.get());
  double sum = 0;
  for (float value : in)
    sum += value;
  check.close("running_sum", kGroups - 1, result("running_sum", sums)[kGroups - 1], sum, 1e-3);

  DeviceBuffer<float> even(in), odd(kSize);
  float *even_pointer = even.get(), *odd_pointer = odd.get();
  unsigned size = kSize;
  void* arguments[] = {&even_pointer, &odd_pointer, &size};
  HIP_CHECK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(&smooth), dim3(kGroups), dim3(kBlock), arguments, 0, nullptr));
  result("smooth", even);
  return check.finish();
}
