// Vector ALU: 32- and 64-bit integers, logic, shifts, bit fields, byte arithmetic.

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

// ---- Saturation, for the clamp bit ----

i32 saturate_i32(i64 value) { return static_cast<i32>(std::min<i64>(std::max<i64>(value, INT32_MIN), INT32_MAX)); }
u32 saturate_u32(u64 value) { return static_cast<u32>(std::min<u64>(value, UINT32_MAX)); }
u32 add_saturated(u32 a, u32 b) { return a + b < a ? ~0u : a + b; }
u32 subtract_saturated(u32 a, u32 b) { return a > b ? a - b : 0u; }

// ---- Carries ----

WithMask<u32> add_carry(u32 a, u32 b, bool carry) {
  const u32 partial = a + b, sum = partial + (carry ? 1u : 0u);
  return {sum, partial < a || sum < partial};
}
WithMask<u32> subtract_borrow(u32 a, u32 b, bool borrow) {
  const u32 partial = a - b, difference = partial - (borrow ? 1u : 0u);
  return {difference, a < b || partial < (borrow ? 1u : 0u)};
}
WithMask<u32> saturate_carry(WithMask<u32> sum) { return {sum.mask ? ~0u : sum.value, sum.mask}; }
WithMask<u32> saturate_borrow(WithMask<u32> difference) {
  return {difference.mask ? 0u : difference.value, difference.mask};
}

WithMask<u64> mad_wide_unsigned(u32 a, u32 b, u64 c) {
  const u64 sum = u64{a} * b + c;
  return {sum, sum < c};
}
// The carry of the signed form is the sign of the exact 65-bit sum.
WithMask<u64> mad_wide_signed(i32 a, i32 b, u64 c) {
  const u64 product = static_cast<u64>(i64{a} * b), sum = product + c;
  const bool overflow = ((~(product ^ c) & (product ^ sum)) >> 63) != 0;
  return {sum, ((sum >> 63) != 0) != overflow};
}

// (a << n) + b for n <= 4; the hardware takes n of 5 to 7 for 0.
pair64 shift_add(pair64 a, u32 given, pair64 b) {
  const u32 n = given > 4 ? 0 : given;
  const u32 low = a.low << n, high = a.high << n | a.low >> 1 >> (31 - n);
  const u32 sum = low + b.low;
  return {sum, high + b.high + (sum < low ? 1u : 0u)};
}

using LshlAddRow = LaneRowOf<[](pair64 a, u32 n, pair64 b) { return shift_add(a, n & 7, b); }>;
[[gnu::noinline]] void lshl_add_u64_plain(Wave& wave, const Inst& inst) { LshlAddRow::plain(wave, inst); }

// v_lshl_add_u64 is how the compiler adds addresses: mostly by shift 0 and with one of the terms in an SGPR pair or
// constant.
template <u32 VectorOperand>
void lshl_add_u64_uniform(Wave& wave, const Inst& inst) {
  if (wave.exec() != ~u64{0}) [[unlikely]] return lshl_add_u64_plain(wave, inst);
  const Operand& other = inst.operands[4 - VectorOperand];
  const u64 uniform = other.is_scalar() ? wave.scalar64(other.index) : other.constant;
  const u32 uniform_low = static_cast<u32>(uniform), uniform_high = static_cast<u32>(uniform >> 32);
  const u32* source = wave.vgpr(inst.operands[VectorOperand].index);
  u32* destination = wave.vgpr(inst.operands[0].index);
#pragma clang loop vectorize(assume_safety)
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 high = source[kWaveSize + lane] + uniform_high + 1, sum = source[lane] + uniform_low;
    destination[lane] = sum;
    destination[kWaveSize + lane] = sum >= uniform_low ? high - 1 : high;
  }
}
Execute pick_lshl_add_u64(const Inst& inst) {
  const Operand &a = inst.operands[1], &shift = inst.operands[2], &b = inst.operands[3];
  const auto is_uniform = [](const Operand& operand) {
    return operand.is_scalar() || operand.kind == OperandKind::Constant;
  };
  if (inst.execute != &lshl_add_u64_plain || !inst.operands[0].is_vgpr()) return nullptr;
  if (shift.kind != OperandKind::Constant || (shift.constant & 7) != 0) return nullptr;
  if (a.is_vgpr() && is_uniform(b)) return &lshl_add_u64_uniform<1>;
  if (b.is_vgpr() && is_uniform(a)) return &lshl_add_u64_uniform<3>;
  return nullptr;
}
constexpr Op lshl_add_u64_row() {
  Op row = LshlAddRow::op("v_lshl_add_u64");
  row.plain = &lshl_add_u64_plain;
  row.pick = &pick_lshl_add_u64;
  return row;
}

