// Vector ALU: conversions between number formats. Conversions to integers saturate and make NaN 0; to FP8 they follow
// MODE.FP16_OVFL (isa/float_formats.hpp).

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

// ---- Floats to integers ----

i32 to_i32(f32 value) {
  const bool high = value >= 0x1p31f, low = value < -0x1p31f;
  const f32 inside = (high || low || value != value) ? 0.0f : value;
  const i32 result = static_cast<i32>(inside);
  return high ? INT32_MAX : (low ? INT32_MIN : result);
}
u32 to_u32(f32 value) {
  const bool too_high = value >= 0x1p32f, upper = value >= 0x1p31f;
  const f32 shifted = upper ? value - 0x1p31f : value;
  const f32 inside = (too_high || !(value > 0)) ? 0.0f : shifted;
  const u32 result = static_cast<u32>(static_cast<i32>(inside)) + (upper ? 0x80000000 : 0u);
  return too_high ? ~0u : result;
}
i32 to_i32(f64 value) {
  f64 limited = value > -0x1p31 ? value : -0x1p31;
  limited = limited < 0x1p31 - 1 ? limited : 0x1p31 - 1;
  return static_cast<i32>(value != value ? 0.0 : limited);
}
u32 to_u32(f64 value) {
  f64 limited = value > 0 ? value : 0.0;
  limited = limited < 0x1p32 - 1 ? limited : 0x1p32 - 1;
  return static_cast<u32>(static_cast<u64>(static_cast<i64>(limited)));
}
i16 to_i16(f32 value) { return static_cast<i16>(std::min(std::max(to_i32(value), -0x8000), 0x7fff)); }
u16 to_u16(f32 value) { return static_cast<u16>(std::min(std::max(to_i32(value), 0), 0xffff)); }
// Rounded as MODE says, limited to a byte.
u32 to_byte(f32 value) { return static_cast<u32>(std::min(std::max(to_i32(std::nearbyint(value)), 0), 255)); }

// Normalised integers: [-1, 1] or [0, 1] scaled to the whole range, rounded to nearest even.
i16 to_snorm(f32 value) {
  const f64 limited = std::min(std::max(f64{value}, -1.0), 1.0);
  return static_cast<i16>(value != value ? 0.0 : round_even(limited * 32767.0));
}
u16 to_unorm(f32 value) {
  const f64 limited = std::min(std::max(f64{value}, 0.0), 1.0);
  return static_cast<u16>(static_cast<i32>(value != value ? 0.0 : round_even(limited * 65535.0)));
}
template <typename T>
u32 pack(T low, T high) { return u32{static_cast<u16>(low)} | u32{static_cast<u16>(high)} << 16; }

u32 insert_byte(u32 word, u32 index, u32 byte) {
  const u32 shift = 8 * (index & 3);
  return (word & ~(0xffu << shift)) | byte << shift;
}

// ---- FP8 to f32: the byte or word is picked by the SDWA source select, which is therefore not worth the general path
// ----

enum class Fp8 : u8 { E4m3, E5m2 };

template <Fp8 Format>
[[gnu::always_inline]] inline u32 widen_fp8(u32 code) {
  // Normal numbers move the exponent and fraction and change the bias; denormals are what is left of 2^k (1 + m) - 2^k.
  constexpr u32 kFractionBits = Format == Fp8::E4m3 ? 3 : 2, kBias = Format == Fp8::E4m3 ? 8 : 16;
  constexpr u32 kShift = 23 - kFractionBits;
  constexpr f32 kOne = std::bit_cast<f32>((128u - kBias) << 23);
  const u32 placed = (code & 0x7f) << kShift;
  const u32 normal = placed + ((127u - kBias) << 23);
  const u32 denormal = std::bit_cast<u32>(std::bit_cast<f32>(placed + ((128u - kBias) << 23)) - kOne);
  const u32 value = placed < 1u << 23 ? denormal : normal;
  return (code & 0xff) == kFnuzNan ? 0x7fc00000u : value | (code & 0x80) << 24;
}

// The same, faster, for MODEs that leave the host's denormals alone. The code's sign goes to the top and the rest to
// where f32 has its exponent's and fraction's end. Seen as an f32 that is the value times a power of two, denormal
// codes included.
template <Fp8 Format>
[[gnu::always_inline]] inline u32 widen_fp8_by_scaling(u32 code_on_top) {
  constexpr u32 kFractionBits = Format == Fp8::E4m3 ? 3 : 2, kBias = Format == Fp8::E4m3 ? 8 : 16;
  constexpr f32 kScale = std::bit_cast<f32>((127u + 127u - kBias) << 23);
  const u32 code = code_on_top & 0xff000000;
  const u32 placed =
      static_cast<u32>(static_cast<i32>(code) >> (1 + kFractionBits)) & (0x80000000 | 0x7fu << (23 - kFractionBits));
  const u32 value = std::bit_cast<u32>(std::bit_cast<f32>(placed) * kScale);
  return code == u32{kFnuzNan} << 24 ? 0x7fc00000u : value;
}

