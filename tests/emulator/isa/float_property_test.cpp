// Vector float rows against IEEE arithmetic of the host, in every rounding and denormal mode, on nasty values in all
// pairs and on random ones. The formulations here are the host's own operations (or wider exact ones), not the rows'.

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>

#include "emulator/isa/float_formats.hpp"
#include "tests/emulator/isa/bench.hpp"

namespace hipbench::emulator {
namespace {

enum class Kind : u8 { None, F32, F64, F16, U32, I16 };

struct Mode4 {
  int round;  // as in MODE: nearest even, up, down, toward zero
  bool flush_in, flush_out;
};

using Bits = std::array<u64, 3>;
struct Row {
  const char* text;  // destination v[6:7] or v6, sources v0, v2, v4 (pairs for f64)
  Kind result;
  std::array<Kind, 3> sources;
  std::function<u64(const Bits&, RoundMode)> host;  // under the host's rounding mode; flushing is the runner's
};

// Through volatile, so that the compiler neither folds nor moves what depends on the rounding mode.
f32 single(u64 bits) { volatile f32 value = std::bit_cast<f32>(static_cast<u32>(bits)); return value; }
f64 twice(u64 bits) { volatile f64 value = std::bit_cast<f64>(bits); return value; }
f32 half(u64 bits) { return f16_to_f32(static_cast<u16>(bits)); }
u64 bits_of(f32 value) { volatile f32 kept = value; return std::bit_cast<u32>(static_cast<f32>(kept)); }
u64 bits_of(f64 value) { volatile f64 kept = value; return std::bit_cast<u64>(static_cast<f64>(kept)); }

template <typename F>
auto on_singles(F f) {
  return
      [f](const Bits& x, RoundMode) { return bits_of(static_cast<f32>(f(single(x[0]), single(x[1]), single(x[2])))); };
}
template <typename F>
auto on_doubles(F f) {
  return [f](const Bits& x, RoundMode) { return bits_of(static_cast<f64>(f(twice(x[0]), twice(x[1]), twice(x[2])))); };
}
// f16: exact in f64, then rounded once.
template <typename F>
auto on_halves(F f) {
  return [f](const Bits& x, RoundMode round) {
    volatile f64 a = half(x[0]), b = half(x[1]), c = half(x[2]);
    volatile f64 exact = f(a, b, c);  // under the rounding mode: the sign of a sum of zero depends on it
    return u64{f64_to_f16(exact, round)};
  };
}

// V_MIN, V_MAX and V_MED3 as the ISA document writes them. Everything here is in IEEE mode.
template <typename T>
bool is_signalling(T value) {
  using U = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return std::isnan(value) && (std::bit_cast<U>(value) >> (sizeof(T) == 8 ? 51 : 22) & 1) == 0;
}
template <typename T>
T document_minimum(T a, T b) {
  if (is_signalling(a) || is_signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T document_maximum(T a, T b) {
  if (is_signalling(a) || is_signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <typename T>
T document_median(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return document_minimum(document_minimum(a, b), c);
  const T largest = document_maximum(document_maximum(a, b), c);
  if (largest == a) return document_maximum(b, c);
  if (largest == b) return document_maximum(a, c);
  return document_maximum(a, b);
}
template <typename T>
T at_nearest(T value, T (*f)(T)) {
  std::fesetround(FE_TONEAREST);
  return f(value);
}
template <typename T>
T document_fract(T value, T below_one) {
  volatile T floor = std::floor(value), x = value;
  const T difference = x - floor;
  return difference > below_one ? below_one : difference;
}
// Saturating, toward zero, NaN to 0.
u64 integer_of(f64 value, f64 low, f64 high) {
  if (std::isnan(value)) return 0;
  return static_cast<u32>(static_cast<i64>(std::trunc(std::min(std::max(value, low), high))));
}
template <typename T>
T document_mantissa(T value) {
  int exponent;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}
template <typename T>
u64 document_exponent(T value) {
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  return static_cast<u32>(exponent);
}
// Exact in the wide exponent of long double, rounded by the store.
template <typename T>
T scaled(T value, i32 power) {
  volatile long double wide = std::ldexp(static_cast<long double>(value), std::min(std::max(power, -4000), 4000));
  volatile T result = static_cast<T>(wide);
  return result;
}

constexpr std::array<Kind, 3> kSingles1 = {Kind::F32, Kind::None, Kind::None},
                              kSingles2 = {Kind::F32, Kind::F32, Kind::None},
                              kSingles3 = {Kind::F32, Kind::F32, Kind::F32};
constexpr std::array<Kind, 3> kDoubles1 = {Kind::F64, Kind::None, Kind::None},
                              kDoubles2 = {Kind::F64, Kind::F64, Kind::None},
                              kDoubles3 = {Kind::F64, Kind::F64, Kind::F64};
constexpr std::array<Kind, 3> kHalves1 = {Kind::F16, Kind::None, Kind::None},
                              kHalves2 = {Kind::F16, Kind::F16, Kind::None},
                              kHalves3 = {Kind::F16, Kind::F16, Kind::F16};

std::vector<Row> single_rows() {
  return {
      {"v_add_f32 v6, v0, v2", Kind::F32, kSingles2, on_singles([](f32 a, f32 b, f32) { return a + b; })},
      {"v_sub_f32 v6, v0, v2", Kind::F32, kSingles2, on_singles([](f32 a, f32 b, f32) { return a - b; })},
      {"v_subrev_f32 v6, v0, v2", Kind::F32, kSingles2, on_singles([](f32 a, f32 b, f32) { return b - a; })},
      {"v_mul_f32 v6, v0, v2", Kind::F32, kSingles2, on_singles([](f32 a, f32 b, f32) { return a * b; })},
      {"v_mul_legacy_f32 v6, v0, v2", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return a == 0 || b == 0 ? 0.0f : a * b; })},
      {"v_fma_f32 v6, v0, v2, v4", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return std::fma(a, b, c); })},
      {"v_mov_b32 v6, v4\nv_fmac_f32 v6, v0, v2", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return std::fma(a, b, c); })},
      {"v_fmaak_f32 v6, v0, v2, 0x3fc00001", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return std::fma(a, b, 0x1.800002p0f); })},
      {"v_fmamk_f32 v6, v0, 0x3fc00001, v2", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return std::fma(a, 0x1.800002p0f, b); })},
      {"v_pk_add_f32 v[6:7], v[0:1], v[2:3]", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return a + b; })},
      {"v_pk_mul_f32 v[6:7], v[0:1], v[2:3]", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return a * b; })},
      {"v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return std::fma(a, b, c); })},
      {"v_min_f32 v6, v0, v2", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return document_minimum(a, b); })},
      {"v_max_f32 v6, v0, v2", Kind::F32, kSingles2,
       on_singles([](f32 a, f32 b, f32) { return document_maximum(a, b); })},
      {"v_min3_f32 v6, v0, v2, v4", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return document_minimum(document_minimum(a, b), c); })},
      {"v_max3_f32 v6, v0, v2, v4", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return document_maximum(document_maximum(a, b), c); })},
      {"v_med3_f32 v6, v0, v2, v4", Kind::F32, kSingles3,
       on_singles([](f32 a, f32 b, f32 c) { return document_median(a, b, c); })},
      {"v_trunc_f32 v6, v0", Kind::F32, kSingles1, on_singles([](f32 a, f32, f32) { return std::trunc(a); })},
      {"v_ceil_f32 v6, v0", Kind::F32, kSingles1, on_singles([](f32 a, f32, f32) { return std::ceil(a); })},
      {"v_floor_f32 v6, v0", Kind::F32, kSingles1, on_singles([](f32 a, f32, f32) { return std::floor(a); })},
      {"v_rndne_f32 v6, v0", Kind::F32, kSingles1,
       on_singles([](f32 a, f32, f32) { return at_nearest<f32>(a, std::nearbyint); })},
      {"v_fract_f32 v6, v0", Kind::F32, kSingles1,
       on_singles([](f32 a, f32, f32) { return document_fract(a, 0x1.fffffep-1f); })},
      {"v_frexp_mant_f32 v6, v0", Kind::F32, kSingles1,
       on_singles([](f32 a, f32, f32) { return document_mantissa(a); })},
      {"v_frexp_exp_i32_f32 v6, v0", Kind::U32, kSingles1,
       [](const Bits& x, RoundMode) { return document_exponent(single(x[0])); }},
      {"v_and_b32 v5, 0x1ff, v2\nv_subrev_u32 v5, 0x100, v5\nv_ldexp_f32 v6, v0, v5",
       Kind::F32,
       {Kind::F32, Kind::U32, Kind::None},
       [](const Bits& x, RoundMode) { return bits_of(scaled(single(x[0]), static_cast<i32>(x[1] & 0x1ff) - 0x100)); }},
      {"v_cvt_f32_i32 v6, v0",
       Kind::F32,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode) {
         volatile i32 n = static_cast<i32>(x[0]);
         return bits_of(static_cast<f32>(n));
       }},
      {"v_cvt_f32_u32 v6, v0",
       Kind::F32,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode) {
         volatile i64 n = static_cast<i64>(x[0]);
         return bits_of(static_cast<f32>(n));
       }},
      {"v_cvt_i32_f32 v6, v0", Kind::U32, kSingles1,
       [](const Bits& x, RoundMode) { return integer_of(single(x[0]), -0x1p31, 0x1p31 - 1); }},
      {"v_cvt_u32_f32 v6, v0", Kind::U32, kSingles1,
       [](const Bits& x, RoundMode) { return integer_of(single(x[0]), 0, 0x1p32 - 1); }},
      {"v_cvt_flr_i32_f32 v6, v0", Kind::U32, kSingles1,
       [](const Bits& x, RoundMode) { return integer_of(std::floor(single(x[0])), -0x1p31, 0x1p31 - 1); }},
      {"v_cvt_rpi_i32_f32 v6, v0", Kind::U32, kSingles1,
       [](const Bits& x, RoundMode) {
         std::fesetround(FE_TONEAREST);
         return integer_of(std::floor(f64{single(x[0])} + 0.5), -0x1p31, 0x1p31 - 1);
       }},
  };
}