// ---- Fields ----

u32 sign_extend_24(u32 value) { return static_cast<u32>(static_cast<i32>(value << 8) >> 8); }
i64 signed_24(u32 value) { return static_cast<i32>(value << 8) >> 8; }
u64 unsigned_24(u32 value) { return value & 0xffffff; }

u32 extract_unsigned(u32 value, u32 offset, u32 width) { return value >> (offset & 31) & ((1u << (width & 31)) - 1); }
u32 extract_signed(u32 value, u32 offset, u32 width) {
  const u32 shifted = static_cast<u32>(static_cast<i32>(value) >> (offset & 31));
  const u32 unused = (32 - width) & 31;
  const u32 field = static_cast<u32>(static_cast<i32>(shifted << unused) >> unused);
  return (width & 31) == 0 ? 0 : field;
}
u32 reverse_bits(u32 value) { return __builtin_bitreverse32(value); }
u32 leading_zeros(u32 value) { return value == 0 ? ~0u : static_cast<u32>(std::countl_zero(value)); }
u32 trailing_zeros(u32 value) { return value == 0 ? ~0u : static_cast<u32>(std::countr_zero(value)); }
u32 leading_signs(u32 value) { return leading_zeros((value >> 31) != 0 ? ~value : value); }
u32 align_right(u32 high, u32 low, u32 bits) { return static_cast<u32>((u64{high} << 32 | low) >> bits); }
template <typename T>
T median_of(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

// One selected byte of v_perm_b32: 0–3 from `low`, 4–7 from `high`, 8–11 the sign of bytes 1, 3, 5, 7, 12 zero, above
// 0xff.
u32 permuted_byte(u32 high, u32 low, u32 select) {
  const u64 both = u64{high} << 32 | low;
  if (select < 8) return static_cast<u32>(both >> (8 * select)) & 0xff;
  if (select < 12) return (both >> (16 * (select - 8) + 15) & 1) != 0 ? 0xff : 0;
  return select == 12 ? 0 : 0xff;
}
u32 permute_bytes(u32 high, u32 low, u32 select) {
  u32 result = 0;
  for (u32 byte = 0; byte < 4; ++byte) result |= permuted_byte(high, low, select >> (8 * byte) & 0xff) << (8 * byte);
  return result;
}
using PermRow = LaneRowOf<[](u32 high, u32 low, u32 select) { return permute_bytes(high, low, select); }>;

// v_perm_b32 is hot where bytes and halves are packed; eight lanes at a time unless a selector asks for signs.
void perm_plain(Wave& wave, const Inst& inst) {
#if defined(__AVX2__)
  LaneBuffer buffers[3], result;
  const u32* select = read_lanes(wave, inst.operands[3], 0, buffers[2]);
  u32 signs = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 s = select[lane];
    signs |= (s & ~(s << 1) & 0x08080808) | (s & 0xf0f0f0f0);  // 8 to 11, or above 15: rare either way
  }
  if (signs == 0) {
    const u32* high = read_lanes(wave, inst.operands[1], 0, buffers[0]);
    const u32* low = read_lanes(wave, inst.operands[2], 0, buffers[1]);
    u32* destination = destination_register(wave, inst.operands[0]);
    u32* target = wave.exec() == ~u64{0} ? destination : result;
    const auto load = [](const u32* lanes) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes)); };
    const __m256i lane_base =
        _mm256_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0, 0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    for (u32 lane = 0; lane < kWaveSize; lane += 8) {
      const __m256i s = load(select + lane);
      // 12 and above select a constant: a shuffle index with bit 7 gives 0, and 13 to 15 become ones.
      const __m256i constant = _mm256_cmpgt_epi8(s, _mm256_set1_epi8(7));
      const __m256i ones = _mm256_cmpgt_epi8(s, _mm256_set1_epi8(12));
      const __m256i index =
          _mm256_or_si256(_mm256_add_epi8(_mm256_and_si256(s, _mm256_set1_epi8(3)), lane_base), constant);
      const __m256i from_low = _mm256_shuffle_epi8(load(low + lane), index);
      const __m256i from_high = _mm256_shuffle_epi8(load(high + lane), index);
      // Bit 2 of a selector byte moves to bit 7, where blendv looks.
      const __m256i chosen = _mm256_blendv_epi8(from_low, from_high, _mm256_slli_epi32(s, 5));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + lane), _mm256_or_si256(chosen, ones));
    }
    if (target == result) write_lanes(wave, inst.operands[0], 0, result, wave.exec());
    return;
  }
