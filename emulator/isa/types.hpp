#pragma once
// The scalar types that instruction bodies are written in. A body's parameter types are its operand specification.

#include <cstddef>
#include <cstdint>

namespace hipbench::emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

inline constexpr u32 kWaveSize = 64;  // lanes a wave; gfx942 has wave64 only

struct Dim3 {
  u32 x = 1, y = 1, z = 1;
  u64 count() const { return u64{x} * y * z; }
};

}  // namespace hipbench::emulator