template <Fp8 Format>
[[gnu::noinline]] void convert_fp8(Wave& wave, const Inst& inst, u32 shift) {
  LaneBuffer splat, result;
  const u32* source = read_lanes(wave, inst.operands[1], 0, splat);
  u32* destination = destination_register(wave, inst.operands[0]);
  const u64 active = wave.exec();
  u32* target = active == ~u64{0} ? destination : result;
#pragma clang loop vectorize(assume_safety)
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    target[lane] = widen_fp8_by_scaling<Format>(source[lane] << (24 - shift));
  if (target == result) write_lanes(wave, inst.operands[0], 0, result, active);
}
template <Fp8 Format>
void convert_fp8_pair(Wave& wave, const Inst& inst, u32 shift) {
  LaneBuffer splat, result[2];
  const u32* source = read_lanes(wave, inst.operands[1], 0, splat);
  u32* destination = destination_register(wave, inst.operands[0]);
  const u64 active = wave.exec();
  u32* target = active == ~u64{0} ? destination : result[0];
#pragma clang loop vectorize(assume_safety)
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 word = source[lane];
    target[lane] = widen_fp8_by_scaling<Format>(word << (24 - shift));
    target[kWaveSize + lane] = widen_fp8_by_scaling<Format>(word << (16 - shift));
  }
  if (target != result[0]) return;
  write_lanes(wave, inst.operands[0], 0, result[0], active);
  write_lanes(wave, inst.operands[0], 1, result[1], active);
}

bool only_selects(const Inst& inst) {
  const Operand& source = inst.operands[1];
  return inst.mods.sdwa && !inst.dpp && !inst.mods.clamp && inst.mods.omod == 0 && !source.negate && !source.absolute &&
         !source.sign_extend;
}
constexpr u32 kSelectShift[] = {0, 8, 16, 24, 0, 16, 0};  // by SdwaSelect

template <Fp8 Format>
constexpr auto kWiden = [](u32 code) { return std::bit_cast<f32>(widen_fp8<Format>(code)); };
template <Fp8 Format>
constexpr auto kWidenPair = [](u32 word) { return widen_fp8<Format>(word) | u64{widen_fp8<Format>(word >> 8)} << 32; };

// All lanes, from a register.
template <Fp8 Format, u32 Shift>
void convert_fp8_register(Wave& wave, const Inst& inst) {
  if (wave.exec() != ~u64{0}) [[unlikely]] return convert_fp8<Format>(wave, inst, Shift);
  const u32* source = wave.vgpr(inst.operands[1].index);
  u32* destination = wave.vgpr(inst.operands[0].index);
#pragma clang loop vectorize(assume_safety)
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    destination[lane] = widen_fp8_by_scaling<Format>(source[lane] << (24 - Shift));
}
template <Fp8 Format>
Execute pick_convert_fp8(const Inst& inst) {
  if (!inst.operands[0].is_vgpr() || !inst.operands[1].is_vgpr()) return nullptr;
  if (inst.execute == inst.op->plain) return &convert_fp8_register<Format, 0>;
  if (!only_selects(inst)) return nullptr;
  switch (kSelectShift[static_cast<u32>(inst.operands[1].select)]) {
    case 8: return &convert_fp8_register<Format, 8>;
    case 16: return &convert_fp8_register<Format, 16>;
    case 24: return &convert_fp8_register<Format, 24>;
    default: return &convert_fp8_register<Format, 0>;
  }
}

template <Fp8 Format>
constexpr Op fp8_row(std::string_view name) {
  Op row = LaneRowOf<kWiden<Format>>::op(name);
  row.plain = [](Wave& wave, const Inst& inst) { convert_fp8<Format>(wave, inst, 0); };
  row.general = [](Wave& wave, const Inst& inst) {
    if (only_selects(inst))
      return convert_fp8<Format>(wave, inst, kSelectShift[static_cast<u32>(inst.operands[1].select)]);
    LaneRowOf<kWiden<Format>>::general(wave, inst);
  };
  row.pick = &pick_convert_fp8<Format>;
  return row;
}
template <Fp8 Format>
constexpr Op fp8_pair_row(std::string_view name) {
  Op row = LaneRowOf<kWidenPair<Format>>::op(name);
  row.plain = [](Wave& wave, const Inst& inst) { convert_fp8_pair<Format>(wave, inst, 0); };
  row.general = [](Wave& wave, const Inst& inst) {
    if (only_selects(inst))
      return convert_fp8_pair<Format>(wave, inst, kSelectShift[static_cast<u32>(inst.operands[1].select)]);
    LaneRowOf<kWidenPair<Format>>::general(wave, inst);
  };
  return row;
}

