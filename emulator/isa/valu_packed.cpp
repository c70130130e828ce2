// Vector ALU, packed: two halves or two f32 an instruction, dot products, and the mixed-precision FMAs. Their operands
// choose halves with op_sel (for the low result) and op_sel_hi (for the high one), and signs with neg_lo and neg_hi.

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/valu_math.hpp"

namespace hipbench::emulator {

namespace {

// Two halves in one operand.
struct Halves {
  u32 bits;
};

}  // namespace

template <>
struct Slot<Halves> : SlotOf<OperandType::PackedF16, 1, false> {};

namespace {

constexpr u32 kAllHigh = 7;  // op_sel_hi when it is not printed

u32 high_selects(const Modifiers& mods) { return mods.op_sel_hi_given ? mods.op_sel_hi : kAllHigh; }

// ---- Rows on two 16-bit halves ----

// The operand with the halves that it computes with put in place.
const u32* read_packed(Wave& wave, const Inst& inst, const Operand& operand, u32 source, bool is_float,
                       LaneBuffer& buffer) {
  const Modifiers& mods = inst.mods;
  const u32* lanes = read_lanes(wave, operand, 0, buffer);
  const bool low_from_high = (mods.op_sel >> source & 1) != 0, high_from_high = (high_selects(mods) >> source & 1) != 0;
  const u32 negate_low = is_float && (mods.neg_lo >> source & 1) != 0 ? 0x8000u : 0u;
  const u32 negate_high = is_float && (mods.neg_hi >> source & 1) != 0 ? 0x80000000u : 0u;
  const u32 flip = negate_low | negate_high;
  if (!low_from_high && high_from_high && flip == 0) return lanes;
  const u32 low_shift = low_from_high ? 16 : 0, high_shift = high_from_high ? 0 : 16;
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    buffer[lane] = ((lanes[lane] >> low_shift & 0xffff) | (lanes[lane] << high_shift & 0xffff0000)) ^ flip;
  return buffer;
}

template <auto F, auto ClampF, typename R, typename... A>
struct PackedRow {
  static constexpr u32 kSources = sizeof...(A);
  static constexpr u32 kPrinted = (u32{is_printed_source<A>} + ... + 0u);
  static constexpr bool kFloat = Slot<R>::is_float;

  static constexpr Op op(std::string_view name) {
    Op row;
    row.name = name;
    row.cls = InstClass::Valu;
    row.plain = &execute;
    row.general = &execute;
    u8 n = 0;
    // Integer constants are whole dwords, f16 ones sit in the low half.
    constexpr OperandType type = kFloat ? OperandType::PackedF16 : OperandType::B32;
    row.operands[n++] = {type, true};
    for (u32 k = 0; k < kPrinted; ++k) row.operands[n++] = {type, false};
    row.operand_count = n;
    return row;
  }

