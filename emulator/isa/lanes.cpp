#include "emulator/isa/lanes.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "emulator/isa/float_formats.hpp"

namespace hipbench::emulator {

u64 read_special(const Wave& wave, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::Scalar:
    case OperandKind::Constant:  // read_scalar knows them
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

const u32* splat_lanes(Wave& wave, const Operand& operand, u32 dword, LaneBuffer& buffer) {
  u32 value;
  if (operand.is_scalar())
    value = wave.sgprs[operand.index + dword];
  else
    value = static_cast<u32>(read_scalar(wave, operand, 2) >> (32 * dword));
  std::fill_n(buffer, kWaveSize, value);
  return buffer;
}

void fault_no_destination() { throw GuestFault{FaultKind::IllegalOperand, "the destination is not a vector register"}; }

void expand_mask(u64 mask, LaneBuffer& lanes) {
#if defined(__AVX2__)
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (u32 group = 0; group < kWaveSize; group += 8) {
    const __m256i byte = _mm256_set1_epi32(static_cast<int>(mask >> group & 0xff));
    const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(byte, bits), bits);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + group), set);
  }
#else
  for (u32 lane = 0; lane < kWaveSize; ++lane) lanes[lane] = 0u - static_cast<u32>(mask >> lane & 1u);
#endif
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

// ---- DPP ----

constexpr u8 kNoLane = 0xff;

// The lane that lane `lane` reads under a DPP control, or kNoLane.
constexpr u8 dpp_source_lane(DppControl control, int amount, int lane) {
  const int row = lane & ~15, column = lane & 15;
  int from = -1;
  switch (control) {
    case DppControl::QuadPerm: from = lane; break;  // by its own table
    case DppControl::RowShl: from = column + amount < 16 ? lane + amount : -1; break;
    case DppControl::RowShr: from = column - amount >= 0 ? lane - amount : -1; break;
    case DppControl::RowRor: from = row + ((column - amount) & 15); break;
    case DppControl::WaveShl: from = lane + 1 < 64 ? lane + 1 : -1; break;
    case DppControl::WaveRol: from = (lane + 1) & 63; break;
    case DppControl::WaveShr: from = lane - 1; break;
    case DppControl::WaveRor: from = (lane - 1) & 63; break;
    case DppControl::RowMirror: from = row + 15 - column; break;
    case DppControl::RowHalfMirror: from = (lane & ~7) + 7 - (lane & 7); break;
    case DppControl::RowBcast15: from = row >= 16 ? row - 1 : -1; break;
    case DppControl::RowBcast31: from = lane >= 32 ? 31 : -1; break;
    case DppControl::RowNewBcast: from = row + amount; break;
  }
  return from < 0 ? kNoLane : static_cast<u8>(from);
}

struct DppLanes {
  u8 from[kWaveSize] = {};     // a lane without a source names itself
  u64 valid = 0;
  alignas(32) u32 column[16];  // the same within a row, where a lane only reads its own row
};

constexpr bool stays_in_row(DppControl control) {
  switch (control) {
    case DppControl::WaveShl:
    case DppControl::WaveRol:
    case DppControl::WaveShr:
    case DppControl::WaveRor:
    case DppControl::RowBcast15:
    case DppControl::RowBcast31: return false;
    default: return true;
  }
}

struct DppTable {
  DppLanes entry[13][16];
  constexpr DppTable() : entry{} {
    for (int control = 0; control < 13; ++control)
      for (int amount = 0; amount < 16; ++amount) {
        DppLanes& lanes = entry[control][amount];
        for (int lane = 0; lane < static_cast<int>(kWaveSize); ++lane) {
          const u8 from = dpp_source_lane(static_cast<DppControl>(control), amount, lane);
          lanes.from[lane] = from == kNoLane ? static_cast<u8>(lane) : from;
          if (from != kNoLane) lanes.valid |= u64{1} << lane;
        }
        for (int column = 0; column < 16; ++column) lanes.column[column] = lanes.from[column] & 15u;
      }
  }
};
constexpr DppTable kDppTable;

DppLanes quad_lanes(const Dpp& dpp) {
  DppLanes lanes;
  lanes.valid = ~u64{0};
  for (u32 lane = 0; lane < kWaveSize; ++lane) lanes.from[lane] = static_cast<u8>((lane & ~3u) + dpp.quad[lane & 3]);
  for (u32 column = 0; column < 16; ++column) lanes.column[column] = (column & ~3u) + dpp.quad[column & 3];
  return lanes;
}

