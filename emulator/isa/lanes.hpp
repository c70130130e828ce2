#pragma once
// Adapters from one-line bodies to wave-wide execution. They own everything that instructions have in common: EXEC, operand
// fetch, modifiers, DPP and SDWA, rounding and denormal mode, clamp. A body that mentions any of these is in the wrong place.
//
//   {"v_add_f32", …} is written  lanes<[](f32 a, f32 b) { return a + b; }>("v_add_f32")
//
// Parameter types: u16 i16 f16 u32 i32 f32 u64 i64 f64 are sources of that type; Tied<T> is the destination read as a source
// (v_fmac); bool is a bit of a lane mask operand; Vcc is the lane's bit of VCC although it is not printed (v_div_fmas).
// Results: T writes lanes of the destination; bool writes a lane mask (inactive lanes 0); WithMask<T> writes a value and, as
// the second printed operand, a mask (carries).

#include <bit>
#include <type_traits>
#include <utility>

#include "emulator/isa/float_mode.hpp"
#include "emulator/isa/op_table.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
template <typename T>
struct Tied {
  T value;
};
struct Vcc {
  bool value;
};
template <typename T>
struct WithMask {
  T value;
  bool mask;
};

// ---- How each parameter or result type maps to registers ----

template <typename T>
struct Slot {  // one dword
  static constexpr OperandType type = std::is_same_v<T, f32> ? OperandType::F32 : OperandType::B32;
  static constexpr u32 dwords = 1;
  static constexpr bool is_float = std::is_same_v<T, f32>;
};
template <>
struct Slot<u16> { static constexpr OperandType type = OperandType::B16; static constexpr u32 dwords = 1; static constexpr bool is_float = false; };
template <>
struct Slot<i16> : Slot<u16> {};
template <>
struct Slot<f16> { static constexpr OperandType type = OperandType::F16; static constexpr u32 dwords = 1; static constexpr bool is_float = true; };
template <>
struct Slot<bf16> { static constexpr OperandType type = OperandType::Bf16; static constexpr u32 dwords = 1; static constexpr bool is_float = true; };
template <>
struct Slot<u64> { static constexpr OperandType type = OperandType::B64; static constexpr u32 dwords = 2; static constexpr bool is_float = false; };
template <>
struct Slot<i64> { static constexpr OperandType type = OperandType::I64; static constexpr u32 dwords = 2; static constexpr bool is_float = false; };
template <>
struct Slot<f64> { static constexpr OperandType type = OperandType::F64; static constexpr u32 dwords = 2; static constexpr bool is_float = true; };
template <>
struct Slot<bool> { static constexpr OperandType type = OperandType::Mask; static constexpr u32 dwords = 2; static constexpr bool is_float = false; };
template <typename T>
struct Slot<Tied<T>> : Slot<T> {};
template <>
struct Slot<Vcc> : Slot<bool> {};
template <typename T>
struct Slot<WithMask<T>> : Slot<T> {};

template <typename T>
inline constexpr bool is_tied = false;
template <typename T>
inline constexpr bool is_tied<Tied<T>> = true;
template <typename T>
inline constexpr bool is_printed_source = !is_tied<T> && !std::is_same_v<T, Vcc>;
template <typename T>
inline constexpr bool is_with_mask = false;
template <typename T>
inline constexpr bool is_with_mask<WithMask<T>> = true;

