#pragma once
// Internal: the fused matrix instructions (fp8, bf8, f16, bf16, xf32). CDNA3 forms D = A·B + C over groups of
// consecutive k; a group's result is the next group's C. In a group:
//   1. the products are exact, and e is the greatest exponent sum of the group's pairs;
//   2. each product is truncated toward zero at 24 bits below 2^e, and these are added exactly (fp8 and bf8: apart for
//   even and odd
//      k, each half with its own e; the halves are then floored to the greater one's 24 bits and added);
//   3. with E = max(e, exponent of C): the sum is floored at 31 bits below 2^E, C at 24 bits (fp8: C far below, under E
//   − 25, is
//      dropped), and their sum is rounded to f32, to nearest even.
// A product of 2^128 or more counts as infinite; infinities and NaNs then follow IEEE.
//
// How it is computed fast. Significands have at most 11 bits, so products are exact in f32, and product·2^(24−e) is
// below 2^26 in magnitude: converting it to an int32 is the truncation, and at most 8 of them add without overflow (fp8
// halves: 2^30 in all). The scaling by a power of two is exact unless it lands below 2^-126, where truncation gives 0
// anyway. What f32 cannot do is left to fused_group_exactly: products outside its normal range (possible if e > 126, or
// if e < −100 for wide formats), infinities and NaNs. Step 3 runs in f64, which holds all its terms exactly: they are
// below 2^38 in units of 2^(E−31).

#include "emulator/isa/mfma_formats.hpp"

