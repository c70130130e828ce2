// The FP8 types of gfx942: E4M3 and E5M2 in the FNUZ form (bias 8 and 16, no infinity, no negative zero, NaN = 0x80).
#include <hip/hip_fp8.h>

#include "check.hpp"

struct Format {
  int mantissa, bias;
};
constexpr Format kE4m3{3, 8}, kE5m2{2, 16};

double fp8_value(Format f, uint8_t bits) {
  if (bits == 0x80)
    return NAN;
  const int exponent = (bits & 127) >> f.mantissa, fraction = bits & ((1 << f.mantissa) - 1);
  const double magnitude = exponent ? std::ldexp((1 << f.mantissa) + fraction, exponent - f.bias - f.mantissa)
                                    : std::ldexp(fraction, 1 - f.bias - f.mantissa);
  return bits & 128 ? -magnitude : magnitude;
}

// Nearest even with saturation to the largest finite value, by search.
uint8_t fp8_bits(Format f, double value) {
  if (std::isnan(value))
    return 0x80;
  const double magnitude = std::fabs(value);
  int best = 0;
  for (int code = 1; code < 128; code++) {
    const double closer = std::fabs(fp8_value(f, uint8_t(code)) - magnitude) - std::fabs(fp8_value(f, uint8_t(best)) - magnitude);
    if (closer < 0 || (closer == 0 && code % 2 == 0))
      best = code;
  }
  return best == 0 ? 0 : uint8_t(best | (value < 0 ? 128 : 0));
}

template <class Type>
__global__ void widen(float* out) {
  Type value;
  value.__x = static_cast<__hip_fp8_storage_t>(threadIdx.x);
  out[threadIdx.x] = float(value);
}

template <class Type>
__global__ void narrow(const float* in, uint8_t* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = Type(in[i]).__x;
}

// Pairs and quadruples, the packed conversions that GEMMs use.
__global__ void packed(const float4* in, __hip_fp8x4_storage_t* out, float* back, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const __hip_fp8x4_e4m3_fnuz four(in[i]);
  out[i] = four.__x;
  const float4 wide = float4(four);
  back[i] = wide.x + wide.y * 2 + wide.z * 4 + wide.w * 8;
}

template <class Type>
void test(Check& check, const char* name, Format f, const std::vector<float>& floats) {
  DeviceBuffer<float> wide(256), d_floats(floats);
  widen<Type><<<1, 256>>>(wide.get());
  HIP_CHECK_LAUNCH();
  const auto all = wide.download();
  for (unsigned i = 0; i < 256; i++)
    check.close((std::string(name) + " widen").c_str(), i, all[i], fp8_value(f, uint8_t(i)), 0);
  const unsigned n = unsigned(floats.size());
  DeviceBuffer<uint8_t> d_narrow(n);
  narrow<Type><<<ceil_div(n, 128), 128>>>(d_floats.get(), d_narrow.get(), n);
  HIP_CHECK_LAUNCH();
  const auto got = d_narrow.download();
  for (unsigned i = 0; i < n; i++)
    check.equal((std::string(name) + " narrow").c_str(), i, got[i], fp8_bits(f, floats[i]));
}

int main() {
  Check check("fp8_types");
  std::vector<float> floats = {0, -0.0f, 1, -1, 240, 247, 248, 256, 1000, -1e6f, 57344, 61440, 1e8f, NAN, 0x1p-10f, 0x1p-11f, 0x1.8p-11f, 0x1p-17f, 0x1p-18f, 0x1p-30f};
  Rng rng(8);
  for (int i = 0; i < 1500; i++)
    floats.push_back(float(std::ldexp(rng.uniform(-1, 1), int(rng.below(36)) - 20)));
  test<__hip_fp8_e4m3_fnuz>(check, "e4m3", kE4m3, floats);
  test<__hip_fp8_e5m2_fnuz>(check, "e5m2", kE5m2, floats);

  constexpr unsigned n = 130;
  std::vector<float4> in(n);
  for (float4& value : in)
    value = float4{float(rng.uniform(-300, 300)), float(rng.uniform(-1, 1)), float(rng.uniform(-30, 30)), float(rng.uniform(-0.01, 0.01))};
  DeviceBuffer<float4> d_in(in);
  DeviceBuffer<__hip_fp8x4_storage_t> d_out(n);
  DeviceBuffer<float> d_back(n);
  packed<<<ceil_div(n, 64), 64>>>(d_in.get(), d_out.get(), d_back.get(), n);
  HIP_CHECK_LAUNCH();
  const auto out = d_out.download();
  const auto back = d_back.download();
  for (unsigned i = 0; i < n; i++) {
    const uint8_t bytes[4] = {fp8_bits(kE4m3, in[i].x), fp8_bits(kE4m3, in[i].y), fp8_bits(kE4m3, in[i].z), fp8_bits(kE4m3, in[i].w)};
    double sum = 0;
    for (unsigned k = 0; k < 4; k++) {
      check.equal("packed", i * 4 + k, uint8_t(out[i] >> (8 * k)), bytes[k]);
      sum += fp8_value(kE4m3, bytes[k]) * (1 << k);
    }
    check.close("packed and back", i, back[i], sum, 1e-4);
  }
  return check.finish();
}
