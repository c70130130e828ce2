#include "emulator/isa/lanes.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "emulator/isa/float_formats.hpp"

namespace hipbench::emulator {

u64 read_scalar(const Wave& wave, const Operand& operand, u32 dwords) {
  switch (operand.kind) {
    case OperandKind::Scalar:
      return dwords == 2 ? wave.scalar64(operand.index) : wave.sgprs[operand.index];
    case OperandKind::Constant:
      return operand.constant;
    case OperandKind::Scc:
      return wave.scc;
    case OperandKind::Vccz:
      return wave.vcc() == 0;
    case OperandKind::Execz:
      return wave.exec() == 0;
    case OperandKind::LdsDirect: {
      u32 value = 0;
      const u32 address = wave.m0() & 0xffff;
      if (address + 4 <= wave.lds_size) std::memcpy(&value, wave.lds + address, 4);
      return value;
    }
    case OperandKind::None:
    case OperandKind::Off:
      return 0;
    case OperandKind::Vgpr:
      throw GuestFault{FaultKind::IllegalOperand, "a vector register stands where the instruction takes a scalar"};
  }
  return 0;
}

void write_scalar(Wave& wave, const Operand& operand, u64 value, u32 dwords) {
  if (operand.kind == OperandKind::Off || operand.kind == OperandKind::None) return;  // "null"
  if (operand.kind != OperandKind::Scalar)
    throw GuestFault{FaultKind::IllegalOperand, "the destination is not a scalar register"};
  wave.sgprs[operand.index] = static_cast<u32>(value);
  if (dwords == 2) wave.sgprs[operand.index + 1] = static_cast<u32>(value >> 32);
}

const u32* read_lanes(Wave& wave, const Operand& operand, u32 dword, LaneBuffer& buffer) {
  if (operand.is_vgpr()) return wave.vgpr(operand.index + dword);
  u32 value;
  if (operand.is_scalar())
    value = wave.sgprs[operand.index + dword];
  else
    value = static_cast<u32>(read_scalar(wave, operand, 2) >> (32 * dword));
  std::fill_n(buffer, kWaveSize, value);
  return buffer;
}

void expand_mask(u64 mask, LaneBuffer& lanes) {
  const u32 halves[2] = {static_cast<u32>(mask), static_cast<u32>(mask >> 32)};
  for (u32 half = 0; half < 2; ++half)
    for (u32 bit = 0; bit < 32; ++bit) lanes[half * 32 + bit] = 0u - (halves[half] >> bit & 1u);
}

u64 compress_mask(const LaneBuffer& lanes) {
  u64 mask = 0;
#if defined(__AVX2__)
  for (u32 group = 0; group < kWaveSize; group += 8) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + group));
    mask |= u64{static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(values)))} << group;
  }
#else
  for (u32 lane = 0; lane < kWaveSize; ++lane) mask |= u64{lanes[lane] >> 31} << lane;
#endif
  return mask;
}

namespace {

// The lane that lane `lane` reads under a DPP control, or -1 when there is none.
int dpp_source_lane(const Dpp& dpp, int lane) {
  const int row = lane & ~15, column = lane & 15;
  switch (dpp.control) {
    case DppControl::QuadPerm: return (lane & ~3) + dpp.quad[lane & 3];
    case DppControl::RowShl: return column + dpp.amount < 16 ? lane + dpp.amount : -1;
    case DppControl::RowShr: return column - dpp.amount >= 0 ? lane - dpp.amount : -1;
    case DppControl::RowRor: return row + ((column - dpp.amount) & 15);
    case DppControl::WaveShl: return lane + 1 < 64 ? lane + 1 : -1;
    case DppControl::WaveRol: return (lane + 1) & 63;
    case DppControl::WaveShr: return lane - 1;
    case DppControl::WaveRor: return (lane - 1) & 63;
    case DppControl::RowMirror: return row + 15 - column;
    case DppControl::RowHalfMirror: return (lane & ~7) + 7 - (lane & 7);
    case DppControl::RowBcast15: return row >= 16 ? row - 1 : -1;
    case DppControl::RowBcast31: return lane >= 32 ? 31 : -1;
    case DppControl::RowNewBcast: return row + dpp.amount;
  }
  return -1;
}

void apply_dpp(const Dpp& dpp, u64 exec, LaneBuffer& values, u64& active) {
  LaneBuffer source;
  std::copy_n(values, kWaveSize, source);
  for (int lane = 0; lane < static_cast<int>(kWaveSize); ++lane) {
    const bool masked_in = (dpp.row_mask >> (lane / 16) & 1) != 0 && (dpp.bank_mask >> (lane / 4 % 4) & 1) != 0;
    const int from = dpp_source_lane(dpp, lane);
    const bool valid = from >= 0 && (exec >> from & 1) != 0;
    // Without bound_ctrl a lane whose source is missing or disabled is not written; with it, it reads 0.
    if (!masked_in || (!valid && !dpp.bound_control)) active &= ~(u64{1} << lane);
    values[lane] = valid ? source[from] : 0;
  }
}

void select_sdwa(LaneBuffer& values, SdwaSelect select, bool sign_extend) {
  const u32 index = static_cast<u32>(select);
  for (u32& value : values) {
    if (select <= SdwaSelect::Byte3) {
      const u32 byte = value >> (8 * index) & 0xff;
      value = sign_extend ? static_cast<u32>(static_cast<i32>(static_cast<i8>(byte))) : byte;
    } else if (select <= SdwaSelect::Word1) {
      const u32 word = value >> (16 * (index - 4)) & 0xffff;
      value = sign_extend ? static_cast<u32>(static_cast<i32>(static_cast<i16>(word))) : word;
    }
  }
}

u64 sign_bit(OperandType type) {
  switch (type) {
    case OperandType::F16:
    case OperandType::Bf16: return 0x8000;
    case OperandType::F64: return u64{1} << 63;
    default: return u64{1} << 31;
  }
}

}  // namespace

