// GLOBAL, FLAT and SCRATCH memory instructions. CDNA3 ISA, chapter "Flat memory instructions".
//
// Addresses: GLOBAL takes a 64-bit VGPR pair, or a 64-bit SGPR pair plus a 32-bit VGPR offset. FLAT takes a VGPR pair that may
// point into the LDS or scratch aperture. SCRATCH takes a 32-bit VGPR and/or SGPR offset into the lane's private memory.
// All add a signed 13-bit immediate. Operand order in assembler: loads  dst, vaddr, saddr; stores  vaddr, data, saddr;
// atomics  [dst,] vaddr, data[, saddr].

#include "emulator/isa/memory_access.hpp"

namespace hipbench::emulator {

namespace {

// Guest addresses of a GLOBAL or FLAT access. `scalar` is null for FLAT.
void global_addresses(Wave& wave, const Inst& inst, const Operand& vector, const Operand* scalar, LaneAddresses& at) {
  at.active = wave.exec();
  const u64 offset = static_cast<u64>(i64{inst.mods.offset});
  if (scalar != nullptr && scalar->is_scalar()) {
    const u64 base = wave.scalar64(scalar->index) + offset;
    if (!vector.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "the address offset is not a vector register"};
    const u32* low = wave.vgpr(vector.index);
    for (u32 lane = 0; lane < kWaveSize; ++lane) at.guest[lane] = base + low[lane];
    return;
  }
  if (!vector.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "the address is not a vector register pair"};
  const u32* low = wave.vgpr(vector.index);
  const u32* high = low + kWaveSize;
  for (u32 lane = 0; lane < kWaveSize; ++lane) at.guest[lane] = (u64{low[lane]} | u64{high[lane]} << 32) + offset;
}

// Addresses resolved for an access of `size` bytes.
void resolve_global(Wave& wave, const Inst& inst, const Operand& vector, const Operand* scalar, u32 size, bool writes, LaneAddresses& at) {
  at.active = wave.exec();
  const u64 offset = static_cast<u64>(i64{inst.mods.offset});
  if (vector.is_vgpr()) {
    const u32* low = wave.vgpr(vector.index);
    if (scalar != nullptr && scalar->is_scalar()) {
      if (resolve_offsets(wave, at, wave.scalar64(scalar->index) + offset, low, size, writes)) return;
    } else {
      // One upper half for all active lanes is the rule: then the lower halves are offsets.
      const u32* high = low + kWaveSize;
      const u32 common = high[std::countr_zero(at.active | u64{1} << 63)];
      u32 different = 0;
      if (at.active == ~u64{0}) {
        for (u32 lane = 0; lane < kWaveSize; ++lane) different |= high[lane] ^ common;
      } else {
        LaneBuffer keep;
        expand_mask(at.active, keep);
        for (u32 lane = 0; lane < kWaveSize; ++lane) different |= (high[lane] ^ common) & keep[lane];
      }
      if (different == 0 && resolve_offsets(wave, at, (u64{common} << 32) + offset, low, size, writes)) return;
    }
  }
  global_addresses(wave, inst, vector, scalar, at);
  resolve(wave, at, size, writes);
}

const Operand* scalar_operand(const Inst& inst, u32 index) { return index < inst.operand_count ? &inst.operands[index] : nullptr; }

u32 lane_count(u64 active) { return static_cast<u32>(std::popcount(active)); }

template <typename Data>
void load(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  resolve_global(wave, inst, inst.operands[1], scalar_operand(inst, 2), Data::bytes, false, at);
  load_lanes<Data>(wave, at, data_registers(wave, inst.operands[0]));
  wave.bytes_read += u64{Data::bytes} * lane_count(at.active);
}

template <typename Data>
void store(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  resolve_global(wave, inst, inst.operands[0], scalar_operand(inst, 2), Data::bytes, true, at);
  store_lanes<Data>(wave, at, data_registers(wave, inst.operands[1]));
  wave.bytes_written += u64{Data::bytes} * lane_count(at.active);
}

// Direct to LDS: lane l's dword goes to M0[15:0] + immediate + 4 * l. Operands: vaddr, saddr.
template <typename Data>
void load_to_lds(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  resolve_global(wave, inst, inst.operands[0], scalar_operand(inst, 1), Data::bytes, false, at);
  u32 values[kWaveSize] = {};
  load_lanes<Data>(wave, at, values);
  const u32 base = (wave.m0() & 0xffff) + static_cast<u32>(inst.mods.offset);
  for (u64 left = at.active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    store_bytes(wave, kLdsAperture + base + 4 * lane, 4, lane, &values[lane]);
  }
  wave.bytes_read += u64{Data::bytes} * lane_count(at.active);
}

struct AtomicOperands {
  const u32* data;
  u32* result;
};
// Operands of an atomic: a destination comes first when the pre-operation value is returned (sc0).
AtomicOperands atomic_operands(Wave& wave, const Inst& inst, LaneAddresses& at) {
  const u32 first = inst.mods.sc0 ? 1 : 0;
  global_addresses(wave, inst, inst.operands[first], scalar_operand(inst, first + 2), at);
  return {data_registers(wave, inst.operands[first + 1]), inst.mods.sc0 ? data_registers(wave, inst.operands[0]) : nullptr};
}
template <typename Operation, typename T>
void atomic(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  const AtomicOperands operands = atomic_operands(wave, inst, at);
  atomic_lanes<Operation, T>(wave, at.guest, at.active, operands.data, operands.result);
  wave.bytes_read += sizeof(T) * u64{lane_count(at.active)};
  wave.bytes_written += sizeof(T) * u64{lane_count(at.active)};
}
template <typename T>
void compare_swap(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  const AtomicOperands operands = atomic_operands(wave, inst, at);
  compare_swap_lanes<T>(wave, at.guest, at.active, operands.data, operands.result);
  wave.bytes_read += sizeof(T) * u64{lane_count(at.active)};
  wave.bytes_written += sizeof(T) * u64{lane_count(at.active)};
}

// ---- SCRATCH ----

// Offsets into private memory; the common spill (no VGPR, aligned) is one contiguous row of the interleaved array.
void scratch_addresses(Wave& wave, const Inst& inst, const Operand& vector, const Operand& scalar, LaneAddresses& at) {
  at.active = wave.exec();
  u32 base = static_cast<u32>(inst.mods.offset);
  if (scalar.kind != OperandKind::Off) base += static_cast<u32>(read_scalar(wave, scalar));
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    at.guest[lane] = kScratchAperture + (vector.is_vgpr() ? base + wave.vgpr(vector.index)[lane] : base);
}

template <typename Data>
bool is_spill_row(const Wave& wave, const Operand& vector, const LaneAddresses& at) {
  const u64 offset = at.guest[0] & 0xffffffff;
  return is_plain_dwords<Data> && !vector.is_vgpr() && offset % 4 == 0 && offset + Data::bytes <= wave.scratch_size;
}

template <typename Data>
void scratch_load(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  scratch_addresses(wave, inst, inst.operands[1], inst.operands[2], at);
  if (is_spill_row<Data>(wave, inst.operands[1], at)) {
    for (u32 d = 0; d < Data::dwords; ++d) {
      LaneBuffer values;
      std::memcpy(values, wave.scratch + ((at.guest[0] & 0xffffffff) / 4 + d) * kWaveSize * 4, sizeof values);
      write_lanes(wave, inst.operands[0], d, values, at.active);
    }
    return;
  }
  load_lanes<Data>(wave, at, data_registers(wave, inst.operands[0]));
}

template <typename Data>
void scratch_store(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  scratch_addresses(wave, inst, inst.operands[0], inst.operands[2], at);
  const u32* source = data_registers(wave, inst.operands[1]);
  if (is_spill_row<Data>(wave, inst.operands[0], at)) {
    LaneBuffer keep;
    expand_mask(at.active, keep);
    for (u32 d = 0; d < Data::dwords; ++d) {
      auto* row = reinterpret_cast<u32*>(wave.scratch + ((at.guest[0] & 0xffffffff) / 4 + d) * kWaveSize * 4);
      for (u32 lane = 0; lane < kWaveSize; ++lane) row[lane] = keep[lane] != 0 ? source[d * kWaveSize + lane] : row[lane];
    }
    return;
  }
  store_lanes<Data>(wave, at, source);
}

// Private memory direct to LDS, as load_to_lds. Operands: vaddr, saddr.
template <typename Data>
void scratch_load_to_lds(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  scratch_addresses(wave, inst, inst.operands[0], inst.operands[1], at);
  u32 values[kWaveSize] = {};
  load_lanes<Data>(wave, at, values);
  const u32 base = (wave.m0() & 0xffff) + static_cast<u32>(inst.mods.offset);
  for (u64 left = at.active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    store_bytes(wave, kLdsAperture + base + 4 * lane, 4, lane, &values[lane]);
  }
}

// Caches are transparent here; writeback and invalidate have nothing to do. The checks want to know of those that reach other
// workgroups.
void cache_control(Wave& wave, const Inst& inst) {
  if (wave.observer != nullptr && inst.mods.sc1) [[unlikely]] wave.observer->fence();
}

constexpr Op row(std::string_view name, Execute function) { return custom_wide(name, InstClass::Vmem, function); }

using UByteLow = HalfData<u8, false>;
using UByteHigh = HalfData<u8, true>;
using SByteLow = HalfData<i8, false>;
using SByteHigh = HalfData<i8, true>;
using ShortLow = HalfData<u16, false>;
using ShortHigh = HalfData<u16, true>;

using namespace atomic_op;

constexpr Op kRows[] = {
#define HIPBENCH_FLAT_ROWS(prefix, load_row, store_row)                \
  row(prefix "_load_ubyte", &load_row<UByte>),                         \
  row(prefix "_load_sbyte", &load_row<SByte>),                         \
  row(prefix "_load_ushort", &load_row<UShort>),                       \
  row(prefix "_load_sshort", &load_row<SShort>),                       \
  row(prefix "_load_dword", &load_row<DwordData<1>>),                  \
  row(prefix "_load_dwordx2", &load_row<DwordData<2>>),                \
  row(prefix "_load_dwordx3", &load_row<DwordData<3>>),                \
  row(prefix "_load_dwordx4", &load_row<DwordData<4>>),                \
  row(prefix "_load_ubyte_d16", &load_row<UByteLow>),                  \
  row(prefix "_load_ubyte_d16_hi", &load_row<UByteHigh>),              \
  row(prefix "_load_sbyte_d16", &load_row<SByteLow>),                  \
  row(prefix "_load_sbyte_d16_hi", &load_row<SByteHigh>),              \
  row(prefix "_load_short_d16", &load_row<ShortLow>),                  \
  row(prefix "_load_short_d16_hi", &load_row<ShortHigh>),              \
  row(prefix "_store_byte", &store_row<UByte>),                        \
  row(prefix "_store_byte_d16_hi", &store_row<UByteHigh>),             \
  row(prefix "_store_short", &store_row<UShort>),                      \
  row(prefix "_store_short_d16_hi", &store_row<ShortHigh>),            \
  row(prefix "_store_dword", &store_row<DwordData<1>>),                \
  row(prefix "_store_dwordx2", &store_row<DwordData<2>>),              \
  row(prefix "_store_dwordx3", &store_row<DwordData<3>>),              \
  row(prefix "_store_dwordx4", &store_row<DwordData<4>>)
#define HIPBENCH_ATOMIC_ROWS(prefix)                                   \
  row(prefix "_atomic_swap", &atomic<Swap<u32>, u32>),                 \
  row(prefix "_atomic_cmpswap", &compare_swap<u32>),                   \
  row(prefix "_atomic_add", &atomic<Add<u32>, u32>),                   \
  row(prefix "_atomic_sub", &atomic<Sub<u32>, u32>),                   \
  row(prefix "_atomic_smin", &atomic<Min<i32>, i32>),                  \
  row(prefix "_atomic_umin", &atomic<Min<u32>, u32>),                  \
  row(prefix "_atomic_smax", &atomic<Max<i32>, i32>),                  \
  row(prefix "_atomic_umax", &atomic<Max<u32>, u32>),                  \
  row(prefix "_atomic_and", &atomic<And<u32>, u32>),                   \
  row(prefix "_atomic_or", &atomic<Or<u32>, u32>),                     \
  row(prefix "_atomic_xor", &atomic<Xor<u32>, u32>),                   \
  row(prefix "_atomic_inc", &atomic<Inc<u32>, u32>),                   \
  row(prefix "_atomic_dec", &atomic<Dec<u32>, u32>),                   \
  row(prefix "_atomic_swap_x2", &atomic<Swap<u64>, u64>),              \
  row(prefix "_atomic_cmpswap_x2", &compare_swap<u64>),                \
  row(prefix "_atomic_add_x2", &atomic<Add<u64>, u64>),                \
  row(prefix "_atomic_sub_x2", &atomic<Sub<u64>, u64>),                \
  row(prefix "_atomic_smin_x2", &atomic<Min<i64>, i64>),               \
  row(prefix "_atomic_umin_x2", &atomic<Min<u64>, u64>),               \
  row(prefix "_atomic_smax_x2", &atomic<Max<i64>, i64>),               \
  row(prefix "_atomic_umax_x2", &atomic<Max<u64>, u64>),               \
  row(prefix "_atomic_and_x2", &atomic<And<u64>, u64>),                \
  row(prefix "_atomic_or_x2", &atomic<Or<u64>, u64>),                  \
  row(prefix "_atomic_xor_x2", &atomic<Xor<u64>, u64>),                \
  row(prefix "_atomic_inc_x2", &atomic<Inc<u64>, u64>),                \
  row(prefix "_atomic_dec_x2", &atomic<Dec<u64>, u64>),                \
  row(prefix "_atomic_add_f32", &atomic<Add<f32>, f32>),               \
  row(prefix "_atomic_add_f64", &atomic<Add<f64>, f64>),               \
  row(prefix "_atomic_min_f64", &atomic<FloatMin<f64>, f64>),          \
  row(prefix "_atomic_max_f64", &atomic<FloatMax<f64>, f64>),          \
  row(prefix "_atomic_pk_add_f16", &atomic<PackedAddF16, u32>),        \
  row(prefix "_atomic_pk_add_bf16", &atomic<PackedAddBf16, u32>)

    HIPBENCH_FLAT_ROWS("global", load, store),
    HIPBENCH_FLAT_ROWS("flat", load, store),
    HIPBENCH_FLAT_ROWS("scratch", scratch_load, scratch_store),
    HIPBENCH_ATOMIC_ROWS("global"),
    HIPBENCH_ATOMIC_ROWS("flat"),
    row("global_load_lds_dword", &load_to_lds<DwordData<1>>),
    row("global_load_lds_ubyte", &load_to_lds<UByte>),
    row("global_load_lds_sbyte", &load_to_lds<SByte>),
    row("global_load_lds_ushort", &load_to_lds<UShort>),
    row("global_load_lds_sshort", &load_to_lds<SShort>),
    row("scratch_load_lds_dword", &scratch_load_to_lds<DwordData<1>>),
    row("scratch_load_lds_ubyte", &scratch_load_to_lds<UByte>),
    row("scratch_load_lds_sbyte", &scratch_load_to_lds<SByte>),
    row("scratch_load_lds_ushort", &scratch_load_to_lds<UShort>),
    row("scratch_load_lds_sshort", &scratch_load_to_lds<SShort>),
    row("buffer_wbl2", &cache_control),
    row("buffer_wbinvl1", &cache_control),
    row("buffer_wbinvl1_vol", &cache_control),
    row("buffer_inv", &cache_control),
};
#undef HIPBENCH_FLAT_ROWS
#undef HIPBENCH_ATOMIC_ROWS

}  // namespace

std::span<const Op> global_ops() { return kRows; }

}  // namespace hipbench::emulator