#endif
  PermRow::plain(wave, inst);
}

// ---- Sums of absolute differences ----

u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }
u32 byte_of(u64 value, u32 index) { return static_cast<u32>(value >> (8 * index)) & 0xff; }
u32 sad_bytes(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) sum += difference(byte_of(a, k), byte_of(b, k));
  return sum;
}
// Masked: bytes that are 0 in the reference do not count.
u32 sad_bytes_masked(u32 a, u32 reference) {
  u32 sum = 0;
  for (u32 k = 0; k < 4; ++k) sum += byte_of(reference, k) == 0 ? 0u : difference(byte_of(a, k), byte_of(reference, k));
  return sum;
}
u32 sad_halves(u32 a, u32 b) { return difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16); }

// Four sums at successive byte offsets of `a`, each added to a 16-bit accumulator.
template <auto Sad, bool Saturate>
u64 quad_sad(u64 a, u32 b, u64 accumulators) {
  u64 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 sum = Sad(static_cast<u32>(a >> (8 * k)), b) + static_cast<u32>(accumulators >> (16 * k) & 0xffff);
    result |= u64{Saturate ? std::min(sum, 0xffffu) : sum & 0xffff} << (16 * k);
  }
  return result;
}

// v_mqsad_u32_u8: the same with 32-bit accumulators in four registers.
void mqsad_u32_u8(Wave& wave, const Inst& inst) {
  LaneBuffer buffers[7];
  const u32* a_low = read_lanes(wave, inst.operands[1], 0, buffers[0]);
  const u32* a_high = read_lanes(wave, inst.operands[1], 1, buffers[1]);
  const u32* reference = read_lanes(wave, inst.operands[2], 0, buffers[2]);
  const Operand& accumulators = inst.operands[3];
  const Operand& destination = inst.operands[0];
  if (destination.dwords != 4 || (accumulators.is_vgpr() && accumulators.dwords != 4))
    throw GuestFault{FaultKind::IllegalOperand, "v_mqsad_u32_u8 takes four registers"};
  LaneBuffer results[4];
  for (u32 k = 0; k < 4; ++k) {
    const u32* accumulator = read_lanes(wave, accumulators, k, buffers[3 + k]);
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const u64 a = u64{a_high[lane]} << 32 | a_low[lane];
      const u32 sad = sad_bytes_masked(static_cast<u32>(a >> (8 * k)), reference[lane]);
      results[k][lane] = inst.mods.clamp ? add_saturated(accumulator[lane], sad) : accumulator[lane] + sad;
    }
  }
  for (u32 k = 0; k < 4; ++k) {
    destination_register(wave, destination);
    write_lanes(wave, destination, k, results[k], wave.exec());
  }
}