void read_general(Wave& wave, const Inst& inst, const Operand& operand, u32 source_number, OperandType type, LaneBuffer& low,
                  LaneBuffer& high, u64& active) {
  const bool two = type == OperandType::B64 || type == OperandType::I64 || type == OperandType::F64;
  LaneBuffer splat;
  std::copy_n(read_lanes(wave, operand, 0, splat), kWaveSize, low);
  if (two)
    std::copy_n(read_lanes(wave, operand, 1, splat), kWaveSize, high);
  else
    std::fill_n(high, kWaveSize, 0u);
  if (inst.dpp && source_number == 0) {
    u64 both = active;
    apply_dpp(*inst.dpp, wave.exec(), low, both);
    if (two) {
      u64 same = active;
      apply_dpp(*inst.dpp, wave.exec(), high, same);
    }
    active = both;
  }
  if (inst.mods.sdwa && operand.select != SdwaSelect::Dword) select_sdwa(low, operand.select, operand.sign_extend);
  const bool half = type == OperandType::B16 || type == OperandType::F16 || type == OperandType::Bf16;
  if (half && !inst.mods.sdwa && source_number < 3 && (inst.mods.op_sel >> source_number & 1) != 0)
    for (u32& value : low) value >>= 16;
  if (operand.absolute || operand.negate) {
    const u64 sign = sign_bit(type);
    if (two)
      apply_sign(high, high, static_cast<u32>(sign >> 32), operand);
    else
      apply_sign(low, low, static_cast<u32>(sign), operand);
  }
}

namespace {

// omod scales, then clamp limits to [0, 1]; NaN becomes 0 when DX10_CLAMP is set.
f64 scale_and_clamp(f64 value, const Modifiers& mods, u32 mode) {
  if (mods.omod == 1) value *= 2;
  if (mods.omod == 2) value *= 4;
  if (mods.omod == 3) value /= 2;
  if (mods.clamp) {
    if (std::isnan(value)) return (mode & kModeDx10Clamp) != 0 ? 0.0 : value;
    value = value <= 0 ? 0.0 : std::min(value, 1.0);
  }
  return value;
}

void apply_output_modifiers(Wave& wave, const Inst& inst, OperandType type, LaneBuffer& low, LaneBuffer& high) {
  const Modifiers& mods = inst.mods;
  if (!mods.clamp && mods.omod == 0) return;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    if (type == OperandType::F32) {
      const f32 value = std::bit_cast<f32>(low[lane]);
      low[lane] = std::bit_cast<u32>(static_cast<f32>(scale_and_clamp(f64{value}, mods, wave.mode)));
    } else if (type == OperandType::F64) {
      const u64 bits = std::bit_cast<u64>(scale_and_clamp(std::bit_cast<f64>(u64{low[lane]} | u64{high[lane]} << 32), mods, wave.mode));
      low[lane] = static_cast<u32>(bits);
      high[lane] = static_cast<u32>(bits >> 32);
    } else if (type == OperandType::F16) {
      const f32 value = f16_to_f32(static_cast<u16>(low[lane]));
      low[lane] = f32_to_f16(static_cast<f32>(scale_and_clamp(f64{value}, mods, wave.mode)));
    }
  }
}

}  // namespace

void write_general(Wave& wave, const Inst& inst, const Operand& operand, u32 sources, OperandType type, LaneBuffer& low,
                   LaneBuffer& high, u64 active) {
  apply_output_modifiers(wave, inst, type, low, high);
  if (!operand.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "the destination is not a vector register"};
  const u32* old = wave.vgpr(operand.index);
  const Modifiers& mods = inst.mods;
  const bool half = type == OperandType::B16 || type == OperandType::F16 || type == OperandType::Bf16;
  if (mods.sdwa && mods.destination_select != SdwaSelect::Dword) {
    const u32 select = static_cast<u32>(mods.destination_select);
    const u32 width = select < 4 ? 8 : 16;
    const u32 shift = select < 4 ? 8 * select : 16 * (select - 4);
    const u32 field = ((1u << width) - 1) << shift;
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const u32 placed = low[lane] << shift & field;
      u32 rest = 0;
      if (mods.destination_unused == SdwaUnused::Preserve) rest = old[lane] & ~field;
      if (mods.destination_unused == SdwaUnused::SignExtend && (low[lane] >> (width - 1) & 1) != 0 && shift + width < 32)
        rest = ~0u << (shift + width);
      low[lane] = placed | rest;
    }
  } else if (half && mods.op_sel_given) {
    // With op_sel a 16-bit result goes to one half and the other is kept. The destination's bit follows the sources' bits.
    const bool upper = (mods.op_sel >> std::min(sources, 3u) & 1) != 0;
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      low[lane] = upper ? (old[lane] & 0xffff) | low[lane] << 16 : (old[lane] & 0xffff0000) | (low[lane] & 0xffff);
  }
  write_lanes(wave, operand, 0, low, active);
  if (type == OperandType::B64 || type == OperandType::I64 || type == OperandType::F64)
    write_lanes(wave, operand, 1, high, active);
}

void write_lanes(Wave& wave, const Operand& operand, u32 dword, const LaneBuffer& values, u64 active) {
  u32* destination = wave.vgpr(operand.index + dword);
  if (active == ~u64{0}) {
    std::copy_n(values, kWaveSize, destination);
    return;
  }
  LaneBuffer keep;
  expand_mask(active, keep);
  for (u32 lane = 0; lane < kWaveSize; ++lane) destination[lane] = keep[lane] ? values[lane] : destination[lane];
}

}  // namespace hipbench::emulator
