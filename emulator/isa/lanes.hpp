#pragma once
// Adapters from one-line bodies to wave-wide execution. They own everything that instructions have in common: EXEC,
// operand fetch, modifiers, DPP and SDWA, rounding and denormal mode, clamp. A body that mentions any of these is in
// the wrong place.
//
//   {"v_add_f32", …} is written  lanes<[](f32 a, f32 b) { return a + b; }>("v_add_f32")
//
// Parameter types: u16 i16 f16 u32 i32 f32 any32 u64 i64 f64 are sources of that type; Tied<T> is the destination read
// as a source (v_fmac); bool is a bit of a lane mask operand; Vcc is the lane's bit of VCC although it is not printed
// (v_div_fmas); Mode and Lane are the MODE register and the lane's number. Results: T writes lanes of the destination;
// bool writes a lane mask (inactive lanes 0); WithMask<T> writes a value and, as the second printed operand, a mask
// (carries); Keep<T> is a 16-bit result that keeps the other half of the register.
//
// NaN payloads are the host's: x86 propagates the first NaN operand made quiet, and an invalid operation gives
// 0xffc00000.

#include <utility>

#include "emulator/isa/float_mode.hpp"
#include "emulator/isa/slots.hpp"

namespace hipbench::emulator {

// ---- Operand access shared by all rows (lanes.cpp) ----

using LaneBuffer = u32[kWaveSize];

// One source as arrays of 64 dwords: registers, or buffers of the adapter.
struct LaneSource {
  const u32* low;
  const u32* high;
};

// The value of a scalar-like operand (SGPR, constant, SCC, …), `dwords` 1 or 2. Modifiers are not applied.
u64 read_special(const Wave& wave, const Operand& operand);
inline u64 read_scalar(const Wave& wave, const Operand& operand, u32 dwords = 1) {
  if (operand.kind == OperandKind::Scalar) [[likely]]
    return dwords == 2 ? wave.scalar64(operand.index) : wave.sgprs[operand.index];
  return operand.kind == OperandKind::Constant ? operand.constant : read_special(wave, operand);
}
void write_scalar(Wave& wave, const Operand& operand, u64 value, u32 dwords = 1);

// abs, then neg, on the dword that holds the sign.
inline void apply_sign(const u32* source, LaneBuffer& result, u32 sign, const Operand& operand) {
  const u32 keep = operand.absolute ? ~sign : ~0u, flip = operand.negate ? sign : 0u;
  for (u32 lane = 0; lane < kWaveSize; ++lane) result[lane] = (source[lane] & keep) ^ flip;
}

// The lanes of one dword of an operand: the register itself, or `buffer` filled with the splat value.
const u32* splat_lanes(Wave& wave, const Operand& operand, u32 dword, LaneBuffer& buffer);
inline const u32* read_lanes(Wave& wave, const Operand& operand, u32 dword, LaneBuffer& buffer) {
  if (operand.is_vgpr()) [[likely]] return wave.vgpr(operand.index + dword);
  return splat_lanes(wave, operand, dword, buffer);
}

// The register that a row writes. Throws GuestFault when the operand is none.
[[noreturn]] void fault_no_destination();
inline u32* destination_register(Wave& wave, const Operand& operand) {
  if (!operand.is_vgpr()) [[unlikely]] fault_no_destination();
  return wave.vgpr(operand.index);
}

// Lane mask expanded to one dword a lane: all ones or zero.
void expand_mask(u64 mask, LaneBuffer& lanes);
// The sign bits of the dwords.
u64 compress_mask(const LaneBuffer& lanes);

// Source k with all its modifiers (abs, neg, sext, SDWA select, op_sel, DPP) as bits of `type`. DPP applies to source 0
// only; lanes that it disables are removed from `active`.
LaneSource read_general(Wave& wave, const Inst& inst, const Operand& operand, u32 source_number, OperandType type,
                        LaneBuffer& low, LaneBuffer& high, u64& active);
// Applies omod and clamp to float results, destination selects, then writes active lanes. `keep_half`: a 16-bit result
// leaves the other half alone even without op_sel.
void write_general(Wave& wave, const Inst& inst, const Operand& operand, u32 sources, OperandType type, bool keep_half,
                   LaneBuffer& low, LaneBuffer& high, u64 active);
// Writes the active lanes of a dword register.
void write_lanes(Wave& wave, const Operand& operand, u32 dword, const LaneBuffer& values, u64 active);
// Clamp and omod of one f32 result, for rows that write through their own code.
f32 clamp_single(f32 value, u32 mode);

// ---- lanes<F> ----

// ClampF: the integer result when the clamp bit is set (saturation). Float results are clamped by the adapter.
template <auto F, auto ClampF, typename R, typename... A>
struct LaneRow {
  static constexpr u32 kSources = sizeof...(A);
  static constexpr u32 kPrintedSources = (u32{is_printed_source<A>} + ... + 0u);
  static constexpr bool kMaskResult = std::is_same_v<R, bool>;
  static constexpr bool kWithMask = is_with_mask<R>;
  // Rows that depend on MODE's rounding and denormal fields; those with f32 or f64 compute under the host's equivalent.
  static constexpr bool kFloat = (Slot<A>::is_float || ... || Slot<R>::is_float);
  static constexpr bool kHostFloat = kFloat && ((Slot<A>::is_float && Slot<A>::type != OperandType::F16) || ... ||
                                                (Slot<R>::is_float && Slot<R>::type != OperandType::F16));
  static constexpr u32 kDestinations = kWithMask ? 2 : 1;