u32 lerp_bytes(u32 a, u32 b, u32 round) {
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) result |= ((byte_of(a, k) + byte_of(b, k) + (byte_of(round, k) & 1)) >> 1) << (8 * k);
  return result;
}

u32 saturate_to_bytes(u32 pair) {
  const auto limit = [](u32 half) { return static_cast<u32>(std::min(std::max(i32{static_cast<i16>(half)}, 0), 255)); };
  return limit(pair & 0xffff) | limit(pair >> 16) << 8;
}

// Which of four shader engines the rectangle of 32-pixel tiles (x_min, y_min) to (x_max, y_max) touches; each
// coordinate is two bits, from the top down x_min, y_min, x_max, y_max, and wraps around. Tile (x, y) belongs to engine
// {x[0] ^ y[1], y[0] ^ x[1]}.
u32 screen_partition(u32 rectangle) {
  const u32 left = rectangle >> 6 & 3, top = rectangle >> 4 & 3;
  const u32 width = ((rectangle >> 2) - left) & 3, height = (rectangle - top) & 3;
  u32 engines = 0;
  for (u32 dx = 0; dx < 4; ++dx)
    for (u32 dy = 0; dy < 4; ++dy) {
      const u32 x = left + dx, y = top + dy;
      const u32 engine = ((x ^ y >> 1) & 1) << 1 | ((y ^ x >> 1) & 1);
      engines |= dx <= width && dy <= height ? 1u << engine : 0u;
    }
  return engines;
}

