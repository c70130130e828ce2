#pragma once
// Random register contents for the matrix instructions, by kinds that reach the corners of their arithmetic.

#include <random>

#include "emulator/isa/float_formats.hpp"
#include "tests/emulator/isa/mfma_reference.hpp"

namespace hipbench::emulator {

enum class Distribution {
  Normal,      // N(0, 1)
  AnyBits,     // every code, infinities and NaNs included
  FiniteBits,  // every finite code
  Sparse,      // mostly zeros of either sign
  Tiny,        // around the smallest magnitudes
  Huge,        // around the largest
  Cancel,      // few magnitudes, so that sums cancel
  Ragged,      // N(0, 1) times powers of two of a wide range
  SoftMax,     // exp(−x²·20): as attention weights
  Rare,        // normal with a rare infinity or NaN
};
inline constexpr int kDistributionCount = 10;

struct MfmaCase {
  std::vector<u32> a, b, c, d;
  MfmaModifiers modifiers;
};

inline u32 encode(f32 value, const std::string& type) {
  if (type == "fp8") return f32_to_fp8(value, Fp8Overflow::Saturate);
  if (type == "bf8") return f32_to_bf8(value, Fp8Overflow::Saturate);
  if (type == "f16") return f32_to_f16(value);
  if (type == "bf16") return f32_to_bf16(value);
  if (type == "i8") return static_cast<u8>(static_cast<i32>(std::fmod(value * 50, 128.0f)));
  return std::bit_cast<u32>(value);
}

inline bool is_finite_code(u64 code, const std::string& type) {
  if (type == "i8") return true;
  if (type == "f64") return std::isfinite(std::bit_cast<f64>(code));
  return reference::parse(code, type).kind == reference::Number::Finite;
}

inline f32 draw_value(Distribution distribution, std::mt19937_64& random) {
  std::normal_distribution<f32> normal;
  const f32 x = normal(random);
  const int wide = static_cast<int>(random() % 80) - 40;
  switch (distribution) {
    case Distribution::Sparse:
      return random() % 4 == 0 ? x : std::copysign(0.0f, x);
    case Distribution::Cancel:
      return std::copysign(random() % 8 == 0 ? 1.5f : 1.0f, x) * (random() % 4 == 0 ? 0x1p-12f : 1.0f);
    case Distribution::Ragged:
      return std::ldexp(x, wide / 3);
    case Distribution::SoftMax:
      return std::exp(-x * x * 20);
    default:
      return x;
  }
}

inline u64 draw_code(Distribution distribution, const std::string& type, int bits, std::mt19937_64& random) {
  const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const u64 sign = u64{1} << (bits - 1);
  const int exponent_shift = type == "fp8"    ? 3
                             : type == "bf8"  ? 2
                             : type == "f16"  ? 10
                             : type == "bf16" ? 7
                             : type == "f64"  ? 52
                                              : 23;
  const u64 bit_pattern = random() & mask;
  const bool rare = random() % 64 == 0;
  u64 code = 0;
  switch (distribution) {
    case Distribution::AnyBits:
      return bit_pattern;
    case Distribution::FiniteBits:
      code = bit_pattern;
      break;
    case Distribution::Tiny:
      code = bit_pattern & (sign | ((u64{4} << exponent_shift) - 1));
      break;
    case Distribution::Huge:
      code = bit_pattern | ((sign - 1) & ~((u64{4} << exponent_shift) - 1));
      break;
    default: {
      const f32 value = draw_value(distribution, random);
      code = type == "f64" ? std::bit_cast<u64>(f64{value}) : encode(value, type);
      if (distribution == Distribution::Rare && rare)
        return bit_pattern | ((sign - 1) & ~((u64{1} << exponent_shift) - 1));
    }
  }
  while (!is_finite_code(code, type)) code = random() & mask;
  return code;
}

inline std::vector<u32> draw_registers(int registers, Distribution distribution, const std::string& type, int bits,
                                       std::mt19937_64& random) {
  std::vector<u32> words(static_cast<std::size_t>(registers) * 64);
  if (bits == 64) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (at / 64 % 2 != 0) continue;
      const u64 code = draw_code(distribution, type, bits, random);
      words[at] = static_cast<u32>(code);
      words[at + 64] = static_cast<u32>(code >> 32);
    }
    return words;
  }
  for (u32& word : words) {
    for (int shift = 0; shift < 32; shift += bits)
      word |= static_cast<u32>(draw_code(distribution, type, bits, random)) << shift;
  }
  return words;
}

// A, B and C of one kind each: C's is drawn apart, so that it is above, among and below the products.
inline MfmaCase make_case(const MfmaEntry& entry, Distribution distribution, std::mt19937_64& random) {
  const reference::Types types = reference::input_types(entry.mnemonic);
  MfmaCase test;
  const bool skewed = random() % 4 == 0;
  const Distribution of_b = skewed ? Distribution::Normal : distribution;
  test.a = draw_registers(entry.a_registers, distribution, types.a, types.bits, random);
  test.b = draw_registers(entry.b_registers, of_b, types.b, types.bits, random);
  const bool ordinary = distribution == Distribution::Normal;
  const Distribution of_c = ordinary ? Distribution::Normal : static_cast<Distribution>(random() % kDistributionCount);
  const std::string output = types.bits == 64 ? "f64" : types.b == "i8" ? "i32" : "f32";
  const int output_bits = types.bits == 64 ? 64 : 32;
  const auto accumulator = [&] {
    if (output == "i32") return draw_registers(entry.d_registers, Distribution::AnyBits, "i8", 32, random);
    return draw_registers(entry.d_registers, of_c, output, output_bits, random);
  };
  test.d = accumulator();
  test.c = entry.sparse ? draw_registers(1, Distribution::AnyBits, "i8", 32, random) : accumulator();
  int log2_blocks = 0;
  while (1 << log2_blocks < entry.blocks) ++log2_blocks;
  test.modifiers.cbsz = static_cast<u8>(random() % static_cast<u32>(entry.sparse ? 2 : log2_blocks + 1));
  test.modifiers.abid = static_cast<u8>(random() % 16);
  test.modifiers.blgp = static_cast<u8>(random() % 8);
  return test;
}

}  // namespace hipbench::emulator
