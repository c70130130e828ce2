// Local data share: DS instructions. CDNA3 ISA, chapter "Data share operations". Operand order in assembler: loads dst,
// addr; stores  addr, data[, data2]; atomics  [dst,] addr, data[, data2]. LDS belongs to one workgroup, whose waves run
// on one host thread, so that atomics need no host atomics.

#include <algorithm>

#include "emulator/isa/row_family.hpp"

namespace hipbench::emulator {

namespace {

[[noreturn]] void fault_out_of_bounds(const Wave& wave, u64 address, u32 size, u32 lane) {
  throw GuestFault{FaultKind::LdsOutOfBounds,
                   "LDS access at byte " + std::to_string(address) + ", but the workgroup has " +
                       std::to_string(wave.lds_size) + " bytes",
                   address, size, static_cast<int>(lane)};
}

// Host pointers of the active lanes at address + offset, checked; Contiguous and Uniform are recognised as for global
// memory.
void lds_addresses(Wave& wave, const Operand& address, u32 offset, u32 size, LaneAddresses& at) {
  using Pattern = LaneAddresses::Pattern;
  at.active = wave.exec();
  at.pattern = Pattern::Scattered;
  if (at.active == 0) return;
  LaneBuffer splat;
  const u32* low = read_lanes(wave, address, 0, splat);
  const u32 first = static_cast<u32>(std::countr_zero(at.active));
  const bool all = at.active == ~u64{0};
  u32 offsets[kWaveSize];
  if (all) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) offsets[lane] = low[lane] + offset;
  } else {
    LaneBuffer keep;
    expand_mask(at.active, keep);
    for (u32 lane = 0; lane < kWaveSize; ++lane) offsets[lane] = (keep[lane] != 0 ? low[lane] : low[first]) + offset;
  }
  u32 highest = 0, stride_errors = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    highest = offsets[lane] > highest ? offsets[lane] : highest;
    stride_errors |= (offsets[lane] - offsets[0]) ^ (lane * size);
  }
  if (u64{highest} + size > wave.lds_size) [[unlikely]] {
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      if (u64{offsets[lane]} + size > wave.lds_size) fault_out_of_bounds(wave, offsets[lane], size, lane);
  }
  if (all && stride_errors == 0) {
    at.host[0] = wave.lds + offsets[0];
    at.pattern = Pattern::Contiguous;
    return;
  }
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    at.host[lane] = wave.lds + offsets[lane];  // read2 and exchange2 want them all
}

u32 byte_offset(const Inst& inst) { return static_cast<u32>(inst.mods.offset); }

// The common case: all lanes active, addresses in a register, everything inside. The addresses, to which each access
// adds its own offset; null: not so. `end` is the greatest offset plus the size of its access.
const u32* whole_wave(Wave& wave, const Operand& address, u32 end) {
  if (wave.exec() != ~u64{0} || wave.observer != nullptr || !address.is_vgpr()) [[unlikely]] return nullptr;
  const u32* low = wave.vgpr(address.index);
  u32 highest = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) highest = std::max(highest, low[lane]);
  return u64{highest} + end <= wave.lds_size ? low : nullptr;
}

// What 64 lanes read, lane by lane.
template <typename Data>
struct Gathered {
  u32 raw[kWaveSize][Data::dwords];
  void read(const std::byte* base, const u32* low) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) std::memcpy(raw[lane], base + low[lane], Data::bytes);
  }
  void to_registers(u32* destination) const {
    for (u32 d = 0; d < Data::dwords; ++d)
      for (u32 lane = 0; lane < kWaveSize; ++lane) destination[d * kWaveSize + lane] = raw[lane][d];
  }
};