// ---- f32 to FP8 ----

// The same as f32_to_fp8 and f32_to_bf8 in operations that vectorise (isa/float_formats.hpp is the reference in tests).
template <Fp8 Format>
[[gnu::always_inline]] inline u32 narrow_fp8(f32 value, Mode mode) {
  constexpr u32 kFractionBits = Format == Fp8::E4m3 ? 3 : 2, kBias = Format == Fp8::E4m3 ? 8 : 16;
  constexpr u32 kMinField = 127 - kBias + 1, kDropped = 23 - kFractionBits;
  const u32 word = bits(value), size = word & 0x7fffffff;
  const u32 field = size >> 23;
  const u32 below = field < kMinField ? std::min(kMinField - field, 10u) : 0u;
  const u32 significand = (size & 0x7fffff) | 0x800000;  // f32 denormals are far below the last place
  const u32 shift = kDropped + below;
  const u32 even = significand >> shift & 1;
  const u32 rounded = (significand + ((1u << (shift - 1)) - 1) + even) >> shift;
  const u32 code = rounded + ((std::max(field, kMinField) - kMinField) << kFractionBits);
  const bool too_large = code > 0x7f;
  const bool nan = size > 0x7f800000 || (too_large && mode.fp8_overflow() == Fp8Overflow::Nan);
  const u32 limited = too_large ? 0x7fu : code;
  const u32 with_sign = limited | (limited != 0 ? word >> 24 & 0x80 : 0u);
  return nan ? u32{kFnuzNan} : with_sign;
}

// v_cvt_sr: op_sel bits 2 and 3 pick the destination byte, the others stay.
template <Fp8 Format>
void convert_stochastic(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[4], result;
  u64 active = wave.exec();
  const LaneSource value =
      read_general(wave, inst, inst.operands[1], 0, OperandType::F32, buffers[0], buffers[1], active);
  const LaneSource random =
      read_general(wave, inst, inst.operands[2], 1, OperandType::B32, buffers[2], buffers[3], active);
  const u32* old = destination_register(wave, inst.operands[0]);
  const u32 byte = inst.mods.op_sel >> 2 & 3;
  const Fp8Overflow overflow = Mode{wave.mode}.fp8_overflow();
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const f32 number = std::bit_cast<f32>(value.low[lane]);
    const u8 code = Format == Fp8::E4m3 ? f32_to_fp8_stochastic(number, random.low[lane], overflow)
                                        : f32_to_bf8_stochastic(number, random.low[lane], overflow);
    result[lane] = insert_byte(old[lane], byte, code);
  }
  write_lanes(wave, inst.operands[0], 0, result, active);
}
template <Fp8 Format>
constexpr Op stochastic_row(std::string_view name) {
  Op row =
      custom(name, InstClass::Valu, &convert_stochastic<Format>, OperandType::B32, OperandType::F32, OperandType::B32);
  row.operands[0].destination = true;
  return row;
}

