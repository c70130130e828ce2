// Vector ALU: reciprocal, roots, exponential, logarithm, sine and cosine. The f32 forms flush denormal inputs and
// outputs whatever MODE says (CDNA3 ISA, notes of V_EXP_F32 and its kin); the f16 and f64 forms keep them.

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/transcendental.hpp"

namespace hipbench::emulator {

namespace {

constexpr f64 kInfinity = std::numeric_limits<f64>::infinity();

f64 flushed(f32 value) { return f64{from_float_bits<f32>(flush_single(bits(value)))}; }
f32 flushed_result(f64 value) { return from_float_bits<f32>(flush_single(bits(static_cast<f32>(value)))); }

// The functions on any input, in double precision.
f64 reciprocal(f64 x) { return 1.0 / x; }
f64 square_root(f64 x) { return __builtin_elementwise_sqrt(x); }
f64 reciprocal_root(f64 x) { return 1.0 / square_root(x); }
f64 exponential(f64 x) {
  const f64 result = exp2_double(x);
  // Far outside the range of f32 the result is 0 or infinity.
  f64 limited = x > 1000 ? kInfinity : result;
  limited = x < -1000 ? 0.0 : limited;
  return x != x ? x : limited;
}
f64 logarithm(f64 x) {
  f64 result = log2_double(x);
  result = x < 0 ? std::numeric_limits<f64>::quiet_NaN() : result;
  result = x == 0 ? -kInfinity : result;
  return x == kInfinity || x != x ? x : result;
}
// Inputs are turns. Beyond 256 of them the result is that of 0; of an infinity it is NaN.
f64 sine(f64 x) {
  const bool inside = x >= -256 && x <= 256;
  f64 result = inside ? sine_of_turns(inside ? x : 0.0, 0) : 0.0;
  result = x == 0 ? x : result;  // the sine of -0 is -0
  return x - x != 0 || x != x ? x - x : result;
}
f64 cosine(f64 x) {
  const bool inside = x >= -256 && x <= 256;
  const f64 result = inside ? sine_of_turns(inside ? x : 0.0, 1) : 1.0;
  return x - x != 0 || x != x ? x - x : result;
}

template <auto Function>
constexpr Op single(std::string_view name) {
  return lanes<[](f32 x) { return flushed_result(Function(flushed(x))); }>(name);
}
template <auto Function>
constexpr Op half(std::string_view name) {
  return lanes<[](f16 x, Mode mode) { return narrow(Function(f64{widen(x)}), mode); }>(name);
}

constexpr Op kRows[] = {
    single<reciprocal>("v_rcp_f32"),
    single<reciprocal>("v_rcp_iflag_f32"),  // differs in the exception flag only
    single<reciprocal_root>("v_rsq_f32"),
    single<square_root>("v_sqrt_f32"),
    single<exponential>("v_exp_f32"),
    single<exponential>("v_exp_legacy_f32"),
    single<logarithm>("v_log_f32"),
    single<logarithm>("v_log_legacy_f32"),
    single<sine>("v_sin_f32"),
    single<cosine>("v_cos_f32"),

    half<reciprocal>("v_rcp_f16"),
    half<reciprocal_root>("v_rsq_f16"),
    half<square_root>("v_sqrt_f16"),
    half<exponential>("v_exp_f16"),
    half<logarithm>("v_log_f16"),
    half<sine>("v_sin_f16"),
    half<cosine>("v_cos_f16"),

    lanes<[](f64 x) { return reciprocal(x); }>("v_rcp_f64"),
    lanes<[](f64 x) { return reciprocal_root(x); }>("v_rsq_f64"),
    lanes<[](f64 x) { return square_root(x); }>("v_sqrt_f64"),
};

}  // namespace

std::span<const Op> valu_transcendental_ops() { return kRows; }

}  // namespace hipbench::emulator