// Memory of 64 lanes at base + low[lane] <-> registers.
template <typename Data>
void load_whole_wave(const std::byte* base, const u32* low, u32* destination) {
  const u32 step = low[1] - low[0];
  if (step == Data::bytes && is_ramp(low, nullptr, step))
    return load_neighbours<Data, kWaveSize>(base + low[0], destination);
  if (step == 0 && is_ramp(low, nullptr, 0)) return load_uniform<Data>(base + low[0], destination, ~u64{0});
  if constexpr (is_plain_dwords<Data>) {
    Gathered<Data> data;  // the addresses may be in a destination register
    data.read(base, low);
    data.to_registers(destination);
  } else {
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      typename Data::type raw;
      std::memcpy(&raw, base + low[lane], sizeof raw);
      destination[lane] = Data::from_memory(raw, destination[lane]);
    }
  }
}
template <typename Data>
void store_whole_wave(std::byte* base, const u32* low, const u32* source) {
  if (low[1] - low[0] == Data::bytes && is_ramp(low, nullptr, Data::bytes))
    return store_neighbours<Data, kWaveSize>(base + low[0], source);
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    if constexpr (is_plain_dwords<Data>) {
      u32 raw[Data::dwords];
      for (u32 d = 0; d < Data::dwords; ++d) raw[d] = source[d * kWaveSize + lane];
      std::memcpy(base + low[lane], raw, sizeof raw);
    } else {
      const typename Data::type raw = Data::to_memory(source[lane]);
      std::memcpy(base + low[lane], &raw, sizeof raw);
    }
  }
}

template <typename Data>
void read(Wave& wave, const Inst& inst) {
  const u32 offset = byte_offset(inst);
  u32* destination = data_registers(wave, inst.operands[0]);
  if (const u32* low = whole_wave(wave, inst.operands[1], offset + Data::bytes))
    return load_whole_wave<Data>(wave.lds + offset, low, destination);
  LaneAddresses at;
  lds_addresses(wave, inst.operands[1], offset, Data::bytes, at);
  load_lanes<Data>(wave, at, destination);
}

template <typename Data>
void write(Wave& wave, const Inst& inst) {
  const u32 offset = byte_offset(inst);
  const u32* source = data_registers(wave, inst.operands[1]);
  if (const u32* low = whole_wave(wave, inst.operands[0], offset + Data::bytes))
    return store_whole_wave<Data>(wave.lds + offset, low, source);
  LaneAddresses at;
  lds_addresses(wave, inst.operands[0], offset, Data::bytes, at);
  store_lanes<Data>(wave, at, source);
}

// Two elements at offset0 and offset1, counted in elements, or in 64 elements for the st64 forms.
template <typename Data, u32 Stride>
void read2(Wave& wave, const Inst& inst) {
  u32* destination = data_registers(wave, inst.operands[0]);
  const u32 offset0 = static_cast<u32>(inst.mods.offset) * Stride * Data::bytes;
  const u32 offset1 = static_cast<u32>(inst.mods.offset1) * Stride * Data::bytes;
  // The address register may be among the destinations: both are read first.
  if (const u32* low = whole_wave(wave, inst.operands[1], std::max(offset0, offset1) + Data::bytes)) {
    Gathered<Data> first, second;
    first.read(wave.lds + offset0, low);
    second.read(wave.lds + offset1, low);
    first.to_registers(destination);
    second.to_registers(destination + Data::dwords * kWaveSize);
    return;
  }
  LaneAddresses at[2];
  lds_addresses(wave, inst.operands[1], offset0, Data::bytes, at[0]);
  lds_addresses(wave, inst.operands[1], offset1, Data::bytes, at[1]);
  load_lanes<Data>(wave, at[0], destination);
  load_lanes<Data>(wave, at[1], destination + Data::dwords * kWaveSize);
}
template <typename Data, u32 Stride>
void write2(Wave& wave, const Inst& inst) {
  const u32 offsets[2] = {static_cast<u32>(inst.mods.offset) * Stride * Data::bytes,
                          static_cast<u32>(inst.mods.offset1) * Stride * Data::bytes};
  const u32* low = whole_wave(wave, inst.operands[0], std::max(offsets[0], offsets[1]) + Data::bytes);
  for (u32 k = 0; k < 2; ++k) {
    const u32* source = data_registers(wave, inst.operands[1 + k]);
    if (low != nullptr) {
      store_whole_wave<Data>(wave.lds + offsets[k], low, source);
      continue;
    }
    LaneAddresses at;
    lds_addresses(wave, inst.operands[0], offsets[k], Data::bytes, at);
    store_lanes<Data>(wave, at, source);
  }
}
// Exchanges two elements with memory; returns both old values.
template <typename T, u32 Stride>
void exchange2(Wave& wave, const Inst& inst) {
  u32* result = data_registers(wave, inst.operands[0]);
  LaneAddresses at[2];
  for (u32 k = 0; k < 2; ++k) {
    const u32 element = static_cast<u32>(k == 0 ? inst.mods.offset : inst.mods.offset1);
    lds_addresses(wave, inst.operands[1], element * Stride * u32{sizeof(T)}, sizeof(T), at[k]);
    if (at[k].pattern == LaneAddresses::Pattern::Contiguous)
      for (u32 lane = 0; lane < kWaveSize; ++lane) at[k].host[lane] = at[k].host[0] + lane * sizeof(T);
  }
  for (u64 left = wave.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    for (u32 k = 0; k < 2; ++k) {
      const T data = lane_value<T>(data_registers(wave, inst.operands[2 + k]), lane);
      if (wave.observer != nullptr) [[unlikely]]
        wave.observer->access(wave, at[k].host[lane], sizeof(T), lane, AccessKind::Atomic, &data);
      T old;
      std::memcpy(&old, at[k].host[lane], sizeof(T));
      std::memcpy(at[k].host[lane], &data, sizeof(T));
      set_lane_value<T>(result + k * (sizeof(T) / 4) * kWaveSize, lane, old);
    }
  }
}