void permute_lanes(const DppLanes& lanes, bool in_row, const u32* source, LaneBuffer& values) {
#if defined(__AVX2__)
  if (in_row) {
    for (u32 half = 0; half < 16; half += 8) {
      const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes.column + half));
      // Bit 3 of a column says which half of the row it is in; it moves to the sign, where blendv looks.
      const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
      for (u32 row = 0; row < kWaveSize; row += 16) {
        const auto load = [&](u32 at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at)); };
        const __m256i low = _mm256_permutevar8x32_epi32(load(row), index);
        const __m256i high = _mm256_permutevar8x32_epi32(load(row + 8), index);
        const __m256 chosen = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), upper);
        _mm256_storeu_ps(reinterpret_cast<f32*>(values + row + half), chosen);
      }
    }
    return;
  }
#endif
  static_cast<void>(in_row);
  for (u32 lane = 0; lane < kWaveSize; ++lane) values[lane] = source[lanes.from[lane]];
}

// The lanes whose source is active.
u64 active_sources(const DppLanes& lanes, u64 exec) {
  u64 mask = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) mask |= (exec >> lanes.from[lane] & 1) << lane;
  return mask;
}

// Every lane of the rows and banks that the masks name.
u64 dpp_written_lanes(const Dpp& dpp) {
  u64 mask = 0;
  for (u32 row = 0; row < 4; ++row)
    for (u32 bank = 0; bank < 4; ++bank)
      if ((dpp.row_mask >> row & 1) != 0 && (dpp.bank_mask >> bank & 1) != 0) mask |= u64{0xf} << (16 * row + 4 * bank);
  return mask;
}

// `values` gets the source permuted. Without bound_ctrl a lane whose source is missing or disabled is not written; with
// it, it reads 0.
void apply_dpp(const Dpp& dpp, u64 exec, const u32* source, LaneBuffer& values, u64& active) {
  const bool quad = dpp.control == DppControl::QuadPerm;
  DppLanes own;
  if (quad) own = quad_lanes(dpp);
  const DppLanes& lanes = quad ? own : kDppTable.entry[static_cast<u32>(dpp.control)][dpp.amount & 15];
  permute_lanes(lanes, stays_in_row(dpp.control), source, values);
  u64 valid = lanes.valid;
  if (exec != ~u64{0}) valid &= active_sources(lanes, exec);
  if (valid != ~u64{0}) {
    LaneBuffer keep;
    expand_mask(valid, keep);
    for (u32 lane = 0; lane < kWaveSize; ++lane) values[lane] &= keep[lane];
    if (!dpp.bound_control) active &= valid;
  }
  if (dpp.row_mask != 0xf || dpp.bank_mask != 0xf) active &= dpp_written_lanes(dpp);
}

// ---- SDWA ----

void select_sdwa(const u32* source, LaneBuffer& values, SdwaSelect select, bool sign_extend) {
  const u32 index = static_cast<u32>(select);
  const u32 width = select <= SdwaSelect::Byte3 ? 8 : 16;
  const u32 left = 32 - width - (select <= SdwaSelect::Byte3 ? 8 * index : 16 * (index - 4)), right = 32 - width;
  if (sign_extend)
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      values[lane] = static_cast<u32>(static_cast<i32>(source[lane] << left) >> right);
  else
    for (u32 lane = 0; lane < kWaveSize; ++lane) values[lane] = source[lane] << left >> right;
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

LaneSource read_general(Wave& wave, const Inst& inst, const Operand& operand, u32 source_number, OperandType type,
                        LaneBuffer& low, LaneBuffer& high, u64& active) {
  const bool two = is_two_dwords(type);
  LaneSource source;
  source.low = read_lanes(wave, operand, 0, low);
  source.high = two ? read_lanes(wave, operand, 1, high) : source.low;
  if (inst.dpp && source_number == 0) {
    // DPP sources are registers, so the buffers are free.
    if (!operand.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "DPP takes a vector register"};
    u64 same = active;
    if (two) apply_dpp(*inst.dpp, wave.exec(), source.high, high, same);
    apply_dpp(*inst.dpp, wave.exec(), source.low, low, active);
    source = {low, two ? high : low};
  }
  if (inst.mods.sdwa && operand.select != SdwaSelect::Dword) {
    select_sdwa(source.low, low, operand.select, operand.sign_extend);
    source.low = low;
  }
  if (is_half(type) && !inst.mods.sdwa && source_number < 3 && (inst.mods.op_sel >> source_number & 1) != 0) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) low[lane] = source.low[lane] >> 16;
    source.low = low;
  }
  if (operand.absolute || operand.negate) {
    const u64 sign = sign_bit(type);
    if (two) {
      apply_sign(source.high, high, static_cast<u32>(sign >> 32), operand);
      source.high = high;
    } else {
      apply_sign(source.low, low, static_cast<u32>(sign), operand);
      source.low = low;
    }
  }
  return source;
}

