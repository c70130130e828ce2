#pragma once
// Typed buffer elements: how the bytes of one element become components and back. CDNA3 ISA, "Buffer resource
// descriptor": the data format says how bits are divided, the number format what they mean.

#include <array>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

enum class NumberFormat : u8 { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Reserved, Float };

struct DataFormat {
  u8 bytes = 0;  // of an element; 0: not a format
  u8 components = 0;
  std::array<u8, 4> bits = {};  // of each component, the first in the lowest bits
};
// The format of a descriptor's or instruction's 4-bit field.
const DataFormat& data_format(u32 code);

constexpr bool is_integer(NumberFormat format) { return format == NumberFormat::Uint || format == NumberFormat::Sint; }

inline constexpr u32 kMostElementBytes = 16;

// Components as register dwords: integers for Uint and Sint, otherwise f32 bits. Those that the format lacks are (0, 0,
// 0, 1).
std::array<u32, 4> unpack_element(const std::byte* element, const DataFormat& data, NumberFormat number);

// The reverse: values out of range become the nearest that fits.
void pack_element(const std::array<u32, 4>& components, const DataFormat& data, NumberFormat number,
                  std::byte* element);

}  // namespace hipbench::emulator
