// Program flow and wave control: SOPP, the PC instructions, hardware registers. CDNA3 ISA, chapter "Program flow
// control".

#include <algorithm>
#include <bit>

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

// Backward branches give other waves a turn after a while, so that spin-waits between workgroups make progress.
void branch_to(Wave& wave, const Inst& inst, u64 target) {
  wave.jump(target);
  if (target <= inst.pc && --wave.spin_budget < 0) wave.status = WaveStatus::Yielded;
}

template <auto Condition>
void branch_if(Wave& wave, const Inst& inst) {
  if (Condition(wave)) branch_to(wave, inst, inst.target);
}

template <auto Condition>
constexpr Op branch(std::string_view name) {
  return custom(name, InstClass::Branch, &branch_if<Condition>);
}

void s_setpc_b64(Wave& wave, const Inst& inst) { branch_to(wave, inst, read_scalar(wave, inst.operands[0], 2)); }
void s_swappc_b64(Wave& wave, const Inst& inst) {
  const u64 target = read_scalar(wave, inst.operands[1], 2);
  write_scalar(wave, inst.operands[0], inst.pc + inst.size, 2);
  branch_to(wave, inst, target);
}
void s_call_b64(Wave& wave, const Inst& inst) {
  write_scalar(wave, inst.operands[0], inst.pc + inst.size, 2);
  branch_to(wave, inst, inst.target);
}
void s_getpc_b64(Wave& wave, const Inst& inst) { write_scalar(wave, inst.operands[0], inst.pc + inst.size, 2); }

// ---- Forks: a branch that both kinds of lanes take, the smaller part first; the other part waits on a stack in SGPRs
// ----

u32 branch_stack_pointer(const Wave& wave) { return wave.mode >> kModeBranchStack & 7; }
void set_branch_stack_pointer(Wave& wave, u32 value) {
  wave.mode = (wave.mode & ~(7u << kModeBranchStack)) | (value & 7) << kModeBranchStack;
}
void fork(Wave& wave, const Inst& inst, u64 condition, u64 target) {
  const u64 exec = wave.exec(), pass = condition & exec, fail = ~condition & exec;
  if (pass == exec) return branch_to(wave, inst, target);
  if (fail == exec) return;
  const bool fail_first = std::popcount(fail) < std::popcount(pass);
  const u32 entry = branch_stack_pointer(wave) * 4;
  wave.set_scalar64(entry, fail_first ? pass : fail);
  wave.set_scalar64(entry + 2, fail_first ? target : inst.pc + inst.size);
  set_branch_stack_pointer(wave, branch_stack_pointer(wave) + 1);
  wave.set_exec(fail_first ? fail : pass);
  if (!fail_first) branch_to(wave, inst, target);
}
void s_cbranch_g_fork(Wave& wave, const Inst& inst) {
  fork(wave, inst, read_scalar(wave, inst.operands[0], 2), read_scalar(wave, inst.operands[1], 2));
}
void s_cbranch_i_fork(Wave& wave, const Inst& inst) {
  fork(wave, inst, read_scalar(wave, inst.operands[0], 2), inst.target);
}
// The operand is the stack pointer from before the fork: equal to it, both parts are here.
void s_cbranch_join(Wave& wave, const Inst& inst) {
  if (branch_stack_pointer(wave) == static_cast<u32>(read_scalar(wave, inst.operands[0]))) return;
  set_branch_stack_pointer(wave, branch_stack_pointer(wave) - 1);
  const u32 entry = branch_stack_pointer(wave) * 4;
  wave.set_exec(wave.scalar64(entry));
  branch_to(wave, inst, wave.scalar64(entry + 2));
}

void s_endpgm(Wave& wave, const Inst&) { wave.status = WaveStatus::Ended; }

void s_barrier(Wave& wave, const Inst&) {
  ++wave.barriers;
  wave.status = WaveStatus::AtBarrier;
}
void yield(Wave& wave, const Inst&) { wave.status = WaveStatus::Yielded; }
void nothing(Wave&, const Inst&) {}

