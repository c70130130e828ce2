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
// anyway. Step 3 scales C and floors it in f32 (24 significant bits stay so), and adds in f64, which holds the total
// exactly. What this cannot do is left to fused_group_exactly, 16 columns of a group at a time: products outside f32's
// normal range (possible if e > 126 or e < −90, in wide formats alone), C other than zero below 2^-90, infinities and
// NaNs.

#include "emulator/isa/mfma_formats.hpp"

namespace hipbench::emulator::mfma_detail {

inline constexpr u32 kCanonicalNan = 0x7fc00000u;
inline constexpr int kLeastExponent = -90;     // powers of two up to 2^(31 − e) stay within f32
inline constexpr int kGreatestExponent = 126;  // a product of exponent 126 is below 2^128

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
  static constexpr int kHalves = kSplit ? 2 : 1;
  static constexpr bool kNarrow = kIsNarrow<FormatA>;
  using Exponent = typename FormatA::Exponent;
};

template <typename Rules, int K>
inline constexpr int kGroupSize = K < Rules::kGroup ? K : Rules::kGroup;
template <typename Rules, int K>
inline constexpr int kParts = K / kGroupSize<Rules, K> * Rules::kHalves;

// The greatest exponent sum e of each part (group, or half of one) for one row of A against Width columns, as the
// format codes it.
template <typename Rules, int K, int Width>
struct PartExponents {
  typename Rules::Exponent greatest[kParts<Rules, K>][Width];
};

template <typename Rules, int K, int Width, typename RowA, typename ColumnsB>
inline void find_exponents(PartExponents<Rules, K, Width>& exponents, const RowA& a, const ColumnsB& b) {
  using Exponent = typename Rules::Exponent;
  using Vector = Exponent __attribute__((ext_vector_type(Width)));
  constexpr int kCount = kGroupSize<Rules, K>;
#pragma clang loop unroll(full)
  for (int part = 0; part < kParts<Rules, K>; ++part) {
    const int first = part / Rules::kHalves * kCount + part % Rules::kHalves;
    Vector greatest = a.template exponent<Vector>(first) + b.template exponent<Vector>(first);
#pragma clang loop unroll(full)
    for (int t = first + Rules::kHalves; t < first / kCount * kCount + kCount; t += Rules::kHalves) {
      greatest = __builtin_elementwise_max(
          greatest, static_cast<Vector>(a.template exponent<Vector>(t) + b.template exponent<Vector>(t)));
    }
    store(exponents.greatest[part], greatest);
  }
}

inline f32x16 power_of_two(i32x16 exponent) { return __builtin_bit_cast(f32x16, (exponent + 127) << 23); }

// Step 2 for 16 columns: the products of a part, truncated at 2^(e − 24), in that unit. A clamped e belongs to products
// that are all zero, or to columns that are computed exactly instead.
template <typename Rules, int K, typename RowA, typename ColumnsB>
inline i32x16 sum_products(const RowA& a, const ColumnsB& b, int part, i32x16 e) {
  constexpr int kCount = kGroupSize<Rules, K>;
  const int group = part / Rules::kHalves * kCount;
  i32x16 clamped = __builtin_elementwise_max(e, i32x16(kLeastExponent));
  if constexpr (!Rules::kNarrow) clamped = __builtin_elementwise_min(clamped, i32x16(kGreatestExponent));
  const f32x16 scale = power_of_two(24 - clamped);
  i32x16 sum = 0;
#pragma clang loop unroll(full)
  for (int t = part % Rules::kHalves; t < kCount; t += Rules::kHalves) {
    const f32x16 product = a.value(group + t) * b.value(group + t);
    sum += __builtin_convertvector(product * scale, i32x16);
  }
  return sum;
}

// One value per column of 16, in units of 2^unit, and the group's e.
struct Sums {
  i32x16 sum;
  i32x16 unit;
  i32x16 exponent;
};

inline i32x16 c_exponents(f32x16 c) {
  const i32x16 field = (__builtin_bit_cast(i32x16, c) >> 23) & 255;
  return __builtin_elementwise_max(field, i32x16(1)) - 127;
}

inline f32x8 half_of(f32x16 v, int half) {
  return half == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
                   : __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}
inline i32x8 half_of(i32x16 v, int half) {
  return half == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
                   : __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}

