#pragma once
// Internal to the fused matrix instructions: operand formats. Each unpacks 16 words into values (exact in f32) and
// exponents.
//
// The exponent is that of the significand's leading bit, of the format's smallest normal for a denormal, and −126 for
// zero whatever the format. The narrow formats keep exponents in bytes to add and compare 16 at once; for them zero is
// coded as kNarrowZero, and decode_narrow_exponent restores the sums.

#include "emulator/isa/float_formats.hpp"
#include "emulator/isa/mfma_vector.hpp"

namespace hipbench::emulator::mfma_detail {

inline constexpr int kZeroExponent = -126;
inline constexpr int kNarrowZero = -64;
inline constexpr int kSpecialExponent = 10'000;  // infinity or NaN in a wide format

// A sum of two narrow exponents as the rules see it. Finite operands other than zero have exponents −15 … 15, so sums
// of two such lie in −30 … 30, with one zero in −79 … −49, and two zeros give −128. The map is monotonic: a maximum may
// be taken before it.
constexpr int decode_narrow_exponent(int sum) {
  if (sum >= -30) return sum;
  return sum > 2 * kNarrowZero ? sum - kNarrowZero + kZeroExponent : 2 * kZeroExponent;
}
struct Unpacked {
  f32x16 values;
  i32x16 exponents;
  u32x16 special;  // not zero where the narrow formats have an infinity or NaN
};

template <int FractionBits, int Bias>
struct FormatFnuz {
  static constexpr int kBits = 8;
  using Exponent = i8;
  using ExponentVector = i8x16;

  static Unpacked unpack(u32x16 code) {
    const u32x16 magnitude = code & 0x7fu;
    const i32x16 field = __builtin_convertvector(magnitude >> FractionBits, i32x16);
    const u32x16 fraction = magnitude & ((1u << FractionBits) - 1);
    const u32x16 significand = field != 0 ? fraction | (1u << FractionBits) : fraction;
    const i32x16 least_one = __builtin_elementwise_max(field, i32x16(1));
    const u32x16 scale = __builtin_convertvector(least_one + (127 - Bias - FractionBits), u32x16) << 23;
    const f32x16 value = __builtin_convertvector(__builtin_convertvector(significand, i32x16), f32x16) *
                         __builtin_bit_cast(f32x16, scale);
    const u32x16 sign = (code & 0x80u) << 24;
    const u32x16 bits = __builtin_bit_cast(u32x16, value) | sign;
    const i32x16 is_nan = code == kFnuzNan;
    const u32x16 with_nan = is_nan ? u32x16(0x7fc00000u) : bits;
    const i32x16 exponents = magnitude == 0u ? i32x16(kNarrowZero) : least_one - Bias;
    return {__builtin_bit_cast(f32x16, with_nan), exponents, __builtin_bit_cast(u32x16, is_nan)};
  }
};
using FormatFp8 = FormatFnuz<3, 8>;
using FormatBf8 = FormatFnuz<2, 16>;

struct FormatF16 {
  static constexpr int kBits = 16;
  using Exponent = i8;
  using ExponentVector = i8x16;

  static Unpacked unpack(u32x16 code) {
    const u32x16 magnitude = code & 0x7fffu;
    const f32x16 scaled = __builtin_bit_cast(f32x16, magnitude << 13) * std::bit_cast<f32>((127u + 112u) << 23);
    const i32x16 is_special = magnitude >= 0x7c00u;
    const u32x16 finite = __builtin_bit_cast(u32x16, scaled);
    const u32x16 bits = (is_special ? (magnitude << 13) | 0x7f800000u : finite) | ((code & 0x8000u) << 16);
    const i32x16 field = __builtin_convertvector(magnitude >> 10, i32x16);
    const i32x16 normal = __builtin_elementwise_max(field, i32x16(1)) - 15;
    const i32x16 exponents = magnitude == 0u ? i32x16(kNarrowZero) : normal;
    return {__builtin_bit_cast(f32x16, bits), exponents, __builtin_bit_cast(u32x16, is_special)};
  }
};

// bf16 and xf32 differ in the bits that they keep of an f32.
template <int Bits, u32 Mask>
struct FormatWide {
  static constexpr int kBits = Bits;
  using Exponent = i16;
  using ExponentVector = i16x16;

  static Unpacked unpack(u32x16 code) {
    const u32x16 bits = (Bits == 16 ? code << 16 : code) & Mask;
    const u32x16 magnitude = bits & 0x7fffffffu;
    const i32x16 field = __builtin_convertvector(magnitude >> 23, i32x16);
    const i32x16 normal = __builtin_elementwise_max(field, i32x16(1)) - 127;  // zero: −126 as well
    const i32x16 exponents = field == 255 ? i32x16(kSpecialExponent) : normal;
    // A signalling NaN that xf32 cuts would turn into an infinity.
    const i32x16 is_nan = (code & 0x7fffffffu) > 0x7f800000u;
    const u32x16 value = Bits == 32 ? (is_nan ? u32x16(0x7fc00000u) : bits) : bits;
    return {__builtin_bit_cast(f32x16, value), exponents, u32x16(0)};
  }
};
using FormatBf16 = FormatWide<16, 0xffff0000u>;
using FormatXf32 = FormatWide<32, 0xffffe000u>;

template <typename Format>
inline constexpr bool kIsNarrow = sizeof(typename Format::Exponent) == 1;

// Values of an operand by plane and lane.
template <typename Format, int Values>
struct Planes {
  alignas(64) f32 values[Values][kLanes];
  alignas(64) typename Format::Exponent exponents[Values][kLanes];
  bool special = false;       // the operand has an infinity or NaN (narrow formats only)
  int greatest_exponent = 0;  // of its values, as coded
  int least_exponent = 0;     // of its values other than zero (wide formats only; 0 if there is none below)

  void unpack(const u32* registers) {
    constexpr int kPerWord = 32 / Format::kBits;
    u32x16 any_special = 0;
    i32x16 least = 0;
    i32x16 greatest = kNarrowZero;
    for (int v = 0; v < Values; ++v) {
      for (int lane = 0; lane < kLanes; lane += kChunk) {
        const u32x16 words = load<u32x16>(registers + v / kPerWord * kLanes + lane);
        u32x16 codes = words;
        if constexpr (kPerWord > 1)
          codes = (words >> (v % kPerWord * Format::kBits)) & ((1u << Format::kBits % 32) - 1);
        const Unpacked unpacked = Format::unpack(codes);
        store(values[v] + lane, unpacked.values);
        store(exponents[v] + lane, __builtin_convertvector(unpacked.exponents, typename Format::ExponentVector));
        any_special |= unpacked.special;
        greatest = __builtin_elementwise_max(greatest, unpacked.exponents);
        if constexpr (!kIsNarrow<Format>) {
          least = __builtin_elementwise_min(least, unpacked.values != 0.0f ? unpacked.exponents : i32x16(0));
        }
      }
    }
    special = __builtin_reduce_or(any_special) != 0;
    greatest_exponent = __builtin_reduce_max(greatest);
    least_exponent = __builtin_reduce_min(least);
  }
};

}  // namespace hipbench::emulator::mfma_detail
