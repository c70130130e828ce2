// __hip_bfloat16: widening of all values, rounding of float to nearest even, and arithmetic (computed in float, rounded once).
#include <hip/hip_bf16.h>

#include "check.hpp"

float bf16_value(uint16_t bits) {
  const uint32_t word = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

uint16_t bf16_bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  if (std::isnan(value))
    return uint16_t(word >> 16 | 0x40);
  return uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

__global__ void widen(const __hip_bfloat16* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __bfloat162float(in[i]);
}

__global__ void narrow(const float* in, __hip_bfloat16* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __float2bfloat16(in[i]);
}

__global__ void arithmetic(const __hip_bfloat16* a, const __hip_bfloat16* b, __hip_bfloat16* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = a[i] + b[i];
  out[n + i] = a[i] * b[i];
  out[2 * n + i] = a[i] - b[i];
  out[3 * n + i] = a[i] < b[i] ? a[i] : b[i];
}

int main() {
  Check check("bf16_types");
  std::vector<uint16_t> every(65536);
  for (unsigned i = 0; i < every.size(); i++)
    every[i] = uint16_t(i);
  DeviceBuffer<uint16_t> d_every(every);
  DeviceBuffer<float> wide(every.size());
  widen<<<256, 256>>>(reinterpret_cast<const __hip_bfloat16*>(d_every.get()), wide.get());
  HIP_CHECK_LAUNCH();
  const std::vector<float> all = wide.download();
  for (unsigned i = 0; i < all.size(); i++)
    check.close("widen", i, all[i], bf16_value(every[i]), 0);

  std::vector<float> floats = {0, -0.0f, INFINITY, -INFINITY, 0x1.fep127f, 0x1.fffffep127f, 0x1p-133f, 0x1p-134f, 0x1.01p0f, 0x1.03p0f, 0x1.010002p0f};
  Rng rng(17);
  for (int i = 0; i < 2000; i++)
    floats.push_back(float(std::ldexp(rng.uniform(-1, 1), int(rng.below(200)) - 100)));
  const unsigned n = unsigned(floats.size());
  DeviceBuffer<float> d_floats(floats);
  DeviceBuffer<uint16_t> d_narrow(n);
  narrow<<<ceil_div(n, 128), 128>>>(d_floats.get(), reinterpret_cast<__hip_bfloat16*>(d_narrow.get()), n);
  HIP_CHECK_LAUNCH();
  const auto got = d_narrow.download();
  for (unsigned i = 0; i < n; i++)
    check.equal("narrow", i, got[i], bf16_bits(floats[i]));

  constexpr unsigned m = 999;
  std::vector<uint16_t> a(m), b(m);
  for (unsigned i = 0; i < m; i++) {
    a[i] = bf16_bits(float(std::ldexp(rng.uniform(-1, 1), int(rng.below(20)) - 10)));
    b[i] = bf16_bits(float(std::ldexp(rng.uniform(-1, 1), int(rng.below(20)) - 10)));
  }
  DeviceBuffer<uint16_t> d_a(a), d_b(b), d_out(4 * m);
  arithmetic<<<ceil_div(m, 64), 64>>>(reinterpret_cast<const __hip_bfloat16*>(d_a.get()), reinterpret_cast<const __hip_bfloat16*>(d_b.get()),
                                      reinterpret_cast<__hip_bfloat16*>(d_out.get()), m);
  HIP_CHECK_LAUNCH();
  const auto out = d_out.download();
  for (unsigned i = 0; i < m; i++) {
    const float x = bf16_value(a[i]), y = bf16_value(b[i]);
    check.equal("add", i, out[i], bf16_bits(x + y));
    check.equal("multiply", i, out[m + i], bf16_bits(x * y));
    check.equal("subtract", i, out[2 * m + i], bf16_bits(x - y));
    check.equal("smaller", i, out[3 * m + i], x < y ? a[i] : b[i]);
  }
  return check.finish();
}