template <typename T>
T from_bits(u32 low, u32 high) {
  if constexpr (is_tied<T>) {
    return T{from_bits<decltype(T::value)>(low, high)};
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
  if constexpr (sizeof(T) == 8) return std::bit_cast<u64>(value);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<u32>(value);
  else return std::bit_cast<u16>(value);
}

// ---- Operand access shared by all rows (lanes.cpp) ----

using LaneBuffer = u32[kWaveSize];

// The value of a scalar-like operand (SGPR, constant, SCC, …), `dwords` 1 or 2. Modifiers are not applied.
u64 read_scalar(const Wave& wave, const Operand& operand, u32 dwords = 1);
void write_scalar(Wave& wave, const Operand& operand, u64 value, u32 dwords = 1);

// abs, then neg, on the dword that holds the sign.
inline void apply_sign(const u32* source, LaneBuffer& result, u32 sign, const Operand& operand) {
  const u32 keep = operand.absolute ? ~sign : ~0u, flip = operand.negate ? sign : 0u;
  for (u32 lane = 0; lane < kWaveSize; ++lane) result[lane] = (source[lane] & keep) ^ flip;
}

// The lanes of one dword of an operand: the register itself, or `buffer` filled with the splat value.
const u32* read_lanes(Wave& wave, const Operand& operand, u32 dword, LaneBuffer& buffer);

// Lane mask expanded to one dword a lane: all ones or zero.
void expand_mask(u64 mask, LaneBuffer& lanes);
u64 compress_mask(const LaneBuffer& lanes);

// Source k with all its modifiers (abs, neg, sext, SDWA select, op_sel, DPP) as bits of `type`. `dpp` applies to source 0 only;
// lanes that DPP disables are removed from `active`.
void read_general(Wave& wave, const Inst& inst, const Operand& operand, u32 source_number, OperandType type, LaneBuffer& low,
                  LaneBuffer& high, u64& active);
// Applies omod and clamp to float results, destination selects, then writes active lanes.
void write_general(Wave& wave, const Inst& inst, const Operand& operand, u32 sources, OperandType type, LaneBuffer& low,
                   LaneBuffer& high, u64 active);
// Writes the active lanes of a dword register.
void write_lanes(Wave& wave, const Operand& operand, u32 dword, const LaneBuffer& values, u64 active);

// ---- lanes<F> ----

// ClampF: the integer result when the clamp bit is set (saturation). Float results are clamped by the adapter.
template <auto F, auto ClampF, typename R, typename... A>
struct LaneRow {
  static constexpr u32 kSources = sizeof...(A);
  static constexpr u32 kPrintedSources = (u32{is_printed_source<A>} + ... + 0u);
  static constexpr bool kMaskResult = std::is_same_v<R, bool>;
  static constexpr bool kWithMask = is_with_mask<R>;
  static constexpr bool kFloat = (Slot<A>::is_float || ... || Slot<R>::is_float);
  static constexpr bool kDouble = ((Slot<A>::is_float && Slot<A>::type != OperandType::F32) || ... ||
                                   (Slot<R>::is_float && Slot<R>::type != OperandType::F32));
  static constexpr u32 kDestinations = kWithMask ? 2 : 1;

  static constexpr Op op(std::string_view name) {
    Op row;
    row.name = name;
    row.cls = InstClass::Valu;
    row.plain = &plain;
    row.general = &general;
    u8 n = 0;
    row.operands[n++] = {Slot<R>::type, true};
    if constexpr (kWithMask) row.operands[n++] = {OperandType::Mask, true};
    ((is_printed_source<A> ? void(row.operands[n++] = {Slot<A>::type, false}) : void()), ...);
    row.operand_count = n;
    return row;
  }

  // Operand index of source k in assembler order; tied and VCC sources do not count.
  static constexpr u32 operand_of(u32 source) {
    constexpr bool printed[] = {is_printed_source<A>..., false};
    constexpr bool tied[] = {is_tied<A>..., false};
    if (tied[source]) return 0;
    u32 index = kDestinations;
    for (u32 k = 0; k < source; ++k) index += printed[k];
    return index;
  }

  struct Source {
    const u32* low;
    const u32* high;
  };

  template <typename T>
  static Source fetch(Wave& wave, const Inst& inst, u32 source, LaneBuffer& low, LaneBuffer& high) {
    if constexpr (std::is_same_v<T, Vcc>) {
      expand_mask(wave.vcc(), low);
      return {low, low};
    } else if constexpr (std::is_same_v<T, bool>) {
      expand_mask(read_scalar(wave, inst.operands[operand_of(source)], 2), low);
      return {low, low};
    } else {
      const Operand& operand = inst.operands[operand_of(source)];
      Source result{};
      result.low = read_lanes(wave, operand, 0, low);
      result.high = Slot<T>::dwords == 2 ? read_lanes(wave, operand, 1, high) : result.low;
      if constexpr (Slot<T>::is_float && !is_tied<T>) {
        if (operand.negate || operand.absolute) {
          if constexpr (Slot<T>::dwords == 2) {
            apply_sign(result.high, high, 1u << 31, operand);
            result.high = high;
          } else {
            apply_sign(result.low, low, Slot<T>::type == OperandType::F32 ? 1u << 31 : 1u << 15, operand);
            result.low = low;
          }
        }
      }
      return result;
    }
  }

  template <auto Body, size_t... K>
  static auto evaluate(const Source (&source)[kSources + 1], u32 lane, std::index_sequence<K...>) {
    return Body(from_bits<A>(source[K].low[lane], source[K].high[lane])...);
  }

  template <auto Body, size_t... K>
  static void compute(Wave& wave, const Inst& inst, const Source (&source)[kSources + 1], u64 active,
                      std::index_sequence<K...> sequence) {
    if constexpr (kMaskResult) {
      LaneBuffer bits;
#pragma clang loop vectorize(assume_safety)
      for (u32 lane = 0; lane < kWaveSize; ++lane) bits[lane] = evaluate<Body>(source, lane, sequence) ? ~0u : 0u;
      write_scalar(wave, inst.operands[0], compress_mask(bits) & active, 2);
    } else {
      const Operand& destination = inst.operands[0];
      u32* low = wave.vgpr(destination.index);
      u32* high = Slot<R>::dwords == 2 ? low + kWaveSize : low;
      LaneBuffer mask_bits;
      if (active == ~u64{0}) {
        // Lanes are independent: lane l of every register is only touched by iteration l, whatever registers alias.
#pragma clang loop vectorize(assume_safety)
        for (u32 lane = 0; lane < kWaveSize; ++lane) {
          const auto result = evaluate<Body>(source, lane, sequence);
          u64 bits;
          if constexpr (kWithMask) {
            bits = to_bits(result.value);
            mask_bits[lane] = result.mask ? ~0u : 0u;
          } else {
            bits = to_bits(result);
          }
          low[lane] = static_cast<u32>(bits);
          if constexpr (Slot<R>::dwords == 2) high[lane] = static_cast<u32>(bits >> 32);
        }
      } else {
        LaneBuffer keep;
        expand_mask(active, keep);
#pragma clang loop vectorize(assume_safety)
        for (u32 lane = 0; lane < kWaveSize; ++lane) {
          const auto result = evaluate<Body>(source, lane, sequence);
          u64 bits;
          if constexpr (kWithMask) {
            bits = to_bits(result.value);
            mask_bits[lane] = result.mask ? ~0u : 0u;
          } else {
            bits = to_bits(result);
          }
          low[lane] = keep[lane] ? static_cast<u32>(bits) : low[lane];
          if constexpr (Slot<R>::dwords == 2) high[lane] = keep[lane] ? static_cast<u32>(bits >> 32) : high[lane];
        }
      }
      if constexpr (kWithMask) write_scalar(wave, inst.operands[1], compress_mask(mask_bits) & active, 2);
    }
  }

  // Out of line so that no arithmetic can move across the change of the host's floating-point state.
  template <size_t... K>
  [[gnu::noinline]] static void compute_out_of_line(Wave& wave, const Inst& inst, const Source (&source)[kSources + 1],
                                                    std::index_sequence<K...> sequence) {
    compute<F>(wave, inst, source, wave.exec(), sequence);
  }

  template <size_t... K>
  static void run_plain(Wave& wave, const Inst& inst, std::index_sequence<K...> sequence) {
    LaneBuffer low[kSources + 1], high[kSources + 1];
    const Source source[kSources + 1] = {fetch<A>(wave, inst, K, low[K], high[K])..., Source{}};
    if constexpr (kFloat) {
      if (wave.special_float_mode) [[unlikely]] {
        FloatModeGuard guard(wave.mode, kDouble ? FloatWidth::Double : FloatWidth::Single);
        compute_out_of_line(wave, inst, source, sequence);
        return;
      }
    }
    compute<F>(wave, inst, source, wave.exec(), sequence);
  }
  static void plain(Wave& wave, const Inst& inst) { run_plain(wave, inst, std::make_index_sequence<kSources>{}); }

  template <typename T>
  static Source fetch_general(Wave& wave, const Inst& inst, u32 source, LaneBuffer& low, LaneBuffer& high, u64& active) {
    if constexpr (std::is_same_v<T, Vcc> || std::is_same_v<T, bool>) {
      return fetch<T>(wave, inst, source, low, high);
    } else if constexpr (is_tied<T>) {
      u64 unused = ~u64{0};
      read_general(wave, inst, inst.operands[0], ~0u, Slot<T>::type, low, high, unused);
      return {low, high};
    } else {
      const u32 index = operand_of(source);
      read_general(wave, inst, inst.operands[index], index - kDestinations, Slot<T>::type, low, high, active);
      return {low, high};
    }
  }

  template <auto Body, size_t... K>
  [[gnu::noinline]] static void compute_general(Wave& wave, const Inst& inst, const Source (&source)[kSources + 1], u64 active,
                              std::index_sequence<K...> sequence) {
    if constexpr (kMaskResult) {
      compute<Body>(wave, inst, source, active, sequence);
    } else {
      LaneBuffer low, high, mask_bits;
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const auto result = evaluate<Body>(source, lane, sequence);
        u64 bits;
        if constexpr (kWithMask) {
          bits = to_bits(result.value);
          mask_bits[lane] = result.mask ? ~0u : 0u;
        } else {
          bits = to_bits(result);
        }
        low[lane] = static_cast<u32>(bits);
        high[lane] = static_cast<u32>(bits >> 32);
      }
      write_general(wave, inst, inst.operands[0], kPrintedSources, Slot<R>::type, low, high, active);
      if constexpr (kWithMask) write_scalar(wave, inst.operands[1], compress_mask(mask_bits) & active, 2);
    }
  }

  template <size_t... K>
  static void run_general(Wave& wave, const Inst& inst, std::index_sequence<K...> sequence) {
    LaneBuffer low[kSources + 1], high[kSources + 1];
    u64 active = wave.exec();
    const Source source[kSources + 1] = {fetch_general<A>(wave, inst, K, low[K], high[K], active)..., Source{}};
    FloatModeGuard guard(kFloat ? wave.mode : kModeDefaultFp, kDouble ? FloatWidth::Double : FloatWidth::Single);
    if (inst.mods.clamp && !Slot<R>::is_float)
      compute_general<ClampF>(wave, inst, source, active, sequence);
    else
      compute_general<F>(wave, inst, source, active, sequence);
  }
  static void general(Wave& wave, const Inst& inst) { run_general(wave, inst, std::make_index_sequence<kSources>{}); }
};