[[noreturn]] void halt(const Inst& inst) {
  throw GuestFault{FaultKind::Trap, "the wave halted itself (s_sethalt or s_sendmsghalt): only a debugger resumes it",
                   inst.pc, 0, -1};
}
void s_sethalt(Wave&, const Inst& inst) {
  if ((inst.simm16 & 1) != 0) halt(inst);
}
void s_sendmsghalt(Wave&, const Inst& inst) { halt(inst); }
void s_setkill(Wave& wave, const Inst& inst) {
  if ((inst.simm16 & 1) != 0) wave.status = WaveStatus::Ended;
}

void s_trap(Wave&, const Inst& inst) {
  const u32 id = static_cast<u32>(inst.simm16) & 0xff;
  // Trap 2 is the ABI's "abort" (AMDGPUUsage, "Trap Handler ABI"); 3 is the debug trap, which continues without a
  // debugger.
  if (id == 3) return;
  throw GuestFault{FaultKind::Trap,
                   "the kernel trapped (s_trap " + std::to_string(id) + "): __builtin_trap, abort() or a failed assert",
                   inst.pc, 0, -1};
}

// ---- Hardware registers: hwreg(id, offset, size) in simm16 ----

constexpr u32 kHwMode = 1, kHwStatus = 2, kHwTrapStatus = 3, kHwId = 4, kHwGprAlloc = 5, kHwLdsAlloc = 6,
              kHwIbStatus = 7;
constexpr u32 kHwShMemBases = 15, kHwXccId = 20;

struct HwField {
  u32 id, offset, size;
  u32 mask() const { return size >= 32 ? ~0u : (1u << size) - 1; }
};
HwField hw_field(const Inst& inst) {
  const u32 bits = static_cast<u16>(inst.simm16);
  return {bits & 0x3f, bits >> 6 & 0x1f, (bits >> 11 & 0x1f) + 1};
}

u32 read_hw_register(const Wave& wave, u32 id) {
  switch (id) {
    case kHwMode: return wave.mode;
    case kHwStatus: return (wave.scc ? 1u : 0u) | (wave.exec() == 0 ? 1u << 9 : 0u) | (wave.vcc() == 0 ? 1u << 10 : 0u);
    case kHwId: return wave.hw_id;
    case kHwXccId: return wave.xcc_id;
    case kHwShMemBases: return static_cast<u32>(kLdsAperture >> 48) << 16 | static_cast<u32>(kScratchAperture >> 48);
    case kHwLdsAlloc: return (wave.lds_size + 511) / 512 << 12;
    case kHwTrapStatus:
    case kHwGprAlloc:
    case kHwIbStatus: return 0;
    default:
      throw GuestFault{FaultKind::IllegalOperand,
                       "s_getreg of hardware register " + std::to_string(id) + " is not supported"};
  }
}

void set_hw_register(Wave& wave, const Inst& inst, u32 value) {
  const HwField field = hw_field(inst);
  if (field.id != kHwMode) return;  // STATUS and the rest are read-only to user shaders
  const u32 mask = field.mask() << field.offset;
  wave.mode = (wave.mode & ~mask) | (value << field.offset & mask);
  wave.special_float_mode = (wave.mode & 0xff) != kModeDefaultFp;
}
void s_getreg_b32(Wave& wave, const Inst& inst) {
  const HwField field = hw_field(inst);
  write_scalar(wave, inst.operands[0], read_hw_register(wave, field.id) >> field.offset & field.mask());
}
// Operand 0 is the hwreg() text; its bits are in simm16.
void s_setreg_b32(Wave& wave, const Inst& inst) {
  set_hw_register(wave, inst, static_cast<u32>(read_scalar(wave, inst.operands[1])));
}
void s_setreg_imm32_b32(Wave& wave, const Inst& inst) { set_hw_register(wave, inst, inst.words[1]); }