  template <typename T>
  static const u32* fetch(Wave& wave, const Inst& inst, u32 source, LaneBuffer& buffer) {
    if constexpr (is_context<T>) return nullptr;
    else if constexpr (is_tied<T>) return read_lanes(wave, inst.operands[0], 0, buffer);
    else return read_packed(wave, inst, inst.operands[1 + source], source, kFloat, buffer);
  }
  template <bool Slow, typename T>
  static T value(const u32* lanes, u32 lane, u32 shift, u32 mode, const Flush& flush) {
    if constexpr (is_context<T>) {
      return Mode{Slow ? mode : (mode & ~0xffu) | kModeDefaultFp, !Slow};
    } else {
      const T result = from_bits<T>(lanes[lane] >> shift, 0);
      if constexpr (Slow) return flush.input(result);
      else return result;
    }
  }
  template <auto Body, bool Slow, size_t... K>
  static u32 half(const u32* const (&source)[kSources], u32 lane, u32 shift, u32 mode, const Flush& flush,
                  std::index_sequence<K...>) {
    const R result = Body(value<Slow, A>(source[K], lane, shift, mode, flush)...);
    u32 bits = static_cast<u32>(to_bits(result));
    if constexpr (Slow && kFloat) bits = flush.half_out ? flush_half(static_cast<u16>(bits)) : bits;
    return bits;
  }
  template <auto Body, bool Slow, size_t... K>
  [[gnu::noinline]] static void compute(const u32* const (&source)[kSources], u32 mode, u32* result,
                                        std::index_sequence<K...> sequence) {
    const Flush flush = Slow ? Flush::of(mode) : Flush{};
#pragma clang loop vectorize(assume_safety)
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      result[lane] = half<Body, Slow>(source, lane, 0, mode, flush, sequence) |
                     half<Body, Slow>(source, lane, 16, mode, flush, sequence) << 16;
  }
  template <size_t... K>
  static void run(Wave& wave, const Inst& inst, std::index_sequence<K...> sequence) {
    LaneBuffer buffers[kSources], result;
    const u32* const source[kSources] = {fetch<A>(wave, inst, K, buffers[K])...};
    u32* destination = destination_register(wave, inst.operands[0]);
    const u64 active = wave.exec();
    const bool direct = active == ~u64{0} && !(kFloat && inst.mods.clamp);
    u32* target = direct ? destination : result;
    if (!kFloat && inst.mods.clamp)
      compute<ClampF, false>(source, wave.mode, target, sequence);
    else if (kFloat && wave.special_float_mode)
      compute<F, true>(source, wave.mode, target, sequence);
    else
      compute<F, false>(source, wave.mode, target, sequence);
    if (direct) return;
    if (kFloat && inst.mods.clamp)
      for (u32& pair : result) pair = clamp_half(pair, wave.mode) | u32{clamp_half(pair >> 16, wave.mode)} << 16;
    write_lanes(wave, inst.operands[0], 0, result, active);
  }
  static u16 clamp_half(u32 half_bits, u32 mode) {
    return f32_to_f16(clamp_single(f16_to_f32(static_cast<u16>(half_bits)), mode));
  }
  static void execute(Wave& wave, const Inst& inst) { run(wave, inst, std::make_index_sequence<kSources>{}); }
};

template <auto F, auto ClampF, typename C, typename R, typename... A>
PackedRow<F, ClampF, R, A...> packed_row_of(R (C::*)(A...) const);
template <auto F, auto ClampF = F>
constexpr Op packed(std::string_view name) {
  return decltype(packed_row_of<F, ClampF>(&std::remove_cvref_t<decltype(F)>::operator()))::op(name);
}

// ---- Rows on two f32 ----

template <auto F, u32 Sources>
struct PackedSingles {
  static constexpr Op op(std::string_view name) {
    Op row;
    row.name = name;
    row.cls = InstClass::Valu;
    row.plain = &execute;
    row.general = &execute;
    row.operands[0] = {OperandType::PackedF32, true};
    for (u32 k = 0; k < Sources; ++k) row.operands[1 + k] = {OperandType::PackedF32, false};
    row.operand_count = 1 + Sources;
    return row;
  }

