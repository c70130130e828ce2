#pragma once
// The narrow float formats of the problems, as the oracle understands them. Deliberately independent of the emulator's
// conversions: two writings of the same rules that the tests hold against each other.
//
//   e4m3fnuz  s eeee mmm   bias 8, no infinity, no -0; the code of -0 (0x80) is the one NaN; largest 240, smallest
//   2^-10 bf16      upper half of an f32 f16       IEEE binary16

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace hipbench {

enum class ElementType { E4m3Fnuz, Bf16, F16, F32 };

constexpr size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::E4m3Fnuz: return 1;
    case ElementType::Bf16: return 2;
    case ElementType::F16: return 2;
    case ElementType::F32: return 4;
  }
  return 0;
}

constexpr std::string_view element_name(ElementType type) {
  switch (type) {
    case ElementType::E4m3Fnuz: return "e4m3fnuz";
    case ElementType::Bf16: return "bf16";
    case ElementType::F16: return "f16";
    case ElementType::F32: return "f32";
  }
  return "";
}

double e4m3fnuz_to_double(uint8_t code);
// Round to nearest even; beyond the largest finite value (after rounding) and NaN give NaN, as torch converts.
uint8_t double_to_e4m3fnuz(double value);

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
// Round to nearest even straight from double, without the double rounding that a detour over f32 brings.
uint16_t double_to_bf16(double value);

double f16_to_double(uint16_t bits);
uint16_t double_to_f16(double value);

// Element `index` of an array of the type.
double load_element(ElementType type, const std::byte* data, int64_t index);

}  // namespace hipbench
