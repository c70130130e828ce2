// Matrix instructions as rows: operands to register pointers. The arithmetic is in mfma_*.cpp.

#include <vector>

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/mfma.hpp"

namespace hipbench::emulator {

namespace {

const u32* source_registers(Wave& wave, const Operand& operand) {
  if (!operand.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "a matrix operand is not a vector register"};
  return wave.vgpr(operand.index);
}

void execute_matrix(Wave& wave, const Inst& inst) {
  const MfmaEntry& entry = mfma_table()[inst.op->detail];
  MfmaModifiers modifiers;
  modifiers.cbsz = inst.mods.cbsz;
  modifiers.abid = inst.mods.abid;
  modifiers.blgp = static_cast<u8>(inst.mods.blgp | inst.mods.neg_lo);  // for f64 the field is printed as neg:[…]
  modifiers.flush_f32_denormals = (wave.mode >> kModeDenormSingle & 1) == 0;
  if (!inst.operands[0].is_vgpr())
    throw GuestFault{FaultKind::IllegalOperand, "the matrix destination is not a vector register"};
  const Operand& c = inst.operands[3];
  const u32* accumulator = nullptr;
  if (c.is_vgpr())
    accumulator = wave.vgpr(c.index);
  else
    modifiers.c_constant = read_scalar(wave, c, 2);
  entry.execute(wave.vgpr(inst.operands[0].index), source_registers(wave, inst.operands[1]),
                source_registers(wave, inst.operands[2]), accumulator, modifiers);
  wave.mfma_flops += entry.flops;
}

std::vector<Op> make_rows() {
  std::vector<Op> rows;
  for (const MfmaEntry& entry : mfma_table()) {
    const bool f64_result = entry.mnemonic.starts_with("v_mfma_f64");
    Op op = custom(entry.mnemonic, InstClass::Mfma, &execute_matrix, OperandType::Wide, OperandType::Wide,
                   OperandType::Wide, f64_result ? OperandType::F64 : OperandType::B32);
    op.operands[0].destination = true;
    op.detail = static_cast<u32>(rows.size());
    rows.push_back(op);
  }
  return rows;
}

}  // namespace

std::span<const Op> mfma_ops() {
  static const std::vector<Op> rows = make_rows();
  return rows;
}

}  // namespace hipbench::emulator
