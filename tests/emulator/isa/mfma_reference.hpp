#pragma once
// A second formulation of the matrix instructions, slow and plain: registers to matrices by the "register to element"
// formulas of AMD's matrix instruction calculator, then the rules element by element in 128-bit integers. Shares no
// code with the first.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/isa/mfma.hpp"

namespace hipbench::emulator::reference {

// The type names of a mnemonic: v_mfma_f32_32x32x16_fp8_bf8 has A "fp8" and B "bf8".
struct Types {
  std::string a, b;
  int bits;
};

inline Types input_types(std::string_view mnemonic) {
  const auto last_part = [&mnemonic] {
    const std::size_t at = mnemonic.rfind('_');
    const std::string part(mnemonic.substr(at + 1));
    mnemonic.remove_suffix(mnemonic.size() - at);
    return part;
  };
  const std::string b = last_part();
  const std::string previous = last_part();
  const bool two = previous == "fp8" || previous == "bf8";
  const int bits = b.ends_with("8") ? 8 : b.ends_with("16") ? 16 : b == "f64" ? 64 : 32;
  return {two ? previous : b, b, bits};
}

// ---- Registers and matrices
// -----------------------------------------------------------------------------------------------

// Codes by block, row and column.
struct Matrix {
  int rows, columns;
  std::vector<u64> codes;

