// Vector ALU: lanes seen as a whole: readlane, writelane, readfirstlane, mbcnt, swap.

#include <bit>

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

u32 lane_of(Wave& wave, const Operand& source, u32 lane) {
  if (!source.is_vgpr()) return static_cast<u32>(read_scalar(wave, source));
  return wave.vgpr(source.index)[lane & 63];
}

// The first active lane; lane 0 when there is none.
void v_readfirstlane_b32(Wave& wave, const Inst& inst) {
  const u64 exec = wave.exec();
  const u32 lane = exec == 0 ? 0 : static_cast<u32>(std::countr_zero(exec));
  write_scalar(wave, inst.operands[0], lane_of(wave, inst.operands[1], lane));
}

// Neither looks at EXEC.
void v_readlane_b32(Wave& wave, const Inst& inst) {
  const u32 lane = static_cast<u32>(read_scalar(wave, inst.operands[2]));
  write_scalar(wave, inst.operands[0], lane_of(wave, inst.operands[1], lane));
}
void v_writelane_b32(Wave& wave, const Inst& inst) {
  const u32 value = static_cast<u32>(read_scalar(wave, inst.operands[1]));
  const u32 lane = static_cast<u32>(read_scalar(wave, inst.operands[2]));
  destination_register(wave, inst.operands[0])[lane & 63] = value;
}

void v_swap_b32(Wave& wave, const Inst& inst) {
  LaneBuffer first;
  const u32* a = destination_register(wave, inst.operands[0]);
  const u32* b = destination_register(wave, inst.operands[1]);
  std::memcpy(first, a, sizeof first);
  LaneBuffer second;
  std::memcpy(second, b, sizeof second);
  write_lanes(wave, inst.operands[0], 0, second, wave.exec());
  write_lanes(wave, inst.operands[1], 0, first, wave.exec());
}

// Bits of the mask that belong to lower lanes.
u32 lower_lanes(u32 mask, u32 lane) {
  const u32 below = lane >= 32 ? ~0u : (1u << (lane & 31)) - 1;
  return static_cast<u32>(std::popcount(mask & below));
}

constexpr Op kRows[] = {
    custom("v_readfirstlane_b32", InstClass::Valu, &v_readfirstlane_b32, OperandType::B32, OperandType::B32),
    custom("v_readlane_b32", InstClass::Valu, &v_readlane_b32, OperandType::B32, OperandType::B32, OperandType::B32),
    custom("v_writelane_b32", InstClass::Valu, &v_writelane_b32, OperandType::B32, OperandType::B32, OperandType::B32),
    custom("v_swap_b32", InstClass::Valu, &v_swap_b32, OperandType::B32, OperandType::B32),
    lanes<[](u32 mask, u32 base, Lane lane) { return lower_lanes(mask, lane.index) + base; }>("v_mbcnt_lo_u32_b32"),
    lanes<[](u32 mask, u32 base, Lane lane) {
      return lower_lanes(mask, lane.index < 32 ? 0 : lane.index - 32) + base;
    }>("v_mbcnt_hi_u32_b32"),
};

}  // namespace

std::span<const Op> valu_cross_lane_ops() { return kRows; }

}  // namespace hipbench::emulator
