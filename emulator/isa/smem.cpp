// Scalar memory: loads through the scalar cache, clocks, cache control. CDNA3 ISA, chapter "Scalar memory operations".
// Functionally the scalar cache is transparent: a load sees memory as it is.

#include "emulator/isa/access_observer.hpp"
#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

// Base register pair plus either an immediate, an SGPR, or both ("s_load_dword s0, s[2:3], s4 offset:0x10").
u64 scalar_address(const Wave& wave, const Inst& inst, u32 base_operand) {
  u64 address = read_scalar(wave, inst.operands[base_operand], 2);
  const Operand& offset = inst.operands[base_operand + 1];
  if (offset.kind == OperandKind::Constant)
    address += static_cast<u64>(i64{static_cast<i32>(static_cast<u32>(offset.constant) << 11) >> 11});  // 21 bits, signed
  else
    address += static_cast<u32>(read_scalar(wave, offset));
  return (address + static_cast<u64>(i64{inst.mods.offset})) & ~u64{3};
}

const std::byte* read_memory(Wave& wave, u64 address, u32 size) {
  const std::byte* host = wave.memory.read(address, size);
  if (wave.observer != nullptr) [[unlikely]] wave.observer->scalar_load(wave, host, size);
  return host;
}

template <u32 Dwords>
void load(Wave& wave, const Inst& inst) {
  if (!inst.operands[0].is_scalar()) throw GuestFault{FaultKind::IllegalOperand, "a scalar load needs SGPR destinations"};
  const u64 address = scalar_address(wave, inst, 1);
  std::memcpy(&wave.sgprs[inst.operands[0].index], read_memory(wave, address, Dwords * 4), Dwords * 4);
}

template <u32 Dwords>
void store(Wave& wave, const Inst& inst) {
  if (!inst.operands[0].is_scalar()) throw GuestFault{FaultKind::IllegalOperand, "a scalar store needs SGPR sources"};
  std::memcpy(wave.memory.write(scalar_address(wave, inst, 1), Dwords * 4), &wave.sgprs[inst.operands[0].index], Dwords * 4);
}

// s_buffer_load: base and size come from a buffer resource; reads past num_records give zero.
template <u32 Dwords>
void buffer_load(Wave& wave, const Inst& inst) {
  const Operand& resource = inst.operands[1];
  if (!resource.is_scalar() || !inst.operands[0].is_scalar()) throw GuestFault{FaultKind::IllegalOperand, "a buffer load needs SGPRs"};
  const u32* words = &wave.sgprs[resource.index];
  const u64 base = (u64{words[1] & 0xffff} << 32) | words[0];
  const u32 stride = words[1] >> 16 & 0x3fff;
  const u64 limit = stride == 0 ? words[2] : u64{stride} * words[2];
  const Operand& offset_operand = inst.operands[2];
  const u64 offset = (offset_operand.kind == OperandKind::Constant ? offset_operand.constant & 0xfffff
                                                                   : static_cast<u32>(read_scalar(wave, offset_operand))) +
                     static_cast<u64>(i64{inst.mods.offset});
  for (u32 k = 0; k < Dwords; ++k) {
    const u64 at = (offset & ~u64{3}) + 4 * k;
    u32 value = 0;
    if (at + 4 <= limit) std::memcpy(&value, read_memory(wave, base + at, 4), 4);
    wave.sgprs[inst.operands[0].index + k] = value;
  }
}

// Emulated shader clocks: always advancing, never the host's time.
u64 now(const Wave& wave) { return wave.clock + 4 * wave.instructions(); }

void s_memtime(Wave& wave, const Inst& inst) { write_scalar(wave, inst.operands[0], now(wave), 2); }
// The constant 100 MHz counter: 21 shader clocks a tick at 2.1 GHz.
void s_memrealtime(Wave& wave, const Inst& inst) { write_scalar(wave, inst.operands[0], now(wave) / 21, 2); }
void nothing(Wave&, const Inst&) {}
void invalidate(Wave& wave, const Inst&) {
  if (wave.observer != nullptr) [[unlikely]] wave.observer->fence();
}

constexpr Op wide(std::string_view name, Execute function) { return custom_wide(name, InstClass::Smem, function); }

constexpr Op kRows[] = {
    wide("s_load_dword", &load<1>),
    wide("s_load_dwordx2", &load<2>),
    wide("s_load_dwordx4", &load<4>),
    wide("s_load_dwordx8", &load<8>),
    wide("s_load_dwordx16", &load<16>),
    wide("s_store_dword", &store<1>),
    wide("s_store_dwordx2", &store<2>),
    wide("s_store_dwordx4", &store<4>),
    wide("s_scratch_load_dword", &load<1>),
    wide("s_scratch_load_dwordx2", &load<2>),
    wide("s_scratch_load_dwordx4", &load<4>),
    wide("s_buffer_load_dword", &buffer_load<1>),
    wide("s_buffer_load_dwordx2", &buffer_load<2>),
    wide("s_buffer_load_dwordx4", &buffer_load<4>),
    wide("s_buffer_load_dwordx8", &buffer_load<8>),
    wide("s_buffer_load_dwordx16", &buffer_load<16>),
    custom("s_memtime", InstClass::Smem, &s_memtime, OperandType::B64),
    custom("s_memrealtime", InstClass::Smem, &s_memrealtime, OperandType::B64),
    custom("s_dcache_inv", InstClass::Smem, &invalidate),
    custom("s_dcache_wb", InstClass::Smem, &nothing),
    custom("s_dcache_inv_vol", InstClass::Smem, &invalidate),
    custom("s_dcache_wb_vol", InstClass::Smem, &nothing),
    custom("s_dcache_discard", InstClass::Smem, &nothing, OperandType::B64, OperandType::B32),
    custom("s_dcache_discard_x2", InstClass::Smem, &nothing, OperandType::B64, OperandType::B32),
};

}  // namespace

std::span<const Op> smem_ops() { return kRows; }

}  // namespace hipbench::emulator
