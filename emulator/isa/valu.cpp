// Vector ALU: moves, logic of floats, f32 and f64 arithmetic. CDNA3 ISA, chapter "Vector ALU operations".

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

// v_mul_legacy: zero times anything, infinity and NaN included, is +0.
f32 multiply_legacy(f32 a, f32 b) { return a == 0 || b == 0 ? 0.0f : a * b; }

f32 ldexp_single(f32 a, i32 n) {
  // Every product with a power of two in ±600 is exact in f64, and beyond ±300 the f32 is 0 or infinity anyway.
  const i32 limited = std::min(std::max(n, -600), 600);
  return static_cast<f32>(f64{a} * power_of_two(limited));
}
f64 ldexp_double(f64 a, i32 n) {
  // Three factors reach from the largest to the smallest number; only the last product can round.
  const i32 limited = std::min(std::max(n, -2200), 2200);
  if (limited >= -1000 && limited <= 1000 && exponent_field(a) != 0 && exponent_field(a) + limited > 0)
    return a * power_of_two(limited);
  return std::ldexp(a, limited);
}

// ---- Cube map coordinates (CDNA3 ISA, V_CUBEID_F32 and its kin): the major axis is the largest of |x|, |y|, |z| ----

enum class Axis : u8 { X, Y, Z };
Axis major_axis(f32 x, f32 y, f32 z) {
  const f32 ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return Axis::Z;
  return ay >= ax ? Axis::Y : Axis::X;
}
f32 cube_face(f32 x, f32 y, f32 z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z: return z < 0 ? 5.0f : 4.0f;
    case Axis::Y: return y < 0 ? 3.0f : 2.0f;
    case Axis::X: break;
  }
  return x < 0 ? 1.0f : 0.0f;
}
f32 cube_s(f32 x, f32 y, f32 z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z: return z < 0 ? -x : x;
    case Axis::Y: return x;
    case Axis::X: break;
  }
  return x < 0 ? z : -z;
}
f32 cube_t(f32 x, f32 y, f32 z) {
  if (major_axis(x, y, z) == Axis::Y) return y < 0 ? -z : z;
  return -y;
}
f32 cube_major(f32 x, f32 y, f32 z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z: return 2 * z;
    case Axis::Y: return 2 * y;
    case Axis::X: break;
  }
  return 2 * x;
}

void no_operation(Wave&, const Inst&) {}

constexpr Op kRows[] = {
    lanes<[](u32 a) { return a; }>("v_mov_b32"),
    lanes<[](u64 a) { return a; }>("v_mov_b64"),
    lanes<[](u32 a) { return a; }>("v_accvgpr_read_b32"),
    lanes<[](u32 a) { return a; }>("v_accvgpr_write_b32"),
    lanes<[](u32 a) { return a; }>("v_accvgpr_mov_b32"),
    lanes<[](any32 a, any32 b, bool select) { return any32{select ? b.bits : a.bits}; }>("v_cndmask_b32"),
    custom("v_nop", InstClass::Valu, &no_operation),
    custom("v_clrexcp", InstClass::Valu, &no_operation),  // exception flags are not modelled

    // f32
    lanes<[](f32 a, f32 b) { return a + b; }>("v_add_f32"),
    lanes<[](f32 a, f32 b) { return a - b; }>("v_sub_f32"),
    lanes<[](f32 a, f32 b) { return b - a; }>("v_subrev_f32"),
    lanes<[](f32 a, f32 b) { return a * b; }>("v_mul_f32"),
    lanes<[](f32 a, f32 b) { return multiply_legacy(a, b); }>("v_mul_legacy_f32"),
    lanes<[](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }>("v_fma_f32"),
    lanes<[](f32 a, f32 b, Tied<f32> d) { return std::fma(a, b, d.value); }>("v_fmac_f32"),
    lanes<[](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }>("v_fmaak_f32"),
    lanes<[](f32 a, f32 k, f32 b) { return std::fma(a, k, b); }>("v_fmamk_f32"),
    lanes<[](f32 a, f32 b, Mode mode) { return minimum(a, b, mode); }>("v_min_f32"),
    lanes<[](f32 a, f32 b, Mode mode) { return maximum(a, b, mode); }>("v_max_f32"),
    lanes<[](f32 a, f32 b, f32 c, Mode mode) { return minimum(minimum(a, b, mode), c, mode); }>("v_min3_f32"),
    lanes<[](f32 a, f32 b, f32 c, Mode mode) { return maximum(maximum(a, b, mode), c, mode); }>("v_max3_f32"),
    lanes<[](f32 a, f32 b, f32 c, Mode mode) { return median(a, b, c, mode); }>("v_med3_f32"),
    lanes<[](f32 a) { return std::trunc(a); }>("v_trunc_f32"),
    lanes<[](f32 a) { return std::ceil(a); }>("v_ceil_f32"),
    lanes<[](f32 a) { return std::floor(a); }>("v_floor_f32"),
    lanes<[](f32 a) { return round_even(a); }>("v_rndne_f32"),
    lanes<[](f32 a) { return fraction(a); }>("v_fract_f32"),
    lanes<[](f32 a) { return fraction_part(a); }>("v_frexp_mant_f32"),
    lanes<[](f32 a) { return exponent_part(a); }>("v_frexp_exp_i32_f32"),
    lanes<[](f32 a, i32 n) { return ldexp_single(a, n); }>("v_ldexp_f32"),
    lanes<[](f32 x, f32 y, f32 z) { return cube_face(x, y, z); }>("v_cubeid_f32"),
    lanes<[](f32 x, f32 y, f32 z) { return cube_s(x, y, z); }>("v_cubesc_f32"),
    lanes<[](f32 x, f32 y, f32 z) { return cube_t(x, y, z); }>("v_cubetc_f32"),
    lanes<[](f32 x, f32 y, f32 z) { return cube_major(x, y, z); }>("v_cubema_f32"),

    // f64
    lanes<[](f64 a, f64 b) { return a + b; }>("v_add_f64"),
    lanes<[](f64 a, f64 b) { return a * b; }>("v_mul_f64"),
    lanes<[](f64 a, f64 b, f64 c) { return std::fma(a, b, c); }>("v_fma_f64"),
    lanes<[](f64 a, f64 b, Tied<f64> d) { return std::fma(a, b, d.value); }>("v_fmac_f64"),
    lanes<[](f64 a, f64 b, Mode mode) { return minimum(a, b, mode); }>("v_min_f64"),
    lanes<[](f64 a, f64 b, Mode mode) { return maximum(a, b, mode); }>("v_max_f64"),
    lanes<[](f64 a) { return std::trunc(a); }>("v_trunc_f64"),
    lanes<[](f64 a) { return std::ceil(a); }>("v_ceil_f64"),
    lanes<[](f64 a) { return std::floor(a); }>("v_floor_f64"),
    lanes<[](f64 a) { return round_even(a); }>("v_rndne_f64"),
    lanes<[](f64 a) { return fraction(a); }>("v_fract_f64"),
    lanes<[](f64 a) { return fraction_part(a); }>("v_frexp_mant_f64"),
    lanes<[](f64 a) { return exponent_part(a); }>("v_frexp_exp_i32_f64"),
    lanes<[](f64 a, i32 n) { return ldexp_double(a, n); }>("v_ldexp_f64"),
};

}  // namespace

std::span<const Op> valu_ops() { return kRows; }

}  // namespace hipbench::emulator
