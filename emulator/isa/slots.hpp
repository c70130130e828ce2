#pragma once
// The types that instruction bodies are written in, and how each maps to registers. See isa/lanes.hpp.

#include <bit>
#include <type_traits>

#include "emulator/isa/float_formats.hpp"
#include "emulator/isa/op_table.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

// ---- Sources and results ----

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
// 32 bits that are moved, not computed with: abs and neg apply, denormals and signalling NaNs stay.
struct any32 {
  u32 bits;
};
// 64 bits in two halves, for bodies whose loops vectorise better so.
struct pair64 {
  u32 low, high;
};
// The destination register read as a source.
template <typename T>
struct Tied {
  T value;
};
// The lane's bit of VCC although it is not printed.
struct Vcc {
  bool value;
};
// A value and, in the second printed operand, a lane mask.
template <typename T>
struct WithMask {
  T value;
  bool mask;
};
// A 16-bit result that leaves the other half of the register alone (the gfx9 forms of mad, fma, med3, …).
template <typename T>
struct Keep {
  T value;
};
// The lane's number.
struct Lane {
  u32 index;
};
// The MODE register. On the fast path the rounding and denormal fields are known to be the default ones.
struct Mode {
  u32 bits;
  bool fast = false;  // a constant of the path
  RoundMode half_rounding() const { return static_cast<RoundMode>(bits >> kModeRoundDouble & 3); }
  bool ieee() const { return (bits & kModeIeee) != 0; }
  Fp8Overflow fp8_overflow() const {
    return (bits & kModeFp16Overflow) != 0 ? Fp8Overflow::Saturate : Fp8Overflow::Nan;
  }
};

// ---- Registers of each type. `is_float`: MODE's denormal and rounding fields matter; `has_sign`: abs and neg apply
// ----

template <OperandType Type, u32 Dwords, bool IsFloat, bool HasSign = IsFloat>
struct SlotOf {
  static constexpr OperandType type = Type;
  static constexpr u32 dwords = Dwords;
  static constexpr bool is_float = IsFloat;
  static constexpr bool has_sign = HasSign;
};
template <typename T>
struct Slot : SlotOf<OperandType::B32, 1, false> {};
template <>
struct Slot<f32> : SlotOf<OperandType::F32, 1, true> {};
template <>
struct Slot<any32> : SlotOf<OperandType::F32, 1, false, true> {};
template <>
struct Slot<u16> : SlotOf<OperandType::B16, 1, false> {};
template <>
struct Slot<i16> : Slot<u16> {};
template <>
struct Slot<f16> : SlotOf<OperandType::F16, 1, true> {};
template <>
struct Slot<bf16> : SlotOf<OperandType::Bf16, 1, true> {};
template <>
struct Slot<u64> : SlotOf<OperandType::B64, 2, false> {};
template <>
struct Slot<i64> : SlotOf<OperandType::I64, 2, false> {};
template <>
struct Slot<pair64> : Slot<u64> {};
template <>
struct Slot<f64> : SlotOf<OperandType::F64, 2, true> {};
template <>
struct Slot<bool> : SlotOf<OperandType::Mask, 2, false> {};
template <typename T>
struct Slot<Tied<T>> : Slot<T> {};
template <>
struct Slot<Vcc> : Slot<bool> {};
template <typename T>
struct Slot<WithMask<T>> : Slot<T> {};
template <typename T>
struct Slot<Keep<T>> : Slot<T> {};

template <typename T>
inline constexpr bool is_tied = false;
template <typename T>
inline constexpr bool is_tied<Tied<T>> = true;
template <typename T>
inline constexpr bool is_context = std::is_same_v<T, Mode> || std::is_same_v<T, Lane>;  // not an operand at all
template <typename T>
inline constexpr bool is_printed_source = !is_tied<T> && !std::is_same_v<T, Vcc> && !is_context<T>;
template <typename T>
inline constexpr bool is_with_mask = false;
template <typename T>
inline constexpr bool is_with_mask<WithMask<T>> = true;
template <typename T>
inline constexpr bool is_keep = false;
template <typename T>
inline constexpr bool is_keep<Keep<T>> = true;

constexpr bool is_two_dwords(OperandType type) {
  return type == OperandType::B64 || type == OperandType::I64 || type == OperandType::F64;
}
constexpr bool is_half(OperandType type) {
  return type == OperandType::B16 || type == OperandType::F16 || type == OperandType::Bf16;
}

template <typename T>
T from_bits(u32 low, u32 high) {
  if constexpr (is_tied<T>) {
    return T{from_bits<decltype(T::value)>(low, high)};
  } else if constexpr (std::is_same_v<T, pair64>) {
    return {low, high};
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(u64{low} | u64{high} << 32);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(low);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<u16>(low));
  } else {
    static_assert(sizeof(T) == 1);
    return T{low != 0};
  }
}
template <typename T>
u64 to_bits(T value) {
  if constexpr (std::is_same_v<T, pair64>) return u64{value.low} | u64{value.high} << 32;
  else if constexpr (sizeof(T) == 8) return std::bit_cast<u64>(value);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<u32>(value);
  else return std::bit_cast<u16>(value);
}

// ---- Denormal flushing by the bits ----

constexpr u32 flush_single(u32 bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }
constexpr u16 flush_half(u16 bits) { return static_cast<u16>((bits & 0x7c00) == 0 ? bits & 0x8000 : bits); }
constexpr u64 flush_double(u64 bits) {
  return (bits & 0x7ff0000000000000) == 0 ? bits & 0x8000000000000000 : bits;
}

// Which denormals MODE flushes. Field bit 0: inputs kept; bit 1: outputs kept.
struct Flush {
  bool single_in, half_in, half_out;
  static Flush of(u32 mode) {
    const u32 single = mode >> kModeDenormSingle & 3, twice = mode >> kModeDenormDouble & 3;
    return {(single & 1) == 0, (twice & 1) == 0, (twice & 2) == 0};
  }
  template <typename T>
  T input(T value) const {
    if constexpr (is_tied<T>) return T{input(value.value)};
    else if constexpr (std::is_same_v<T, f32>)
      return single_in ? std::bit_cast<f32>(flush_single(std::bit_cast<u32>(value))) : value;
    else if constexpr (std::is_same_v<T, f64>)
      return half_in ? std::bit_cast<f64>(flush_double(std::bit_cast<u64>(value))) : value;
    else if constexpr (std::is_same_v<T, f16>) return half_in ? f16{flush_half(value.bits)} : value;
    else return value;
  }
};

}  // namespace hipbench::emulator
