#pragma once
// What the v_dot* instructions of gfx942 compute in one lane, on whole registers. The v_dot*c forms are the same with
// the destination as c. Modifiers (neg, op_sel) are applied by the caller. Integer forms are exact; `clamp` saturates
// the 32-bit result that otherwise wraps.

#include <bit>
#include <limits>

#include "emulator/isa/float_formats.hpp"

namespace hipbench::emulator {

namespace dot_detail {

// Element `at` of a register of elements of Bits bits.
template <int Bits>
constexpr i64 signed_element(u32 word, int at) {
  return static_cast<i32>(word << (32 - Bits - at * Bits)) >> (32 - Bits);
}
template <int Bits>
constexpr i64 unsigned_element(u32 word, int at) {
  return word >> (at * Bits) & ((1u << Bits) - 1);
}

template <int Bits>
constexpr u32 signed_dot(u32 a, u32 b, u32 c, bool clamp) {
  i64 sum = static_cast<i32>(c);
  for (int at = 0; at < 32 / Bits; ++at) sum += signed_element<Bits>(a, at) * signed_element<Bits>(b, at);
  constexpr i64 kLeast = std::numeric_limits<i32>::min(), kGreatest = std::numeric_limits<i32>::max();
  const i64 saturated = sum < kLeast ? kLeast : (sum > kGreatest ? kGreatest : sum);
  return static_cast<u32>(clamp ? saturated : sum);
}

template <int Bits>
constexpr u32 unsigned_dot(u32 a, u32 b, u32 c, bool clamp) {
  i64 sum = c;
  for (int at = 0; at < 32 / Bits; ++at) sum += unsigned_element<Bits>(a, at) * unsigned_element<Bits>(b, at);
  constexpr i64 kGreatest = std::numeric_limits<u32>::max();
  return static_cast<u32>(clamp && sum > kGreatest ? kGreatest : sum);
}

}  // namespace dot_detail

constexpr u32 dot2_i32_i16(u32 a, u32 b, u32 c, bool clamp = false) {
  return dot_detail::signed_dot<16>(a, b, c, clamp);
}
constexpr u32 dot2_u32_u16(u32 a, u32 b, u32 c, bool clamp = false) {
  return dot_detail::unsigned_dot<16>(a, b, c, clamp);
}
constexpr u32 dot4_i32_i8(u32 a, u32 b, u32 c, bool clamp = false) { return dot_detail::signed_dot<8>(a, b, c, clamp); }
constexpr u32 dot4_u32_u8(u32 a, u32 b, u32 c, bool clamp = false) {
  return dot_detail::unsigned_dot<8>(a, b, c, clamp);
}
constexpr u32 dot8_i32_i4(u32 a, u32 b, u32 c, bool clamp = false) { return dot_detail::signed_dot<4>(a, b, c, clamp); }
constexpr u32 dot8_u32_u4(u32 a, u32 b, u32 c, bool clamp = false) {
  return dot_detail::unsigned_dot<4>(a, b, c, clamp);
}

// Order and rounding are not documented: taken as two fused multiply-adds, the low half first. A product of two f16 is
// exact in f32, so that each step rounds once.
inline f32 dot2_f32_f16(u32 a, u32 b, f32 c) {
  const auto low = [](u32 word) { return f16_to_f32(static_cast<u16>(word)); };
  const auto high = [](u32 word) { return f16_to_f32(static_cast<u16>(word >> 16)); };
  return high(a) * high(b) + (low(a) * low(b) + c);
}

}  // namespace hipbench::emulator