// Step 3. Both e and the exponent of C are at least kLeastExponent here, or what they belong to is zero.
// All is brought to units of 2^U, U = max(unit of the sum, E − 31): the floor of the sum is then a shift. In f64 the
// total is exact, and its least bit is worth 2^(E − 31) at least: in f32 it is rounded as a normal number, so that the
// final scaling is exact, or overflows to infinity as it should.
template <typename Rules>
inline f32x16 add_accumulator(const Sums& s, f32x16 c) {
  const i32x16 c_exponent = c_exponents(c);
  const i32x16 e = __builtin_elementwise_max(s.exponent, i32x16(kLeastExponent));
  const i32x16 greatest = __builtin_elementwise_max(e, c_exponent);
  f32x16 scaled_c = c * power_of_two(24 - greatest);
  // A negative C must not vanish on the way to its floor of −1.
  if constexpr (!Rules::kNarrow)
    scaled_c = c < 0.0f ? __builtin_elementwise_min(scaled_c, f32x16(-0x1p-126f)) : scaled_c;
  f32x16 addend = __builtin_elementwise_floor(scaled_c);
  if constexpr (Rules::kSplit) addend = c_exponent < greatest - 25 ? f32x16(0) : addend;
  const i32x16 unit = __builtin_elementwise_max(s.unit, greatest - 31);
  addend *= power_of_two(greatest - 24 - unit);
  const i32x16 sum = s.sum >> __builtin_elementwise_min(unit - s.unit, i32x16(31));
  f32x8 total[2];
#pragma clang loop unroll(full)
  for (int half = 0; half < 2; ++half) {
    total[half] = __builtin_convertvector(
        __builtin_convertvector(half_of(sum, half), f64x8) + __builtin_convertvector(half_of(addend, half), f64x8),
        f32x8);
  }
  const f32x16 rounded =
      __builtin_shufflevector(total[0], total[1], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return rounded * power_of_two(unit);
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

// Which operands may need the exact way.
struct Hazards {
  bool special;        // narrow: an operand has an infinity or NaN
  bool tiny_products;  // wide: some product of non-zero operands has an exponent below kLeastExponent
};

inline bool any(i32x16 mask) { return __builtin_reduce_or(mask) != 0; }

// C with an infinity, a NaN, or something other than zero below 2^kLeastExponent.
inline bool c_needs_exact(f32x16 c) {
  const u32x16 magnitude = __builtin_bit_cast(u32x16, c) & 0x7fffffffu;
  constexpr u32 kLeast = static_cast<u32>(kLeastExponent + 127) << 23;
  if (!any(magnitude - kLeast >= 0x7f800000u - kLeast)) [[likely]]
    return false;
  return any((magnitude - kLeast >= 0x7f800000u - kLeast) & (magnitude != 0u));
}

template <typename Rules>
inline bool products_need_exact(const Hazards& hazards, i32x16 e) {
  if constexpr (Rules::kNarrow) return hazards.special;
  const i32x16 large = e > kGreatestExponent;
  return any(hazards.tiny_products ? large | (e < kLeastExponent) : large);
}

// For narrow formats, sums that involve a zero are all below those that do not.
template <typename Rules>
inline i32x16 scaled_exponent(i32x16 e) {
  if constexpr (Rules::kNarrow) return e < -30 ? i32x16(kLeastExponent) : e;
  return e;
}

template <typename Exponent>
inline i32x16 load_exponents(const Exponent* from) {
  using Vector = Exponent __attribute__((ext_vector_type(kChunk)));
  return __builtin_convertvector(load<Vector>(from), i32x16);
}

// Steps 1 and 2 of a group for 16 columns. `exponents` is the group's first part, `width` from one part's to the next.
template <typename Rules, int K, typename RowA, typename ColumnsB>
inline Sums group_sums(const RowA& a, const ColumnsB& b, const typename Rules::Exponent* exponents, int width,
                       int group) {
  const i32x16 e0 = load_exponents(exponents);
  const i32x16 sum0 = sum_products<Rules, K>(a, b, group * Rules::kHalves, e0);
  if constexpr (Rules::kSplit) {
    const i32x16 e1 = load_exponents(exponents + width);
    const i32x16 sum1 = sum_products<Rules, K>(a, b, group * Rules::kHalves + 1, e1);
    const i32x16 greater = __builtin_elementwise_max(e0, e1);
    const i32x16 sum = (sum0 >> __builtin_elementwise_min(greater - e0, i32x16(31))) +
                       (sum1 >> __builtin_elementwise_min(greater - e1, i32x16(31)));
    const i32x16 e = scaled_exponent<Rules>(greater);
    return {sum, e - 24, e};
  } else {
    const i32x16 e = scaled_exponent<Rules>(e0);
    return {sum0, e - 24, e};
  }
}

// All groups of one row of A against 16 columns of B: the new accumulators. `exponents` as group_sums has it.
template <typename Rules, int K, typename RowA, typename ColumnsB>
inline f32x16 fused_dot(const RowA& a, const ColumnsB& b, const typename Rules::Exponent* exponents, int width,
                        const Hazards& hazards, f32x16 c) {
  constexpr int kCount = kGroupSize<Rules, K>;
  for (int group = 0; group < K / kCount; ++group) {
    const Sums sums = group_sums<Rules, K>(a, b, exponents + group * Rules::kHalves * width, width, group);
    if (products_need_exact<Rules>(hazards, sums.exponent) || c_needs_exact(c)) [[unlikely]] {
      f32 columns[kChunk];
      store(columns, c);
      exact_columns<Rules, kCount>(columns, a, b, group * kCount);
      c = load<f32x16>(columns);
    } else {
      c = add_accumulator<Rules>(sums, c);
    }
  }
  return c;
}

// ---- Rows of A and columns of B
// ----------------------------------------------------------------------------------------

// A row whose value is the same in all columns of the chunk: `values` and `exponents` at the row's lane in plane 0.
template <typename Format, int M, int Values>
struct UniformRow {
  const f32* values;
  const typename Format::Exponent* exponents;

  static int at(int t) { return t % Values * kLanes + M * (t / Values); }
  f32x16 value(int t) const { return f32x16(values[at(t)]); }
  template <typename Vector>
  Vector exponent(int t) const {
    return Vector(exponents[at(t)]);
  }
  f32 scalar_value(int t, int) const { return values[at(t)]; }
  int scalar_exponent(int t, int) const { return exponents[at(t)]; }
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
  return {a.special || b.special, a.least_exponent + b.least_exponent < kLeastExponent};
}

}  // namespace hipbench::emulator::mfma_detail