// ---- Atomics ----

template <typename T>
std::byte* atomic_cell(Wave& wave, u32 address, u32 lane, AccessKind kind = AccessKind::Atomic) {
  if (address % sizeof(T) != 0)
    throw GuestFault{FaultKind::Misaligned,
                     "an LDS atomic at byte " + std::to_string(address) + " is not aligned to its size", address,
                     sizeof(T), static_cast<int>(lane)};
  if (u64{address} + sizeof(T) > wave.lds_size) fault_out_of_bounds(wave, address, sizeof(T), lane);
  if (wave.observer != nullptr) [[unlikely]]
    wave.observer->access(wave, wave.lds + address, sizeof(T), lane, kind, nullptr);
  return wave.lds + address;
}

// Update(old, lane) is the new value. Operands: [dst,] addr, data…
template <typename T, bool Returns, typename Update>
void update_cells(Wave& wave, const Inst& inst, const Update& update) {
  LaneBuffer splat;
  const u32* address = read_lanes(wave, inst.operands[Returns ? 1 : 0], 0, splat);
  u32* result = Returns ? data_registers(wave, inst.operands[0]) : nullptr;
  for (u64 left = wave.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* cell = atomic_cell<T>(wave, address[lane] + byte_offset(inst), lane);
    T old;
    std::memcpy(&old, cell, sizeof(T));
    const T updated = update(old, lane);
    std::memcpy(cell, &updated, sizeof(T));
    tell_atomic_done(wave, cell, old);
    if constexpr (Returns) set_lane_value<T>(result, lane, old);
  }
}
template <bool Returns>
const u32* data_operand(Wave& wave, const Inst& inst, u32 which) {
  return data_registers(wave, inst.operands[(Returns ? 2 : 1) + which]);
}