  static constexpr FloatWidth width_of(OperandType type) {
    return type == OperandType::F32 ? FloatWidth::Single : FloatWidth::Double;
  }
  static constexpr FloatWidth kInputWidth = [] {
    FloatWidth width = width_of(Slot<R>::type);
    bool found = false;
    ((Slot<A>::is_float && !found ? void((width = width_of(Slot<A>::type), found = true)) : void()), ...);
    return width;
  }();
  static constexpr FloatWidth kOutputWidth = Slot<R>::is_float ? width_of(Slot<R>::type) : kInputWidth;

  static constexpr Op op(std::string_view name) {
    Op row;
    row.name = name;
    row.cls = InstClass::Valu;
#if defined(__AVX2__)
    row.plain = &plain;
#else
    row.plain = &general;  // older processors are served rightly, not fast: half the code to compile
#endif
    row.general = &general;
    u8 n = 0;
    row.operands[n++] = {Slot<R>::type, true};
    if constexpr (kWithMask) row.operands[n++] = {OperandType::Mask, true};
    ((is_printed_source<A> ? void(row.operands[n++] = {Slot<A>::type, false}) : void()), ...);
    row.operand_count = n;
    return row;
  }

  // Operand index of source k in assembler order; sources that are not printed do not count.
  static constexpr u32 operand_of(u32 source) {
    constexpr bool printed[] = {is_printed_source<A>..., false};
    constexpr bool tied[] = {is_tied<A>..., false};
    if (tied[source]) return 0;
    u32 index = kDestinations;
    for (u32 k = 0; k < source; ++k) index += printed[k];
    return index;
  }

