// GLOBAL, FLAT and SCRATCH memory instructions. CDNA3 ISA, chapter "Flat memory instructions".
//
// Addresses: GLOBAL takes a 64-bit VGPR pair, or a 64-bit SGPR pair plus a 32-bit VGPR offset. FLAT takes a VGPR pair
// that may point into the LDS or scratch aperture. SCRATCH takes a 32-bit VGPR and/or SGPR offset into the lane's
// private memory. All add a signed 13-bit immediate. Operand order in assembler: loads  dst, vaddr, saddr; stores
// vaddr, data, saddr; atomics  [dst,] vaddr, data[, saddr].

#include <algorithm>

#include "emulator/isa/row_family.hpp"

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

// Where all 64 lanes find their bytes, when that is in one buffer and all the same or all neighbours: the rule.
struct WholeWave {
  std::byte* host = nullptr;  // of lane 0; null: not so
  bool uniform = false;
};
[[gnu::always_inline]] inline WholeWave whole_wave(Wave& wave, u64 origin, const u32* low, const u32* high, u32 size,
                                                   bool writes) {
  const u32 first = low[0], step = low[1] - first;
  if (step != 0 && step != size) return {};
  if (!is_ramp(low, high, step) || ramp_wraps(first)) return {};
  return {wave.memory.find(origin + first, step == 0 ? size : kWaveSize * size, writes), step == 0};
}

// The same with every eight lanes neighbours: rows of a tile.
bool resolve_rows(Wave& wave, u64 origin, const u32* low, const u32* high, u32 size, bool writes, LaneAddresses& at) {
  if (low[1] - low[0] != size || wave.observer != nullptr) return false;
  constexpr Lanes8 kNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
  const Lanes8 ramp = kNumbers * size;
  const u32 common = high != nullptr ? high[0] : 0;
  u32 least = low[0], greatest = low[0];
  Lanes8 wrong = 0;
  for (u32 lane = 0; lane < kWaveSize; lane += 8) {
    wrong |= load_lanes8(low + lane) ^ (ramp + low[lane]);
    if (high != nullptr) wrong |= load_lanes8(high + lane) ^ common;
    least = std::min(least, low[lane]);
    greatest = std::max(greatest, low[lane]);
  }
  if (__builtin_reduce_or(wrong) != 0 || greatest > ~u32{0} - 8 * size) return false;
  std::byte* base = wave.memory.find(origin + least, u64{greatest - least} + 8 * size, writes);
  if (base == nullptr) return false;
  for (u32 lane = 0; lane < kWaveSize; lane += 8) at.host[lane] = base + (low[lane] - least);
  at.pattern = LaneAddresses::Pattern::Rows;
  return true;
}

bool resolve_whole_wave(Wave& wave, u64 origin, const u32* low, const u32* high, u32 size, bool writes,
                        LaneAddresses& at) {
  using Pattern = LaneAddresses::Pattern;
  const WholeWave whole = whole_wave(wave, origin, low, high, size, writes);
  if (whole.host == nullptr) return resolve_rows(wave, origin, low, high, size, writes, at);
  at.host[0] = whole.host;
  at.pattern = whole.uniform ? Pattern::Uniform : Pattern::Contiguous;
  return true;
}

// Addresses resolved for an access of `size` bytes.
void resolve_global(Wave& wave, const Inst& inst, const Operand& vector, const Operand* scalar, u32 size, bool writes,
                    LaneAddresses& at) {
  at.active = wave.exec();
  const u64 offset = static_cast<u64>(i64{inst.mods.offset});
  if (vector.is_vgpr()) {
    const u32* low = wave.vgpr(vector.index);
    if (scalar != nullptr && scalar->is_scalar()) {
      const u64 origin = wave.scalar64(scalar->index) + offset;
      if (at.active == ~u64{0} && resolve_whole_wave(wave, origin, low, nullptr, size, writes, at)) return;
      if (resolve_offsets(wave, at, origin, low, size, writes)) return;
    } else {
      // One upper half for all active lanes is the rule: then the lower halves are offsets.
      const u32* high = low + kWaveSize;
      const u32 common = high[std::countr_zero(at.active | u64{1} << 63)];
      const u64 origin = (u64{common} << 32) + offset;
      if (at.active == ~u64{0} && resolve_whole_wave(wave, origin, low, high, size, writes, at)) return;
      u32 different = 0;
      if (at.active == ~u64{0}) {
        for (u32 lane = 0; lane < kWaveSize; ++lane) different |= high[lane] ^ common;
      } else {
        LaneBuffer keep;
        expand_mask(at.active, keep);
        for (u32 lane = 0; lane < kWaveSize; ++lane) different |= (high[lane] ^ common) & keep[lane];
      }
      if (different == 0 && resolve_offsets(wave, at, origin, low, size, writes)) return;
    }
  }
  global_addresses(wave, inst, vector, scalar, at);
  resolve(wave, at, size, writes);
}

