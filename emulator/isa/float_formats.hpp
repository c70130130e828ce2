#pragma once
// Bit-exact conversions between the float formats of gfx942, and f16 arithmetic with one rounding. Everything is inline
// and branch-light, so that a loop over lanes vectorises; nothing depends on the host's rounding mode or on FMA
// contraction. Denormals are kept everywhere: flushing them is a matter of MODE, hence of the instruction adapters.
//
// FP8 on gfx942 is FNUZ: no infinities, no −0, and the one NaN is 0x80.
//   fp8 = e4m3fnuz: exponent bias 8,  largest 240
//   bf8 = e5m2fnuz: exponent bias 16, largest 57344

#include <bit>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// Values as MODE.round encodes them.
enum class RoundMode : u8 { NearestEven = 0, Up = 1, Down = 2, TowardZero = 3 };

// What an FP8 conversion makes of a value too large for the format (infinity included): MODE.FP16_OVFL selects it.
enum class Fp8Overflow : u8 { Nan, Saturate };

inline constexpr u8 kFnuzNan = 0x80;

namespace float_detail {

// A narrow binary format with an implicit leading bit and gradual underflow.
struct Narrow {
  int fraction_bits;
  int bias;
};
inline constexpr Narrow kF16{10, 15};
inline constexpr Narrow kFp8{3, 8};
inline constexpr Narrow kBf8{2, 16};

template <typename Bits>
struct Wide;
template <>
struct Wide<u32> {
  static constexpr int kFractionBits = 23, kBias = 127;
};
template <>
struct Wide<u64> {
  static constexpr int kFractionBits = 52, kBias = 1023;
};

constexpr int max_int(int a, int b) { return a > b ? a : b; }
constexpr int min_int(int a, int b) { return a < b ? a : b; }

// A finite wide value on the narrow format's grid: `grid` is the significand with `shift` more bits below the narrow
// format's last place (cut off where they cannot matter), `exponent` what to add to the narrow exponent field beyond
// that significand's own leading bit.
template <typename Bits>
struct OnGrid {
  Bits significand;
  int shift;
  int exponent;
};

template <Narrow format, typename Bits>
constexpr OnGrid<Bits> place_on_grid(Bits magnitude) {
  using W = Wide<Bits>;
  constexpr int kMinExponent = W::kBias - format.bias + 1;  // of a normal narrow value, as a wide exponent field
  const int field = static_cast<int>(magnitude >> W::kFractionBits);
  const Bits fraction = magnitude & ((Bits{1} << W::kFractionBits) - 1);
  const Bits significand = field != 0 ? fraction | Bits{1} << W::kFractionBits : fraction;
  const int exponent = max_int(max_int(field, 1), kMinExponent);
  // Below the smallest denormal one more place is enough to tell "less than half" from zero.
  const int shift = W::kFractionBits - format.fraction_bits + exponent - max_int(field, 1);
  return {significand, min_int(shift, W::kFractionBits + 2), exponent - kMinExponent};
}

template <typename Bits>
constexpr Bits round_off(Bits significand, int shift, bool negative, RoundMode mode) {
  const Bits kept = significand >> shift;
  const Bits rest = significand & ((Bits{1} << shift) - 1);
  const Bits half = Bits{1} << (shift - 1);
  bool up = false;
  switch (mode) {
    case RoundMode::NearestEven:
      up = rest + (kept & 1) > half;
      break;
    case RoundMode::Up:
      up = rest != 0 && !negative;
      break;
    case RoundMode::Down:
      up = rest != 0 && negative;
      break;
    case RoundMode::TowardZero:
      break;
  }
  return kept + Bits{up};
}

template <typename Bits>
constexpr u16 to_f16(Bits bits, RoundMode mode) {
  using W = Wide<Bits>;
  constexpr int kSignShift = static_cast<int>(sizeof(Bits)) * 8 - 1;
  constexpr Bits kInfinity = Bits{2 * W::kBias + 1} << W::kFractionBits;
  const bool negative = (bits >> kSignShift) != 0;
  const Bits magnitude = bits & ~(Bits{1} << kSignShift);
  const OnGrid<Bits> grid = place_on_grid<kF16>(magnitude);
  const u32 rounded = static_cast<u32>(round_off(grid.significand, grid.shift, negative, mode)) +
                      (static_cast<u32>(grid.exponent) << kF16.fraction_bits);
  const bool to_infinity =
      mode == RoundMode::NearestEven || (mode == RoundMode::Up && !negative) || (mode == RoundMode::Down && negative);
  u32 result = rounded >= 0x7c00u ? (to_infinity ? 0x7c00u : 0x7bffu) : rounded;
  result = magnitude >= kInfinity ? 0x7c00u : result;
  const u32 payload = static_cast<u32>(magnitude >> (W::kFractionBits - kF16.fraction_bits)) & 0x3ffu;
  result = magnitude > kInfinity ? 0x7e00u | payload : result;  // a NaN keeps its upper payload and becomes quiet
  return static_cast<u16>(result | (negative ? 0x8000u : 0u));
}

template <Narrow format>
constexpr u8 finish_fnuz(u32 rounded, u32 magnitude, bool negative, Fp8Overflow overflow) {
  const bool too_large = rounded > 0x7fu || magnitude >= 0x7f800000u;
  u32 result = too_large ? 0x7fu : rounded;
  result |= negative && result != 0 ? 0x80u : 0u;
  const bool nan = magnitude > 0x7f800000u || (too_large && overflow == Fp8Overflow::Nan);
  return static_cast<u8>(nan ? u32{kFnuzNan} : result);
}

template <Narrow format>
constexpr u8 to_fnuz(f32 value, Fp8Overflow overflow) {
  const u32 bits = std::bit_cast<u32>(value);
  const u32 magnitude = bits & 0x7fffffffu;
  const OnGrid<u32> grid = place_on_grid<format>(magnitude);
  const u32 rounded = round_off(grid.significand, grid.shift, false, RoundMode::NearestEven) +
                      (static_cast<u32>(grid.exponent) << format.fraction_bits);
  return finish_fnuz<format>(rounded, magnitude, bits >> 31 != 0, overflow);
}

// Stochastic rounding: the upper bits of `random`, as many as a normal value drops, are added right below the kept
// significand, and the sum is truncated. For a denormal result they are added below the denormal's last place.
template <Narrow format>
constexpr u8 to_fnuz_stochastic(f32 value, u32 random, Fp8Overflow overflow) {
  constexpr int kDropped = 23 - format.fraction_bits;
  const u32 bits = std::bit_cast<u32>(value);
  const u32 magnitude = bits & 0x7fffffffu;
  const int field = max_int(static_cast<int>(magnitude >> 23), 1);
  constexpr int kMinExponent = 127 - format.bias + 1;
  const int exponent = max_int(field, kMinExponent);
  const u32 significand = (magnitude & 0x7fffffu) | (magnitude >> 23 != 0 ? 0x800000u : 0u);
  const u32 aligned = significand >> min_int(exponent - field, 24);
  const u32 rounded = ((aligned + (random >> (32 - kDropped))) >> kDropped) +
                      (static_cast<u32>(exponent - kMinExponent) << format.fraction_bits);
  return finish_fnuz<format>(rounded, magnitude, bits >> 31 != 0, overflow);
}

template <Narrow format>
constexpr f32 from_fnuz(u8 code) {
  const u32 magnitude = code & 0x7fu;
  const u32 fraction = magnitude & ((1u << format.fraction_bits) - 1);
  const int field = static_cast<int>(magnitude >> format.fraction_bits);
  // A power of two times a small integer, both exact in f32.
  const int significand = static_cast<int>(field != 0 ? fraction | 1u << format.fraction_bits : fraction);
  const int exponent = max_int(field, 1) - format.bias - format.fraction_bits;
  const f32 scale = std::bit_cast<f32>(static_cast<u32>(127 + exponent) << 23);
  const u32 sign = code & 0x80u;
  const f32 value = static_cast<f32>(significand) * scale;
  return std::bit_cast<f32>(code == kFnuzNan ? 0x7fc00000u : std::bit_cast<u32>(value) | sign << 24);
}

// p + c rounded to odd: enough for any later rounding to 51 bits or fewer to be as if done once on the exact sum.
constexpr f64 add_round_to_odd(f64 p, f64 c) {
  const f64 sum = p + c;
  const f64 c_part = sum - p;
  const f64 error = (p - (sum - c_part)) + (c - c_part);  // exact (Knuth's two-sum)
  const u64 bits = std::bit_cast<u64>(sum);
  const bool adjust = error != 0 && (bits & 1) == 0;
  const bool away = (error > 0) == (sum > 0);
  // The error term of an infinite or NaN sum means nothing.
  const bool finite = (bits & 0x7fffffffffffffffu) < 0x7ff0000000000000u;
  return std::bit_cast<f64>(adjust && finite ? (away ? bits + 1 : bits - 1) : bits);
}

constexpr u16 select_f16_nan(u16 result, u16 a, u16 b, u16 c) {
  u32 nan = 0x7e00u;
  nan = (c & 0x7fffu) > 0x7c00u ? c | 0x0200u : nan;
  nan = (b & 0x7fffu) > 0x7c00u ? b | 0x0200u : nan;
  nan = (a & 0x7fffu) > 0x7c00u ? a | 0x0200u : nan;
  return static_cast<u16>((result & 0x7fffu) > 0x7c00u ? nan : u32{result});
}

// Rounds an exact or rounded-to-odd sum; the sign of a zero from cancellation is − when rounding down.
constexpr u16 finish_f16_sum(f64 sum, bool left_negative, bool right_negative, RoundMode mode) {
  const bool cancelled = sum == 0 && left_negative != right_negative;
  return cancelled && mode == RoundMode::Down ? u16{0x8000} : to_f16(std::bit_cast<u64>(sum), mode);
}

}  // namespace float_detail

