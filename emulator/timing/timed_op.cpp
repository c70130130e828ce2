#include "emulator/timing/timed_op.hpp"

#include <algorithm>
#include <string_view>

#include "emulator/isa/mfma.hpp"
#include "emulator/isa/op_table.hpp"

namespace hipbench::emulator {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

u32 clocks_of(f64 value) { return static_cast<u32>(value); }

void time_valu(std::string_view name, const TimingParameters& parameters, TimedOp& op) {
  op.kind = TimedKind::Valu;
  op.clocks = clocks_of(parameters.issue.valu_clocks);
  static constexpr std::string_view kTranscendental[] = {"v_exp_",  "v_log_", "v_rcp_", "v_rsq_",
                                                         "v_sqrt_", "v_sin_", "v_cos_"};
  const bool slow =
      std::ranges::any_of(kTranscendental, [&](std::string_view prefix) { return name.starts_with(prefix); });
  // The 32-bit integer multiplications take the same quarter-rate path.
  const bool multiplies = name.starts_with("v_mul_lo_u32") || name.starts_with("v_mul_hi_") ||
                          name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64");
  if (slow || multiplies)
    op.clocks = clocks_of(parameters.issue.transcendental_clocks);
  else if (name.ends_with("_f64") && !name.starts_with("v_fma_") && !name.starts_with("v_cmp"))
    op.clocks = clocks_of(parameters.issue.double_clocks);
  op.packed_f32 = name.starts_with("v_pk_") && name.ends_with("_f32");
}

// Bytes a lane from the end of a memory mnemonic.
u8 memory_bytes(std::string_view name) {
  if (contains(name, "dwordx4") || contains(name, "_xyzw")) return 16;
  if (contains(name, "dwordx3") || contains(name, "_xyz")) return 12;
  if (contains(name, "dwordx2") || name.ends_with("_x2") || name.ends_with("_f64")) return 8;
  if (contains(name, "byte")) return 1;
  if (contains(name, "short")) return 2;
  return 4;
}

void time_vector_memory(const Inst& inst, std::string_view name, TimedOp& op) {
  op.kind = TimedKind::VectorMemory;
  op.bytes = memory_bytes(name);
  op.atomic = contains(name, "atomic");
  op.writes = contains(name, "store") || (op.atomic && !inst.mods.sc0);
  const bool to_lds = contains(name, "_lds") || inst.mods.lds;
  if (name.starts_with("buffer_") || name.starts_with("tbuffer_")) {
    if (!op.atomic && !contains(name, "load") && !op.writes) {  // cache control
      op.kind = TimedKind::Salu;
      return;
    }
    op.form = AddressForm::Buffer;
    op.address_operand = to_lds || inst.operand_count < 4 ? 0 : 1;
    return;
  }
  op.form = name.starts_with("scratch_") ? AddressForm::Scratch
            : name.starts_with("flat_")  ? AddressForm::Flat
                                         : AddressForm::Global;
  const bool has_destination = (contains(name, "load") && !to_lds) || (op.atomic && inst.mods.sc0);
  op.address_operand = has_destination ? 1 : 0;
}

u8 lds_bytes(std::string_view name) {
  if (contains(name, "b128")) return 16;
  if (contains(name, "b96")) return 12;
  if (name.ends_with("64") || contains(name, "_b64")) return 8;
  if (contains(name, "_b8") || contains(name, "_u8") || contains(name, "_i8")) return 1;
  if (contains(name, "_b16") || contains(name, "_u16") || contains(name, "_i16")) return 2;
  return 4;
}

void time_lds(const Inst& inst, std::string_view name, const TimingParameters& parameters, TimedOp& op) {
  if (contains(name, "permute") || contains(name, "swizzle")) {
    op.kind = TimedKind::LdsCrossbar;
    op.bytes = 4;
    op.clocks = clocks_of(parameters.lds.crossbar_clocks);
    return;
  }
  if (name == "ds_nop" || inst.operand_count == 0) {
    op.kind = TimedKind::Nop;
    op.clocks = clocks_of(parameters.issue.scalar_clocks);
    return;
  }
  op.kind = TimedKind::LdsAccess;
  // ds_read2_b64 and ds_read2st64_b64: the "2" and "st64" are no widths.
  const bool two = name.starts_with("ds_read2") || name.starts_with("ds_write2");
  const std::string_view width = two ? name.substr(name.rfind('_')) : name;
  op.bytes = lds_bytes(width);
  op.writes = name.starts_with("ds_write");
  op.atomic = !op.writes && !name.starts_with("ds_read");
  const bool returns = name.starts_with("ds_read") || contains(name, "_rtn");
  op.writes = op.writes || !returns;
  op.address_operand = returns ? 1 : 0;
  op.accesses = two ? 2 : 1;
  const u32 unit = two ? op.bytes * (contains(name, "st64") ? 64u : 1u) : 1u;
  op.offsets[0] = static_cast<u32>(inst.mods.offset) * unit;
  op.offsets[1] = static_cast<u32>(inst.mods.offset1) * unit;
}

// s_waitcnt: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8.
void time_wait(const Inst& inst, TimedOp& op) {
  const u32 bits = static_cast<u16>(inst.simm16);
  const u32 vector = (bits & 15) | (bits >> 14 & 3) << 4, lds = bits >> 8 & 15;
  op.kind = TimedKind::Wait;
  if (vector < 63) op.vector_wait = static_cast<u8>(vector);
  if (lds < 15) op.lds_wait = static_cast<u8>(lds);
}

void time_scalar(const Inst& inst, std::string_view name, const TimingParameters& parameters, TimedOp& op) {
  op.clocks = clocks_of(parameters.issue.scalar_clocks);
  if (name == "s_waitcnt") return time_wait(inst, op);
  if (name == "s_barrier") {
    op.kind = TimedKind::Barrier;
  } else if (name == "s_endpgm") {
    op.kind = TimedKind::End;
  } else if (name == "s_nop") {
    op.kind = TimedKind::Nop;
    op.clocks *= (static_cast<u32>(inst.simm16) & 15) + 1;
  } else if (name == "s_sleep") {
    op.kind = TimedKind::Sleep;
    op.clocks = clocks_of(parameters.issue.sleep_clocks) * (static_cast<u32>(inst.simm16) & 127);
  } else if (inst.cls == InstClass::Branch) {
    op.kind = TimedKind::Branch;
  } else if (inst.cls == InstClass::Smem && contains(name, "load")) {
    op.kind = TimedKind::Smem;
  }
}

}  // namespace

TimedOp time_op(const Inst& inst, const TimingParameters& parameters) {
  TimedOp op;
  op.inst = &inst;
  op.size = inst.size;
  op.straddles = inst.size == 8 && inst.pc % 8 == 4;
  const std::string_view name = inst.op != nullptr ? inst.op->name : std::string_view();
  switch (inst.cls) {
    case InstClass::Valu:
      time_valu(name, parameters, op);
      break;
    case InstClass::Mfma: {
      const MfmaEntry* entry = find_mfma(name);
      // The moves between the halves of the register file count as matrix instructions elsewhere; here they are plain.
      if (entry == nullptr) {
        time_valu(name, parameters, op);
      } else {
        op.kind = TimedKind::Mfma;
        op.clocks = entry->cycles;
      }
      break;
    }
    case InstClass::Vmem:
      time_vector_memory(inst, name, op);
      break;
    case InstClass::Lds:
      time_lds(inst, name, parameters, op);
      break;
    default:
      time_scalar(inst, name, parameters, op);
  }
  if (op.kind == TimedKind::Salu) op.clocks = clocks_of(parameters.issue.scalar_clocks);
  return op;
}

}  // namespace hipbench::emulator