template <typename Operation, typename T, bool Returns>
void atomic(Wave& wave, const Inst& inst) {
  const u32* data = data_operand<Returns>(wave, inst, 0);
  update_cells<T, Returns>(wave, inst,
                           [&](T old, u32 lane) { return Operation::apply(old, lane_value<T>(data, lane)); });
}
// ds_cmpst: the first data operand is compared, the second stored (the reverse of the global form).
template <typename T, bool Returns>
void compare_store(Wave& wave, const Inst& inst) {
  const u32 *compare = data_operand<Returns>(wave, inst, 0), *data = data_operand<Returns>(wave, inst, 1);
  update_cells<T, Returns>(wave, inst, [&](T old, u32 lane) {
    return old == lane_value<T>(compare, lane) ? lane_value<T>(data, lane) : old;
  });
}
// memory = (memory & ~mask) | data. Operands: address, mask, data.
template <typename T, bool Returns>
void masked_or(Wave& wave, const Inst& inst) {
  const u32 *mask = data_operand<Returns>(wave, inst, 0), *data = data_operand<Returns>(wave, inst, 1);
  update_cells<T, Returns>(wave, inst, [&](T old, u32 lane) {
    return (old & ~lane_value<T>(mask, lane)) | lane_value<T>(data, lane);
  });
}
// A ring counter: memory moves on by the second operand, or back by the first once it reached it.
void ds_wrap_rtn_b32(Wave& wave, const Inst& inst) {
  const u32 *limit = data_operand<true>(wave, inst, 0), *step = data_operand<true>(wave, inst, 1);
  update_cells<u32, true>(wave, inst,
                          [&](u32 old, u32 lane) { return old >= limit[lane] ? old - limit[lane] : old + step[lane]; });
}
// Each dword of the pair is written, without its top bit, if that bit is set.
struct ConditionalExchange {
  static u64 apply(u64 memory, u64 data) {
    u64 result = memory;
    for (u32 shift : {0u, 32u})
      if ((data >> shift & 0x80000000) != 0)
        result = (result & ~(u64{0xffffffff} << shift)) | (data >> shift & 0x7fffffff) << shift;
    return result;
  }
};

// ---- Wave-wide counters: one addition for all active lanes; every lane gets the old value. The address is M0[15:0]
// and the offset, as AMD's compiler has it for __builtin_amdgcn_ds_append; ISA documents disagree about M0 ----

template <bool Append>
void append_consume(Wave& wave, const Inst& inst) {
  const u64 active = wave.exec();
  if (active == 0) return;
  std::byte* cell = atomic_cell<u32>(wave, (wave.m0() & 0xffff) + byte_offset(inst), 0);
  u32 old;
  std::memcpy(&old, cell, 4);
  const u32 count = static_cast<u32>(std::popcount(active));
  const u32 updated = Append ? old + count : old - count;
  std::memcpy(cell, &updated, 4);
  tell_atomic_done(wave, cell, old);
  LaneBuffer values;
  std::fill_n(values, kWaveSize, old);
  write_lanes(wave, inst.operands[0], 0, values, active);
}

// M0-addressed forms.
u32 addtid_address(const Wave& wave, const Inst& inst, u32 lane) {
  return (wave.m0() & 0xffff) + byte_offset(inst) + 4 * lane;
}
void read_addtid(Wave& wave, const Inst& inst) {
  u32* destination = data_registers(wave, inst.operands[0]);
  for (u64 left = wave.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::memcpy(&destination[lane], atomic_cell<u32>(wave, addtid_address(wave, inst, lane), lane, AccessKind::Load),
                4);
  }
}
void write_addtid(Wave& wave, const Inst& inst) {
  const u32* source = data_registers(wave, inst.operands[0]);
  for (u64 left = wave.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::memcpy(atomic_cell<u32>(wave, addtid_address(wave, inst, lane), lane, AccessKind::Store), &source[lane], 4);
  }
}

// ---- Cross-lane moves that use the LDS crossbar but no memory ----

// Pull: lane reads from lane (address / 4) % 64; an inactive source gives 0.
void ds_bpermute_b32(Wave& wave, const Inst& inst) {
  LaneBuffer address_splat, data_splat, result;
  const u32* address = read_lanes(wave, inst.operands[1], 0, address_splat);
  const u32* data = read_lanes(wave, inst.operands[2], 0, data_splat);
  const u64 exec = wave.exec();
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 from = (address[lane] + byte_offset(inst)) / 4 % kWaveSize;
    result[lane] = (exec >> from & 1) != 0 ? data[from] : 0;
  }
  write_lanes(wave, inst.operands[0], 0, result, exec);
}
// Push: lane sends to lane (address / 4) % 64; the highest sender wins; a lane nobody sends to gets 0.
void ds_permute_b32(Wave& wave, const Inst& inst) {
  LaneBuffer address_splat, data_splat, result = {};
  const u32* address = read_lanes(wave, inst.operands[1], 0, address_splat);
  const u32* data = read_lanes(wave, inst.operands[2], 0, data_splat);
  const u64 exec = wave.exec();
  for (u64 left = exec; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    result[(address[lane] + byte_offset(inst)) / 4 % kWaveSize] = data[lane];
  }
  write_lanes(wave, inst.operands[0], 0, result, exec);
}

