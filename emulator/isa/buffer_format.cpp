#include "emulator/isa/buffer_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/isa/float_formats.hpp"

namespace hipbench::emulator {

namespace {

// By code. AMD names the fields from the highest bits down: 2_10_10_10 has its first component, 10 bits, at the bottom.
constexpr DataFormat kFormats[16] = {
    {},                          // invalid
    {1, 1, {8}},                 // 8
    {2, 1, {16}},                // 16
    {2, 2, {8, 8}},              // 8_8
    {4, 1, {32}},                // 32
    {4, 2, {16, 16}},            // 16_16
    {4, 3, {11, 11, 10}},        // 10_11_11
    {4, 3, {10, 11, 11}},        // 11_11_10
    {4, 4, {2, 10, 10, 10}},     // 10_10_10_2
    {4, 4, {10, 10, 10, 2}},     // 2_10_10_10
    {4, 4, {8, 8, 8, 8}},        // 8_8_8_8
    {8, 2, {32, 32}},            // 32_32
    {8, 4, {16, 16, 16, 16}},    // 16_16_16_16
    {12, 3, {32, 32, 32}},       // 32_32_32
    {16, 4, {32, 32, 32, 32}},   // 32_32_32_32
    {},                          // reserved
};

constexpr u32 low_mask(u32 bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }
constexpr i32 sign_extended(u32 value, u32 bits) { return static_cast<i32>(value << (32 - bits)) >> (32 - bits); }

// Floats of 10 and 11 bits have no sign, five exponent bits and the rest mantissa: a half cut short.
f32 small_float(u32 value, u32 bits) {
  if (bits == 32) return std::bit_cast<f32>(value);
  return f16_to_f32(static_cast<u16>(bits == 16 ? value : value << (15 - bits)));
}
u32 to_small_float(f32 value, u32 bits) {
  if (bits == 32) return std::bit_cast<u32>(value);
  if (bits == 16) return f32_to_f16(value);
  if (value <= 0) return 0;  // negative numbers have no place; NaN stays
  return u32{f32_to_f16(value, RoundMode::TowardZero)} >> (15 - bits) & low_mask(bits);
}

u32 unpack_component(u32 raw, u32 bits, NumberFormat number) {
  const i32 as_signed = sign_extended(raw, bits);
  const auto float_bits = [](f64 value) { return std::bit_cast<u32>(static_cast<f32>(value)); };
  switch (number) {
    case NumberFormat::Unorm: return float_bits(f64{static_cast<f64>(raw)} / low_mask(bits));
    case NumberFormat::Snorm:
    case NumberFormat::Reserved:
      return float_bits(std::max(f64{static_cast<f64>(as_signed)} / low_mask(bits - 1), -1.0));
    case NumberFormat::Uscaled: return float_bits(raw);
    case NumberFormat::Sscaled: return float_bits(as_signed);
    case NumberFormat::Uint: return raw;
    case NumberFormat::Sint: return static_cast<u32>(as_signed);
    case NumberFormat::Float: return std::bit_cast<u32>(small_float(raw, bits));
  }
  return 0;
}

u32 rounded(f32 value, f64 scale, f64 low, f64 high) {
  if (std::isnan(value)) return 0;
  return static_cast<u32>(static_cast<i64>(std::nearbyint(std::clamp(f64{value} * scale, low, high))));
}

u32 pack_component(u32 value, u32 bits, NumberFormat number) {
  const f32 single = std::bit_cast<f32>(value);
  const f64 most = low_mask(bits), most_signed = low_mask(bits - 1);
  switch (number) {
    case NumberFormat::Unorm: return rounded(single, most, 0, most);
    case NumberFormat::Snorm:
    case NumberFormat::Reserved: return rounded(single, most_signed, -most_signed, most_signed);
    case NumberFormat::Uscaled: return rounded(single, 1, 0, most);
    case NumberFormat::Sscaled: return rounded(single, 1, -most_signed - 1, most_signed);
    case NumberFormat::Uint: return std::min(value, low_mask(bits));
    case NumberFormat::Sint: {
      const i64 limit = low_mask(bits - 1);
      return static_cast<u32>(std::clamp<i64>(static_cast<i32>(value), -limit - 1, limit));
    }
    case NumberFormat::Float: return to_small_float(single, bits);
  }
  return 0;
}

}  // namespace

const DataFormat& data_format(u32 code) { return kFormats[code & 15]; }

std::array<u32, 4> unpack_element(const std::byte* element, const DataFormat& data, NumberFormat number) {
  const u32 one = is_integer(number) ? 1 : std::bit_cast<u32>(1.0f);
  std::array<u32, 4> components = {0, 0, 0, one};
  u64 words[2] = {};
  std::memcpy(words, element, data.bytes);
  u32 position = 0;
  for (u32 c = 0; c < data.components; ++c) {
    const u32 bits = data.bits[c];
    const u32 raw = static_cast<u32>(words[position / 64] >> position % 64) & low_mask(bits);
    components[c] = unpack_component(raw, bits, number);
    position += bits;
  }
  return components;
}

void pack_element(const std::array<u32, 4>& components, const DataFormat& data, NumberFormat number,
                  std::byte* element) {
  u64 words[2] = {};
  u32 position = 0;
  for (u32 c = 0; c < data.components; ++c) {
    const u32 bits = data.bits[c];
    words[position / 64] |= u64{pack_component(components[c], bits, number) & low_mask(bits)} << position % 64;
    position += bits;
  }
  std::memcpy(element, words, data.bytes);
}

}  // namespace hipbench::emulator