// ---- VGPR indexing mode: M0[7:0] offsets, M0[15:12] which operands ----

void set_gpr_index(Wave& wave, bool on) {
  wave.mode = on ? wave.mode | kModeGprIndexEnable : wave.mode & ~kModeGprIndexEnable;
}
void s_set_gpr_idx_on(Wave& wave, const Inst& inst) {
  const u32 index = static_cast<u32>(read_scalar(wave, inst.operands[0])) & 0xff;
  const u32 which = inst.words[0] >> 8 & 0xf;  // SSRC1 holds the immediate
  wave.sgprs[kM0] = (wave.m0() & 0xffff0f00) | index | which << 12;
  set_gpr_index(wave, true);
}
// Vector instructions are not issued while MODE.VSKIP is set.
void s_setvskip(Wave& wave, const Inst& inst) {
  const u32 bit =
      static_cast<u32>(read_scalar(wave, inst.operands[0])) >> (read_scalar(wave, inst.operands[1]) & 31) & 1;
  wave.mode = (wave.mode & ~kModeVskip) | (bit != 0 ? kModeVskip : 0);
}
void s_set_gpr_idx_off(Wave& wave, const Inst&) { set_gpr_index(wave, false); }
void s_set_gpr_idx_mode(Wave& wave, const Inst& inst) {
  wave.sgprs[kM0] = (wave.m0() & 0xffff0fff) | (static_cast<u32>(inst.simm16) & 0xf) << 12;
}
void s_set_gpr_idx_idx(Wave& wave, const Inst& inst) {
  wave.sgprs[kM0] = (wave.m0() & 0xffffff00) | (static_cast<u32>(read_scalar(wave, inst.operands[0])) & 0xff);
}

constexpr Op sopp(std::string_view name, Execute function, InstClass cls = InstClass::Other) {
  return custom(name, cls, function);
}

constexpr Op kRows[] = {
    branch<[](const Wave&) { return true; }>("s_branch"),
    branch<[](const Wave& w) { return !w.scc; }>("s_cbranch_scc0"),
    branch<[](const Wave& w) { return w.scc; }>("s_cbranch_scc1"),
    branch<[](const Wave& w) { return w.vcc() == 0; }>("s_cbranch_vccz"),
    branch<[](const Wave& w) { return w.vcc() != 0; }>("s_cbranch_vccnz"),
    branch<[](const Wave& w) { return w.exec() == 0; }>("s_cbranch_execz"),
    branch<[](const Wave& w) { return w.exec() != 0; }>("s_cbranch_execnz"),
    // No debugger is ever attached.
    branch<[](const Wave&) { return false; }>("s_cbranch_cdbgsys"),
    branch<[](const Wave&) { return false; }>("s_cbranch_cdbguser"),
    branch<[](const Wave&) { return false; }>("s_cbranch_cdbgsys_or_user"),
    branch<[](const Wave&) { return false; }>("s_cbranch_cdbgsys_and_user"),
    custom("s_setpc_b64", InstClass::Branch, &s_setpc_b64, OperandType::B64),
    custom("s_swappc_b64", InstClass::Branch, &s_swappc_b64, OperandType::B64, OperandType::B64),
    custom("s_call_b64", InstClass::Branch, &s_call_b64, OperandType::B64, OperandType::B32),
    custom("s_cbranch_g_fork", InstClass::Branch, &s_cbranch_g_fork, OperandType::B64, OperandType::B64),
    custom("s_cbranch_i_fork", InstClass::Branch, &s_cbranch_i_fork, OperandType::B64, OperandType::B32),
    custom("s_cbranch_join", InstClass::Branch, &s_cbranch_join, OperandType::B32),
    custom("s_getpc_b64", InstClass::Salu, &s_getpc_b64, OperandType::B64),

    sopp("s_endpgm", &s_endpgm),
    sopp("s_endpgm_saved", &s_endpgm),
    sopp("s_barrier", &s_barrier),
    sopp("s_sleep", &yield),
    sopp("s_sendmsg", &yield),
    sopp("s_trap", &s_trap),
    // Memory is synchronous here, so waiting has nothing to wait for; priorities and prefetch are timing only.
    sopp("s_waitcnt", &nothing),
    sopp("s_nop", &nothing),
    sopp("s_setprio", &nothing),
    sopp("s_sethalt", &s_sethalt),
    sopp("s_sendmsghalt", &s_sendmsghalt),
    sopp("s_setkill", &s_setkill),
    sopp("s_wakeup", &nothing),
    sopp("s_icache_inv", &nothing),
    sopp("s_incperflevel", &nothing),
    sopp("s_decperflevel", &nothing),
    sopp("s_ttracedata", &nothing),
    sopp("s_set_gpr_idx_off", &s_set_gpr_idx_off, InstClass::Salu),
    sopp("s_set_gpr_idx_mode", &s_set_gpr_idx_mode, InstClass::Salu),
    custom("s_setvskip", InstClass::Salu, &s_setvskip, OperandType::B32, OperandType::B32),
    custom("s_set_gpr_idx_on", InstClass::Salu, &s_set_gpr_idx_on, OperandType::B32, OperandType::B32),
    custom("s_set_gpr_idx_idx", InstClass::Salu, &s_set_gpr_idx_idx, OperandType::B32),
    custom("s_getreg_b32", InstClass::Salu, &s_getreg_b32, OperandType::B32, OperandType::B32),
    custom("s_setreg_b32", InstClass::Salu, &s_setreg_b32, OperandType::B32, OperandType::B32),
    custom("s_setreg_imm32_b32", InstClass::Salu, &s_setreg_imm32_b32, OperandType::B32, OperandType::B32),
};