namespace {

// Output modifiers work on float results only where denormals are flushed and IEEE mode is off (CDNA3 ISA, "Output
// modifiers").
bool omod_applies(OperandType type, u32 mode) {
  const u32 denorm = mode >> (type == OperandType::F32 ? kModeDenormSingle : kModeDenormDouble) & 2;
  return denorm == 0 && (mode & kModeIeee) == 0;
}

// omod scales, then clamp limits to [0, 1]; NaN becomes 0 when DX10_CLAMP is set.
template <typename T>
T scale_and_clamp(T value, T factor, bool clamp, u32 mode) {
  value *= factor;
  if (!clamp) return value;
  const T limited = value > T{0} ? std::min(value, T{1}) : T{0};
  return value != value && (mode & kModeDx10Clamp) == 0 ? value : limited;
}

void apply_output_modifiers(const Wave& wave, const Inst& inst, OperandType type, LaneBuffer& low, LaneBuffer& high) {
  const Modifiers& mods = inst.mods;
  if (!mods.clamp && mods.omod == 0) return;
  constexpr f32 kFactors[4] = {1, 2, 4, 0.5f};
  const f32 factor = kFactors[omod_applies(type, wave.mode) ? mods.omod & 3 : 0];
  const u32 mode = wave.mode;
  const bool clamp = mods.clamp;
  if (type == OperandType::F32) {
    for (u32& value : low) value = std::bit_cast<u32>(scale_and_clamp(std::bit_cast<f32>(value), factor, clamp, mode));
  } else if (type == OperandType::F64) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const f64 value = std::bit_cast<f64>(u64{low[lane]} | u64{high[lane]} << 32);
      const u64 bits = std::bit_cast<u64>(scale_and_clamp(value, f64{factor}, clamp, mode));
      low[lane] = static_cast<u32>(bits);
      high[lane] = static_cast<u32>(bits >> 32);
    }
  } else if (type == OperandType::F16) {
    for (u32& value : low)
      value = f32_to_f16(scale_and_clamp(f16_to_f32(static_cast<u16>(value)), factor, clamp, mode));
  }
}

// Puts the SDWA destination field into place; the rest of the register by `destination_unused`.
void place_sdwa(const Modifiers& mods, const u32* old, LaneBuffer& low) {
  const u32 select = static_cast<u32>(mods.destination_select);
  const u32 width = select < 4 ? 8 : 16;
  const u32 shift = select < 4 ? 8 * select : 16 * (select - 4);
  const u32 field = ((1u << width) - 1) << shift;
  const u32 preserve = mods.destination_unused == SdwaUnused::Preserve ? ~field : 0u;
  const u32 above = shift + width < 32 ? ~0u << (shift + width) : 0u;
  const u32 extend = mods.destination_unused == SdwaUnused::SignExtend ? above : 0u;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 sign = 0u - (low[lane] >> (width - 1) & 1u);
    low[lane] = (low[lane] << shift & field) | (old[lane] & preserve) | (sign & extend);
  }
}

}  // namespace

f32 clamp_single(f32 value, u32 mode) { return scale_and_clamp(value, 1.0f, true, mode); }

void write_general(Wave& wave, const Inst& inst, const Operand& operand, u32 sources, OperandType type, bool keep_half,
                   LaneBuffer& low, LaneBuffer& high, u64 active) {
  apply_output_modifiers(wave, inst, type, low, high);
  const u32* old = destination_register(wave, operand);
  const Modifiers& mods = inst.mods;
  if (mods.sdwa) {
    if (mods.destination_select != SdwaSelect::Dword) place_sdwa(mods, old, low);
  } else if (is_half(type) && (mods.op_sel_given || keep_half)) {
    // With op_sel a 16-bit result goes to one half and the other is kept. The destination's bit follows the sources'
    // bits.
    const bool upper = (mods.op_sel >> std::min(sources, 3u) & 1) != 0;
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      low[lane] = upper ? (old[lane] & 0xffff) | low[lane] << 16 : (old[lane] & 0xffff0000) | (low[lane] & 0xffff);
  }
  write_lanes(wave, operand, 0, low, active);
  if (is_two_dwords(type)) write_lanes(wave, operand, 1, high, active);
}

void write_lanes(Wave& wave, const Operand& operand, u32 dword, const LaneBuffer& values, u64 active) {
  u32* destination = wave.vgpr(operand.index + dword);
  if (active == ~u64{0}) {
    std::copy_n(values, kWaveSize, destination);
    return;
  }
  LaneBuffer keep;
  expand_mask(active, keep);
#pragma clang loop vectorize(assume_safety)
  for (u32 lane = 0; lane < kWaveSize; ++lane) destination[lane] ^= (destination[lane] ^ values[lane]) & keep[lane];
}

}  // namespace hipbench::emulator