  // The dword of source k that result `half` reads, signs applied.
  static const u32* fetch(Wave& wave, const Inst& inst, u32 source, u32 half, LaneBuffer& buffer) {
    const Modifiers& mods = inst.mods;
    const Operand& operand = inst.operands[1 + source];
    const u32 select = (half == 0 ? mods.op_sel : high_selects(mods)) >> source & 1;
    const bool negate = ((half == 0 ? mods.neg_lo : mods.neg_hi) >> source & 1) != 0;
    const u32* lanes = read_lanes(wave, operand, select, buffer);
    if (!negate) return lanes;
    for (u32 lane = 0; lane < kWaveSize; ++lane) buffer[lane] = lanes[lane] ^ 0x80000000u;
    return buffer;
  }
  template <bool Slow>
  static f32 value(const u32* lanes, u32 lane, const Flush& flush) {
    const f32 number = std::bit_cast<f32>(lanes[lane]);
    return Slow ? flush.input(number) : number;
  }
  template <bool Slow>
  [[gnu::noinline]] static void compute(const u32* const (&source)[2][3], u32 mode, u32* low, u32* high) {
    const Flush flush = Slow ? Flush::of(mode) : Flush{};
    // Both results of a lane are computed before either is written: they may overwrite the sources.
#pragma clang loop vectorize(assume_safety)
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      f32 result[2];
      for (u32 half = 0; half < 2; ++half) {
        const f32 a = value<Slow>(source[half][0], lane, flush), b = value<Slow>(source[half][1], lane, flush);
        if constexpr (Sources == 3) result[half] = F(a, b, value<Slow>(source[half][2], lane, flush));
        else result[half] = F(a, b);
      }
      low[lane] = std::bit_cast<u32>(result[0]);
      high[lane] = std::bit_cast<u32>(result[1]);
    }
  }
  static void execute(Wave& wave, const Inst& inst) {
    LaneBuffer buffers[2][3], result[2];
    const u32* source[2][3] = {};
    for (u32 half = 0; half < 2; ++half)
      for (u32 k = 0; k < Sources; ++k) source[half][k] = fetch(wave, inst, k, half, buffers[half][k]);
    const u32* const(&fixed)[2][3] = source;
    u32* destination = destination_register(wave, inst.operands[0]);
    const u64 active = wave.exec();
    const bool direct = active == ~u64{0} && !inst.mods.clamp;
    u32* low = direct ? destination : result[0];
    u32* high = direct ? destination + kWaveSize : result[1];
    if (wave.special_float_mode) {
      const FloatModeGuard guard(wave.mode, FloatWidth::Single);
      compute<true>(fixed, wave.mode, low, high);
    } else {
      compute<false>(fixed, wave.mode, low, high);
    }
    if (direct) return;
    if (inst.mods.clamp)
      for (LaneBuffer& part : result)
        for (u32& number : part) number = std::bit_cast<u32>(clamp_single(std::bit_cast<f32>(number), wave.mode));
    write_lanes(wave, inst.operands[0], 0, result[0], active);
    write_lanes(wave, inst.operands[0], 1, result[1], active);
  }
};

// v_pk_mov_b32: the low result is a dword of source 0, the high one of source 1, both chosen by op_sel.
void v_pk_mov_b32(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[2], result[2];
  for (u32 k = 0; k < 2; ++k) {
    const u32* lanes = read_lanes(wave, inst.operands[1 + k], inst.mods.op_sel >> k & 1, buffers[k]);
    std::memcpy(result[k], lanes, sizeof(LaneBuffer));
  }
  destination_register(wave, inst.operands[0]);
  for (u32 k = 0; k < 2; ++k) write_lanes(wave, inst.operands[0], k, result[k], wave.exec());
}

// ---- Mixed precision: each source is an f32, or (op_sel_hi) the half of a register that op_sel names ----

enum class MixResult : u8 { Single, LowHalf, HighHalf };

const u32* read_mixed(Wave& wave, const Inst& inst, u32 source, LaneBuffer& buffer) {
  const Modifiers& mods = inst.mods;
  const Operand& operand = inst.operands[1 + source];
  const u32* lanes = read_lanes(wave, operand, 0, buffer);
  const Flush flush = Flush::of(wave.mode);
  const bool half = mods.op_sel_hi_given && (mods.op_sel_hi >> source & 1) != 0;
  if (half) {
    const u32 shift = (mods.op_sel >> source & 1) != 0 ? 16 : 0;
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const u16 bits = static_cast<u16>(lanes[lane] >> shift);
      buffer[lane] = std::bit_cast<u32>(widen(f16{flush.half_in ? flush_half(bits) : bits}));
    }
    lanes = buffer;
  } else if (flush.single_in) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) buffer[lane] = flush_single(lanes[lane]);
    lanes = buffer;
  }
  if (operand.negate || operand.absolute) {
    apply_sign(lanes, buffer, 0x80000000u, operand);
    lanes = buffer;
  }
  return lanes;
}
[[gnu::noinline]] void fma_lanes(const u32* a, const u32* b, const u32* c, LaneBuffer& result) {
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    result[lane] = std::bit_cast<u32>(
        std::fma(std::bit_cast<f32>(a[lane]), std::bit_cast<f32>(b[lane]), std::bit_cast<f32>(c[lane])));
}
// The f16 results round the exact sum once: odd rounding to f64 keeps what the last rounding needs.
u16 fma_half(f32 a, f32 b, f32 c, Mode mode) {
  return f64_to_f16(float_detail::add_round_to_odd(f64{a} * f64{b}, f64{c}), mode.half_rounding());
}