std::vector<Row> double_rows() {
  return {
      {"v_add_f64 v[6:7], v[0:1], v[2:3]", Kind::F64, kDoubles2, on_doubles([](f64 a, f64 b, f64) { return a + b; })},
      {"v_mul_f64 v[6:7], v[0:1], v[2:3]", Kind::F64, kDoubles2, on_doubles([](f64 a, f64 b, f64) { return a * b; })},
      {"v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]", Kind::F64, kDoubles3,
       on_doubles([](f64 a, f64 b, f64 c) { return std::fma(a, b, c); })},
      {"v_mov_b64 v[6:7], v[4:5]\nv_fmac_f64 v[6:7], v[0:1], v[2:3]", Kind::F64, kDoubles3,
       on_doubles([](f64 a, f64 b, f64 c) { return std::fma(a, b, c); })},
      {"v_min_f64 v[6:7], v[0:1], v[2:3]", Kind::F64, kDoubles2,
       on_doubles([](f64 a, f64 b, f64) { return document_minimum(a, b); })},
      {"v_max_f64 v[6:7], v[0:1], v[2:3]", Kind::F64, kDoubles2,
       on_doubles([](f64 a, f64 b, f64) { return document_maximum(a, b); })},
      {"v_trunc_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1, on_doubles([](f64 a, f64, f64) { return std::trunc(a); })},
      {"v_ceil_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1, on_doubles([](f64 a, f64, f64) { return std::ceil(a); })},
      {"v_floor_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1, on_doubles([](f64 a, f64, f64) { return std::floor(a); })},
      {"v_rndne_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1,
       on_doubles([](f64 a, f64, f64) { return at_nearest<f64>(a, std::nearbyint); })},
      {"v_fract_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1,
       on_doubles([](f64 a, f64, f64) { return document_fract(a, 0x1.fffffffffffffp-1); })},
      {"v_frexp_mant_f64 v[6:7], v[0:1]", Kind::F64, kDoubles1,
       on_doubles([](f64 a, f64, f64) { return document_mantissa(a); })},
      {"v_frexp_exp_i32_f64 v6, v[0:1]", Kind::U32, kDoubles1,
       [](const Bits& x, RoundMode) { return document_exponent(twice(x[0])); }},
      {"v_and_b32 v5, 0xfff, v2\nv_subrev_u32 v5, 0x800, v5\nv_ldexp_f64 v[6:7], v[0:1], v5",
       Kind::F64,
       {Kind::F64, Kind::U32, Kind::None},
       [](const Bits& x, RoundMode) { return bits_of(scaled(twice(x[0]), static_cast<i32>(x[1] & 0xfff) - 0x800)); }},
      {"v_cvt_f32_f64 v6, v[0:1]", Kind::F32, kDoubles1,
       [](const Bits& x, RoundMode) { return bits_of(static_cast<f32>(twice(x[0]))); }},
      {"v_cvt_f64_f32 v[6:7], v0", Kind::F64, kSingles1,
       [](const Bits& x, RoundMode) { return bits_of(static_cast<f64>(single(x[0]))); }},
      {"v_cvt_f64_i32 v[6:7], v0",
       Kind::F64,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode) { return bits_of(static_cast<f64>(static_cast<i32>(x[0]))); }},
      {"v_cvt_f64_u32 v[6:7], v0",
       Kind::F64,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode) { return bits_of(static_cast<f64>(x[0])); }},
      {"v_cvt_i32_f64 v6, v[0:1]", Kind::U32, kDoubles1,
       [](const Bits& x, RoundMode) { return integer_of(twice(x[0]), -0x1p31, 0x1p31 - 1); }},
      {"v_cvt_u32_f64 v6, v[0:1]", Kind::U32, kDoubles1,
       [](const Bits& x, RoundMode) { return integer_of(twice(x[0]), 0, 0x1p32 - 1); }},
  };
}

// Of halves, which lose their signalling bit on the way to f64.
template <typename Choose>
auto choose_half(Choose choose) {
  return [choose](const Bits& x, RoundMode) -> u64 {
    const auto signalling = [](u64 bits) { return (bits & 0x7fff) > 0x7c00 && (bits & 0x200) == 0; };
    if (signalling(x[0]) || signalling(x[1])) return 0x7e00;
    return f64_to_f16(choose(f64{half(x[0])}, f64{half(x[1])}));
  };
}

std::vector<Row> half_rows() {
  const auto fused = [](const Bits& x, RoundMode round) {
    return u64{f16_fma(static_cast<u16>(x[0]), static_cast<u16>(x[1]), static_cast<u16>(x[2]), round)};
  };
  return {
      {"v_add_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return a + b; })},
      {"v_sub_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return a - b; })},
      {"v_subrev_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return b - a; })},
      {"v_mul_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return a * b; })},
      {"v_fma_f16 v6, v0, v2, v4", Kind::F16, kHalves3, fused},
      {"v_fma_legacy_f16 v6, v0, v2, v4", Kind::F16, kHalves3, fused},
      {"v_pk_fma_f16 v6, v0, v2, v4", Kind::F16, kHalves3, fused},
      {"v_mov_b32 v6, v4\nv_pk_fmac_f16 v6, v0, v2", Kind::F16, kHalves3, fused},
      {"v_pk_add_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return a + b; })},
      {"v_pk_mul_f16 v6, v0, v2", Kind::F16, kHalves2, on_halves([](f64 a, f64 b, f64) { return a * b; })},
      {"v_trunc_f16 v6, v0", Kind::F16, kHalves1, on_halves([](f64 a, f64, f64) { return std::trunc(a); })},
      {"v_ceil_f16 v6, v0", Kind::F16, kHalves1, on_halves([](f64 a, f64, f64) { return std::ceil(a); })},
      {"v_floor_f16 v6, v0", Kind::F16, kHalves1, on_halves([](f64 a, f64, f64) { return std::floor(a); })},
      {"v_rndne_f16 v6, v0", Kind::F16, kHalves1,
       on_halves([](f64 a, f64, f64) { return at_nearest<f64>(a, std::nearbyint); })},
      {"v_frexp_mant_f16 v6, v0", Kind::F16, kHalves1, on_halves([](f64 a, f64, f64) { return document_mantissa(a); })},
      {"v_frexp_exp_i16_f16 v6, v0", Kind::I16, kHalves1,
       [](const Bits& x, RoundMode) { return document_exponent(half(x[0])); }},
      {"v_and_b32 v5, 63, v2\nv_subrev_u32 v5, 32, v5\nv_ldexp_f16 v6, v0, v5",
       Kind::F16,
       {Kind::F16, Kind::U32, Kind::None},
       [](const Bits& x, RoundMode round) {
         std::fesetround(FE_TONEAREST);
         return u64{f64_to_f16(std::ldexp(f64{half(x[0])}, static_cast<i32>(x[1] & 63) - 32), round)};
       }},
      {"v_mad_f16 v6, v0, v2, v4", Kind::F16, kHalves3,
       [](const Bits& x, RoundMode round) {
         volatile f64 a = half(x[0]), b = half(x[1]), c = half(x[2]);
         volatile f64 product = f16_to_f64(f64_to_f16(a * b, round)), sum = product + c;
         return u64{f64_to_f16(sum, round)};
       }},
      {"v_cvt_f16_f32 v6, v0", Kind::F16, kSingles1,
       [](const Bits& x, RoundMode round) { return u64{f64_to_f16(f64{single(x[0])}, round)}; }},
      {"v_cvt_f32_f16 v6, v0", Kind::F32, kHalves1, [](const Bits& x, RoundMode) { return bits_of(half(x[0])); }},
      {"v_cvt_f16_u16 v6, v0",
       Kind::F16,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode round) { return u64{f64_to_f16(static_cast<u16>(x[0]), round)}; }},
      {"v_cvt_f16_i16 v6, v0",
       Kind::F16,
       {Kind::U32, Kind::None, Kind::None},
       [](const Bits& x, RoundMode round) { return u64{f64_to_f16(static_cast<i16>(x[0]), round)}; }},
      {"v_cvt_u16_f16 v6, v0", Kind::I16, kHalves1,
       [](const Bits& x, RoundMode) { return integer_of(half(x[0]), 0, 65535); }},
      {"v_cvt_i16_f16 v6, v0", Kind::I16, kHalves1,
       [](const Bits& x, RoundMode) { return integer_of(half(x[0]), -32768, 32767); }},
      {"v_med3_f16 v6, v0, v2, v4", Kind::F16, kHalves3,
       [](const Bits& x, RoundMode) -> u64 {
         // A signalling NaN is lost on the way to f64; min3 and med3 of NaNs are covered by the f32 rows.
         if (std::isnan(half(x[0])) || std::isnan(half(x[1])) || std::isnan(half(x[2]))) return 0x7e00;
         return f64_to_f16(document_median(f64{half(x[0])}, f64{half(x[1])}, f64{half(x[2])}));
       }},
      {"v_min_f16 v6, v0, v2", Kind::F16, kHalves2, choose_half([](f64 a, f64 b) { return document_minimum(a, b); })},
      {"v_max_f16 v6, v0, v2", Kind::F16, kHalves2, choose_half([](f64 a, f64 b) { return document_maximum(a, b); })},
  };
}

u64 flushed(u64 bits, Kind kind) {
  switch (kind) {
    case Kind::F32: return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
    case Kind::F64: return (bits & 0x7ff0000000000000) == 0 ? bits & 0x8000000000000000 : bits;
    case Kind::F16: return (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
    default: return bits;
  }
}
bool is_nan(u64 bits, Kind kind) {
  switch (kind) {
    case Kind::F32: return (bits & 0x7fffffff) > 0x7f800000;
    case Kind::F64: return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    case Kind::F16: return (bits & 0x7fff) > 0x7c00;
    default: return false;
  }
}

constexpr u16 kNastyHalves[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8401, 0x3c00, 0xbc00, 0x3c01, 0x3bff,
                                0x1400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0x6400, 0x4bff, 0x3800, 0xb801};

u64 nasty(Kind kind, size_t index) {
  switch (kind) {
    case Kind::F32: return kNastySingles[index % std::size(kNastySingles)];
    case Kind::F64: return kNastyDoubles[index % std::size(kNastyDoubles)];
    default: return kNastyHalves[index % std::size(kNastyHalves)];
  }
}

// Flushing may make zero of a result that is normal only because it was rounded to the places of denormals: documents
// do not say, the rows do as the host.
bool is_smallest_normal(u64 bits, Kind kind) {
  switch (kind) {
    case Kind::F32: return (bits & 0x7fffffff) == 0x00800000;
    case Kind::F64: return (bits & 0x7fffffffffffffff) == 0x0010000000000000;
    case Kind::F16: return (bits & 0x7fff) == 0x0400;
    default: return false;
  }
}

bool is_choice(const Row& row) {
  const std::string_view name = row.text;
  return name.starts_with("v_min") || name.starts_with("v_max") || name.starts_with("v_med");
}

class Properties {
 public:
  void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      std::string error;
      const std::vector<std::byte> code = assemble(std::string(row.text) + "\n", error);
      ASSERT_EQ(error, "") << row.text;
      for (u32 mode = 0; mode < 16; ++mode) {
        const Mode4 as{static_cast<int>(mode & 3), (mode >> 2 & 1) == 0, (mode >> 3 & 1) == 0};
        bench_.set_mode(mode & 3, mode >> 2, mode & 3, mode >> 2);
        for (u32 wave = 0; wave < 8; ++wave) one_wave(row, code, as, wave);
        if (testing::Test::HasFailure()) return;
      }
    }
  }

 private:
  // Seven waves of all pairs of nasty values, then random ones near each other.
  u64 draw(Kind kind, u32 source, size_t pair, bool from_list) {
    if (kind == Kind::U32) return static_cast<u32>(random_.bits());
    if (from_list) return nasty(kind, source == 0 ? pair % 20 : source == 1 ? pair / 20 : random_.bits() % 20);
    if (kind == Kind::F32) return random_.moderate_single();
    if (kind == Kind::F64) return (random_.bits() & 0x800fffffffffffff) | (1000 + random_.bits() % 60) << 52;
    return random_.bits() & 0xffff;
  }
  void one_wave(const Row& row, std::span<const std::byte> code, const Mode4& mode, u32 wave) {
    std::array<Bits, kWaveSize> in{};
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      for (u32 source = 0; source < 3; ++source) {
        if (row.sources[source] == Kind::None) continue;
        in[lane][source] = draw(row.sources[source], source, wave * 64 + lane, wave < 7);
        bench_.wave.vgpr(2 * source)[lane] = static_cast<u32>(in[lane][source]);
        bench_.wave.vgpr(2 * source + 1)[lane] = static_cast<u32>(in[lane][source] >> 32);
      }
    bench_.run(code);
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      Bits x = in[lane];
      if (mode.flush_in)
        for (u32 source = 0; source < 3; ++source) x[source] = flushed(x[source], row.sources[source]);
      std::fesetround(kHostRounding[mode.round]);
      u64 expected = row.host(x, static_cast<RoundMode>(mode.round));
      std::fesetround(FE_TONEAREST);
      const u64 kept = expected;
      if (mode.flush_out) expected = flushed(expected, row.result);
      const u64 mask = row.result == Kind::F64                              ? ~u64{0}
                       : row.result == Kind::F16 || row.result == Kind::I16 ? 0xffff
                                                                            : 0xffffffff;
      const u64 actual = bench_.get64(6, lane) & mask;
      bool same = is_nan(expected, row.result) ? is_nan(actual, row.result) : actual == (expected & mask);
      // A choice among operands computes nothing: whether its denormals are flushed as outputs is not documented.
      if (is_choice(row)) same |= actual == (kept & mask);
      if (row.sources[2] == Kind::F16 && is_choice(row)) same |= is_nan(kept, row.result);
      if (mode.flush_out && is_smallest_normal(expected, row.result)) same |= (actual & (mask >> 1)) == 0;
      ASSERT_TRUE(same) << row.text << ", rounding " << mode.round << ", denormals flushed " << mode.flush_in
                        << mode.flush_out << std::hex << ": of " << in[lane][0] << ' ' << in[lane][1] << ' '
                        << in[lane][2] << " came " << actual << ", not " << (expected & mask);
    }
  }

  Bench bench_;
  Random random_;
};

TEST(FloatProperties, SinglesAreTheHostsInEveryMode) { Properties().check(single_rows()); }
TEST(FloatProperties, DoublesAreTheHostsInEveryMode) { Properties().check(double_rows()); }
TEST(FloatProperties, HalvesAreTheHostsInEveryMode) { Properties().check(half_rows()); }

// ---- All inputs ----

TEST(FloatProperties, EveryHalfConvertsAsTheReferencesSay) {
  Bench bench;
  std::string error;
  const std::vector<std::byte> code = assemble(
      "v_cvt_f32_f16 v1, v0\nv_cvt_u16_f16 v2, v0\nv_cvt_i16_f16 v3, v0\nv_cvt_f16_u16 v4, v0\nv_cvt_f16_i16 v5, "
      "v0\nv_cvt_f16_f32 v6, v1\n",
      error);
  ASSERT_EQ(error, "");
  for (u32 round = 0; round < 4; ++round)
    for (u32 first = 0; first < 65536; first += kWaveSize) {
      for (u32 lane = 0; lane < kWaveSize; ++lane) bench.wave.vgpr(0)[lane] = first + lane;
      bench.set_mode(round, 3, round, 3);
      bench.run(code);
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const u16 code16 = static_cast<u16>(first + lane);
        const f32 value = f16_to_f32(code16);
        const RoundMode mode = static_cast<RoundMode>(round);
        ASSERT_EQ(bench.get(2, lane), integer_of(value, 0, 65535)) << code16;
        ASSERT_EQ(bench.get(3, lane) & 0xffff, integer_of(value, -32768, 32767) & 0xffff) << code16;
        ASSERT_EQ(bench.get(4, lane), f64_to_f16(code16, mode)) << code16;
        ASSERT_EQ(bench.get(5, lane), f64_to_f16(static_cast<i16>(code16), mode)) << code16;
        if (std::isnan(value)) continue;
        ASSERT_EQ(bench.get(1, lane), std::bit_cast<u32>(value)) << code16;
        ASSERT_EQ(bench.get(6, lane), code16);
      }
    }
}

}  // namespace
}  // namespace hipbench::emulator