// ---- f16
// --------------------------------------------------------------------------------------------------------------

// Exact. A signalling NaN becomes quiet.
constexpr f32 f16_to_f32(u16 half) {
  const u32 magnitude = half & 0x7fffu;
  // The exponent field moves from bias 15 to bias 127 by a multiplication, which also normalises denormals.
  const f32 scaled = std::bit_cast<f32>(magnitude << 13) * std::bit_cast<f32>((127u + 112u) << 23);
  u32 bits = std::bit_cast<u32>(scaled);
  bits = magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13 : bits;
  bits |= magnitude > 0x7c00u ? 0x00400000u : 0u;
  return std::bit_cast<f32>(bits | (half & 0x8000u) << 16);
}

constexpr u16 f32_to_f16(f32 value, RoundMode mode = RoundMode::NearestEven) {
  return float_detail::to_f16(std::bit_cast<u32>(value), mode);
}

constexpr f64 f16_to_f64(u16 half) { return static_cast<f64>(f16_to_f32(half)); }

constexpr u16 f64_to_f16(f64 value, RoundMode mode = RoundMode::NearestEven) {
  return float_detail::to_f16(std::bit_cast<u64>(value), mode);
}

// v_cvt_pkrtz_f16_f32: the low half is `low`, rounded toward zero whatever MODE says.
constexpr u32 pack_f16_toward_zero(f32 low, f32 high) {
  return f32_to_f16(low, RoundMode::TowardZero) | u32{f32_to_f16(high, RoundMode::TowardZero)} << 16;
}