constexpr Op kRows[] = {
    // Sums
    lanes<[](u32 a, u32 b) { return a + b; }, [](u32 a, u32 b) { return add_saturated(a, b); }>("v_add_u32"),
    lanes<[](u32 a, u32 b) { return a - b; }, [](u32 a, u32 b) { return subtract_saturated(a, b); }>("v_sub_u32"),
    lanes<[](u32 a, u32 b) { return b - a; }, [](u32 a, u32 b) { return subtract_saturated(b, a); }>("v_subrev_u32"),
    lanes<[](u32 a, u32 b) { return static_cast<i32>(a + b); },
          [](u32 a, u32 b) { return saturate_i32(i64{static_cast<i32>(a)} + static_cast<i32>(b)); }>("v_add_i32"),
    lanes<[](u32 a, u32 b) { return static_cast<i32>(a - b); },
          [](u32 a, u32 b) { return saturate_i32(i64{static_cast<i32>(a)} - static_cast<i32>(b)); }>("v_sub_i32"),
    lanes<[](u32 a, u32 b) { return add_carry(a, b, false); },
          [](u32 a, u32 b) { return saturate_carry(add_carry(a, b, false)); }>("v_add_co_u32"),
    lanes<[](u32 a, u32 b) { return subtract_borrow(a, b, false); },
          [](u32 a, u32 b) { return saturate_borrow(subtract_borrow(a, b, false)); }>("v_sub_co_u32"),
    lanes<[](u32 a, u32 b) { return subtract_borrow(b, a, false); },
          [](u32 a, u32 b) { return saturate_borrow(subtract_borrow(b, a, false)); }>("v_subrev_co_u32"),
    lanes<[](u32 a, u32 b, bool carry) { return add_carry(a, b, carry); },
          [](u32 a, u32 b, bool carry) { return saturate_carry(add_carry(a, b, carry)); }>("v_addc_co_u32"),
    lanes<[](u32 a, u32 b, bool borrow) { return subtract_borrow(a, b, borrow); },
          [](u32 a, u32 b, bool borrow) { return saturate_borrow(subtract_borrow(a, b, borrow)); }>("v_subb_co_u32"),
    lanes<[](u32 a, u32 b, bool borrow) { return subtract_borrow(b, a, borrow); },
          [](u32 a, u32 b, bool borrow) { return saturate_borrow(subtract_borrow(b, a, borrow)); }>("v_subbrev_co_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
    lanes<[](u32 a, u32 n, u32 b) { return (a << (n & 31)) + b; }>("v_lshl_add_u32"),
    lanes<[](u32 a, u32 b, u32 n) { return (a + b) << (n & 31); }>("v_add_lshl_u32"),
    lshl_add_u64_row(),
    lanes<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),

    // Products
    lanes<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("v_mul_hi_u32"),
    lanes<[](i32 a, i32 b) { return static_cast<u32>(static_cast<u64>(i64{a} * b) >> 32); }>("v_mul_hi_i32"),
    lanes<[](u32 a, u32 b) { return sign_extend_24(a) * sign_extend_24(b); }>("v_mul_i32_i24"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(signed_24(a) * signed_24(b)) >> 32); }>(
        "v_mul_hi_i32_i24"),
    lanes<[](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }>("v_mul_u32_u24"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(unsigned_24(a) * unsigned_24(b) >> 32); }>("v_mul_hi_u32_u24"),
    lanes<[](u32 a, u32 b, u32 c) { return sign_extend_24(a) * sign_extend_24(b) + c; },
          [](u32 a, u32 b, u32 c) {
            return static_cast<u32>(saturate_i32(signed_24(a) * signed_24(b) + static_cast<i32>(c)));
          }>("v_mad_i32_i24"),
    lanes<[](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; },
          [](u32 a, u32 b, u32 c) { return saturate_u32(unsigned_24(a) * unsigned_24(b) + c); }>("v_mad_u32_u24"),
    lanes<[](u32 a, u32 b, u64 c) { return mad_wide_unsigned(a, b, c); },
          [](u32 a, u32 b, u64 c) {
            const WithMask<u64> sum = mad_wide_unsigned(a, b, c);
            return WithMask<u64>{sum.mask ? ~u64{0} : sum.value, sum.mask};
          }>("v_mad_u64_u32"),
    lanes<[](i32 a, i32 b, u64 c) { return mad_wide_signed(a, b, c); },
          [](i32 a, i32 b, u64 c) {
            const WithMask<u64> sum = mad_wide_signed(a, b, c);
            const bool overflow = ((sum.value >> 63) != 0) != sum.mask;
            const u64 limit = sum.mask ? u64{1} << 63 : ~(u64{1} << 63);
            return WithMask<u64>{overflow ? limit : sum.value, sum.mask};
          }>("v_mad_i64_i32"),

    // Minimum, maximum, median
    lanes<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
    lanes<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
    lanes<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
    lanes<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }>("v_min3_i32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }>("v_max3_i32"),
    lanes<[](i32 a, i32 b, i32 c) { return median_of(a, b, c); }>("v_med3_i32"),
    lanes<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }>("v_min3_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }>("v_max3_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return median_of(a, b, c); }>("v_med3_u32"),

    // Logic and shifts
    lanes<[](u32 a) { return ~a; }>("v_not_b32"),
    lanes<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
    lanes<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
    lanes<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
    lanes<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
    lanes<[](u32 a, u32 n, u32 b) { return a << (n & 31) | b; }>("v_lshl_or_b32"),
    lanes<[](u32 n, u32 a) { return a << (n & 31); }>("v_lshlrev_b32"),
    lanes<[](u32 n, u32 a) { return a >> (n & 31); }>("v_lshrrev_b32"),
    lanes<[](u32 n, i32 a) { return a >> (n & 31); }>("v_ashrrev_i32"),
    lanes<[](u32 n, u64 a) { return a << (n & 63); }>("v_lshlrev_b64"),
    lanes<[](u32 n, u64 a) { return a >> (n & 63); }>("v_lshrrev_b64"),
    lanes<[](u32 n, i64 a) { return a >> (n & 63); }>("v_ashrrev_i64"),

    // Bits and bit fields
    lanes<[](u32 a, u32 offset, u32 width) { return extract_unsigned(a, offset, width); }>("v_bfe_u32"),
    lanes<[](u32 a, u32 offset, u32 width) { return extract_signed(a, offset, width); }>("v_bfe_i32"),
    lanes<[](u32 mask, u32 a, u32 b) { return (mask & a) | (~mask & b); }>("v_bfi_b32"),
    lanes<[](u32 width, u32 offset) { return ((1u << (width & 31)) - 1) << (offset & 31); }>("v_bfm_b32"),
    lanes<[](u32 a) { return reverse_bits(a); }>("v_bfrev_b32"),
    lanes<[](u32 a) { return leading_zeros(a); }>("v_ffbh_u32"),
    lanes<[](u32 a) { return leading_signs(a); }>("v_ffbh_i32"),
    lanes<[](u32 a) { return trailing_zeros(a); }>("v_ffbl_b32"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),
    lanes<[](u32 high, u32 low, u32 n) { return align_right(high, low, n & 31); }>("v_alignbit_b32"),
    lanes<[](u32 high, u32 low, u32 n) { return align_right(high, low, 8 * (n & 3)); }>("v_alignbyte_b32"),
    lanes_with_plain<[](u32 high, u32 low, u32 select) { return permute_bytes(high, low, select); }>("v_perm_b32",
                                                                                                     &perm_plain),

    lanes<[](u32 rectangle) { return screen_partition(rectangle); }>("v_screen_partition_4se_b32"),

    // Bytes
    lanes<[](u32 a, u32 b, u32 c) { return sad_bytes(a, b) + c; },
          [](u32 a, u32 b, u32 c) { return add_saturated(sad_bytes(a, b), c); }>("v_sad_u8"),
    lanes<[](u32 a, u32 b, u32 c) { return (sad_bytes(a, b) << 16) + c; },
          [](u32 a, u32 b, u32 c) { return add_saturated(sad_bytes(a, b) << 16, c); }>("v_sad_hi_u8"),
    lanes<[](u32 a, u32 b, u32 c) { return sad_halves(a, b) + c; },
          [](u32 a, u32 b, u32 c) { return add_saturated(sad_halves(a, b), c); }>("v_sad_u16"),
    lanes<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; },
          [](u32 a, u32 b, u32 c) { return add_saturated(difference(a, b), c); }>("v_sad_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return sad_bytes_masked(a, b) + c; },
          [](u32 a, u32 b, u32 c) { return add_saturated(sad_bytes_masked(a, b), c); }>("v_msad_u8"),
    lanes<[](u64 a, u32 b, u64 c) { return quad_sad<sad_bytes, false>(a, b, c); },
          [](u64 a, u32 b, u64 c) { return quad_sad<sad_bytes, true>(a, b, c); }>("v_qsad_pk_u16_u8"),
    lanes<[](u64 a, u32 b, u64 c) { return quad_sad<sad_bytes_masked, false>(a, b, c); },
          [](u64 a, u32 b, u64 c) { return quad_sad<sad_bytes_masked, true>(a, b, c); }>("v_mqsad_pk_u16_u8"),
    custom("v_mqsad_u32_u8", InstClass::Valu, &mqsad_u32_u8, OperandType::Wide, OperandType::B64, OperandType::B32,
           OperandType::Wide),
    lanes<[](u32 a, u32 b, u32 round) { return lerp_bytes(a, b, round); }>("v_lerp_u8"),
    lanes<[](u32 a) { return static_cast<u16>(saturate_to_bytes(a)); }>("v_sat_pk_u8_i16"),
};

}  // namespace

std::span<const Op> valu_integer_ops() { return kRows; }

}  // namespace hipbench::emulator