u32 reverse5(u32 value) {
  u32 result = 0;
  for (u32 bit = 0; bit < 5; ++bit) result |= (value >> bit & 1) << (4 - bit);
  return result;
}
// The source lane of ds_swizzle_b32 within its group of 32, or the lane itself's group of 4.
u32 swizzle_source(u32 pattern, u32 lane) {
  const u32 group = lane & 32u, index = lane & 31u;
  if (pattern >= 0xe000) {  // FFT: reverse the bits of the lane index above the group size
    const u32 mask = pattern & 0x1f;
    const u32 reversed = reverse5(index);
    return group | (reversed >> static_cast<u32>(std::popcount(mask))) | (index & mask);
  }
  if (pattern >= 0xc000) {  // rotate within 32, under a mask of bits that stay
    const u32 mask = pattern & 0x1f, amount = pattern >> 5 & 0x1f;
    const u32 moved = (pattern & 0x400) != 0 ? index - amount : index + amount;
    return group | (index & mask) | (moved & 31 & ~mask);
  }
  if ((pattern & 0x8000) != 0) return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);  // quad permute
  const u32 and_mask = pattern & 0x1f, or_mask = pattern >> 5 & 0x1f, xor_mask = pattern >> 10 & 0x1f;
  return group | (((index & and_mask) | or_mask) ^ xor_mask);
}
void ds_swizzle_b32(Wave& wave, const Inst& inst) {
  LaneBuffer splat, result;
  const u32* data = read_lanes(wave, inst.operands[1], 0, splat);
  const u32 pattern = inst.words[0] & 0xffff;  // printed symbolically; the bits are the encoding's offset field
  const u64 exec = wave.exec();
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 from = swizzle_source(pattern, lane);
    result[lane] = (exec >> from & 1) != 0 ? data[from] : 0;
  }
  write_lanes(wave, inst.operands[0], 0, result, exec);
}

void nothing(Wave&, const Inst&) {}

// One width of the atomics that come with and without return: "ds_add_u32", "ds_add_rtn_u32". U, S and F are the
// unsigned, signed and floating types, `bits` the width in names.
template <typename U, typename S, typename F, bool Returns>
void add_atomics(RowFamily& family, const std::string& bits) {
  using namespace atomic_op;
  const auto add = [&](const std::string& operation, const char* type, Execute body) {
    family.add("ds_" + operation + (Returns ? "_rtn_" : "_") + type + bits, body);
  };
  add("add", "u", &atomic<Add<U>, U, Returns>);
  add("sub", "u", &atomic<Sub<U>, U, Returns>);
  add("rsub", "u", &atomic<ReverseSub<U>, U, Returns>);
  add("inc", "u", &atomic<Inc<U>, U, Returns>);
  add("dec", "u", &atomic<Dec<U>, U, Returns>);
  add("min", "i", &atomic<Min<S>, S, Returns>);
  add("max", "i", &atomic<Max<S>, S, Returns>);
  add("min", "u", &atomic<Min<U>, U, Returns>);
  add("max", "u", &atomic<Max<U>, U, Returns>);
  add("and", "b", &atomic<And<U>, U, Returns>);
  add("or", "b", &atomic<Or<U>, U, Returns>);
  add("xor", "b", &atomic<Xor<U>, U, Returns>);
  add("mskor", "b", &masked_or<U, Returns>);
  add("cmpst", "b", &compare_store<U, Returns>);
  add("cmpst", "f", &compare_store<F, Returns>);
  add("min", "f", &atomic<FloatMin<F>, F, Returns>);
  add("max", "f", &atomic<FloatMax<F>, F, Returns>);
  add("add", "f", &atomic<Add<F>, F, Returns>);
}
template <bool Returns>
void add_atomics(RowFamily& family) {
  add_atomics<u32, i32, f32, Returns>(family, "32");
  add_atomics<u64, i64, f64, Returns>(family, "64");
  const std::string prefix = Returns ? "ds_pk_add_rtn_" : "ds_pk_add_";
  family.add(prefix + "f16", &atomic<atomic_op::PackedAddF16, u32, Returns>);
  family.add(prefix + "bf16", &atomic<atomic_op::PackedAddBf16, u32, Returns>);
}

