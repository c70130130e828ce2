// Vector ALU on 16 bits: f16 arithmetic and 16-bit integers. Results clear the upper half of the register, except the
// forms that came with gfx9 (mad, fma, med3, min3, max3, i16 add and sub) and the f16 multiply-accumulate family, which
// keep it.

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

// Unfused: the product is rounded, then the sum.
f16 mad(f16 a, f16 b, f16 c, Mode mode) { return add(multiply(a, b, mode), c, mode); }

f16 ldexp_half(f16 a, i16 n, Mode mode) {
  const i32 limited = std::min(std::max(i32{n}, -100), 100);
  return narrow(f64{widen(a)} * power_of_two(limited), mode);
}
f16 fraction_half(f16 a, Mode mode) {
  const f32 x = widen(a);
  const f16 difference =
      narrow(x - std::floor(x), mode);  // exact in f32 but for tiny negatives, whose result is capped
  return !is_nan(difference) && difference.bits > 0x3bff && !is_negative(difference) ? f16{0x3bff} : difference;
}

u16 saturate_u16(i32 value) { return static_cast<u16>(std::min(std::max(value, 0), 0xffff)); }
i16 saturate_i16(i32 value) { return static_cast<i16>(std::min(std::max(value, -0x8000), 0x7fff)); }
u16 wrap_u16(u32 value) { return static_cast<u16>(value); }
i16 wrap_i16(i32 value) { return static_cast<i16>(static_cast<u16>(static_cast<u32>(value))); }
template <typename T>
T median_of(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

constexpr auto kMadU16 = [](u16 a, u16 b, u16 c) { return wrap_u16(u32{a} * b + c); };
constexpr auto kMadU16Clamped = [](u16 a, u16 b, u16 c) {
  return static_cast<u16>(std::min<u64>(u64{a} * b + c, 0xffff));
};
constexpr auto kMadI16 = [](i16 a, i16 b, i16 c) { return wrap_i16(i32{a} * b + c); };
constexpr auto kMadI16Clamped = [](i16 a, i16 b, i16 c) { return saturate_i16(i32{a} * b + c); };

constexpr Op kRows[] = {
    // f16
    lanes<[](f16 a, f16 b, Mode mode) { return add(a, b, mode); }>("v_add_f16"),
    lanes<[](f16 a, f16 b, Mode mode) { return add(a, negate(b), mode); }>("v_sub_f16"),
    lanes<[](f16 a, f16 b, Mode mode) { return add(b, negate(a), mode); }>("v_subrev_f16"),
    lanes<[](f16 a, f16 b, Mode mode) { return multiply(a, b, mode); }>("v_mul_f16"),
    lanes<[](f16 a, f16 b, Mode mode) { return minimum(a, b, mode); }>("v_min_f16"),
    lanes<[](f16 a, f16 b, Mode mode) { return maximum(a, b, mode); }>("v_max_f16"),
    lanes<[](f16 a, f16 b, Tied<f16> d, Mode mode) { return Keep<f16>{mad(a, b, d.value, mode)}; }>("v_mac_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{mad(a, b, c, mode)}; }>("v_madak_f16"),
    lanes<[](f16 a, f16 k, f16 b, Mode mode) { return Keep<f16>{mad(a, k, b, mode)}; }>("v_madmk_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{mad(a, b, c, mode)}; }>("v_mad_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return mad(a, b, c, mode); }>("v_mad_legacy_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{fused(a, b, c, mode)}; }>("v_fma_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return fused(a, b, c, mode); }>("v_fma_legacy_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{minimum(minimum(a, b, mode), c, mode)}; }>(
        "v_min3_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{maximum(maximum(a, b, mode), c, mode)}; }>(
        "v_max3_f16"),
    lanes<[](f16 a, f16 b, f16 c, Mode mode) { return Keep<f16>{median(a, b, c, mode)}; }>("v_med3_f16"),
    lanes<[](f16 a, Mode mode) { return narrow(std::trunc(widen(a)), mode); }>("v_trunc_f16"),
    lanes<[](f16 a, Mode mode) { return narrow(std::ceil(widen(a)), mode); }>("v_ceil_f16"),
    lanes<[](f16 a, Mode mode) { return narrow(std::floor(widen(a)), mode); }>("v_floor_f16"),
    lanes<[](f16 a, Mode mode) { return narrow(round_even(widen(a)), mode); }>("v_rndne_f16"),
    lanes<[](f16 a, Mode mode) { return fraction_half(a, mode); }>("v_fract_f16"),
    lanes<[](f16 a) { return fraction_part(a); }>("v_frexp_mant_f16"),
    lanes<[](f16 a) { return static_cast<i16>(exponent_part(a)); }>("v_frexp_exp_i16_f16"),
    lanes<[](f16 a, i16 n, Mode mode) { return ldexp_half(a, n, mode); }>("v_ldexp_f16"),
    lanes<[](f16 a, f16 b) { return u32{a.bits} | u32{b.bits} << 16; }>("v_pack_b32_f16"),

    // Integers
    lanes<[](u16 a, u16 b) { return wrap_u16(u32{a} + b); }, [](u16 a, u16 b) { return saturate_u16(a + b); }>(
        "v_add_u16"),
    lanes<[](u16 a, u16 b) { return wrap_u16(u32{a} - b); }, [](u16 a, u16 b) { return saturate_u16(a - b); }>(
        "v_sub_u16"),
    lanes<[](u16 a, u16 b) { return wrap_u16(u32{b} - a); }, [](u16 a, u16 b) { return saturate_u16(b - a); }>(
        "v_subrev_u16"),
    lanes<[](i16 a, i16 b) { return Keep<i16>{wrap_i16(a + b)}; },
          [](i16 a, i16 b) { return Keep<i16>{saturate_i16(a + b)}; }>("v_add_i16"),
    lanes<[](i16 a, i16 b) { return Keep<i16>{wrap_i16(a - b)}; },
          [](i16 a, i16 b) { return Keep<i16>{saturate_i16(a - b)}; }>("v_sub_i16"),
    lanes<[](u16 a, u16 b) { return wrap_u16(u32{a} * b); }>("v_mul_lo_u16"),
    lanes<[](u16 n, u16 a) { return wrap_u16(u32{a} << (n & 15)); }>("v_lshlrev_b16"),
    lanes<[](u16 n, u16 a) { return wrap_u16(u32{a} >> (n & 15)); }>("v_lshrrev_b16"),
    lanes<[](u16 n, i16 a) { return wrap_i16(a >> (n & 15)); }>("v_ashrrev_i16"),
    lanes<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
    lanes<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
    lanes<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
    lanes<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
    lanes<[](u16 a, u16 b, u16 c) { return Keep<u16>{std::min(std::min(a, b), c)}; }>("v_min3_u16"),
    lanes<[](u16 a, u16 b, u16 c) { return Keep<u16>{std::max(std::max(a, b), c)}; }>("v_max3_u16"),
    lanes<[](u16 a, u16 b, u16 c) { return Keep<u16>{median_of(a, b, c)}; }>("v_med3_u16"),
    lanes<[](i16 a, i16 b, i16 c) { return Keep<i16>{std::min(std::min(a, b), c)}; }>("v_min3_i16"),
    lanes<[](i16 a, i16 b, i16 c) { return Keep<i16>{std::max(std::max(a, b), c)}; }>("v_max3_i16"),
    lanes<[](i16 a, i16 b, i16 c) { return Keep<i16>{median_of(a, b, c)}; }>("v_med3_i16"),
    lanes<[](u16 a, u16 b, u16 c) { return Keep<u16>{kMadU16(a, b, c)}; },
          [](u16 a, u16 b, u16 c) { return Keep<u16>{kMadU16Clamped(a, b, c)}; }>("v_mad_u16"),
    lanes<[](i16 a, i16 b, i16 c) { return Keep<i16>{kMadI16(a, b, c)}; },
          [](i16 a, i16 b, i16 c) { return Keep<i16>{kMadI16Clamped(a, b, c)}; }>("v_mad_i16"),
    lanes<kMadU16, kMadU16Clamped>("v_mad_legacy_u16"),
    lanes<kMadI16, kMadI16Clamped>("v_mad_legacy_i16"),
    lanes<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; },
          [](u16 a, u16 b, u32 c) { return static_cast<u32>(std::min<u64>(u64{a} * b + c, 0xffffffff)); }>(
        "v_mad_u32_u16"),
    lanes<[](i16 a, i16 b, i32 c) { return static_cast<u32>(i32{a} * b) + static_cast<u32>(c); },
          [](i16 a, i16 b, i32 c) {
            const i64 sum = i64{a} * b + c;
            return static_cast<u32>(static_cast<i32>(std::min<i64>(std::max<i64>(sum, -0x80000000LL), 0x7fffffff)));
          }>("v_mad_i32_i16"),
};

}  // namespace

std::span<const Op> valu_half_ops() { return kRows; }

}  // namespace hipbench::emulator