// f16 arithmetic, each with a single rounding in any mode. NaN: the first NaN operand, made quiet; else 0x7e00 (chosen
// here, since the host's choice would depend on how the compiler orders operands).
constexpr bool f16_is_nan(u16 half) { return (half & 0x7fffu) > 0x7c00u; }

// Sum and product of two f16 are exact in f64: a sum spans 2^-24 … 2^17, a product has 22 significant bits.
constexpr u16 f16_add(u16 a, u16 b, RoundMode mode = RoundMode::NearestEven) {
  const f64 sum = f16_to_f64(a) + f16_to_f64(b);
  const u16 result = float_detail::finish_f16_sum(sum, a >> 15 != 0, b >> 15 != 0, mode);
  return float_detail::select_f16_nan(result, a, b, b);
}

constexpr u16 f16_mul(u16 a, u16 b, RoundMode mode = RoundMode::NearestEven) {
  return float_detail::select_f16_nan(f64_to_f16(f16_to_f64(a) * f16_to_f64(b), mode), a, b, b);
}

// The product is exact in f64; the sum is rounded to odd at 53 bits, so that the rounding to 11 bits is the only one
// that shows.
constexpr u16 f16_fma(u16 a, u16 b, u16 c, RoundMode mode = RoundMode::NearestEven) {
  const f64 product = f16_to_f64(a) * f16_to_f64(b);
  const f64 sum = float_detail::add_round_to_odd(product, f16_to_f64(c));
  const u16 result = float_detail::finish_f16_sum(sum, ((a ^ b) & 0x8000u) != 0, c >> 15 != 0, mode);
  return float_detail::select_f16_nan(result, a, b, c);
}

// ---- bf16
// -------------------------------------------------------------------------------------------------------------

// Exact, payloads and signalling NaNs included: gfx942 converts by a shift.
constexpr f32 bf16_to_f32(u16 value) { return std::bit_cast<f32>(u32{value} << 16); }

// Round to nearest even; a NaN stays a NaN (quiet). gfx942 has no such instruction: for helpers and atomics.
constexpr u16 f32_to_bf16(f32 value) {
  const u32 bits = std::bit_cast<u32>(value);
  const u32 rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const u32 quiet = bits >> 16 | 0x0040u;
  return static_cast<u16>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// ---- fp8 and bf8
// ------------------------------------------------------------------------------------------------------

constexpr f32 fp8_to_f32(u8 code) { return float_detail::from_fnuz<float_detail::kFp8>(code); }
constexpr f32 bf8_to_f32(u8 code) { return float_detail::from_fnuz<float_detail::kBf8>(code); }

// Round to nearest even, always; −0 becomes 0, NaN becomes 0x80.
constexpr u8 f32_to_fp8(f32 value, Fp8Overflow overflow = Fp8Overflow::Nan) {
  return float_detail::to_fnuz<float_detail::kFp8>(value, overflow);
}
constexpr u8 f32_to_bf8(f32 value, Fp8Overflow overflow = Fp8Overflow::Nan) {
  return float_detail::to_fnuz<float_detail::kBf8>(value, overflow);
}

// v_cvt_sr_fp8_f32 and v_cvt_sr_bf8_f32; `random` is the whole second operand.
constexpr u8 f32_to_fp8_stochastic(f32 value, u32 random, Fp8Overflow overflow = Fp8Overflow::Nan) {
  return float_detail::to_fnuz_stochastic<float_detail::kFp8>(value, random, overflow);
}
constexpr u8 f32_to_bf8_stochastic(f32 value, u32 random, Fp8Overflow overflow = Fp8Overflow::Nan) {
  return float_detail::to_fnuz_stochastic<float_detail::kBf8>(value, random, overflow);
}

}  // namespace hipbench::emulator
