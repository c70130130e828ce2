#pragma once
// Arithmetic that several vector rows share: minimum and maximum with IEEE-mode NaN rules, rounding to integers, f16.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/isa/slots.hpp"

namespace hipbench::emulator {

// ---- The bits of a float type ----

template <typename T>
struct FloatBits;
template <>
struct FloatBits<f16> {
  using Bits = u16;
  using Signed = i16;
  static constexpr int fraction_bits = 10, bias = 15;
};
template <>
struct FloatBits<f32> {
  using Bits = u32;
  using Signed = i32;
  static constexpr int fraction_bits = 23, bias = 127;
};
template <>
struct FloatBits<f64> {
  using Bits = u64;
  using Signed = i64;
  static constexpr int fraction_bits = 52, bias = 1023;
};

template <typename T>
using BitsOf = typename FloatBits<T>::Bits;
template <typename T>
constexpr BitsOf<T> bits(T value) { return std::bit_cast<BitsOf<T>>(value); }
template <typename T>
constexpr T from_float_bits(BitsOf<T> value) { return std::bit_cast<T>(value); }
template <typename T>
inline constexpr BitsOf<T> kSignBit = static_cast<BitsOf<T>>(BitsOf<T>{1} << (sizeof(T) * 8 - 1));
template <typename T>
inline constexpr BitsOf<T> kFractionMask = static_cast<BitsOf<T>>((BitsOf<T>{1} << FloatBits<T>::fraction_bits) - 1);
template <typename T>
inline constexpr BitsOf<T> kExponentMask = static_cast<BitsOf<T>>(static_cast<BitsOf<T>>(~kSignBit<T>) &
                                                                  ~kFractionMask<T>);
template <typename T>
inline constexpr BitsOf<T> kQuietBit = static_cast<BitsOf<T>>(BitsOf<T>{1} << (FloatBits<T>::fraction_bits - 1));

template <typename T>
constexpr BitsOf<T> magnitude(T value) {
  return static_cast<BitsOf<T>>(bits(value) & static_cast<BitsOf<T>>(~kSignBit<T>));
}
template <typename T>
constexpr bool is_nan(T value) {
  if constexpr (std::is_same_v<T, f16>) return magnitude(value) > kExponentMask<T>;
  else return value != value;
}
template <typename T>
constexpr bool is_signalling(T value) { return is_nan(value) && (bits(value) & kQuietBit<T>) == 0; }
template <typename T>
constexpr bool is_infinite(T value) { return magnitude(value) == kExponentMask<T>; }
template <typename T>
constexpr bool is_zero(T value) { return magnitude(value) == 0; }
template <typename T>
constexpr bool is_denormal(T value) { return magnitude(value) != 0 && (bits(value) & kExponentMask<T>) == 0; }
template <typename T>
constexpr bool is_negative(T value) { return (bits(value) & kSignBit<T>) != 0; }
template <typename T>
constexpr T quiet(T value) { return from_float_bits<T>(static_cast<BitsOf<T>>(bits(value) | kQuietBit<T>)); }
template <typename T>
constexpr T with_sign(T value, bool negative) {
  return from_float_bits<T>(static_cast<BitsOf<T>>(magnitude(value) | (negative ? kSignBit<T> : BitsOf<T>{0})));
}
template <typename T>
constexpr int exponent_field(T value) {
  return static_cast<int>((bits(value) & kExponentMask<T>) >> FloatBits<T>::fraction_bits);
}

// ---- f16 through f32 ----
//
// The fast path (round to nearest even) uses the host's conversions. Sums and products of f16 rounded to f32 and then
// to f16 are as if rounded once: 24 bits are two more than twice 11, and what becomes denormal was exact in f32.

inline f32 widen(f16 value) { return static_cast<f32>(std::bit_cast<_Float16>(value.bits)); }
inline f16 narrow_even(f32 value) { return {std::bit_cast<u16>(static_cast<_Float16>(value))}; }
inline f16 narrow(f32 value, Mode mode) {
  return mode.fast ? narrow_even(value) : f16{f32_to_f16(value, mode.half_rounding())};
}
inline f16 narrow(f64 value, Mode mode) { return {f64_to_f16(value, mode.half_rounding())}; }
inline f16 negate(f16 value) { return {static_cast<u16>(value.bits ^ 0x8000)}; }
inline f16 add(f16 a, f16 b, Mode mode) {
  return mode.fast ? narrow_even(widen(a) + widen(b)) : f16{f16_add(a.bits, b.bits, mode.half_rounding())};
}
inline f16 multiply(f16 a, f16 b, Mode mode) {
  return mode.fast ? narrow_even(widen(a) * widen(b)) : f16{f16_mul(a.bits, b.bits, mode.half_rounding())};
}
// The product is exact in f32. The sum is rounded to odd at 24 bits, so that the rounding to 11 bits is the only one
// that shows.
[[gnu::always_inline]] inline f16 fused(f16 a, f16 b, f16 c, Mode mode) {
  if (!mode.fast) return {f16_fma(a.bits, b.bits, c.bits, mode.half_rounding())};
  const f32 p = widen(a) * widen(b), addend = widen(c);
  const f32 sum = p + addend, part = sum - p;
  const f32 error = (p - (sum - part)) + (addend - part);
  const u32 sum_bits = std::bit_cast<u32>(sum);
  const bool away = (std::bit_cast<u32>(error) ^ sum_bits) >> 31 == 0;
  const u32 odd = (sum_bits & 1) != 0 ? sum_bits : (away ? sum_bits + 1 : sum_bits - 1);
  // An infinite or NaN sum has a NaN error, which is not below or above 0.
  return narrow_even(std::bit_cast<f32>(error < 0 || error > 0 ? odd : sum_bits));
}
// Toward zero whatever MODE says: one step back where rounding to nearest went away from zero.
inline u32 narrow_toward_zero(f32 value) {
  const f16 nearest = narrow_even(value);
  return nearest.bits - (std::fabs(widen(nearest)) > std::fabs(value) ? 1u : 0u);
}

// ---- Order (always inline: a call in a loop over lanes keeps it from being vectorised) ----

// Less, with -0 below +0; meaningless for NaN.
template <typename T>
[[gnu::always_inline]] inline bool ordered_below(T a, T b) {
  if constexpr (std::is_same_v<T, f16>) {
    using S = typename FloatBits<T>::Signed;
    const S x = std::bit_cast<S>(a), y = std::bit_cast<S>(b);
    const S key_x = static_cast<S>(x ^ static_cast<S>((x >> 15) & 0x7fff)),
            key_y = static_cast<S>(y ^ static_cast<S>((y >> 15) & 0x7fff));
    return key_x < key_y;
  } else {
    return a < b || (a == b && is_negative(a));
  }
}

// The NaN rules of v_min and v_max: in IEEE mode a signalling NaN wins, made quiet; otherwise a NaN loses against a
// number.
template <typename T>
[[gnu::always_inline]] inline T select_number(T a, T b, T chosen, Mode mode) {
  T result = is_nan(b) ? a : chosen;
  result = is_nan(a) ? b : result;
  if (mode.ieee()) {
    result = is_signalling(b) ? quiet(b) : result;
    result = is_signalling(a) ? quiet(a) : result;
  }
  return result;
}
template <typename T>
[[gnu::always_inline]] inline T minimum(T a, T b, Mode mode) {
  return select_number(a, b, ordered_below(a, b) ? a : b, mode);
}
template <typename T>
[[gnu::always_inline]] inline T maximum(T a, T b, Mode mode) {
  return select_number(a, b, ordered_below(b, a) ? a : b, mode);
}

// As the ISA document chooses: with a NaN among them the minimum; otherwise the larger of the two that are left without
// one that equals the largest (zeros of either sign are equal).
template <typename T>
[[gnu::always_inline]] inline T median(T a, T b, T c, Mode mode) {
  const auto equal = [](T x, T y) {
    if constexpr (std::is_same_v<T, f16>) return x.bits == y.bits || ((x.bits | y.bits) & 0x7fff) == 0;
    else return x == y;
  };
  const auto larger = [](T x, T y) { return ordered_below(y, x) ? x : y; };
  const bool nan = is_nan(a) || is_nan(b) || is_nan(c);
  const T smallest = minimum(minimum(a, b, mode), c, mode);
  const T largest = larger(larger(a, b), c);
  T middle = larger(a, b);
  middle = equal(largest, b) ? larger(a, c) : middle;
  middle = equal(largest, a) ? larger(b, c) : middle;
  return nan ? smallest : middle;
}

// ---- Rounding to an integer in the same format ----

template <typename T>
T round_even(T value) { return __builtin_elementwise_roundeven(value); }

// x - floor(x), kept below 1.
template <typename T>
T fraction(T value) {
  const T below_one = from_float_bits<T>(static_cast<BitsOf<T>>(bits(T{1}) - 1));
  const T difference = value - std::floor(value);
  return difference > below_one ? below_one : difference;
}

// ---- frexp as the hardware splits: mantissa in [0.5, 1); zero, infinity and NaN have exponent 0 and are their own
// mantissa ----

template <typename T>
T fraction_part(T value) {
  using U = BitsOf<T>;
  constexpr int kWidth = FloatBits<T>::fraction_bits;
  const U m = magnitude(value);
  if (m == 0) return value;
  if (m >= kExponentMask<T>) return m > kExponentMask<T> ? quiet(value) : value;
  const int shift =
      exponent_field(value) == 0 ? std::countl_zero(m) - (static_cast<int>(sizeof(U)) * 8 - 1 - kWidth) : 0;
  const U fraction = static_cast<U>(static_cast<U>(m << shift) & kFractionMask<T>);
  return from_float_bits<T>(static_cast<U>(
      (bits(value) & kSignBit<T>) | static_cast<U>(static_cast<U>(FloatBits<T>::bias - 1) << kWidth) | fraction));
}
template <typename T>
i32 exponent_part(T value) {
  using U = BitsOf<T>;
  constexpr int kWidth = FloatBits<T>::fraction_bits;
  const U m = magnitude(value);
  if (m == 0 || m >= kExponentMask<T>) return 0;
  const int field = exponent_field(value);
  const int shift = field == 0 ? std::countl_zero(m) - (static_cast<int>(sizeof(U)) * 8 - 1 - kWidth) : 0;
  return (field == 0 ? 1 : field) - shift - (FloatBits<T>::bias - 1);
}

// 2^n for n in the normal range of f64.
inline f64 power_of_two(i32 n) { return std::bit_cast<f64>(static_cast<u64>(n + 1023) << 52); }

}  // namespace hipbench::emulator