template <MixResult Result>
void fma_mix(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[3], result;
  const u32* a = read_mixed(wave, inst, 0, buffers[0]);
  const u32* b = read_mixed(wave, inst, 1, buffers[1]);
  const u32* c = read_mixed(wave, inst, 2, buffers[2]);
  const u32* old = destination_register(wave, inst.operands[0]);
  const u32 mode = wave.mode;
  if constexpr (Result == MixResult::Single) {
    const FloatModeGuard guard(mode, FloatWidth::Single);
    fma_lanes(a, b, c, result);
    if (inst.mods.clamp)
      for (u32& bits : result) bits = std::bit_cast<u32>(clamp_single(std::bit_cast<f32>(bits), mode));
  } else {
    const bool flush = Flush::of(mode).half_out;
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      u16 half =
          fma_half(std::bit_cast<f32>(a[lane]), std::bit_cast<f32>(b[lane]), std::bit_cast<f32>(c[lane]), Mode{mode});
      if (flush) half = flush_half(half);
      if (inst.mods.clamp) half = f32_to_f16(clamp_single(f16_to_f32(half), mode));
      result[lane] =
          Result == MixResult::LowHalf ? (old[lane] & 0xffff0000) | half : (old[lane] & 0xffff) | u32{half} << 16;
    }
  }
  write_lanes(wave, inst.operands[0], 0, result, wave.exec());
}
constexpr Op mix_row(std::string_view name, Execute execute) {
  Op row =
      custom(name, InstClass::Valu, execute, OperandType::F32, OperandType::F32, OperandType::F32, OperandType::F32);
  row.operands[0].destination = true;
  return row;
}

// ---- Dot products ----

template <u32 Bits, bool Signed>
i64 element(u32 word, u32 index) {
  if constexpr (Signed) return static_cast<i32>(word << (32 - Bits * (index + 1))) >> (32 - Bits);
  else return static_cast<i64>(word >> (Bits * index) & ((1u << Bits) - 1));
}
template <u32 Bits, bool Signed>
i64 dot(u32 a, u32 b) {
  i64 sum = 0;
  for (u32 k = 0; k < 32 / Bits; ++k) sum += element<Bits, Signed>(a, k) * element<Bits, Signed>(b, k);
  return sum;
}
template <bool Signed>
u32 accumulate(i64 sum, u32 c, bool clamp) {
  const i64 total = sum + (Signed ? i64{static_cast<i32>(c)} : i64{c});
  if (!clamp) return static_cast<u32>(static_cast<u64>(total));
  const i64 low = Signed ? INT32_MIN : 0, high = Signed ? i64{INT32_MAX} : i64{UINT32_MAX};
  return static_cast<u32>(static_cast<u64>(std::min(std::max(total, low), high)));
}
// Two exact products of f16, added to the accumulator in f64 and rounded once to f32. The hardware's order of rounding
// is not documented.
f32 dot_half(u32 a, u32 b, f32 c) {
  const auto half = [](u32 word, u32 shift) { return f16_to_f64(static_cast<u16>(word >> shift)); };
  return static_cast<f32>(half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16) + f64{c});
}

