// Scalar ALU: SOP1, SOP2, SOPC, SOPK. CDNA3 ISA, chapter "Scalar ALU operations". SCC rules: logic sets it to result !=
// 0, arithmetic to carry or signed overflow, min/max to "the first operand was chosen".

#include <algorithm>
#include <bit>

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

template <typename T>
WithScc<T> nonzero(T value) { return {value, value != 0}; }

bool signed_add_overflows(u32 a, u32 b) {
  const u32 sum = a + b;
  return ((~(a ^ b) & (a ^ sum)) >> 31) != 0;
}

// The first (lowest) bit of a value, or -1.
template <typename T>
u32 find_first_set(T value) { return value == 0 ? ~0u : static_cast<u32>(std::countr_zero(value)); }

// Bits from the top until one differs from the sign, or -1 when none does (s_flbit_i32_*).
template <typename T>
u32 leading_sign_bits(T value) {
  const T folded = (value >> (sizeof(T) * 8 - 1)) != 0 ? static_cast<T>(~value) : value;
  return folded == 0 ? ~0u : static_cast<u32>(std::countl_zero(folded));
}

template <typename T>
T bit_reverse(T value) {
  T result = 0;
  for (u32 bit = 0; bit < sizeof(T) * 8; ++bit)
    result = static_cast<T>(result | (value >> bit & 1) << (sizeof(T) * 8 - 1 - bit));
  return result;
}

// One bit a group of four: all or any set.
template <typename T>
T whole_quads(T value) {
  T result = 0;
  for (u32 bit = 0; bit < sizeof(T) * 8; bit += 4)
    if ((value >> bit & 0xf) != 0) result |= T{0xf} << bit;
  return result;
}
template <typename T>
T quad_mask(T value) {
  T result = 0;
  for (u32 bit = 0; bit < sizeof(T) * 8; bit += 4)
    if ((value >> bit & 0xf) != 0) result |= T{1} << (bit / 4);
  return result;
}

u64 bit_replicate(u32 value) {
  u64 result = 0;
  for (u32 bit = 0; bit < 32; ++bit) result |= u64{(value >> bit & 1) * 3} << (2 * bit);
  return result;
}

template <typename T>
T bit_field_mask(u32 width, u32 offset) {
  constexpr u32 wrap = sizeof(T) * 8 - 1;
  return static_cast<T>(((T{1} << (width & wrap)) - 1) << (offset & wrap));
}

// Field description of s_bfe: offset in the low bits, width in bits 16..22.
template <typename T>
T bit_field_extract(T value, u32 field) {
  constexpr u32 bits = sizeof(T) * 8;
  const u32 offset = field & (bits - 1), width = std::min(field >> 16 & 0x7f, bits);
  if (width == 0) return 0;
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    if (offset + width >= bits) return static_cast<T>(value >> offset);
    return static_cast<T>(static_cast<T>(static_cast<U>(value) << (bits - offset - width)) >> (bits - width));
  } else {
    const U shifted = static_cast<U>(value) >> offset;
    return width >= bits ? shifted : static_cast<T>(shifted & ((U{1} << width) - 1));
  }
}

template <u32 Shift>
WithScc<u32> shift_add(u32 a, u32 b) {
  const u64 sum = (u64{a} << Shift) + b;
  return {static_cast<u32>(sum), sum >> 32 != 0};
}

// ---- SOPK: the second operand is the 16-bit immediate of the encoding ----

u32& sopk_register(Wave& wave, const Inst& inst) {
  if (!inst.operands[0].is_scalar()) throw GuestFault{FaultKind::IllegalOperand, "SOPK takes an SGPR"};
  return wave.sgprs[inst.operands[0].index];
}

