#include "problems/number_formats.hpp"

#include <array>
#include <cstring>

namespace hipbench {
namespace {

// Rounds to nearest even at 2^-fraction_bits of the leading bit, or at 2^min_quantum_exponent where that is coarser.
double round_to_format(double value, int fraction_bits, int min_quantum_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int quantum_exponent = std::max(std::ilogb(value) - fraction_bits, min_quantum_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, -quantum_exponent)), quantum_exponent);
}

std::array<double, 256> make_e4m3fnuz_table() {
  std::array<double, 256> table{};
  for (unsigned code = 0; code < 256; ++code) {
    const int exponent = static_cast<int>(code >> 3) & 15;
    const int fraction = static_cast<int>(code) & 7;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, -10) : std::ldexp(8 + fraction, exponent - 8 - 3);
    table[code] = code & 0x80 ? -magnitude : magnitude;
  }
  table[0x80] = std::numeric_limits<double>::quiet_NaN();
  return table;
}

}  // namespace

double e4m3fnuz_to_double(uint8_t code) {
  static const std::array<double, 256> table = make_e4m3fnuz_table();
  return table[code];
}

uint8_t double_to_e4m3fnuz(double value) {
  constexpr uint8_t kNan = 0x80;
  const double magnitude = round_to_format(std::abs(value), 3, -10);
  if (!(magnitude <= 240)) return kNan;
  if (magnitude == 0) return 0;  // there is no negative zero
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  if (magnitude < std::ldexp(1.0, -7)) return static_cast<uint8_t>(sign | static_cast<int>(std::ldexp(magnitude, 10)));
  const int exponent = std::ilogb(magnitude);
  const int fraction = static_cast<int>(std::ldexp(magnitude, 3 - exponent)) - 8;
  return static_cast<uint8_t>(sign | (exponent + 8) << 3 | fraction);
}

uint16_t double_to_bf16(double value) {
  if (std::isnan(value)) return 0x7fc0;
  // First to f32 with rounding to odd, which keeps the "was inexact" information in the last bit; then to nearest even.
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const double rounded = std::bit_cast<float>(bits);
  if (rounded != value && (bits & 1) == 0) bits += std::abs(value) > std::abs(rounded) ? 1u : ~0u;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double f16_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t double_to_f16(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7e00;
  const double magnitude = round_to_format(std::abs(value), 10, -24);
  if (magnitude >= 65536) return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

double load_element(ElementType type, const std::byte* data, int64_t index) {
  const std::byte* at = data + static_cast<size_t>(index) * element_size(type);
  switch (type) {
    case ElementType::E4m3Fnuz: return e4m3fnuz_to_double(std::to_integer<uint8_t>(*at));
    case ElementType::F32: {
      float value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    case ElementType::Bf16:
    case ElementType::F16: {
      uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return type == ElementType::Bf16 ? bf16_to_float(bits) : f16_to_double(bits);
    }
  }
  return 0;
}

}  // namespace hipbench
