// __half and __half2: every one of the 65536 values to float and back, rounding of float to half, and arithmetic.
#include <hip/hip_fp16.h>

#include "check.hpp"

double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// Round to nearest even by trying the neighbours: slow and obvious.
uint16_t half_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value))
    return 0x7e00;
  if (magnitude >= 65520)
    return sign | 0x7c00;
  uint16_t low = 0, high = 0x7bff;  // the largest half <= magnitude
  while (low < high) {
    const uint16_t middle = uint16_t((low + high + 1) / 2);
    if (half_value(middle) <= magnitude)
      low = middle;
    else
      high = uint16_t(middle - 1);
  }
  const double below = magnitude - half_value(low);
  const double above = (low == 0x7bff ? 65536 : half_value(uint16_t(low + 1))) - magnitude;
  return uint16_t(sign | (below < above || (below == above && low % 2 == 0) ? low : low + 1));
}

__global__ void widen(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(i)));
}

__global__ void narrow(const float* in, unsigned short* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __half_as_ushort(__float2half(in[i]));
}

__global__ void arithmetic(const unsigned short* a, const unsigned short* b, unsigned short* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]);
  out[i] = __half_as_ushort(__hadd(x, y));
  out[n + i] = __half_as_ushort(__hsub(x, y));
  out[2 * n + i] = __half_as_ushort(__hmul(x, y));
  out[3 * n + i] = __half_as_ushort(__hfma(x, y, x));
  const __half2 pair = __hmul2(__halves2half2(x, y), __halves2half2(y, y));
  out[4 * n + i] = __half_as_ushort(__low2half(pair));
  out[5 * n + i] = __half_as_ushort(__high2half(pair));
  out[6 * n + i] = static_cast<unsigned short>(__hlt(x, y) | __hgt(x, y) << 1 | __heq(x, y) << 2);
  out[7 * n + i] = static_cast<unsigned short>(__half2int_rz(y));
}

int main() {
  Check check("half_types");
  DeviceBuffer<float> wide(65536);
  widen<<<256, 256>>>(wide.get());
  HIP_CHECK_LAUNCH();
  const std::vector<float> all = wide.download();
  for (unsigned i = 0; i < 65536; i++)
    check.close("widen", i, all[i], half_value(uint16_t(i)), 0);

  std::vector<float> floats = {0, -0.0f, 65504, 65519.9f, 65520, -70000, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1.002p0f, 0x1.006p0f, INFINITY};
  Rng rng(16);
  for (int i = 0; i < 3000; i++)
    floats.push_back(float(std::ldexp(rng.uniform(-1, 1), int(rng.below(44)) - 27)));
  DeviceBuffer<float> d_floats(floats);
  DeviceBuffer<unsigned short> d_halves(floats.size());
  narrow<<<ceil_div(unsigned(floats.size()), 128), 128>>>(d_floats.get(), d_halves.get(), unsigned(floats.size()));
  HIP_CHECK_LAUNCH();
  const auto halves = d_halves.download();
  for (unsigned i = 0; i < floats.size(); i++)
    check.equal("narrow", i, halves[i], static_cast<unsigned short>(half_bits(floats[i])));

  constexpr unsigned n = 700;
  std::vector<unsigned short> a(n), b(n);
  for (unsigned i = 0; i < n; i++) {
    a[i] = half_bits(std::ldexp(rng.uniform(-1, 1), int(rng.below(24)) - 12));
    b[i] = half_bits(std::ldexp(rng.uniform(-1, 1), int(rng.below(24)) - 12));
  }
  DeviceBuffer<unsigned short> d_a(a), d_b(b), d_out(8 * n);
  arithmetic<<<ceil_div(n, 64), 64>>>(d_a.get(), d_b.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const auto out = d_out.download();
  for (unsigned i = 0; i < n; i++) {
    const double x = half_value(a[i]), y = half_value(b[i]);
    const unsigned short expected[8] = {half_bits(x + y), half_bits(x - y), half_bits(x * y), half_bits(x * y + x), half_bits(x * y), half_bits(y * y),
                                        static_cast<unsigned short>((x < y) | (x > y) << 1 | (x == y) << 2), static_cast<unsigned short>(int(y))};
    for (unsigned k = 0; k < 8; k++)
      check.equal("arithmetic", k * 1000 + i, out[k * n + i], expected[k]);
  }
  return check.finish();
}