void s_movk_i32(Wave& wave, const Inst& inst) { sopk_register(wave, inst) = static_cast<u32>(i32{inst.simm16}); }
void s_cmovk_i32(Wave& wave, const Inst& inst) {
  if (wave.scc) sopk_register(wave, inst) = static_cast<u32>(i32{inst.simm16});
}
void s_addk_i32(Wave& wave, const Inst& inst) {
  u32& value = sopk_register(wave, inst);
  const u32 amount = static_cast<u32>(i32{inst.simm16});
  wave.scc = signed_add_overflows(value, amount);
  value += amount;
}
void s_mulk_i32(Wave& wave, const Inst& inst) {
  u32& value = sopk_register(wave, inst);
  value *= static_cast<u32>(i32{inst.simm16});
}
template <auto Compare>
void compare_signed(Wave& wave, const Inst& inst) {
  wave.scc = Compare(static_cast<i32>(sopk_register(wave, inst)), i32{inst.simm16});
}
template <auto Compare>
void compare_unsigned(Wave& wave, const Inst& inst) {
  wave.scc = Compare(sopk_register(wave, inst), u32{static_cast<u16>(inst.simm16)});
}

// ---- EXEC manipulation ----

// D = old EXEC; EXEC = f(S, EXEC); SCC = EXEC != 0.
template <auto Combine>
void save_exec(Wave& wave, const Inst& inst) {
  const u64 source = read_scalar(wave, inst.operands[1], 2), exec = wave.exec();
  const u64 result = Combine(source, exec);
  write_scalar(wave, inst.operands[0], exec, 2);
  wave.set_exec(result);
  wave.scc = result != 0;
}
// EXEC and D = f(S, EXEC).
template <auto Combine>
void write_exec(Wave& wave, const Inst& inst) {
  const u64 result = Combine(read_scalar(wave, inst.operands[1], 2), wave.exec());
  write_scalar(wave, inst.operands[0], result, 2);
  wave.set_exec(result);
  wave.scc = result != 0;
}
template <auto Combine>
constexpr Op save_exec_op(std::string_view name) {
  return custom(name, InstClass::Salu, &save_exec<Combine>, OperandType::B64, OperandType::B64);
}
template <auto Combine>
constexpr Op write_exec_op(std::string_view name) {
  return custom(name, InstClass::Salu, &write_exec<Combine>, OperandType::B64, OperandType::B64);
}

// ---- M0-relative SGPR moves ----

u32 relative_index(const Wave& wave, const Operand& operand, u32 dwords) {
  const u64 index = u64{operand.index} + wave.m0();
  if (!operand.is_scalar() || index + dwords > wave.registers.sgprs)
    throw GuestFault{FaultKind::IllegalOperand,
                     "an M0-relative SGPR index is beyond the SGPRs that the kernel declares"};
  return static_cast<u32>(index);
}
template <u32 Dwords>
void s_movrels(Wave& wave, const Inst& inst) {
  const u32 index = relative_index(wave, inst.operands[1], Dwords);
  write_scalar(wave, inst.operands[0], Dwords == 2 ? wave.scalar64(index) : wave.sgprs[index], Dwords);
}
template <u32 Dwords>
void s_movreld(Wave& wave, const Inst& inst) {
  Operand destination = inst.operands[0];
  destination.index = static_cast<u16>(relative_index(wave, destination, Dwords));
  write_scalar(wave, destination, read_scalar(wave, inst.operands[1], Dwords), Dwords);
}

constexpr Op sopk(std::string_view name, Execute function) {
  return custom(name, InstClass::Salu, function, OperandType::B32, OperandType::B32);
}