template <auto F, auto ClampF, typename C, typename R, typename... A>
LaneRow<F, ClampF, R, A...> lane_row_of(R (C::*)(A...) const);

template <auto F, auto ClampF = F>
constexpr Op lanes(std::string_view name) {
  return decltype(lane_row_of<F, ClampF>(&std::remove_cvref_t<decltype(F)>::operator()))::op(name);
}

// ---- scalar<F>: SALU rows. A WithScc result also writes SCC; Scc as a parameter reads it. ----

template <typename T>
struct WithScc {
  T value;
  bool scc;
};
struct Scc {
  bool value;
};
// A comparison: writes SCC only.
struct SccOnly {
  bool scc;
};

template <typename T>
struct Slot<WithScc<T>> : Slot<T> {};

template <auto F, typename R, typename... A>
struct ScalarRow {
  static constexpr bool kHasDestination = !std::is_same_v<R, SccOnly>;

  static constexpr Op op(std::string_view name) {
    Op row;
    row.name = name;
    row.cls = InstClass::Salu;
    row.plain = &plain;
    u8 n = 0;
    if constexpr (kHasDestination) row.operands[n++] = {Slot<R>::type, true};
    ((is_printed<A> ? void(row.operands[n++] = {type_of<A>(), false}) : void()), ...);
    row.operand_count = n;
    return row;
  }
  template <typename T>
  static constexpr bool is_printed = !std::is_same_v<T, Scc> && !is_tied<T>;
  template <typename T>
  static constexpr OperandType type_of() {
    if constexpr (std::is_same_v<T, Scc>) return OperandType::None;
    else return Slot<T>::type;
  }
  static constexpr u32 operand_of(u32 source) {
    constexpr bool printed[] = {is_printed<A>..., false};
    constexpr bool tied[] = {is_tied<A>..., false};
    if (tied[source]) return 0;
    u32 index = kHasDestination ? 1 : 0;
    for (u32 k = 0; k < source; ++k) index += printed[k];
    return index;
  }
  template <typename T>
  static T fetch(const Wave& wave, const Inst& inst, u32 source) {
    if constexpr (std::is_same_v<T, Scc>) {
      return Scc{wave.scc};
    } else {
      const u64 bits = read_scalar(wave, inst.operands[operand_of(source)], Slot<T>::dwords);
      return from_bits<T>(static_cast<u32>(bits), static_cast<u32>(bits >> 32));
    }
  }
  template <size_t... K>
  static void run(Wave& wave, const Inst& inst, std::index_sequence<K...>) {
    const R result = F(fetch<A>(wave, inst, K)...);
    if constexpr (std::is_same_v<R, SccOnly>) {
      wave.scc = result.scc;
    } else if constexpr (requires { result.scc; }) {
      write_scalar(wave, inst.operands[0], to_bits(result.value), Slot<R>::dwords);
      wave.scc = result.scc;
    } else {
      write_scalar(wave, inst.operands[0], to_bits(result), Slot<R>::dwords);
    }
  }
  static void plain(Wave& wave, const Inst& inst) { run(wave, inst, std::index_sequence_for<A...>{}); }
};

template <auto F, typename C, typename R, typename... A>
ScalarRow<F, R, A...> scalar_row_of(R (C::*)(A...) const);

template <auto F>
constexpr Op scalar(std::string_view name) {
  return decltype(scalar_row_of<F>(&std::remove_cvref_t<decltype(F)>::operator()))::op(name);
}

// ---- A row that does not fit an adapter: a named function and its operand types. ----

template <typename... Specs>
constexpr Op custom(std::string_view name, InstClass cls, Execute function, Specs... specs) {
  Op row;
  row.name = name;
  row.cls = cls;
  row.plain = function;
  row.general = function;
  u8 n = 0;
  ((row.operands[n++] = OperandSpec{specs, false}), ...);
  row.operand_count = n;
  return row;
}
// As many operands as the text has, each a register tuple, an SGPR tuple, a 32-bit constant or "off".
constexpr Op custom_wide(std::string_view name, InstClass cls, Execute function, u32 detail = 0) {
  Op row;
  row.name = name;
  row.cls = cls;
  row.plain = function;
  row.general = function;
  row.operand_count = 0xff;
  row.detail = detail;
  return row;
}

}  // namespace hipbench::emulator