const Operand* scalar_operand(const Inst& inst, u32 index) {
  return index < inst.operand_count ? &inst.operands[index] : nullptr;
}

u32 lane_count(u64 active) { return static_cast<u32>(std::popcount(active)); }

struct GlobalAccess {
  template <typename Data>
  [[gnu::noinline]] static void load(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    resolve_global(wave, inst, inst.operands[1], scalar_operand(inst, 2), Data::bytes, false, at);
    load_lanes<Data>(wave, at, data_registers(wave, inst.operands[0]));
    wave.bytes_read += u64{Data::bytes} * lane_count(at.active);
  }
  // The common load, of a whole wave. ScalarBase: an SGPR pair plus 32-bit offsets; else 64-bit addresses.
  template <typename Data, bool ScalarBase>
  static void load_whole_wave(Wave& wave, const Inst& inst) {
    if (wave.exec() != ~u64{0} || wave.observer != nullptr) [[unlikely]] return load<Data>(wave, inst);
    const u32* low = wave.vgpr(inst.operands[1].index);
    const u64 base = ScalarBase ? wave.scalar64(inst.operands[2].index) : u64{low[kWaveSize]} << 32;
    const WholeWave at = whole_wave(wave, base + static_cast<u64>(i64{inst.mods.offset}), low,
                                    ScalarBase ? nullptr : low + kWaveSize, Data::bytes, false);
    if (at.host == nullptr) [[unlikely]] return load<Data>(wave, inst);
    u32* destination = wave.vgpr(inst.operands[0].index);
    if (at.uniform)
      load_uniform<Data>(at.host, destination, ~u64{0});
    else
      load_neighbours<Data, kWaveSize>(at.host, destination);
    wave.bytes_read += u64{Data::bytes} * kWaveSize;
  }
  template <typename Data>
  static Execute pick_load(const Inst& inst) {
    if (inst.operand_count != 3 || !inst.operands[0].is_vgpr() || !inst.operands[1].is_vgpr()) return nullptr;
    if (inst.operands[2].is_scalar()) return &load_whole_wave<Data, true>;
    return inst.operands[2].kind == OperandKind::Off ? &load_whole_wave<Data, false> : nullptr;
  }
  template <typename Data>
  static void store(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    resolve_global(wave, inst, inst.operands[0], scalar_operand(inst, 2), Data::bytes, true, at);
    store_lanes<Data>(wave, at, data_registers(wave, inst.operands[1]));
    wave.bytes_written += u64{Data::bytes} * lane_count(at.active);
  }
};

// Direct to LDS: lane l's dword goes to M0[15:0] + immediate + 4 * l.
void write_to_lds(Wave& wave, const Inst& inst, u64 active, const u32* values) {
  const u32 base = (wave.m0() & 0xffff) + static_cast<u32>(inst.mods.offset);
  for (u64 left = active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    store_bytes(wave, kLdsAperture + base + 4 * lane, 4, lane, &values[lane]);
  }
}
// Operands: vaddr, saddr.
template <typename Data>
void load_to_lds(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  resolve_global(wave, inst, inst.operands[0], scalar_operand(inst, 1), Data::bytes, false, at);
  u32 values[kWaveSize] = {};
  load_lanes<Data>(wave, at, values);
  write_to_lds(wave, inst, at.active, values);
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
  return {data_registers(wave, inst.operands[first + 1]),
          inst.mods.sc0 ? data_registers(wave, inst.operands[0]) : nullptr};
}
struct GlobalAtomic {
  template <typename Operation, typename T>
  static void apply(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    const AtomicOperands operands = atomic_operands(wave, inst, at);
    atomic_lanes<Operation, T>(wave, at.guest, at.active, operands.data, operands.result);
    count_bytes<T>(wave, at.active);
  }
  template <typename T>
  static void compare_swap(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    const AtomicOperands operands = atomic_operands(wave, inst, at);
    compare_swap_lanes<T>(wave, at.guest, at.active, operands.data, operands.result);
    count_bytes<T>(wave, at.active);
  }