  Matrix(int blocks, int rows_, int columns_)
      : rows(rows_), columns(columns_), codes(static_cast<std::size_t>(blocks * rows_ * columns_)) {}
  u64& at(int block, int row, int column) {
    return codes[static_cast<std::size_t>((block * rows + row) * columns + column)];
  }
};

inline u64 read_element(const u32* registers, int bits, int lane, int value) {
  if (bits == 64) return registers[lane] | u64{registers[64 + lane]} << 32;
  const int per_register = 32 / bits;
  const u32 word = registers[value / per_register * 64 + lane];
  return word >> (value % per_register * bits) & (bits == 32 ? ~0u : (1u << bits) - 1);
}

// Where an element of A (or of B, with j for i) lies.
struct InputPlace {
  int block, i, k;
};
inline InputPlace input_place(const MfmaEntry& entry, int values_a_lane, int lane, int value) {
  if (entry.m == 4 && entry.blocks == 4) return {lane / 4 % 4, lane % 4, lane / 16};
  if (entry.blocks > 1) return {lane / entry.m, lane % entry.m, value};
  return {0, lane % entry.m, values_a_lane * (lane / entry.m) + value};
}

struct OutputPlace {
  int block, i, j;
};
inline OutputPlace output_place(const MfmaEntry& entry, int reg, int lane) {
  const bool f64_output = entry.mnemonic.ends_with("f64");
  if (f64_output && entry.m == 16) return {0, 4 * (reg / 2) + lane / 16, lane % 16};
  if (f64_output) return {lane / 4 % 4, lane / 16, lane % 4};
  if (entry.m == 32) return {reg / 16, 8 * (reg / 4) % 32 + 4 * (lane / 32) + reg % 4, lane % 32};
  if (entry.m == 16) return {reg / 4, 4 * (lane / 16) + reg % 4, lane % 16};
  return {lane / 4, reg, lane % 4};
}

inline int values_a_lane(int registers, int bits) { return bits == 64 ? 1 : registers * 32 / bits; }

inline Matrix read_a(const MfmaEntry& entry, const u32* a, int bits) {
  const int values = values_a_lane(entry.a_registers, bits);
  Matrix matrix(entry.blocks, entry.m, entry.sparse ? entry.k / 2 : entry.k);
  for (int lane = 0; lane < 64; ++lane) {
    for (int value = 0; value < values; ++value) {
      const InputPlace place = input_place(entry, values, lane, value);
      matrix.at(place.block, place.i, place.k) = read_element(a, bits, lane, value);
    }
  }
  return matrix;
}

inline Matrix read_b(const MfmaEntry& entry, const u32* b, int bits, int blgp) {
  const int values = values_a_lane(entry.b_registers, bits);
  Matrix matrix(entry.blocks, entry.k, entry.n);
  for (int lane = 0; lane < 64; ++lane) {
    int source = lane;
    if (blgp == 1 && lane >= 32) source = lane - 32;
    if (blgp == 2 && lane < 32) source = lane + 32;
    if (blgp == 3) source = lane < 48 ? lane + 16 : lane - 48;
    if (blgp >= 4) source = lane % 16 + 16 * (blgp - 4);
    for (int value = 0; value < values; ++value) {
      const InputPlace place = input_place(entry, values, lane, value);
      matrix.at(place.block, place.k, place.i) = read_element(b, bits, source, value);
    }
  }
  return matrix;
}

// ---- Numbers
// ------------------------------------------------------------------------------------------------------------------

struct Number {
  enum { Finite, Infinite, Nan } kind = Finite;
  bool negative = false;
  i64 significand = 0;  // signed; value = significand · 2^scale
  int scale = 0;
  int exponent = 0;  // as the rules see it
};

inline Number parse(u64 code, int exponent_bits, int fraction_bits, int bias, bool fnuz) {
  Number number;
  number.negative = (code >> (exponent_bits + fraction_bits) & 1) != 0;
  const int field = static_cast<int>(code >> fraction_bits & ((u64{1} << exponent_bits) - 1));
  const i64 fraction = static_cast<i64>(code & ((u64{1} << fraction_bits) - 1));
  if (fnuz && code == 0x80) number.kind = Number::Nan;
  if (!fnuz && field == (1 << exponent_bits) - 1) number.kind = fraction != 0 ? Number::Nan : Number::Infinite;
  number.significand = field == 0 ? fraction : fraction + (i64{1} << fraction_bits);
  number.exponent = number.significand == 0 ? -126 : (field == 0 ? 1 : field) - bias;
  number.scale = (field == 0 ? 1 : field) - bias - fraction_bits;
  if (number.negative) number.significand = -number.significand;
  return number;
}

inline Number parse(u64 code, const std::string& type) {
  if (type == "fp8") return parse(code, 4, 3, 8, true);
  if (type == "bf8") return parse(code, 5, 2, 16, true);
  if (type == "f16") return parse(code, 5, 10, 15, false);
  if (type == "bf16") return parse(code, 8, 7, 127, false);
  if (type == "f32") return parse(code, 8, 23, 127, false);
  Number number = parse(code, 8, 23, 127, false);  // xf32
  if (number.kind == Number::Finite) number = parse(code & ~u64{0x1fff}, 8, 23, 127, false);
  return number;
}

using Wide = __int128;

// Zeros come with any shift.
inline Wide scale_truncating(Wide value, int shift) {
  if (value == 0) return 0;
  const Wide magnitude = value < 0 ? -value : value;
  const Wide scaled = shift >= 0 ? magnitude << shift : (shift <= -127 ? 0 : magnitude >> -shift);
  return value < 0 ? -scaled : scaled;
}
inline Wide scale_flooring(Wide value, int shift) {
  if (value == 0) return 0;
  if (shift >= 0) return value << shift;
  return value >> (shift < -127 ? 127 : -shift);
}

// value · 2^scale to f32, to nearest even.
inline u32 round_to_f32(Wide value, int scale) {
  if (value == 0) return 0;
  const u32 sign = value < 0 ? 0x80000000u : 0u;
  Wide magnitude = value < 0 ? -value : value;
  int top = 0;  // place of the leading bit
  while (magnitude >> (top + 1) != 0) ++top;
  const int exponent = std::max(top + scale, -126);
  const int drop = exponent - 23 - scale;  // bits below the last place
  Wide kept = drop <= 0 ? magnitude << -drop : (drop > 126 ? 0 : magnitude >> drop);
  if (drop > 0 && drop <= 126) {
    const Wide rest = magnitude - (kept << drop);
    const Wide half = Wide{1} << (drop - 1);
    if (rest > half || (rest == half && kept % 2 != 0)) ++kept;
  }
  const i64 bits =
      static_cast<i64>(kept) + (i64{exponent + 126} << 23);  // the leading bit adds one to the exponent field
  return sign | static_cast<u32>(bits >= 0x7f800000 ? 0x7f800000 : bits);
}

inline constexpr u32 kNan = 0x7fc00000u;

struct Half {
  Wide sum = 0;
  int exponent = -1000;
};
inline Half sum_half(const std::vector<Number>& a, const std::vector<Number>& b, std::size_t first, std::size_t step) {
  Half half;
  for (std::size_t t = first; t < a.size(); t += step)
    half.exponent = std::max(half.exponent, a[t].exponent + b[t].exponent);
  for (std::size_t t = first; t < a.size(); t += step) {
    half.sum +=
        scale_truncating(Wide{a[t].significand} * b[t].significand, a[t].scale + b[t].scale - (half.exponent - 24));
  }
  return half;
}

inline u32 fused_group(const std::vector<Number>& a, const std::vector<Number>& b, u32 c_code, bool split) {
  const Number c = parse(c_code, "f32");
  bool nan = c.kind == Number::Nan, plus = false, minus = false, plus_overflow = false, minus_overflow = false;
  if (c.kind == Number::Infinite) (c.negative ? minus : plus) = true;
  for (std::size_t t = 0; t < a.size(); ++t) {
    const bool negative = a[t].negative != b[t].negative;
    if (a[t].kind == Number::Finite && b[t].kind == Number::Finite) {
      const Wide product = Wide{a[t].significand} * b[t].significand;
      const int scale = a[t].scale + b[t].scale;
      const Wide magnitude = product < 0 ? -product : product;
      if (scale > 128 - 100 && magnitude >> std::max(128 - scale, 0) != 0)
        (negative ? minus_overflow : plus_overflow) = true;
    } else if (a[t].kind == Number::Nan || b[t].kind == Number::Nan) {
      nan = true;
    } else {
      const bool zero = (a[t].kind == Number::Finite && a[t].significand == 0) ||
                        (b[t].kind == Number::Finite && b[t].significand == 0);
      if (zero) nan = true;
      (negative ? minus : plus) = true;
    }
  }
  if (nan || (plus && minus)) return kNan;
  if (plus || minus) return plus ? 0x7f800000u : 0xff800000u;
  if (plus_overflow && minus_overflow) return kNan;
  if (plus_overflow || minus_overflow) return plus_overflow ? 0x7f800000u : 0xff800000u;

  Half sum = sum_half(a, b, 0, split ? 2 : 1);
  if (split) {
    const Half odd = sum_half(a, b, 1, 2);
    const int greater = std::max(sum.exponent, odd.exponent);
    sum.sum = scale_flooring(sum.sum, sum.exponent - greater) + scale_flooring(odd.sum, odd.exponent - greater);
    sum.exponent = greater;
  }
  const int greatest = std::max(sum.exponent, c.exponent);
  const Wide products = scale_flooring(sum.sum, 31 - 24 + sum.exponent - greatest);
  Wide addend = scale_flooring(c.significand, c.scale - (greatest - 24));
  if (split && c.exponent < greatest - 25) addend = 0;
  return round_to_f32(products + addend * 128, greatest - 31);
}

inline u32 fused_dot(const std::vector<Number>& a, const std::vector<Number>& b, u32 c, const Types& types) {
  const std::size_t group = std::min<std::size_t>(types.bits == 8 ? 16 : types.bits == 16 ? 8 : 4, a.size());
  for (std::size_t t = 0; t < a.size(); t += group) {
    const auto at = static_cast<std::ptrdiff_t>(t), end = static_cast<std::ptrdiff_t>(t + group);
    c = fused_group({a.begin() + at, a.begin() + end}, {b.begin() + at, b.begin() + end}, c, types.bits == 8);
  }
  return c;
}

// ---- The instruction
// ----------------------------------------------------------------------------------------------------------

template <typename Float, typename Bits>
u64 fma_chain(const std::vector<u64>& a, const std::vector<u64>& b, u64 c) {
  Float sum = std::bit_cast<Float>(static_cast<Bits>(c));
  for (std::size_t t = 0; t < a.size(); ++t) {
    sum = std::fma(std::bit_cast<Float>(static_cast<Bits>(a[t])), std::bit_cast<Float>(static_cast<Bits>(b[t])), sum);
  }
  return std::bit_cast<Bits>(sum);
}

inline u64 dot(const Types& types, const std::vector<u64>& a, const std::vector<u64>& b, u64 c) {
  if (types.b == "f64") return fma_chain<f64, u64>(a, b, c);
  if (types.b == "f32") return fma_chain<f32, u32>(a, b, c);
  if (types.b == "i8") {
    i64 sum = static_cast<i32>(c);
    for (std::size_t t = 0; t < a.size(); ++t) sum += i64{static_cast<i8>(a[t])} * static_cast<i8>(b[t]);
    return static_cast<u32>(sum);
  }
  std::vector<Number> a_numbers, b_numbers;
  for (const u64 code : a) a_numbers.push_back(parse(code, types.a));
  for (const u64 code : b) b_numbers.push_back(parse(code, types.b));
  return fused_dot(a_numbers, b_numbers, static_cast<u32>(c), types);
}

// Which k of B the t-th kept element of row i of a sparse A meets.
inline int sparse_k(const MfmaEntry& entry, const u32* index, int bits, const MfmaModifiers& modifiers, int i, int t) {
  const int values = values_a_lane(entry.a_registers, bits);
  const int lane = entry.m * (t / values) + i;
  const int sets = bits == 16 ? 4 : 2;
  const int set = modifiers.cbsz != 0 ? 0 : modifiers.abid % sets;
  const u32 set_bits = index[lane] >> (set * (32 / sets));
  return t / 2 * 4 + static_cast<int>(set_bits >> (t % values * 2) & 3u);
}

inline void execute(const MfmaEntry& entry, u32* d, const u32* a, const u32* b, const u32* c,
                    const MfmaModifiers& modifiers) {
  const Types types = input_types(entry.mnemonic);
  const bool f64_form = types.bits == 64;
  const bool swizzles_b = !f64_form && !entry.sparse && (entry.blocks > 1 || types.b == "f32");
  Matrix a_matrix = read_a(entry, a, types.bits);
  Matrix b_matrix = read_b(entry, b, types.bits, swizzles_b ? modifiers.blgp : 0);
  const u32* accumulator = entry.sparse ? d : c;
  const int group = 1 << modifiers.cbsz;
  std::vector<u32> result(static_cast<std::size_t>(entry.d_registers) * 64);
  const int step = f64_form ? 2 : 1;
  for (int reg = 0; reg < entry.d_registers; reg += step) {
    for (int lane = 0; lane < 64; ++lane) {
      const OutputPlace place = output_place(entry, reg, lane);
      const int block_a = f64_form || entry.blocks == 1 || entry.sparse
                              ? place.block
                              : place.block / group * group + modifiers.abid % group;
      std::vector<u64> row, column;
      const int terms = entry.sparse ? entry.k / 2 : entry.k;
      for (int t = 0; t < terms; ++t) {
        const int k = entry.sparse ? sparse_k(entry, c, types.bits, modifiers, place.i, t) : t;
        row.push_back(a_matrix.at(block_a, place.i, t));
        column.push_back(b_matrix.at(place.block, k, place.j));
      }
      const std::size_t at = static_cast<std::size_t>(reg * 64 + lane);
      u64 addend = accumulator[at];
      if (f64_form) {
        addend |= u64{accumulator[at + 64]} << 32;
        const u64 sign = u64{1} << 63;
        for (u64& value : row) value ^= (modifiers.blgp & 1) != 0 ? sign : 0;
        for (u64& value : column) value ^= (modifiers.blgp & 2) != 0 ? sign : 0;
        addend ^= (modifiers.blgp & 4) != 0 ? sign : 0;
      }
      const u64 value = dot(types, row, column, addend);
      result[at] = static_cast<u32>(value);
      if (f64_form) result[at + 64] = static_cast<u32>(value >> 32);
    }
  }
  std::memcpy(d, result.data(), result.size() * sizeof(u32));
}

}  // namespace hipbench::emulator::reference