constexpr Op kRows[] = {
    // Moves and logic
    scalar<[](u32 a) { return a; }>("s_mov_b32"),
    scalar<[](u64 a) { return a; }>("s_mov_b64"),
    scalar<[](u32 a, Tied<u32> d, Scc scc) { return scc.value ? a : d.value; }>("s_cmov_b32"),
    scalar<[](u64 a, Tied<u64> d, Scc scc) { return scc.value ? a : d.value; }>("s_cmov_b64"),
    scalar<[](u32 a, u32 b, Scc scc) { return scc.value ? a : b; }>("s_cselect_b32"),
    scalar<[](u64 a, u64 b, Scc scc) { return scc.value ? a : b; }>("s_cselect_b64"),
    scalar<[](u32 a) { return nonzero(~a); }>("s_not_b32"),
    scalar<[](u64 a) { return nonzero(~a); }>("s_not_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(a & b); }>("s_and_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(a & b); }>("s_and_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(a | b); }>("s_or_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(a | b); }>("s_or_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(a ^ b); }>("s_xor_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(a ^ b); }>("s_xor_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(a & ~b); }>("s_andn2_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(a & ~b); }>("s_andn2_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(a | ~b); }>("s_orn2_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(a | ~b); }>("s_orn2_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(~(a & b)); }>("s_nand_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(~(a & b)); }>("s_nand_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(~(a | b)); }>("s_nor_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(~(a | b)); }>("s_nor_b64"),
    scalar<[](u32 a, u32 b) { return nonzero(~(a ^ b)); }>("s_xnor_b32"),
    scalar<[](u64 a, u64 b) { return nonzero(~(a ^ b)); }>("s_xnor_b64"),
    scalar<[](u32 a) { return nonzero(whole_quads(a)); }>("s_wqm_b32"),
    scalar<[](u64 a) { return nonzero(whole_quads(a)); }>("s_wqm_b64"),
    scalar<[](u32 a) { return nonzero(quad_mask(a)); }>("s_quadmask_b32"),
    scalar<[](u64 a) { return nonzero(quad_mask(a)); }>("s_quadmask_b64"),

    // Arithmetic
    scalar<[](u32 a, u32 b) { return WithScc<u32>{a + b, a + b < a}; }>("s_add_u32"),
    scalar<[](u32 a, u32 b) { return WithScc<u32>{a - b, a < b}; }>("s_sub_u32"),
    scalar<[](u32 a, u32 b) { return WithScc<u32>{a + b, signed_add_overflows(a, b)}; }>("s_add_i32"),
    scalar<[](u32 a, u32 b) { return WithScc<u32>{a - b, (((a ^ b) & (a ^ (a - b))) >> 31) != 0}; }>("s_sub_i32"),
    scalar<[](u32 a, u32 b, Scc scc) {
      const u64 sum = u64{a} + b + (scc.value ? 1u : 0u);
      return WithScc<u32>{static_cast<u32>(sum), sum >> 32 != 0};
    }>("s_addc_u32"),
    scalar<[](u32 a, u32 b, Scc scc) {
      const u64 difference = u64{a} - b - (scc.value ? 1u : 0u);
      return WithScc<u32>{static_cast<u32>(difference), difference >> 32 != 0};
    }>("s_subb_u32"),
    scalar<[](i32 a, i32 b) { return WithScc<i32>{std::min(a, b), a < b}; }>("s_min_i32"),
    scalar<[](u32 a, u32 b) { return WithScc<u32>{std::min(a, b), a < b}; }>("s_min_u32"),
    scalar<[](i32 a, i32 b) { return WithScc<i32>{std::max(a, b), a > b}; }>("s_max_i32"),
    scalar<[](u32 a, u32 b) { return WithScc<u32>{std::max(a, b), a > b}; }>("s_max_u32"),
    scalar<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"),
    scalar<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("s_mul_hi_u32"),
    scalar<[](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }>("s_mul_hi_i32"),
    scalar<[](i32 a, i32 b) {
      const i32 difference = static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b));
      return nonzero(difference < 0 ? 0u - static_cast<u32>(difference) : static_cast<u32>(difference));
    }>("s_absdiff_i32"),
    scalar<[](i32 a) { return nonzero(a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a)); }>("s_abs_i32"),
    scalar<[](u32 a, u32 b) { return shift_add<1>(a, b); }>("s_lshl1_add_u32"),
    scalar<[](u32 a, u32 b) { return shift_add<2>(a, b); }>("s_lshl2_add_u32"),
    scalar<[](u32 a, u32 b) { return shift_add<3>(a, b); }>("s_lshl3_add_u32"),
    scalar<[](u32 a, u32 b) { return shift_add<4>(a, b); }>("s_lshl4_add_u32"),

    // Shifts and bit fields
    scalar<[](u32 a, u32 n) { return nonzero(a << (n & 31)); }>("s_lshl_b32"),
    scalar<[](u64 a, u32 n) { return nonzero(a << (n & 63)); }>("s_lshl_b64"),
    scalar<[](u32 a, u32 n) { return nonzero(a >> (n & 31)); }>("s_lshr_b32"),
    scalar<[](u64 a, u32 n) { return nonzero(a >> (n & 63)); }>("s_lshr_b64"),
    scalar<[](i32 a, u32 n) { return nonzero(a >> (n & 31)); }>("s_ashr_i32"),
    scalar<[](i64 a, u32 n) { return nonzero(a >> (n & 63)); }>("s_ashr_i64"),
    scalar<[](u32 width, u32 offset) { return bit_field_mask<u32>(width, offset); }>("s_bfm_b32"),
    scalar<[](u32 width, u32 offset) { return bit_field_mask<u64>(width, offset); }>("s_bfm_b64"),
    scalar<[](u32 a, u32 field) { return nonzero(bit_field_extract(a, field)); }>("s_bfe_u32"),
    scalar<[](i32 a, u32 field) { return nonzero(bit_field_extract(a, field)); }>("s_bfe_i32"),
    scalar<[](u64 a, u32 field) { return nonzero(bit_field_extract(a, field)); }>("s_bfe_u64"),
    scalar<[](i64 a, u32 field) { return nonzero(bit_field_extract(a, field)); }>("s_bfe_i64"),
    scalar<[](u32 a) { return bit_reverse(a); }>("s_brev_b32"),
    scalar<[](u64 a) { return bit_reverse(a); }>("s_brev_b64"),
    scalar<[](u32 a) { return nonzero(static_cast<u32>(std::popcount(~a))); }>("s_bcnt0_i32_b32"),
    scalar<[](u64 a) { return nonzero(static_cast<u32>(std::popcount(~a))); }>("s_bcnt0_i32_b64"),
    scalar<[](u32 a) { return nonzero(static_cast<u32>(std::popcount(a))); }>("s_bcnt1_i32_b32"),
    scalar<[](u64 a) { return nonzero(static_cast<u32>(std::popcount(a))); }>("s_bcnt1_i32_b64"),
    scalar<[](u32 a) { return find_first_set(~a); }>("s_ff0_i32_b32"),
    scalar<[](u64 a) { return find_first_set(~a); }>("s_ff0_i32_b64"),
    scalar<[](u32 a) { return find_first_set(a); }>("s_ff1_i32_b32"),
    scalar<[](u64 a) { return find_first_set(a); }>("s_ff1_i32_b64"),
    scalar<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>("s_flbit_i32_b32"),
    scalar<[](u64 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>("s_flbit_i32_b64"),
    scalar<[](u32 a) { return leading_sign_bits(a); }>("s_flbit_i32"),
    scalar<[](u64 a) { return leading_sign_bits(a); }>("s_flbit_i32_i64"),
    scalar<[](u32 a) { return static_cast<u32>(i32{static_cast<i8>(a)}); }>("s_sext_i32_i8"),
    scalar<[](u32 a) { return static_cast<u32>(i32{static_cast<i16>(a)}); }>("s_sext_i32_i16"),
    scalar<[](u32 a, Tied<u32> d) { return d.value & ~(1u << (a & 31)); }>("s_bitset0_b32"),
    scalar<[](u32 a, Tied<u64> d) { return d.value & ~(u64{1} << (a & 63)); }>("s_bitset0_b64"),
    scalar<[](u32 a, Tied<u32> d) { return d.value | 1u << (a & 31); }>("s_bitset1_b32"),
    scalar<[](u32 a, Tied<u64> d) { return d.value | u64{1} << (a & 63); }>("s_bitset1_b64"),
    scalar<[](u32 a) { return bit_replicate(a); }>("s_bitreplicate_b64_b32"),
    scalar<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"),
    scalar<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"),
    scalar<[](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }>("s_pack_hh_b32_b16"),

    // Compares
    scalar<[](u32 a, u32 b) { return SccOnly{a == b}; }>("s_cmp_eq_i32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a != b}; }>("s_cmp_lg_i32"),
    scalar<[](i32 a, i32 b) { return SccOnly{a > b}; }>("s_cmp_gt_i32"),
    scalar<[](i32 a, i32 b) { return SccOnly{a >= b}; }>("s_cmp_ge_i32"),
    scalar<[](i32 a, i32 b) { return SccOnly{a < b}; }>("s_cmp_lt_i32"),
    scalar<[](i32 a, i32 b) { return SccOnly{a <= b}; }>("s_cmp_le_i32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a == b}; }>("s_cmp_eq_u32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a != b}; }>("s_cmp_lg_u32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a > b}; }>("s_cmp_gt_u32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a >= b}; }>("s_cmp_ge_u32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a < b}; }>("s_cmp_lt_u32"),
    scalar<[](u32 a, u32 b) { return SccOnly{a <= b}; }>("s_cmp_le_u32"),
    scalar<[](u64 a, u64 b) { return SccOnly{a == b}; }>("s_cmp_eq_u64"),
    scalar<[](u64 a, u64 b) { return SccOnly{a != b}; }>("s_cmp_lg_u64"),
    scalar<[](u32 a, u32 n) { return SccOnly{(a >> (n & 31) & 1) == 0}; }>("s_bitcmp0_b32"),
    scalar<[](u32 a, u32 n) { return SccOnly{(a >> (n & 31) & 1) != 0}; }>("s_bitcmp1_b32"),
    scalar<[](u64 a, u32 n) { return SccOnly{(a >> (n & 63) & 1) == 0}; }>("s_bitcmp0_b64"),
    scalar<[](u64 a, u32 n) { return SccOnly{(a >> (n & 63) & 1) != 0}; }>("s_bitcmp1_b64"),

    // Immediate forms
    sopk("s_movk_i32", &s_movk_i32),
    sopk("s_cmovk_i32", &s_cmovk_i32),
    sopk("s_addk_i32", &s_addk_i32),
    sopk("s_mulk_i32", &s_mulk_i32),
    sopk("s_cmpk_eq_i32", &compare_signed<[](i32 a, i32 b) { return a == b; }>),
    sopk("s_cmpk_lg_i32", &compare_signed<[](i32 a, i32 b) { return a != b; }>),
    sopk("s_cmpk_gt_i32", &compare_signed<[](i32 a, i32 b) { return a > b; }>),
    sopk("s_cmpk_ge_i32", &compare_signed<[](i32 a, i32 b) { return a >= b; }>),
    sopk("s_cmpk_lt_i32", &compare_signed<[](i32 a, i32 b) { return a < b; }>),
    sopk("s_cmpk_le_i32", &compare_signed<[](i32 a, i32 b) { return a <= b; }>),
    sopk("s_cmpk_eq_u32", &compare_unsigned<[](u32 a, u32 b) { return a == b; }>),
    sopk("s_cmpk_lg_u32", &compare_unsigned<[](u32 a, u32 b) { return a != b; }>),
    sopk("s_cmpk_gt_u32", &compare_unsigned<[](u32 a, u32 b) { return a > b; }>),
    sopk("s_cmpk_ge_u32", &compare_unsigned<[](u32 a, u32 b) { return a >= b; }>),
    sopk("s_cmpk_lt_u32", &compare_unsigned<[](u32 a, u32 b) { return a < b; }>),
    sopk("s_cmpk_le_u32", &compare_unsigned<[](u32 a, u32 b) { return a <= b; }>),

    // EXEC
    save_exec_op<[](u64 s, u64 exec) { return s & exec; }>("s_and_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return s | exec; }>("s_or_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return s ^ exec; }>("s_xor_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return s & ~exec; }>("s_andn2_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return s | ~exec; }>("s_orn2_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return ~(s & exec); }>("s_nand_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return ~(s | exec); }>("s_nor_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return ~(s ^ exec); }>("s_xnor_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return ~s & exec; }>("s_andn1_saveexec_b64"),
    save_exec_op<[](u64 s, u64 exec) { return ~s | exec; }>("s_orn1_saveexec_b64"),
    write_exec_op<[](u64 s, u64 exec) { return ~s & exec; }>("s_andn1_wrexec_b64"),
    write_exec_op<[](u64 s, u64 exec) { return s & ~exec; }>("s_andn2_wrexec_b64"),

    custom("s_movrels_b32", InstClass::Salu, &s_movrels<1>, OperandType::B32, OperandType::B32),
    custom("s_movrels_b64", InstClass::Salu, &s_movrels<2>, OperandType::B64, OperandType::B64),
    custom("s_movreld_b32", InstClass::Salu, &s_movreld<1>, OperandType::B32, OperandType::B32),
    custom("s_movreld_b64", InstClass::Salu, &s_movreld<2>, OperandType::B64, OperandType::B64),
};

}  // namespace

std::span<const Op> salu_ops() { return kRows; }

}  // namespace hipbench::emulator
