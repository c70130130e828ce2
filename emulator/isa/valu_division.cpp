// Vector ALU: the steps of IEEE division (v_div_scale, v_div_fmas, v_div_fixup) and the argument reduction constant of
// sine and cosine. A compiler divides n by d as
//   scale both so that no intermediate leaves the normal range, approximate, refine with FMAs,
//   undo the scaling in the last FMA (v_div_fmas, told by VCC), repair special cases (v_div_fixup).

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

// How far operands are scaled, and from which distance of the exponents the quotient is near overflow.
template <typename T>
struct DivisionLimits;
template <>
struct DivisionLimits<f32> {
  static constexpr int scale = 64, near_overflow = 96, tiny_numerator = 23, far_below = -150;
};
template <>
struct DivisionLimits<f64> {
  static constexpr int scale = 128, near_overflow = 768, tiny_numerator = 53, far_below = -1075;
};

template <typename T>
T scaled_up(T value) { return value * static_cast<T>(power_of_two(DivisionLimits<T>::scale)); }
template <typename T>
T scaled_down(T value) { return value * static_cast<T>(power_of_two(-DivisionLimits<T>::scale)); }

// Below the normal range but not by the operands being 0 or infinite.
template <typename T>
bool quotient_is_denormal(T numerator, T denominator) {
  return magnitude(static_cast<T>(numerator / denominator)) <
             static_cast<BitsOf<T>>(BitsOf<T>{1} << FloatBits<T>::fraction_bits) &&
         !is_infinite(denominator);
}

// S0 is the value to scale, one of S1 (the denominator) and S2 (the numerator).
template <typename T>
WithMask<T> div_scale(T value, T denominator, T numerator) {
  using L = DivisionLimits<T>;
  if (is_zero(numerator) || is_zero(denominator)) return {std::numeric_limits<T>::quiet_NaN(), false};
  const bool is_denominator = value == denominator, is_numerator = value == numerator;
  if (exponent_field(numerator) - exponent_field(denominator) >= L::near_overflow)
    return {is_denominator ? scaled_up(value) : value, true};
  if (is_denormal(denominator)) return {scaled_up(value), false};
  const bool reciprocal_denormal = quotient_is_denormal(T{1}, denominator);
  const bool denormal = quotient_is_denormal(numerator, denominator);
  // The ISA document's pseudocode scales this denominator up, which would overflow it; the quotient is right when it
  // goes down.
  if (reciprocal_denormal && denormal) return {is_denominator ? scaled_down(value) : value, true};
  if (reciprocal_denormal) return {scaled_down(value), false};
  if (denormal) return {is_numerator ? scaled_up(value) : value, true};
  if (exponent_field(numerator) <= L::tiny_numerator) return {scaled_up(value), false};
  return {value, false};
}

template <typename T>
T from_upper(u32 dword) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(u64{dword} << 32);
  else return std::bit_cast<T>(dword);
}
// Most divisions are far from every limit: nothing is scaled.
template <typename T>
bool in_comfort(T denominator, T numerator) {
  constexpr int kQuarter = FloatBits<T>::bias / 4;
  const u32 d = static_cast<u32>(exponent_field(denominator) - (FloatBits<T>::bias - kQuarter));
  const u32 n = static_cast<u32>(exponent_field(numerator) - (FloatBits<T>::bias - kQuarter));
  return d < 2 * kQuarter && n < 2 * kQuarter;
}
template <typename T>
constexpr auto kUnscaled = [](T value, T, T) { return WithMask<T>{value, false}; };
template <typename T>
constexpr auto kScale = [](T value, T denominator, T numerator) { return div_scale(value, denominator, numerator); };
template <typename T>
constexpr Op div_scale_row(std::string_view name) {
  Op row = LaneRowOf<kScale<T>>::op(name);
  row.plain = [](Wave& wave, const Inst& inst) {
    LaneBuffer buffers[4];
    constexpr u32 kHigh = sizeof(T) / 4 - 1;  // the sign does not matter, the exponent is in the upper dword
    const u32* d = read_lanes(wave, inst.operands[3], kHigh, buffers[0]);
    const u32* n = read_lanes(wave, inst.operands[4], kHigh, buffers[1]);
    u32 comfortable = 1;
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      comfortable &= in_comfort(from_upper<T>(d[lane]), from_upper<T>(n[lane])) ? 1u : 0u;
    if (comfortable != 0) return LaneRowOf<kUnscaled<T>>::plain(wave, inst);
    LaneRowOf<kScale<T>>::plain(wave, inst);
  };
  return row;
}

// ---- v_div_fmas: fma and the factor that undoes v_div_scale, rounded once ----