bool is_vector(InstClass cls) {
  return cls == InstClass::Valu || cls == InstClass::Mfma || cls == InstClass::Vmem || cls == InstClass::Lds;
}

}  // namespace

void execute_unusually(Wave& wave, const Inst& inst) {
  if ((wave.mode & kModeVskip) != 0 && is_vector(inst.cls)) return;
  if ((wave.mode & kModeGprIndexEnable) == 0 || inst.cls != InstClass::Valu || inst.op == nullptr ||
      inst.dpp != nullptr) {
    inst.execute(wave, inst);
    return;
  }
  Inst moved;
  moved.execute = inst.execute;
  moved.op = inst.op;
  moved.pc = inst.pc;
  moved.size = inst.size;
  moved.cls = inst.cls;
  moved.operand_count = inst.operand_count;
  moved.simm16 = inst.simm16;
  moved.mods = inst.mods;
  std::copy(std::begin(inst.words), std::end(inst.words), std::begin(moved.words));
  const u32 offset = wave.m0() & 0xff, which = wave.m0() >> 12 & 0xf;
  u32 source = 0;
  for (u32 k = 0; k < inst.operand_count; ++k) {
    moved.operands[k] = inst.operands[k];
    const bool destination = inst.op->operands[k].destination;
    const bool relative = destination ? (which & 8) != 0 : (which >> source & 1) != 0;
    if (!destination) ++source;
    if (!relative || !inst.operands[k].is_vgpr()) continue;
    const u32 index = inst.operands[k].index + offset;
    if (index + std::max<u32>(inst.operands[k].dwords, 1) > wave.registers.vgprs)
      throw GuestFault{FaultKind::IllegalOperand, "an indexed VGPR (v" + std::to_string(index) + ") is beyond the " +
                                                      std::to_string(wave.registers.vgprs) +
                                                      " that the kernel declares"};
    moved.operands[k].index = static_cast<u16>(index);
  }
  moved.execute(wave, moved);
}

std::span<const Op> control_ops() { return kRows; }

}  // namespace hipbench::emulator
