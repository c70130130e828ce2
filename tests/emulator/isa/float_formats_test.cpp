#include "emulator/isa/float_formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hipbench::emulator {
namespace {

f32 as_f32(u32 bits) { return std::bit_cast<f32>(bits); }
u32 as_u32(f32 value) { return std::bit_cast<u32>(value); }

// The second formulation: a format's values as doubles, and rounding as a search among them.
f64 decode(u32 code, int exponent_bits, int fraction_bits, int bias) {
  const u32 field = code >> fraction_bits & ((1u << exponent_bits) - 1);
  const f64 fraction = static_cast<f64>(code & ((1u << fraction_bits) - 1)) / std::exp2(fraction_bits);
  const f64 magnitude =
      field == 0 ? fraction * std::exp2(1 - bias) : (1 + fraction) * std::exp2(static_cast<int>(field) - bias);
  return (code >> (exponent_bits + fraction_bits) & 1u) != 0 ? -magnitude : magnitude;
}
f64 decode_fp8(u32 code) { return decode(code, 4, 3, 8); }
f64 decode_bf8(u32 code) { return decode(code, 5, 2, 16); }
f64 decode_f16(u32 code) { return decode(code, 5, 10, 15); }

// The codes 0 … largest + 1 have increasing values; largest + 1 stands for "overflow" with the value that it would
// have.
u32 nearest_code(f64 magnitude, const std::vector<f64>& values) {
  u32 low = 0;
  u32 high = static_cast<u32>(values.size()) - 1;
  if (magnitude >= values[high]) return high;
  while (high - low > 1) (values[(low + high) / 2] <= magnitude ? low : high) = (low + high) / 2;
  const f64 below = magnitude - values[low];
  const f64 above = values[high] - magnitude;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

std::vector<f64> values_up_to(u32 largest, f64 (*decoder)(u32)) {
  std::vector<f64> values;
  for (u32 code = 0; code <= largest + 1; ++code) values.push_back(decoder(code));
  return values;
}

struct Fp8Case {
  u8 (*convert)(f32, Fp8Overflow);
  f32 (*decode)(u8);
  std::vector<f64> values;
};

// Neither format has 0x80 as a value, so "0x7f plus one step" has to be written out.
std::vector<Fp8Case> fp8_cases() {
  std::vector<f64> fp8 = values_up_to(0x7e, decode_fp8);
  fp8.push_back(256);
  std::vector<f64> bf8 = values_up_to(0x7e, decode_bf8);
  bf8.push_back(65536);
  return {{f32_to_fp8, fp8_to_f32, fp8}, {f32_to_bf8, bf8_to_f32, bf8}};
}

u8 expected_fp8(f32 value, const std::vector<f64>& values, Fp8Overflow overflow) {
  if (std::isnan(value)) return kFnuzNan;
  const u32 code = nearest_code(std::fabs(f64{value}), values);
  if (code > 0x7f) return overflow == Fp8Overflow::Nan ? kFnuzNan : (std::signbit(value) ? 0xff : 0x7f);
  return static_cast<u8>(code == 0 || !std::signbit(value) ? code : code | 0x80);
}

// Every value with a coarse stride, and around each code and each midpoint between codes the neighbours in f32.
template <typename Check>
void for_interesting_f32(const std::vector<f64>& values, Check check) {
  for (u64 bits = 0; bits < (u64{1} << 32); bits += 10'007) check(as_f32(static_cast<u32>(bits)));
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    for (const f64 point : {values[i], (values[i] + values[i + 1]) / 2, values[i + 1]}) {
      const u32 center = as_u32(static_cast<f32>(point));
      for (u32 bits = center < 3 ? 0 : center - 3; bits <= center + 3; ++bits) {
        check(as_f32(bits));
        check(as_f32(bits | 0x80000000u));
      }
    }
  }
  for (const u32 bits :
       {0x7f800000u, 0xff800000u, 0x7f800001u, 0x7fc00000u, 0xffffffffu, 0x7f7fffffu, 0x80000000u, 1u, 0x80000001u}) {
    check(as_f32(bits));
  }
}

TEST(FloatFormats, EveryFp8CodeDecodesToItsValue) {
  for (u32 code = 0; code < 256; ++code) {
    if (code == kFnuzNan) {
      EXPECT_TRUE(std::isnan(fp8_to_f32(kFnuzNan)));
      EXPECT_TRUE(std::isnan(bf8_to_f32(kFnuzNan)));
      continue;
    }
    EXPECT_EQ(fp8_to_f32(static_cast<u8>(code)), decode_fp8(code)) << code;
    EXPECT_EQ(bf8_to_f32(static_cast<u8>(code)), decode_bf8(code)) << code;
  }
  EXPECT_EQ(fp8_to_f32(0x7f), 240);
  EXPECT_EQ(bf8_to_f32(0x7f), 57344);
}

TEST(FloatFormats, EveryFp8CodeSurvivesARoundTrip) {
  for (u32 code = 0; code < 256; ++code) {
    const u8 byte = static_cast<u8>(code);
    EXPECT_EQ(f32_to_fp8(fp8_to_f32(byte)), byte);
    EXPECT_EQ(f32_to_bf8(bf8_to_f32(byte)), byte);
    EXPECT_EQ(f32_to_fp8_stochastic(fp8_to_f32(byte), 0xffffffffu), byte);
    EXPECT_EQ(f32_to_bf8_stochastic(bf8_to_f32(byte), 0xffffffffu), byte);
  }
}

TEST(FloatFormats, Fp8ConversionPicksTheNearestCode) {
  for (const Fp8Case& format : fp8_cases()) {
    u64 failures = 0;
    for_interesting_f32(format.values, [&](f32 value) {
      for (const Fp8Overflow overflow : {Fp8Overflow::Nan, Fp8Overflow::Saturate}) {
        failures += format.convert(value, overflow) != expected_fp8(value, format.values, overflow);
      }
    });
    EXPECT_EQ(failures, 0u);
  }
}

TEST(FloatFormats, Fp8OverflowFollowsTheFlag) {
  const f32 infinity = std::numeric_limits<f32>::infinity();
  EXPECT_EQ(f32_to_fp8(247.9f), 0x7f);
  EXPECT_EQ(f32_to_fp8(248.0f), kFnuzNan);
  EXPECT_EQ(f32_to_fp8(-1000.0f, Fp8Overflow::Saturate), 0xff);
  EXPECT_EQ(f32_to_fp8(infinity), kFnuzNan);
  EXPECT_EQ(f32_to_fp8(infinity, Fp8Overflow::Saturate), 0x7f);
  EXPECT_EQ(f32_to_bf8(-infinity, Fp8Overflow::Saturate), 0xff);
  EXPECT_EQ(f32_to_fp8(std::nanf(""), Fp8Overflow::Saturate), kFnuzNan);
  EXPECT_EQ(f32_to_fp8(-0.0f), 0);
  EXPECT_EQ(f32_to_fp8(-1e-20f), 0);
}

TEST(FloatFormats, StochasticRoundingGoesUpAsOftenAsTheDroppedPartSays) {
  // 1 + 5/32 lies between 1.125 (0x41) and 1.25 (0x42), a quarter of the way.
  EXPECT_EQ(f32_to_fp8_stochastic(1.15625f, 0), 0x41);
  EXPECT_EQ(f32_to_fp8_stochastic(1.15625f, 0xbfffffffu), 0x41);
  EXPECT_EQ(f32_to_fp8_stochastic(1.15625f, 0xc0000000u), 0x42);
  EXPECT_EQ(f32_to_bf8_stochastic(-1.0625f, 0xbfffffffu), 0xc0);
  EXPECT_EQ(f32_to_bf8_stochastic(-1.0625f, 0xc0000000u), 0xc1);
  // A denormal result: 2^-11 is half of the smallest fp8 value.
  EXPECT_EQ(f32_to_fp8_stochastic(0x1p-11f, 0x7fffffffu), 0);
  EXPECT_EQ(f32_to_fp8_stochastic(0x1p-11f, 0x80000000u), 1);
  EXPECT_EQ(f32_to_fp8_stochastic(0x1p-126f, 0xffffffffu), 0);
  EXPECT_EQ(f32_to_fp8_stochastic(0.0f, 0xffffffffu), 0);
  EXPECT_EQ(f32_to_fp8_stochastic(245.0f, 0xffffffffu), kFnuzNan);
  EXPECT_EQ(f32_to_fp8_stochastic(245.0f, 0), 0x7f);
}

TEST(FloatFormats, EveryF16DecodesToItsValueAndBack) {
  for (u32 code = 0; code < 65536; ++code) {
    const u16 half = static_cast<u16>(code);
    const f32 value = f16_to_f32(half);
    if ((code & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(value));
      ASSERT_EQ(f32_to_f16(value), half | 0x0200);
      continue;
    }
    if ((code & 0x7fff) == 0x7c00) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(value, decode_f16(code));
    }
    ASSERT_EQ(std::signbit(value), code >= 0x8000);
    for (u32 mode = 0; mode < 4; ++mode) {
      ASSERT_EQ(f32_to_f16(value, static_cast<RoundMode>(mode)), half);
      ASSERT_EQ(f64_to_f16(f64{value}, static_cast<RoundMode>(mode)), half);
    }
  }
}

u16 expected_f16(f64 value, const std::vector<f64>& values, RoundMode mode) {
  const u32 sign = std::signbit(value) ? 0x8000u : 0u;
  const f64 magnitude = std::fabs(value);
  if (mode == RoundMode::NearestEven) return static_cast<u16>(nearest_code(magnitude, values) | sign);
  u32 code = static_cast<u32>(std::upper_bound(values.begin(), values.end(), magnitude) - values.begin()) - 1;
  const bool away = (mode == RoundMode::Up && sign == 0) || (mode == RoundMode::Down && sign != 0);
  if (code < 0x7c00 && away && values[code] != magnitude) ++code;
  if (code == 0x7c00 && !away && !std::isinf(value)) --code;
  return static_cast<u16>(code | sign);
}

TEST(FloatFormats, F16ConversionFollowsTheRoundMode) {
  std::vector<f64> values = values_up_to(0x7bfe, decode_f16);
  values.push_back(65536);
  u64 failures = 0;
  for_interesting_f32(values, [&](f32 value) {
    if (std::isnan(value)) return;
    for (u32 mode = 0; mode < 4; ++mode) {
      const u16 expected = expected_f16(f64{value}, values, static_cast<RoundMode>(mode));
      failures += f32_to_f16(value, static_cast<RoundMode>(mode)) != expected;
      failures += f64_to_f16(f64{value}, static_cast<RoundMode>(mode)) != expected;
    }
  });
  EXPECT_EQ(failures, 0u);
  EXPECT_EQ(pack_f16_toward_zero(65535.0f, -0x1.fffp-15f), 0x83ff7bffu);
}

TEST(FloatFormats, EveryBf16DecodesAndRoundsToEven) {
  for (u32 code = 0; code < 65536; ++code) {
    const u16 value = static_cast<u16>(code);
    const f32 wide = bf16_to_f32(value);
    ASSERT_EQ(as_u32(wide), code << 16);
    if (std::isnan(wide)) {
      ASSERT_EQ(f32_to_bf16(wide), code | 0x40);
      continue;
    }
    ASSERT_EQ(f32_to_bf16(wide), value);
    if ((code & 0x7fff) == 0x7f80) continue;
    ASSERT_EQ(f32_to_bf16(as_f32(code << 16 | 0x7fff)), code);
    ASSERT_EQ(f32_to_bf16(as_f32(code << 16 | 0x8000)), code + (code & 1));
    ASSERT_EQ(f32_to_bf16(as_f32(code << 16 | 0x8001)), code + 1);
  }
}

// All finite f16 are multiples of 2^-24, products of 2^-48: sums are exact in 128-bit integers, rounded here by long
// division.
u16 round_exact(__int128 value, int scale, RoundMode mode, bool zero_negative) {
  if (value == 0) return zero_negative ? 0x8000 : 0;
  const bool negative = value < 0;
  unsigned __int128 magnitude =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  int shift = scale - 24;  // so many bits lie below the smallest denormal
  while (magnitude >> shift >= 2048) ++shift;
  const unsigned __int128 one = 1;
  u32 kept = static_cast<u32>(magnitude >> shift);
  const unsigned __int128 rest = magnitude & ((one << shift) - 1);
  const unsigned __int128 half = shift > 0 ? one << (shift - 1) : 0;
  const bool up = rest != 0 && ((mode == RoundMode::NearestEven && (rest > half || (rest == half && kept % 2 == 1))) ||
                                (mode == RoundMode::Up && !negative) || (mode == RoundMode::Down && negative));
  kept += up ? 1 : 0;
  const f64 result = std::ldexp(static_cast<f64>(kept), shift - scale);
  const bool away =
      mode == RoundMode::NearestEven || (mode == RoundMode::Up && !negative) || (mode == RoundMode::Down && negative);
  if (result > 65504) return static_cast<u16>((away ? 0x7c00 : 0x7bff) | (negative ? 0x8000 : 0));
  return f32_to_f16(static_cast<f32>(negative ? -result : result));
}

TEST(FloatFormats, F16ArithmeticRoundsOnce) {
  std::mt19937 random(7);
  const std::vector<u16> nasty = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00,
                                  0xbc00, 0x7bff, 0xfbff, 0x3c01, 0x3bff, 0x6bff, 0x1400};
  const auto pick = [&] {
    const u32 draw = static_cast<u32>(random());
    return draw % 4 == 0 ? nasty[draw / 4 % nasty.size()] : static_cast<u16>(draw >> 8);
  };
  const auto finite = [](u16 half) { return (half & 0x7fff) < 0x7c00; };
  const auto scaled = [](u16 half) { return static_cast<__int128>(std::ldexp(f16_to_f64(half), 24)); };
  for (int i = 0; i < 400'000; ++i) {
    const u16 a = pick(), b = pick(), c = pick();
    if (!finite(a) || !finite(b) || !finite(c)) continue;
    const RoundMode mode = static_cast<RoundMode>(i % 4);
    const bool down = mode == RoundMode::Down;
    const auto zero_sign = [&](bool x, bool y) { return x == y ? x : down; };
    const bool product_negative = (a ^ b) >> 15 != 0;
    ASSERT_EQ(f16_add(a, b, mode), round_exact(scaled(a) + scaled(b), 24, mode, zero_sign(a >> 15, b >> 15)))
        << a << ' ' << b;
    ASSERT_EQ(f16_mul(a, b, mode), round_exact(scaled(a) * scaled(b), 48, mode, product_negative)) << a << ' ' << b;
    ASSERT_EQ(f16_fma(a, b, c, mode), round_exact(scaled(a) * scaled(b) + (scaled(c) << 24), 48, mode,
                                                  zero_sign(product_negative, c >> 15 != 0)))
        << a << ' ' << b << ' ' << c << " mode " << i % 4;
  }
}

TEST(FloatFormats, F16ArithmeticOnInfinitiesAndNans) {
  EXPECT_EQ(f16_add(0x7c00, 0xfc00), 0x7e00);
  EXPECT_EQ(f16_mul(0x7c00, 0x0000), 0x7e00);
  EXPECT_EQ(f16_fma(0x7c00, 0x3c00, 0xfc00), 0x7e00);
  EXPECT_EQ(f16_fma(0x7c00, 0x3c00, 0x3c00), 0x7c00);
  EXPECT_EQ(f16_add(0x7c01, 0xfe02), 0x7e01);
  EXPECT_EQ(f16_add(0x3c00, 0xfe02), 0xfe02);
}

}  // namespace
}  // namespace hipbench::emulator