 private:
  template <typename T>
  static void count_bytes(Wave& wave, u64 active) {
    wave.bytes_read += sizeof(T) * u64{lane_count(active)};
    wave.bytes_written += sizeof(T) * u64{lane_count(active)};
  }
};

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

// Dword d of all lanes, which lie side by side.
std::byte* spill_row(const Wave& wave, const LaneAddresses& at, u32 d) {
  return wave.scratch + ((at.guest[0] & 0xffffffff) / 4 + d) * kWaveSize * 4;
}

struct ScratchAccess {
  template <typename Data>
  static void load(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    scratch_addresses(wave, inst, inst.operands[1], inst.operands[2], at);
    if (!is_spill_row<Data>(wave, inst.operands[1], at))
      return load_lanes<Data>(wave, at, data_registers(wave, inst.operands[0]));
    for (u32 d = 0; d < Data::dwords; ++d) {
      LaneBuffer values;
      std::memcpy(values, spill_row(wave, at, d), sizeof values);
      write_lanes(wave, inst.operands[0], d, values, at.active);
    }
  }
  template <typename Data>
  static void store(Wave& wave, const Inst& inst) {
    LaneAddresses at;
    scratch_addresses(wave, inst, inst.operands[0], inst.operands[2], at);
    const u32* source = data_registers(wave, inst.operands[1]);
    if (!is_spill_row<Data>(wave, inst.operands[0], at)) return store_lanes<Data>(wave, at, source);
    LaneBuffer keep;
    expand_mask(at.active, keep);
    for (u32 d = 0; d < Data::dwords; ++d) {
      auto* row = reinterpret_cast<u32*>(spill_row(wave, at, d));
      for (u32 lane = 0; lane < kWaveSize; ++lane)
        row[lane] = keep[lane] != 0 ? source[d * kWaveSize + lane] : row[lane];
    }
  }
};

// Private memory direct to LDS. Operands: vaddr, saddr.
template <typename Data>
void scratch_load_to_lds(Wave& wave, const Inst& inst) {
  LaneAddresses at;
  scratch_addresses(wave, inst, inst.operands[0], inst.operands[1], at);
  u32 values[kWaveSize] = {};
  load_lanes<Data>(wave, at, values);
  write_to_lds(wave, inst, at.active, values);
}

// Caches are transparent here; writeback and invalidate have nothing to do. The checks want to know of those that reach
// other workgroups.
void cache_control(Wave& wave, const Inst& inst) {
  if (wave.observer != nullptr && inst.mods.sc1) [[unlikely]] wave.observer->fence();
}

RowFamily make_rows() {
  RowFamily family(InstClass::Vmem);
  add_loads_and_stores<GlobalAccess>(family, "global");
  add_loads_and_stores<GlobalAccess>(family, "flat");
  add_loads_and_stores<ScratchAccess>(family, "scratch");
  for (const std::string prefix : {"global_atomic_", "flat_atomic_"}) {
    add_integer_atomics<GlobalAtomic>(family, prefix);
    add_float_atomics<GlobalAtomic>(family, prefix);
    family.add(prefix + "pk_add_bf16", &GlobalAtomic::apply<atomic_op::PackedAddBf16, u32>);
  }
  family.add("global_load_lds_dword", &load_to_lds<DwordData<1>>);
  family.add("global_load_lds_ubyte", &load_to_lds<UByte>);
  family.add("global_load_lds_sbyte", &load_to_lds<SByte>);
  family.add("global_load_lds_ushort", &load_to_lds<UShort>);
  family.add("global_load_lds_sshort", &load_to_lds<SShort>);
  family.add("scratch_load_lds_dword", &scratch_load_to_lds<DwordData<1>>);
  family.add("scratch_load_lds_ubyte", &scratch_load_to_lds<UByte>);
  family.add("scratch_load_lds_sbyte", &scratch_load_to_lds<SByte>);
  family.add("scratch_load_lds_ushort", &scratch_load_to_lds<UShort>);
  family.add("scratch_load_lds_sshort", &scratch_load_to_lds<SShort>);
  family.add("buffer_wbl2", &cache_control);
  family.add("buffer_wbinvl1", &cache_control);
  family.add("buffer_wbinvl1_vol", &cache_control);
  family.add("buffer_inv", &cache_control);
  return family;
}

}  // namespace

std::span<const Op> global_ops() {
  static const RowFamily family = make_rows();
  return family.rows();
}

}  // namespace hipbench::emulator
