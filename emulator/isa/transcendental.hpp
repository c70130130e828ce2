#pragma once
// Transcendental functions in double precision, for results in f32 and f16. The hardware promises 1 ULP of f32 and its
// exact bits are not public, so results here are rounded from about 40 correct bits. Only IEEE basic operations are
// used, never the host's libm (which picks its code by CPU), so every host gives the same bits; the loops vectorise.

#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

// 2^x for |x| <= 1100.
inline f64 exp2_double(f64 x) {
  const f64 limited = std::min(std::max(x, -1020.0), 1020.0);
  const f64 n = round_even(limited);
  const f64 r = limited - n;  // exact, |r| <= 0.5
  // Taylor series of e^(r ln 2) to degree 11: the first term left out is below 1e-14.
  const f64 t = r * 0.69314718055994530942;
  f64 sum = 1.0 / 39916800;
  sum = std::fma(sum, t, 1.0 / 3628800);
  sum = std::fma(sum, t, 1.0 / 362880);
  sum = std::fma(sum, t, 1.0 / 40320);
  sum = std::fma(sum, t, 1.0 / 5040);
  sum = std::fma(sum, t, 1.0 / 720);
  sum = std::fma(sum, t, 1.0 / 120);
  sum = std::fma(sum, t, 1.0 / 24);
  sum = std::fma(sum, t, 1.0 / 6);
  sum = std::fma(sum, t, 0.5);
  sum = std::fma(sum, t, 1.0);
  sum = std::fma(sum, t, 1.0);
  // n + bias sits in the low bits of this sum's significand.
  const u64 exponent = std::bit_cast<u64>(n + (0x1.8p52 + 1023)) << 52;
  return sum * std::bit_cast<f64>(exponent);
}

// log2 of a positive normal double.
inline f64 log2_double(f64 x) {
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)).
  const u64 shifted = std::bit_cast<u64>(x) - 0x3fe6a09e667f3bcd;
  const u64 biased = (shifted + 0x4000000000000000) >> 52;  // e + 1024
  const f64 e = std::bit_cast<f64>(biased | 0x4330000000000000) - (0x1p52 + 1024);
  const f64 m = std::bit_cast<f64>((shifted & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
  // ln m = 2 atanh s, s = (m - 1) / (m + 1), |s| < 0.172: odd series to s^19.
  const f64 s = (m - 1) / (m + 1);
  const f64 z = s * s;
  f64 sum = 1.0 / 19;
  sum = std::fma(sum, z, 1.0 / 17);
  sum = std::fma(sum, z, 1.0 / 15);
  sum = std::fma(sum, z, 1.0 / 13);
  sum = std::fma(sum, z, 1.0 / 11);
  sum = std::fma(sum, z, 1.0 / 9);
  sum = std::fma(sum, z, 1.0 / 7);
  sum = std::fma(sum, z, 1.0 / 5);
  sum = std::fma(sum, z, 1.0 / 3);
  sum = std::fma(sum, z, 1.0);
  return std::fma(s * sum, 2.88539008177792681472, e);
}

// sin(2 pi x) and cos(2 pi x); `quarter` 0 for sine, 1 for cosine.
inline f64 sine_of_turns(f64 x, f64 quarter) {
  const f64 q = round_even(x * 4);
  const f64 t = (x - q * 0.25) * 6.28318530717958647693;  // the difference is exact; |t| <= pi/4
  const f64 z = t * t;
  f64 sine = -1.0 / 39916800;
  sine = std::fma(sine, z, 1.0 / 362880);
  sine = std::fma(sine, z, -1.0 / 5040);
  sine = std::fma(sine, z, 1.0 / 120);
  sine = std::fma(sine, z, -1.0 / 6);
  sine = std::fma(sine * z, t, t);
  f64 cosine = 1.0 / 479001600;
  cosine = std::fma(cosine, z, -1.0 / 3628800);
  cosine = std::fma(cosine, z, 1.0 / 40320);
  cosine = std::fma(cosine, z, -1.0 / 720);
  cosine = std::fma(cosine, z, 1.0 / 24);
  cosine = std::fma(cosine, z, -0.5);
  cosine = std::fma(cosine, z, 1.0);
  // Which quarter of the turn: q modulo 4, in the low bits of the sum's significand.
  const u64 quadrant = std::bit_cast<u64>(q + quarter + 0x1.8p52) & 3;
  const f64 value = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? 0.0 - value : value;  // not -0, as the ISA document's examples have it: cos(0.25) = +0
}

}  // namespace hipbench::emulator