constexpr Op kRows[] = {
    // f32 and integers
    lanes<[](i32 a) { return static_cast<f32>(a); }>("v_cvt_f32_i32"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<f64>(a)); }>("v_cvt_f32_u32"),
    lanes<[](f32 a) { return to_i32(a); }>("v_cvt_i32_f32"),
    lanes<[](f32 a) { return to_u32(a); }>("v_cvt_u32_f32"),
    lanes<[](f32 a) { return to_i32(std::floor(f64{a} + 0.5)); }>("v_cvt_rpi_i32_f32"),
    lanes<[](f32 a) { return to_i32(std::floor(a)); }>("v_cvt_flr_i32_f32"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a << 28) >> 28) * 0.0625f; }>("v_cvt_off_f32_i4"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a & 0xff)); }>("v_cvt_f32_ubyte0"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a >> 8 & 0xff)); }>("v_cvt_f32_ubyte1"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a >> 16 & 0xff)); }>("v_cvt_f32_ubyte2"),
    lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a >> 24)); }>("v_cvt_f32_ubyte3"),
    lanes<[](f32 a, u32 index, u32 word) { return insert_byte(word, index, to_byte(a)); }>("v_cvt_pk_u8_f32"),
    lanes<[](f32 a, u32 index, Tied<u32> word) { return insert_byte(word.value, index, to_byte(a)); }>(
        "v_cvt_pkaccum_u8_f32"),
    lanes<[](i32 a, i32 b) {
      const auto limit = [](i32 x) { return static_cast<u16>(std::min(std::max(x, -0x8000), 0x7fff)); };
      return pack(limit(a), limit(b));
    }>("v_cvt_pk_i16_i32"),
    lanes<[](u32 a, u32 b) { return pack(std::min(a, 0xffffu), std::min(b, 0xffffu)); }>("v_cvt_pk_u16_u32"),
    lanes<[](f32 a, f32 b) { return pack(to_snorm(a), to_snorm(b)); }>("v_cvt_pknorm_i16_f32"),
    lanes<[](f32 a, f32 b) { return pack(to_unorm(a), to_unorm(b)); }>("v_cvt_pknorm_u16_f32"),

    // f64
    lanes<[](f64 a) { return static_cast<f32>(a); }>("v_cvt_f32_f64"),
    lanes<[](f32 a) { return f64{a}; }>("v_cvt_f64_f32"),
    lanes<[](i32 a) { return static_cast<f64>(a); }>("v_cvt_f64_i32"),
    lanes<[](u32 a) { return static_cast<f64>(a); }>("v_cvt_f64_u32"),
    lanes<[](f64 a) { return to_i32(a); }>("v_cvt_i32_f64"),
    lanes<[](f64 a) { return to_u32(a); }>("v_cvt_u32_f64"),

    // f16
    lanes<[](f32 a, Mode mode) { return narrow(a, mode); }>("v_cvt_f16_f32"),
    lanes<[](f16 a) { return widen(a); }>("v_cvt_f32_f16"),
    lanes<[](u16 a, Mode mode) { return narrow(static_cast<f32>(a), mode); }>("v_cvt_f16_u16"),
    lanes<[](i16 a, Mode mode) { return narrow(static_cast<f32>(a), mode); }>("v_cvt_f16_i16"),
    lanes<[](f16 a) { return to_u16(widen(a)); }>("v_cvt_u16_f16"),
    lanes<[](f16 a) { return to_i16(widen(a)); }>("v_cvt_i16_f16"),
    lanes<[](f16 a) { return to_snorm(widen(a)); }>("v_cvt_norm_i16_f16"),
    lanes<[](f16 a) { return to_unorm(widen(a)); }>("v_cvt_norm_u16_f16"),
    lanes<[](f16 a, f16 b) { return pack(to_snorm(widen(a)), to_snorm(widen(b))); }>("v_cvt_pknorm_i16_f16"),
    lanes<[](f16 a, f16 b) { return pack(to_unorm(widen(a)), to_unorm(widen(b))); }>("v_cvt_pknorm_u16_f16"),
    lanes_with_plain<[](f32 a, f32 b) { return pack_f16_toward_zero(a, b); }>(
        "v_cvt_pkrtz_f16_f32",
        &LaneRowOf<[](f32 a, f32 b) { return narrow_toward_zero(a) | narrow_toward_zero(b) << 16; }>::plain),

    // FP8
    fp8_row<Fp8::E4m3>("v_cvt_f32_fp8"),
    fp8_row<Fp8::E5m2>("v_cvt_f32_bf8"),
    fp8_pair_row<Fp8::E4m3>("v_cvt_pk_f32_fp8"),
    fp8_pair_row<Fp8::E5m2>("v_cvt_pk_f32_bf8"),
    lanes<[](f32 a, f32 b, Mode mode) {
      return Keep<u16>{static_cast<u16>(narrow_fp8<Fp8::E4m3>(a, mode) | narrow_fp8<Fp8::E4m3>(b, mode) << 8)};
    }>("v_cvt_pk_fp8_f32"),
    lanes<[](f32 a, f32 b, Mode mode) {
      return Keep<u16>{static_cast<u16>(narrow_fp8<Fp8::E5m2>(a, mode) | narrow_fp8<Fp8::E5m2>(b, mode) << 8)};
    }>("v_cvt_pk_bf8_f32"),
    stochastic_row<Fp8::E4m3>("v_cvt_sr_fp8_f32"),
    stochastic_row<Fp8::E5m2>("v_cvt_sr_bf8_f32"),
};

}  // namespace

std::span<const Op> valu_convert_ops() { return kRows; }

}  // namespace hipbench::emulator