  template <typename T>
  static LaneSource fetch(Wave& wave, const Inst& inst, u32 source, LaneBuffer& low, LaneBuffer& high) {
    if constexpr (is_context<T>) {
      return {};
    } else if constexpr (std::is_same_v<T, Vcc>) {
      expand_mask(wave.vcc(), low);
      return {low, low};
    } else if constexpr (std::is_same_v<T, bool>) {
      expand_mask(read_scalar(wave, inst.operands[operand_of(source)], 2), low);
      return {low, low};
    } else {
      const Operand& operand = inst.operands[operand_of(source)];
      LaneSource result{};
      result.low = read_lanes(wave, operand, 0, low);
      result.high = Slot<T>::dwords == 2 ? read_lanes(wave, operand, 1, high) : result.low;
      if constexpr (Slot<T>::has_sign && !is_tied<T>) {
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

  // Slow: MODE may be anything. Otherwise its rounding and denormal fields are the default ones, which the compiler
  // sees.
  template <bool Slow, typename T>
  [[gnu::always_inline]] static T source_value(const LaneSource& source, u32 lane, u32 mode, const Flush& flush) {
    if constexpr (std::is_same_v<T, Mode>) {
      return Mode{Slow ? mode : (mode & ~0xffu) | kModeDefaultFp, !Slow};
    } else if constexpr (std::is_same_v<T, Lane>) {
      return Lane{lane};
    } else {
      const T value = from_bits<T>(source.low[lane], source.high[lane]);
      if constexpr (Slow && Slot<T>::is_float) return flush.input(value);
      else return value;
    }
  }
  template <auto Body, bool Slow, size_t... K>
  [[gnu::always_inline]] static auto evaluate(const LaneSource (&source)[kSources + 1], u32 lane, u32 mode,
                                              const Flush& flush, std::index_sequence<K...>) {
    // A body that is not inlined keeps the loop from being vectorised.
    [[clang::always_inline]] return Body(source_value<Slow, A>(source[K], lane, mode, flush)...);
  }
  // MODE.FP16_OVFL: an f16 result that overflows is the largest number instead; true infinities stay.
  static constexpr bool kHalfResult = Slot<R>::is_float && Slot<R>::type == OperandType::F16;
  static bool saturates_half(u32 mode) { return kHalfResult && (mode & kModeFp16Overflow) != 0; }
  template <typename T>
  static bool has_infinity(const LaneSource& source, u32 lane) {
    if constexpr (is_context<T> || !Slot<T>::is_float) return false;
    else if constexpr (Slot<T>::type == OperandType::F32) return (source.low[lane] & 0x7fffffff) == 0x7f800000;
    else if constexpr (Slot<T>::dwords == 1)
      return (source.low[lane] & 0x7fff) == 0x7c00 || (kPrintedSources == 1 && (source.low[lane] & 0x7fff) == 0);
    else return false;
  }
  template <size_t... K>
  static u32 saturate_half(u32 result, const LaneSource (&source)[kSources + 1], u32 lane, std::index_sequence<K...>) {
    const bool infinite = (has_infinity<A>(source[K], lane) || ...);
    return (result & 0x7fff) == 0x7c00 && !infinite ? result - 1 : result;
  }
  template <typename Result>
  static bool mask_of(const Result& result) {
    if constexpr (kMaskResult) return result;
    else if constexpr (kWithMask) return result.mask;
    else return false;
  }
  template <typename Result>
  static u64 bits_of(const Result& result) {
    if constexpr (kWithMask || is_keep<R>) return to_bits(result.value);
    else return to_bits(result);
  }
  static void write_mask(Wave& wave, const Operand& destination, const LaneBuffer& bits, u64 active) {
    write_scalar(wave, destination, compress_mask(bits) & active, 2);
  }

  // By logic, not by a choice, which the compiler would turn into slow masked stores.
  template <bool Partial>
  static u32 blend(u32 old, u32 value, u32 keep) { return Partial ? old ^ ((old ^ value) & keep) : value; }

  template <bool Partial, size_t... K>
  static void compute(Wave& wave, const Inst& inst, const LaneSource (&source)[kSources + 1], u64 active,
                      std::index_sequence<K...> sequence) {
    const u32 mode = wave.mode;
    constexpr Flush kNoFlush{};
    LaneBuffer mask_bits;
    if constexpr (kMaskResult) {
#pragma clang loop vectorize(assume_safety)
      for (u32 lane = 0; lane < kWaveSize; ++lane)
        mask_bits[lane] = mask_of(evaluate<F, false>(source, lane, mode, kNoFlush, sequence)) ? ~0u : 0u;
      write_mask(wave, inst.operands[0], mask_bits, active);
    } else {
      u32* low = destination_register(wave, inst.operands[0]);
      u32* high = Slot<R>::dwords == 2 ? low + kWaveSize : low;
      LaneBuffer keep;
      if constexpr (Partial) expand_mask(active, keep);
      // Lanes are independent: lane l of every register is only touched by iteration l, whatever registers alias.
#pragma clang loop vectorize(assume_safety)
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const auto result = evaluate<F, false>(source, lane, mode, kNoFlush, sequence);
        u64 bits = bits_of(result);
        if constexpr (kWithMask) mask_bits[lane] = mask_of(result) ? ~0u : 0u;
        if constexpr (is_keep<R>) bits |= low[lane] & 0xffff0000;
        low[lane] = blend<Partial>(low[lane], static_cast<u32>(bits), Partial ? keep[lane] : 0u);
        if constexpr (Slot<R>::dwords == 2)
          high[lane] = blend<Partial>(high[lane], static_cast<u32>(bits >> 32), Partial ? keep[lane] : 0u);
      }
      if constexpr (kWithMask) write_mask(wave, inst.operands[1], mask_bits, active);
    }
  }

  template <size_t... K>
  static void run_plain(Wave& wave, const Inst& inst, std::index_sequence<K...> sequence) {
    if constexpr (kFloat)
      if (wave.special_float_mode || saturates_half(wave.mode)) [[unlikely]] return general(wave, inst);
    LaneBuffer low[kSources + 1], high[kSources + 1];
    const LaneSource source[kSources + 1] = {fetch<A>(wave, inst, K, low[K], high[K])..., LaneSource{}};
    const u64 active = wave.exec();
    if (kMaskResult || active == ~u64{0})
      compute<false>(wave, inst, source, active, sequence);
    else
      compute<true>(wave, inst, source, active, sequence);
  }
  static void plain(Wave& wave, const Inst& inst) { run_plain(wave, inst, std::make_index_sequence<kSources>{}); }

  // ---- The general path: any modifier, any MODE ----

  template <typename T>
  static LaneSource fetch_general(Wave& wave, const Inst& inst, u32 source, LaneBuffer& low, LaneBuffer& high,
                                  u64& active) {
    if constexpr (std::is_same_v<T, Vcc> || std::is_same_v<T, bool> || is_context<T>) {
      return fetch<T>(wave, inst, source, low, high);
    } else if constexpr (is_tied<T>) {
      u64 unused = ~u64{0};
      return read_general(wave, inst, inst.operands[0], ~0u, Slot<T>::type, low, high, unused);
    } else {
      const u32 index = operand_of(source);
      return read_general(wave, inst, inst.operands[index], index - kDestinations, Slot<T>::type, low, high, active);
    }
  }

  // Out of line so that no arithmetic can move across the change of the host's floating-point state.
  template <auto Body, size_t... K>
  [[gnu::noinline]] static void compute_general(Wave& wave, const LaneSource (&source)[kSources + 1], LaneBuffer& low,
                                                LaneBuffer& high, LaneBuffer& mask_bits,
                                                std::index_sequence<K...> sequence) {
    const u32 mode = wave.mode;
    const Flush flush = Flush::of(mode);
#pragma clang loop vectorize(assume_safety)
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const auto result = evaluate<Body, true>(source, lane, mode, flush, sequence);
      if constexpr (kMaskResult || kWithMask) mask_bits[lane] = mask_of(result) ? ~0u : 0u;
      if constexpr (!kMaskResult) {
        u64 bits = bits_of(result);
        if constexpr (kHalfResult) {
          bits = flush.half_out ? flush_half(static_cast<u16>(bits)) : bits;
          if (saturates_half(mode)) bits = saturate_half(static_cast<u32>(bits), source, lane, sequence);
        }
        low[lane] = static_cast<u32>(bits);
        if constexpr (Slot<R>::dwords == 2) high[lane] = static_cast<u32>(bits >> 32);
      }
    }
  }

  template <size_t... K>
  static void run_general(Wave& wave, const Inst& inst, std::index_sequence<K...> sequence) {
    LaneBuffer low[kSources + 1], high[kSources + 1], mask_bits;
    u64 active = wave.exec();
    const LaneSource source[kSources + 1] = {fetch_general<A>(wave, inst, K, low[K], high[K], active)..., LaneSource{}};
    LaneBuffer result_low, result_high;
    {
      const FloatModeGuard guard(kHostFloat ? wave.mode : kModeDefaultFp, kInputWidth, kOutputWidth);
      if (inst.mods.clamp && !Slot<R>::is_float)
        compute_general<ClampF>(wave, source, result_low, result_high, mask_bits, sequence);
      else
        compute_general<F>(wave, source, result_low, result_high, mask_bits, sequence);
    }
    if constexpr (kMaskResult) {
      write_mask(wave, inst.operands[0], mask_bits, active);
    } else {
      write_general(wave, inst, inst.operands[0], kPrintedSources, Slot<R>::type, is_keep<R>, result_low, result_high,
                    active);
      if constexpr (kWithMask) write_mask(wave, inst.operands[1], mask_bits, active);
    }
  }
  [[gnu::noinline]] static void general(Wave& wave, const Inst& inst) {
    run_general(wave, inst, std::make_index_sequence<kSources>{});
  }
};

template <auto F, auto ClampF, typename C, typename R, typename... A>
LaneRow<F, ClampF, R, A...> lane_row_of(R (C::*)(A...) const);

// The adapter itself, for rows that choose between it and something faster.
template <auto F, auto ClampF = F>
using LaneRowOf = decltype(lane_row_of<F, ClampF>(&std::remove_cvref_t<decltype(F)>::operator()));

template <auto F, auto ClampF = F>
constexpr Op lanes(std::string_view name) {
  return LaneRowOf<F, ClampF>::op(name);
}
// The same with a hand-written fast path for operands without modifiers.
template <auto F, auto ClampF = F>
constexpr Op lanes_with_plain(std::string_view name, Execute fast) {
  Op row = LaneRowOf<F, ClampF>::op(name);
  row.plain = fast;
  return row;
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
