// Scalar memory: loads, stores and atomics through the scalar cache, clocks, cache control. CDNA3 ISA, chapter "Scalar
// memory operations". Functionally the scalar cache is transparent: a load sees memory as it is, a store is seen at
// once.

#include "emulator/isa/row_family.hpp"

namespace hipbench::emulator {

namespace {

// Immediate offsets are 21 bits, signed.
u64 immediate_offset(const Operand& offset) {
  return static_cast<u64>(i64{static_cast<i32>(static_cast<u32>(offset.constant) << 11) >> 11});
}

// Base register pair plus an immediate, an SGPR, or both ("s_load_dword s0, s[2:3], s4 offset:0x10"). The scratch forms
// count the SGPR in units of 64 bytes.
template <u32 ScalarUnit = 1>
u64 scalar_address(const Wave& wave, const Inst& inst) {
  u64 address = read_scalar(wave, inst.operands[1], 2);
  const Operand& offset = inst.operands[2];
  if (offset.kind == OperandKind::Constant) address += immediate_offset(offset);
  else address += u64{static_cast<u32>(read_scalar(wave, offset))} * ScalarUnit;
  return (address + static_cast<u64>(i64{inst.mods.offset})) & ~u64{3};
}

// The registers that an instruction loads into or stores from.
u32* data_sgprs(Wave& wave, const Inst& inst) {
  if (!inst.operands[0].is_scalar())
    throw GuestFault{FaultKind::IllegalOperand, "scalar memory takes its data in SGPRs"};
  return &wave.sgprs[inst.operands[0].index];
}

const std::byte* read_memory(Wave& wave, u64 address, u32 size) {
  const std::byte* host = wave.memory.read(address, size);
  if (wave.observer != nullptr) [[unlikely]] wave.observer->scalar_load(wave, host, size);
  return host;
}
void write_memory(Wave& wave, u64 address, u32 size, const u32* data) {
  std::byte* host = wave.memory.write(address, size);
  if (wave.observer != nullptr) [[unlikely]] wave.observer->access(wave, host, size, 0, AccessKind::Store, data);
  std::memcpy(host, data, size);
}

template <u32 Dwords, u32 ScalarUnit = 1>
void load(Wave& wave, const Inst& inst) {
  std::memcpy(data_sgprs(wave, inst), read_memory(wave, scalar_address<ScalarUnit>(wave, inst), Dwords * 4),
              Dwords * 4);
}
template <u32 Dwords, u32 ScalarUnit = 1>
void store(Wave& wave, const Inst& inst) {
  write_memory(wave, scalar_address<ScalarUnit>(wave, inst), Dwords * 4, data_sgprs(wave, inst));
}

// ---- Buffers: base and size come from a resource; what is past its end reads as zero and is not written ----

struct BufferPlace {
  u64 base, offset, limit;
  bool in_range(u32 size) const { return offset + size <= limit; }
  u64 address() const { return base + offset; }
};
BufferPlace buffer_place(const Wave& wave, const Inst& inst) {
  if (!inst.operands[1].is_scalar()) throw GuestFault{FaultKind::IllegalOperand, "the buffer resource is not in SGPRs"};
  const u32* words = &wave.sgprs[inst.operands[1].index];
  const u32 stride = words[1] >> 16 & 0x3fff;
  const Operand& offset = inst.operands[2];
  const u64 from_operand =
      offset.kind == OperandKind::Constant ? offset.constant & 0xfffff : static_cast<u32>(read_scalar(wave, offset));
  return {u64{words[1] & 0xffff} << 32 | words[0], (from_operand + static_cast<u64>(i64{inst.mods.offset})) & ~u64{3},
          stride == 0 ? words[2] : u64{stride} * words[2]};
}

template <u32 Dwords>
void buffer_load(Wave& wave, const Inst& inst) {
  BufferPlace place = buffer_place(wave, inst);
  u32* data = data_sgprs(wave, inst);
  for (u32 k = 0; k < Dwords; ++k, place.offset += 4) {
    u32 value = 0;
    if (place.in_range(4)) std::memcpy(&value, read_memory(wave, place.address(), 4), 4);
    data[k] = value;
  }
}
template <u32 Dwords>
void buffer_store(Wave& wave, const Inst& inst) {
  BufferPlace place = buffer_place(wave, inst);
  const u32* data = data_sgprs(wave, inst);
  for (u32 k = 0; k < Dwords; ++k, place.offset += 4)
    if (place.in_range(4)) write_memory(wave, place.address(), 4, &data[k]);
}

// ---- Atomics: glc returns the value from before in the data registers ----

template <typename T>
std::byte* atomic_cell(Wave& wave, u64 address) {
  if (address % sizeof(T) != 0)
    throw GuestFault{FaultKind::Misaligned, "a scalar atomic at an address that is not a multiple of its size", address,
                     sizeof(T)};
  std::byte* host = wave.memory.write(address, sizeof(T));
  if (wave.observer != nullptr) [[unlikely]]
    wave.observer->access(wave, host, sizeof(T), 0, AccessKind::Atomic, nullptr);
  return host;
}
template <typename T>
T scalar_value(const u32* registers) {
  T value;
  std::memcpy(&value, registers, sizeof(T));
  return value;
}

// Perform(cell, registers) changes memory and returns what was there.
template <typename T, typename Perform>
void atomic_at(Wave& wave, const Inst& inst, u64 address, const Perform& perform) {
  u32* data = data_sgprs(wave, inst);
  std::byte* cell = atomic_cell<T>(wave, address);
  const T old = perform(cell, data);
  tell_atomic_done(wave, cell, old);
  if (inst.mods.sc0) std::memcpy(data, &old, sizeof(T));
}

template <bool Buffer>
struct Atomic {
  template <typename T, typename Perform>
  static void run(Wave& wave, const Inst& inst, const Perform& perform) {
    if constexpr (!Buffer) return atomic_at<T>(wave, inst, scalar_address(wave, inst), perform);
    const BufferPlace place = buffer_place(wave, inst);
    if (place.in_range(sizeof(T))) return atomic_at<T>(wave, inst, place.address(), perform);
    if (inst.mods.sc0) std::memset(data_sgprs(wave, inst), 0, sizeof(T));
  }
  template <typename Operation, typename T>
  static void apply(Wave& wave, const Inst& inst) {
    run<T>(wave, inst,
           [](std::byte* cell, const u32* data) { return atomic_apply<Operation, T>(cell, scalar_value<T>(data)); });
  }
  // The new value, then the value to compare with.
  template <typename T>
  static void compare_swap(Wave& wave, const Inst& inst) {
    run<T>(wave, inst, [](std::byte* cell, const u32* data) {
      return atomic_compare_swap<T>(cell, scalar_value<T>(data), scalar_value<T>(data + sizeof(T) / 4));
    });
  }
};

// ---- Others ----

// Emulated shader clocks: always advancing, never the host's time.
u64 now(Wave& wave) { return wave.clock_read = wave.clock + 4 * wave.instructions(); }

void s_memtime(Wave& wave, const Inst& inst) { write_scalar(wave, inst.operands[0], now(wave), 2); }
// The constant 100 MHz counter: 21 shader clocks a tick at 2.1 GHz.
void s_memrealtime(Wave& wave, const Inst& inst) { write_scalar(wave, inst.operands[0], now(wave) / 21, 2); }
void nothing(Wave&, const Inst&) {}
void invalidate(Wave& wave, const Inst&) {
  if (wave.observer != nullptr) [[unlikely]] wave.observer->fence();
}

RowFamily make_rows() {
  RowFamily family(InstClass::Smem);
  family.add("s_load_dword", &load<1>);
  family.add("s_load_dwordx2", &load<2>);
  family.add("s_load_dwordx4", &load<4>);
  family.add("s_load_dwordx8", &load<8>);
  family.add("s_load_dwordx16", &load<16>);
  family.add("s_store_dword", &store<1>);
  family.add("s_store_dwordx2", &store<2>);
  family.add("s_store_dwordx4", &store<4>);
  family.add("s_scratch_load_dword", &load<1, 64>);
  family.add("s_scratch_load_dwordx2", &load<2, 64>);
  family.add("s_scratch_load_dwordx4", &load<4, 64>);
  family.add("s_scratch_store_dword", &store<1, 64>);
  family.add("s_scratch_store_dwordx2", &store<2, 64>);
  family.add("s_scratch_store_dwordx4", &store<4, 64>);
  family.add("s_buffer_load_dword", &buffer_load<1>);
  family.add("s_buffer_load_dwordx2", &buffer_load<2>);
  family.add("s_buffer_load_dwordx4", &buffer_load<4>);
  family.add("s_buffer_load_dwordx8", &buffer_load<8>);
  family.add("s_buffer_load_dwordx16", &buffer_load<16>);
  family.add("s_buffer_store_dword", &buffer_store<1>);
  family.add("s_buffer_store_dwordx2", &buffer_store<2>);
  family.add("s_buffer_store_dwordx4", &buffer_store<4>);
  add_integer_atomics<Atomic<false>>(family, "s_atomic_");
  add_integer_atomics<Atomic<true>>(family, "s_buffer_atomic_");
  family.add("s_memtime", &s_memtime);
  family.add("s_memrealtime", &s_memrealtime);
  family.add("s_dcache_inv", &invalidate);
  family.add("s_dcache_wb", &nothing);
  family.add("s_dcache_inv_vol", &invalidate);
  family.add("s_dcache_wb_vol", &nothing);
  family.add("s_dcache_discard", &nothing);
  family.add("s_dcache_discard_x2", &nothing);
  // Prefetches of address translations.
  family.add("s_atc_probe", &nothing);
  family.add("s_atc_probe_buffer", &nothing);
  return family;
}

}  // namespace

std::span<const Op> smem_ops() {
  static const RowFamily family = make_rows();
  return family.rows();
}

}  // namespace hipbench::emulator
