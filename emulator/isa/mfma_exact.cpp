// One element of one group of a fused matrix instruction, step by step as mfma_fused.hpp states the rules, for the
// operands that the fast way cannot take.

#include <cmath>

#include "emulator/isa/mfma_fused.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

struct Half {
  f64 sum;  // an integer, in units of 2^(exponent − 24)
  int exponent;
};

Half sum_truncated(const GroupTerms& terms, int first, int step) {
  Half half{0, terms.exponent[first]};
  for (int t = first; t < terms.count; t += step) half.exponent = std::max(half.exponent, terms.exponent[t]);
  for (int t = first; t < terms.count; t += step) {
    half.sum += std::trunc(std::ldexp(f64{terms.a[t]} * f64{terms.b[t]}, 24 - half.exponent));
  }
  return half;
}

f32 canonical(f64 value) { return std::isnan(value) ? std::bit_cast<f32>(kCanonicalNan) : static_cast<f32>(value); }

}  // namespace

f32 fused_group_exactly(const GroupTerms& terms, bool split_even_odd, f32 c) {
  f64 ieee_sum = f64{c};  // tells only whether there is an infinity or NaN: finite terms cannot overflow an f64
  bool positive_overflow = false;
  bool negative_overflow = false;
  for (int t = 0; t < terms.count; ++t) {
    const f64 product = f64{terms.a[t]} * f64{terms.b[t]};
    ieee_sum += product;
    positive_overflow |= product >= 0x1p128;
    negative_overflow |= product <= -0x1p128;
  }
  if (!std::isfinite(ieee_sum)) return canonical(ieee_sum);
  if (positive_overflow || negative_overflow) {
    const f64 infinity = HUGE_VAL;
    return canonical((positive_overflow ? infinity : 0) - (negative_overflow ? infinity : 0));
  }

  Half products = sum_truncated(terms, 0, split_even_odd ? 2 : 1);
  if (split_even_odd) {
    const Half odd = sum_truncated(terms, 1, 2);
    const int greater = std::max(products.exponent, odd.exponent);
    products.sum = std::floor(std::ldexp(products.sum, products.exponent - greater)) +
                   std::floor(std::ldexp(odd.sum, odd.exponent - greater));
    products.exponent = greater;
  }

  const int c_field = static_cast<int>(std::bit_cast<u32>(c) >> 23 & 255u);
  const int c_exponent = std::max(c_field, 1) - 127;
  const int greatest = std::max(products.exponent, c_exponent);
  const f64 sum = std::floor(std::ldexp(products.sum, 7 + products.exponent - greatest));
  const bool drop_c = split_even_odd && c_exponent < greatest - 25;
  const f64 addend = drop_c ? 0 : std::floor(std::ldexp(f64{c}, 24 - greatest)) * 128;
  return static_cast<f32>(std::ldexp(sum + addend, greatest - 31));
}

}  // namespace hipbench::emulator::mfma_detail