// The VOP3P forms select halves and signs of f16 sources; the integer ones take whole dwords.
void dot2_f32_f16(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[3], result;
  const u32* a = read_packed(wave, inst, inst.operands[1], 0, true, buffers[0]);
  const u32* b = read_packed(wave, inst, inst.operands[2], 1, true, buffers[1]);
  const u32* c = read_lanes(wave, inst.operands[3], 0, buffers[2]);
  destination_register(wave, inst.operands[0]);
  const u32 negate = (inst.mods.neg_lo >> 2 & 1) != 0 ? 0x80000000u : 0u;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const f32 sum = dot_half(a[lane], b[lane], std::bit_cast<f32>(c[lane] ^ negate));
    result[lane] = std::bit_cast<u32>(inst.mods.clamp ? clamp_single(sum, wave.mode) : sum);
  }
  write_lanes(wave, inst.operands[0], 0, result, wave.exec());
}
template <bool Signed>
void dot2_integer(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[3], result;
  const u32* a = read_packed(wave, inst, inst.operands[1], 0, false, buffers[0]);
  const u32* b = read_packed(wave, inst, inst.operands[2], 1, false, buffers[1]);
  const u32* c = read_lanes(wave, inst.operands[3], 0, buffers[2]);
  destination_register(wave, inst.operands[0]);
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    result[lane] = accumulate<Signed>(dot<16, Signed>(a[lane], b[lane]), c[lane], inst.mods.clamp);
  write_lanes(wave, inst.operands[0], 0, result, wave.exec());
}
constexpr Op dot2_row(std::string_view name, Execute execute, OperandType sources, OperandType sum) {
  Op row = custom(name, InstClass::Valu, execute, sum, sources, sources, sum);
  row.operands[0].destination = true;
  return row;
}
template <u32 Bits, bool Signed>
constexpr Op dot_row(std::string_view name) {
  return lanes<[](u32 a, u32 b, u32 c) { return accumulate<Signed>(dot<Bits, Signed>(a, b), c, false); },
               [](u32 a, u32 b, u32 c) { return accumulate<Signed>(dot<Bits, Signed>(a, b), c, true); }>(name);
}
// The accumulating VOP2 forms.
template <u32 Bits>
constexpr Op dot_accumulate_row(std::string_view name) {
  return lanes<[](u32 a, u32 b, Tied<u32> c) { return accumulate<true>(dot<Bits, true>(a, b), c.value, false); },
               [](u32 a, u32 b, Tied<u32> c) { return accumulate<true>(dot<Bits, true>(a, b), c.value, true); }>(name);
}

u16 wrap_u16(u32 value) { return static_cast<u16>(value); }
i16 wrap_i16(i32 value) { return static_cast<i16>(static_cast<u16>(static_cast<u32>(value))); }
u16 saturate_u16(i64 value) { return static_cast<u16>(std::min<i64>(std::max<i64>(value, 0), 0xffff)); }
i16 saturate_i16(i64 value) { return static_cast<i16>(std::min<i64>(std::max<i64>(value, -0x8000), 0x7fff)); }