RowFamily make_rows() {
  RowFamily family(InstClass::Lds);
  family.add("ds_read_b32", &read<DwordData<1>>);
  family.add("ds_read_b64", &read<DwordData<2>>);
  family.add("ds_read_b96", &read<DwordData<3>>);
  family.add("ds_read_b128", &read<DwordData<4>>);
  family.add("ds_read_u8", &read<UByte>);
  family.add("ds_read_i8", &read<SByte>);
  family.add("ds_read_u16", &read<UShort>);
  family.add("ds_read_i16", &read<SShort>);
  family.add("ds_read_u8_d16", &read<UByteLow>);
  family.add("ds_read_u8_d16_hi", &read<UByteHigh>);
  family.add("ds_read_i8_d16", &read<SByteLow>);
  family.add("ds_read_i8_d16_hi", &read<SByteHigh>);
  family.add("ds_read_u16_d16", &read<ShortLow>);
  family.add("ds_read_u16_d16_hi", &read<ShortHigh>);
  family.add("ds_write_b8", &write<UByte>);
  family.add("ds_write_b8_d16_hi", &write<UByteHigh>);
  family.add("ds_write_b16", &write<UShort>);
  family.add("ds_write_b16_d16_hi", &write<ShortHigh>);
  family.add("ds_write_b32", &write<DwordData<1>>);
  family.add("ds_write_b64", &write<DwordData<2>>);
  family.add("ds_write_b96", &write<DwordData<3>>);
  family.add("ds_write_b128", &write<DwordData<4>>);
  family.add("ds_read2_b32", &read2<DwordData<1>, 1>);
  family.add("ds_read2_b64", &read2<DwordData<2>, 1>);
  family.add("ds_read2st64_b32", &read2<DwordData<1>, 64>);
  family.add("ds_read2st64_b64", &read2<DwordData<2>, 64>);
  family.add("ds_write2_b32", &write2<DwordData<1>, 1>);
  family.add("ds_write2_b64", &write2<DwordData<2>, 1>);
  family.add("ds_write2st64_b32", &write2<DwordData<1>, 64>);
  family.add("ds_write2st64_b64", &write2<DwordData<2>, 64>);
  family.add("ds_wrxchg2_rtn_b32", &exchange2<u32, 1>);
  family.add("ds_wrxchg2_rtn_b64", &exchange2<u64, 1>);
  family.add("ds_wrxchg2st64_rtn_b32", &exchange2<u32, 64>);
  family.add("ds_wrxchg2st64_rtn_b64", &exchange2<u64, 64>);
  family.add("ds_read_addtid_b32", &read_addtid);
  family.add("ds_write_addtid_b32", &write_addtid);
  family.add("ds_wrxchg_rtn_b32", &atomic<atomic_op::Swap<u32>, u32, true>);
  family.add("ds_wrxchg_rtn_b64", &atomic<atomic_op::Swap<u64>, u64, true>);
  family.add("ds_wrap_rtn_b32", &ds_wrap_rtn_b32);
  family.add("ds_condxchg32_rtn_b64", &atomic<ConditionalExchange, u64, true>);
  family.add("ds_append", &append_consume<true>);
  family.add("ds_consume", &append_consume<false>);
  family.add("ds_permute_b32", &ds_permute_b32);
  family.add("ds_bpermute_b32", &ds_bpermute_b32);
  family.add("ds_swizzle_b32", &ds_swizzle_b32);
  family.add("ds_nop", &nothing);
  add_atomics<false>(family);
  add_atomics<true>(family);
  return family;
}

}  // namespace

std::span<const Op> lds_ops() {
  static const RowFamily family = make_rows();
  return family.rows();
}

}  // namespace hipbench::emulator