namespace hipbench::emulator::mfma_detail {

inline constexpr u32 kCanonicalNan = 0x7fc00000u;
inline constexpr int kLeastScaledExponent = -100;    // 2^(24 − e) and what it multiplies stay within f32
inline constexpr int kGreatestScaledExponent = 126;  // a product of exponent 126 is below 2^128

// One element of one group, by the rules alone. Exponents are as the rules see them.
struct GroupTerms {
  int count = 0;
  f32 a[16], b[16];
  int exponent[16];  // of the products
};
f32 fused_group_exactly(const GroupTerms& terms, bool split_even_odd, f32 c);

template <typename FormatA, typename FormatB>
struct FusedRules {
  static constexpr bool kSplit = FormatA::kBits == 8;
  static constexpr int kGroup = FormatA::kBits == 8 ? 16 : (FormatA::kBits == 16 ? 8 : 4);
  static constexpr bool kNarrow = kIsNarrow<FormatA>;
  using ExponentVector = typename FormatA::ExponentVector;
};

// Step 2 of a group or half: sums in units of 2^(e − 24), and e as the format codes it.
struct Sums {
  i32x16 sum;
  i32x16 exponent;
};

// Row i of A against 16 columns of B. `a` gives the t-th value and exponent of the row, `b_at(t)` where B's matching
// row is.
template <typename Rules, int First, int Step, int Count, typename RowA, typename ColumnsB>
inline Sums sum_products(const RowA& a, const ColumnsB& b, int t0) {
  using ExponentVector = typename Rules::ExponentVector;
  ExponentVector greatest =
      a.template exponent<ExponentVector>(t0 + First) + b.template exponent<ExponentVector>(t0 + First);
#pragma clang loop unroll(full)
  for (int t = First + Step; t < Count; t += Step) {
    greatest =
        __builtin_elementwise_max(greatest, static_cast<ExponentVector>(a.template exponent<ExponentVector>(t0 + t) +
                                                                        b.template exponent<ExponentVector>(t0 + t)));
  }
  const i32x16 exponent = __builtin_convertvector(greatest, i32x16);
  // A clamped exponent belongs to products that are all zero, or to columns that are computed exactly instead.
  i32x16 clamped = __builtin_elementwise_max(exponent, i32x16(kLeastScaledExponent));
  if constexpr (!Rules::kNarrow) clamped = __builtin_elementwise_min(clamped, i32x16(kGreatestScaledExponent));
  const f32x16 scale = __builtin_bit_cast(f32x16, (127 + 24 - clamped) << 23);
  i32x16 sum = 0;
#pragma clang loop unroll(full)
  for (int t = First; t < Count; t += Step) {
    const f32x16 product = a.value(t0 + t) * b.value(t0 + t);
    sum += __builtin_convertvector(product * scale, i32x16);
  }
  return {sum, exponent};
}

inline f64x8 power_of_two(i32x8 exponent) {
  return __builtin_bit_cast(f64x8, __builtin_convertvector(exponent + 1023, i64x8) << 52);
}

// Step 3 for 8 columns: sum in units of 2^(e − 24).
template <bool DropFarC>
inline f32x8 add_accumulator(i32x8 sum, i32x8 e, f32x8 c) {
  const i32x8 c_bits = __builtin_bit_cast(i32x8, c);
  const i32x8 c_field = (c_bits >> 23) & 255;
  const i32x8 c_exponent = __builtin_elementwise_max(c_field, i32x8(1)) - 127;
  const i32x8 greatest = __builtin_elementwise_max(e, c_exponent);
  const f64x8 sum_scale = power_of_two(e - greatest + 7);
  const f64x8 unit = power_of_two(31 - greatest);
  const f64x8 floored_sum = __builtin_elementwise_floor(__builtin_convertvector(sum, f64x8) * sum_scale);
  f64x8 floored_c = __builtin_elementwise_floor(__builtin_convertvector(c, f64x8) * (unit * 0x1p-7)) * 128.0;
  if constexpr (DropFarC) {
    const i64x8 far = __builtin_convertvector(c_exponent < greatest - 25, i64x8);
    floored_c = far != 0 ? f64x8(0) : floored_c;
  }
  const f32x8 result = __builtin_convertvector((floored_sum + floored_c) * power_of_two(greatest - 31), f32x8);
  // An infinite or NaN C stays: the products are finite here.
  const i32x8 kept = (c_bits & 0x7fffffff) > 0x7f800000 ? i32x8(static_cast<i32>(kCanonicalNan)) : c_bits;
  return __builtin_bit_cast(f32x8, c_field == 255 ? kept : __builtin_bit_cast(i32x8, result));
}

template <bool DropFarC>
inline f32x16 add_accumulator(const Sums& s, f32x16 c) {
#define HALF(vector, at) \
  __builtin_shufflevector(vector, vector, at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7)
  const f32x8 low = add_accumulator<DropFarC>(HALF(s.sum, 0), HALF(s.exponent, 0), HALF(c, 0));
  const f32x8 high = add_accumulator<DropFarC>(HALF(s.sum, 8), HALF(s.exponent, 8), HALF(c, 8));
#undef HALF
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

template <typename Rules>
inline int real_exponent(int sum) {
  return Rules::kNarrow ? decode_narrow_exponent(sum) : sum;
}

// Out of line: 16 columns of a group by the rules.
template <typename Rules, int Count, typename RowA, typename ColumnsB>
[[gnu::noinline]] void exact_columns(f32* c, const RowA& a, const ColumnsB& b, int t0) {
  for (int column = 0; column < kChunk; ++column) {
    GroupTerms terms;
    terms.count = Count;
    for (int t = 0; t < Count; ++t) {
      terms.a[t] = a.scalar_value(t0 + t, column);
      terms.b[t] = b.scalar_value(t0 + t, column);
      terms.exponent[t] = real_exponent<Rules>(a.scalar_exponent(t0 + t, column) + b.scalar_exponent(t0 + t, column));
    }
    c[column] = fused_group_exactly(terms, Rules::kSplit, c[column]);
  }
}

// Which tiles and columns need the exact way.
struct Hazards {
  bool special;        // narrow: an operand has an infinity or NaN
  bool tiny_products;  // wide: some product of non-zero operands has an exponent below kLeastScaledExponent
};

template <typename Rules>
inline bool columns_need_exact(const Hazards& hazards, i32x16 exponent) {
  if constexpr (Rules::kNarrow) return hazards.special;
  const i32x16 large = exponent > kGreatestScaledExponent;
  const i32x16 tiny = exponent < kLeastScaledExponent;
  return __builtin_reduce_or(hazards.tiny_products ? large | tiny : large) != 0;
}

// All groups of one row of A against 16 columns of B: the new accumulators.
template <typename Rules, int K, typename RowA, typename ColumnsB>
inline f32x16 fused_dot(const RowA& a, const ColumnsB& b, const Hazards& hazards, f32x16 c) {
  constexpr int kCount = K < Rules::kGroup ? K : Rules::kGroup;
  for (int t0 = 0; t0 < K; t0 += kCount) {
    Sums sums;
    if constexpr (Rules::kSplit) {
      const Sums even = sum_products<Rules, 0, 2, kCount>(a, b, t0);
      const Sums odd = sum_products<Rules, 1, 2, kCount>(a, b, t0);
      sums.exponent = __builtin_elementwise_max(even.exponent, odd.exponent);
      sums.sum = (even.sum >> __builtin_elementwise_min(sums.exponent - even.exponent, i32x16(31))) +
                 (odd.sum >> __builtin_elementwise_min(sums.exponent - odd.exponent, i32x16(31)));
    } else {
      sums = sum_products<Rules, 0, 1, kCount>(a, b, t0);
    }
    if (columns_need_exact<Rules>(hazards, sums.exponent)) [[unlikely]] {
      f32 columns[kChunk];
      store(columns, c);
      exact_columns<Rules, kCount>(columns, a, b, t0);
      c = load<f32x16>(columns);
      continue;
    }
    if constexpr (Rules::kNarrow) sums.exponent = decode_narrow_exponent(sums.exponent);
    c = add_accumulator<Rules::kSplit>(sums, c);
  }
  return c;
}

// ---- Rows of A and columns of B
// ----------------------------------------------------------------------------------------

// A row whose value is the same in all columns of the chunk.
template <typename Format, int K>
struct UniformRow {
  f32 values[K];
  typename Format::Exponent exponents[K];

  f32x16 value(int t) const { return f32x16(values[t]); }
  template <typename Vector>
  Vector exponent(int t) const {
    return Vector(exponents[t]);
  }
  f32 scalar_value(int t, int) const { return values[t]; }
  int scalar_exponent(int t, int) const { return exponents[t]; }
};

// Rows of four blocks side by side, 4 lanes each (4x4 forms): value (t, lane) at t·64 + lane.
template <typename Format>
struct LaneRow {
  const f32* values;
  const typename Format::Exponent* exponents;

  f32x16 value(int t) const { return load<f32x16>(values + t * kLanes); }
  template <typename Vector>
  Vector exponent(int t) const {
    return load<Vector>(exponents + t * kLanes);
  }
  f32 scalar_value(int t, int column) const { return values[t * kLanes + column]; }
  int scalar_exponent(int t, int column) const { return exponents[t * kLanes + column]; }
};

// 16 columns of B. `Offset` says where in the planes the row of B that meets A's t-th element begins.
template <typename Format, typename Offset>
struct Columns {
  const f32* values;
  const typename Format::Exponent* exponents;
  Offset offset;

  f32x16 value(int t) const { return load<f32x16>(values + offset(t)); }
  template <typename Vector>
  Vector exponent(int t) const {
    return load<Vector>(exponents + offset(t));
  }
  f32 scalar_value(int t, int column) const { return values[offset(t) + column]; }
  int scalar_exponent(int t, int column) const { return exponents[offset(t) + column]; }
};

template <int M, int Values>
struct DenseOffset {
  int operator()(int k) const { return k % Values * kLanes + M * (k / Values); }
};

struct SparseOffset {
  const i32* offsets;
  int operator()(int t) const { return offsets[t]; }
};

template <typename PlanesA, typename PlanesB>
inline Hazards find_hazards(const PlanesA& a, const PlanesB& b) {
  return {a.special || b.special, a.least_exponent + b.least_exponent < kLeastScaledExponent};
}

}  // namespace hipbench::emulator::mfma_detail