f32 fma_scaled(f32 a, f32 b, f32 c) {
  const f64 factor = exponent_field(c) > 127 ? 0x1p64 : 0x1p-64;
  const f64 sum = float_detail::add_round_to_odd(f64{a} * f64{b}, f64{c});
  return static_cast<f32>(sum * factor);
}
f64 fma_scaled(f64 a, f64 b, f64 c) {
  const f64 factor = exponent_field(c) > 1023 ? 0x1p128 : 0x1p-128;
  const f64 sum = std::fma(a, b, c);
  const f64 scaled = sum * factor;
  if (!std::isfinite(sum) || factor > 1 || !is_denormal(scaled)) return scaled;
  // A denormal result has fewer bits: it is rounded twice. That only shows when the sum lies halfway between two
  // denormals; then its error decides. The error, exactly: ab = p + e, p + c = s + t.
  const f64 half = 0x1p-947;  // of the denormals' spacing, before the scaling
  if (std::fabs(sum - scaled * 0x1p128) != half) return scaled;
  const f64 p = a * b, e = std::fma(a, b, -p);
  const f64 s = p + c, part = s - p, t = (p - (s - part)) + (c - part);
  const f64 error = ((s - sum) + t) + e;
  return error == 0 ? scaled : (sum + std::copysign(half, error)) * factor;
}

template <typename T>
constexpr auto kFmas = [](T a, T b, T c, Vcc scale) { return scale.value ? fma_scaled(a, b, c) : std::fma(a, b, c); };
template <typename T>
constexpr auto kFma = [](T a, T b, T c) { return std::fma(a, b, c); };

// Most divisions need no scaling; then this is a plain fma.
template <typename T>
constexpr Op div_fmas(std::string_view name) {
  Op row = LaneRowOf<kFmas<T>>::op(name);
  row.plain = [](Wave& wave, const Inst& inst) {
    if ((wave.vcc() & wave.exec()) == 0) return LaneRowOf<kFma<T>>::plain(wave, inst);
    LaneRowOf<kFmas<T>>::plain(wave, inst);
  };
  return row;
}

// ---- v_div_fixup: S0 the quotient, S1 the denominator, S2 the numerator ----

template <typename T>
T div_fixup(T quotient, T denominator, T numerator) {
  using U = BitsOf<T>;
  const bool negative = is_negative(denominator) != is_negative(numerator);
  const T infinity = from_float_bits<T>(kExponentMask<T>), zero = from_float_bits<T>(U{0});
  const T invalid = from_float_bits<T>(static_cast<U>(kSignBit<T> | kExponentMask<T> | kQuietBit<T>));
  // A quotient beyond the largest number has become a NaN on its way through the FMAs.
  T result = with_sign(is_nan(quotient) ? infinity : quotient, negative);
  if constexpr (!std::is_same_v<T, f16>) {
    const int distance = exponent_field(numerator) - exponent_field(denominator);
    if (exponent_field(denominator) == 2 * FloatBits<T>::bias + 1) result = with_sign(infinity, negative);
    if (distance < DivisionLimits<T>::far_below) result = with_sign(zero, negative);
  }
  if (is_infinite(denominator) || is_zero(numerator)) result = with_sign(zero, negative);
  if (is_zero(denominator) || is_infinite(numerator)) result = with_sign(infinity, negative);
  if ((is_infinite(denominator) && is_infinite(numerator)) || (is_zero(denominator) && is_zero(numerator)))
    result = invalid;
  if (is_nan(denominator)) result = quiet(denominator);
  if (is_nan(numerator)) result = quiet(numerator);
  return result;
}

// ---- v_trig_preop_f64: 53 bits of 2/pi at a segment chosen by S1 and the exponent of S0 ----

constexpr u64 kTwoOverPi[19] = {  // the first 1216 bits behind the binary point
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

f64 trig_preop(f64 value, u32 segment) {
  i32 shift = static_cast<i32>(segment & 31) * 53;
  const i32 exponent = exponent_field(value);
  if (exponent > 1077) shift += exponent - 1077;
  // 53 bits from position `shift` behind the point; beyond the 1201st bit there is nothing.
  u64 selected = 0;
  for (i32 k = 0; k < 53; ++k) {
    const i32 position = shift + k;
    const u64 bit = position < 1201 ? kTwoOverPi[position / 64] >> (63 - position % 64) & 1 : 0;
    selected = selected << 1 | bit;
  }
  const i32 scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<f64>(selected), scale);
}

constexpr Op kRows[] = {
    div_scale_row<f32>("v_div_scale_f32"),
    div_scale_row<f64>("v_div_scale_f64"),
    div_fmas<f32>("v_div_fmas_f32"),
    div_fmas<f64>("v_div_fmas_f64"),
    lanes<[](f32 q, f32 d, f32 n) { return div_fixup(q, d, n); }>("v_div_fixup_f32"),
    lanes<[](f64 q, f64 d, f64 n) { return div_fixup(q, d, n); }>("v_div_fixup_f64"),
    lanes<[](f16 q, f16 d, f16 n) { return Keep<f16>{div_fixup(q, d, n)}; }>("v_div_fixup_f16"),
    lanes<[](f16 q, f16 d, f16 n) { return div_fixup(q, d, n); }>("v_div_fixup_legacy_f16"),
    lanes<[](f64 value, u32 segment) { return trig_preop(value, segment); }>("v_trig_preop_f64"),
};

}  // namespace

std::span<const Op> valu_division_ops() { return kRows; }

}  // namespace hipbench::emulator