constexpr Op kRows[] = {
    packed<[](f16 a, f16 b, Mode mode) { return add(a, b, mode); }>("v_pk_add_f16"),
    packed<[](f16 a, f16 b, Mode mode) { return multiply(a, b, mode); }>("v_pk_mul_f16"),
    packed<[](f16 a, f16 b, f16 c, Mode mode) { return fused(a, b, c, mode); }>("v_pk_fma_f16"),
    packed<[](f16 a, f16 b, Tied<f16> d, Mode mode) { return fused(a, b, d.value, mode); }>("v_pk_fmac_f16"),
    packed<[](f16 a, f16 b, Mode mode) { return minimum(a, b, mode); }>("v_pk_min_f16"),
    packed<[](f16 a, f16 b, Mode mode) { return maximum(a, b, mode); }>("v_pk_max_f16"),
    packed<[](u16 a, u16 b) { return wrap_u16(u32{a} + b); }, [](u16 a, u16 b) { return saturate_u16(i64{a} + b); }>(
        "v_pk_add_u16"),
    packed<[](u16 a, u16 b) { return wrap_u16(u32{a} - b); }, [](u16 a, u16 b) { return saturate_u16(i64{a} - b); }>(
        "v_pk_sub_u16"),
    packed<[](i16 a, i16 b) { return wrap_i16(a + b); }, [](i16 a, i16 b) { return saturate_i16(i64{a} + b); }>(
        "v_pk_add_i16"),
    packed<[](i16 a, i16 b) { return wrap_i16(a - b); }, [](i16 a, i16 b) { return saturate_i16(i64{a} - b); }>(
        "v_pk_sub_i16"),
    packed<[](u16 a, u16 b) { return wrap_u16(u32{a} * b); }>("v_pk_mul_lo_u16"),
    packed<[](u16 a, u16 b, u16 c) { return wrap_u16(u32{a} * b + c); },
           [](u16 a, u16 b, u16 c) { return saturate_u16(i64{a} * b + c); }>("v_pk_mad_u16"),
    packed<[](i16 a, i16 b, i16 c) { return wrap_i16(i32{a} * b + c); },
           [](i16 a, i16 b, i16 c) { return saturate_i16(i64{a} * b + c); }>("v_pk_mad_i16"),
    packed<[](u16 n, u16 a) { return wrap_u16(u32{a} << (n & 15)); }>("v_pk_lshlrev_b16"),
    packed<[](u16 n, u16 a) { return wrap_u16(u32{a} >> (n & 15)); }>("v_pk_lshrrev_b16"),
    packed<[](i16 n, i16 a) { return wrap_i16(a >> (n & 15)); }>("v_pk_ashrrev_i16"),
    packed<[](u16 a, u16 b) { return std::min(a, b); }>("v_pk_min_u16"),
    packed<[](u16 a, u16 b) { return std::max(a, b); }>("v_pk_max_u16"),
    packed<[](i16 a, i16 b) { return std::min(a, b); }>("v_pk_min_i16"),
    packed<[](i16 a, i16 b) { return std::max(a, b); }>("v_pk_max_i16"),

    PackedSingles<[](f32 a, f32 b) { return a + b; }, 2>::op("v_pk_add_f32"),
    PackedSingles<[](f32 a, f32 b) { return a * b; }, 2>::op("v_pk_mul_f32"),
    PackedSingles<[](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }, 3>::op("v_pk_fma_f32"),
    custom("v_pk_mov_b32", InstClass::Valu, &v_pk_mov_b32, OperandType::PackedF32, OperandType::PackedF32,
           OperandType::PackedF32),

    mix_row("v_fma_mix_f32", &fma_mix<MixResult::Single>),
    mix_row("v_fma_mixlo_f16", &fma_mix<MixResult::LowHalf>),
    mix_row("v_fma_mixhi_f16", &fma_mix<MixResult::HighHalf>),

    dot2_row("v_dot2_f32_f16", &dot2_f32_f16, OperandType::PackedF16, OperandType::F32),
    dot2_row("v_dot2_i32_i16", &dot2_integer<true>, OperandType::B32, OperandType::B32),
    dot2_row("v_dot2_u32_u16", &dot2_integer<false>, OperandType::B32, OperandType::B32),
    dot_row<8, true>("v_dot4_i32_i8"),
    dot_row<8, false>("v_dot4_u32_u8"),
    dot_row<4, true>("v_dot8_i32_i4"),
    dot_row<4, false>("v_dot8_u32_u4"),
    lanes<[](Halves a, Halves b, Tied<f32> c) { return dot_half(a.bits, b.bits, c.value); }>("v_dot2c_f32_f16"),
    dot_accumulate_row<16>("v_dot2c_i32_i16"),
    dot_accumulate_row<8>("v_dot4c_i32_i8"),
    dot_accumulate_row<4>("v_dot8c_i32_i4"),
};

}  // namespace

std::span<const Op> valu_packed_ops() { return kRows; }

}  // namespace hipbench::emulator
