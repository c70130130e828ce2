#include "emulator/isa/program.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

Program::Program(std::vector<Range> ranges, const CodeRules& rules) : rules_(rules) {
  for (const Range& range : ranges) {
    Table table;
    table.base = range.base;
    table.size = range.code.size() & ~size_t{3};
    table.code = range.code;
    table.slots = std::make_unique<std::atomic<const Inst*>[]>(table.size / 4);
    tables_.push_back(std::move(table));
  }
}

Program::~Program() = default;

void Program::not_code(u64 pc) {
  throw GuestFault{FaultKind::InvalidEncoding, "the program counter left the kernel's code", pc, 4, -1};
}

namespace {

bool ends_block(const Inst& inst) {
  if (inst.op == nullptr) return true;
  const std::string_view name = inst.op->name;
  return name == "s_endpgm" || name == "s_branch" || name == "s_setpc_b64" || name == "s_swappc_b64" ||
         name == "s_call_b64";
}

// Memory is synchronous here, and priorities are timing only.
bool has_no_effect(std::string_view name) { return name == "s_waitcnt" || name == "s_nop" || name == "s_setprio"; }

// Instructions that may go anywhere in a run: they neither read nor change the program counter, the state of the wave,
// the modes that the executing loop looks at, or the counters. Everything that is not known to be harmless ends a run.
bool may_run(const Inst& inst) {
  if (inst.op == nullptr) return false;
  const std::string_view name = inst.op->name;
  if (has_no_effect(name)) return true;
  switch (inst.cls) {
    case InstClass::Valu:
    case InstClass::Vmem:
    case InstClass::Lds:
    case InstClass::Mfma: return true;
    case InstClass::Smem: return !name.starts_with("s_mem");                                // clocks
    case InstClass::Salu: return !name.starts_with("s_set") && !name.starts_with("s_get");  // MODE, GPR indexing
    case InstClass::Branch:
    case InstClass::Other: return false;
  }
  return false;
}

// Bounds what runs between two looks at limits.
constexpr u16 kLongestRun = 1024;

// Makes `inst` the head of the run that goes on at `next`, the instruction behind it.
void extend_run(Inst& inst, const Inst* next) {
  if (next == nullptr || !may_run(inst)) return;
  const bool joins = next->run_length != 0 && next->run_length < kLongestRun;
  if (joins) {
    std::copy(std::begin(next->run_counts), std::end(next->run_counts), std::begin(inst.run_counts));
    inst.run_length = next->run_length;
    inst.run_exit = next->run_exit;
    inst.run_next = has_no_effect(next->op->name) ? next->run_next : next;
  } else {
    inst.run_exit = next;
  }
  ++inst.run_length;
  ++inst.run_counts[static_cast<u32>(inst.cls)];
}

bool is_declared(const Operand& operand, const RegisterCounts& registers) {
  const u32 end = operand.index + std::max<u32>(operand.dwords, 1);
  if (operand.is_scalar())
    return operand.index >= kFlatScratch || end <= registers.sgprs;  // the special ones are always there
  if (!operand.is_vgpr()) return true;
  return operand.index < kAgprBase ? end <= registers.vgprs : end <= kAgprBase + registers.agprs;
}

[[noreturn]] void execute_undeclared(Wave& wave, const Inst& inst) {
  throw GuestFault{FaultKind::IllegalOperand,
                   "a register that the kernel has not got: it declares " + std::to_string(wave.registers.vgprs) +
                       " VGPRs, " + std::to_string(wave.registers.agprs) + " AGPRs and " +
                       std::to_string(wave.registers.sgprs) +
                       " SGPRs; name what inline assembly overwrites in its clobber list",
                   inst.pc, inst.size, -1};
}

[[noreturn]] void execute_forbidden(Wave&, const Inst& inst) {
  throw GuestFault{FaultKind::ForbiddenInstruction, "arithmetic in 8-bit types, which this launch is not to use",
                   inst.pc, inst.size, -1};
}

void apply(const CodeRules& rules, Inst& inst) {
  if (inst.op == nullptr) return;  // it faults anyway
  if (!rules.eight_bit_math && is_eight_bit_math(inst.op->name)) {
    inst.execute = &execute_forbidden;
    return;
  }
  for (u32 k = 0; k < inst.operand_count; ++k)
    if (!is_declared(inst.operands[k], rules.registers)) inst.execute = &execute_undeclared;
}

}  // namespace

const Inst* Program::decode_block(Table& table, u64 pc) {
  const std::lock_guard lock(mutex_);
  Inst* previous = nullptr;
  const Inst* first = nullptr;
  const size_t known_before = instructions_.size();
  for (u64 at = pc; at - table.base < table.size;) {
    std::atomic<const Inst*>& slot = table.slots[(at - table.base) / 4];
    const Inst* known = slot.load(std::memory_order_relaxed);
    if (known != nullptr) {
      if (previous != nullptr) previous->following = known;
      if (first == nullptr) first = known;
      break;
    }
    std::unique_ptr<Inst> inst = decode(disassembler_, table.code.subspan(at - table.base), at);
    apply(rules_, *inst);
    if (previous != nullptr) previous->following = inst.get();
    if (first == nullptr) first = inst.get();
    previous = inst.get();
    at += inst->size;
    instructions_.push_back(std::move(inst));
    if (ends_block(*previous)) break;
  }
  for (size_t k = instructions_.size(); k-- > known_before;) extend_run(*instructions_[k], instructions_[k]->following);
  // Published only now: an instruction is final before another thread can see it.
  for (auto inst = instructions_.rbegin(); inst != instructions_.rend(); ++inst) {
    std::atomic<const Inst*>& slot = table.slots[((*inst)->pc - table.base) / 4];
    if ((*inst)->pc < table.base || (*inst)->pc - table.base >= table.size ||
        slot.load(std::memory_order_relaxed) != nullptr)
      break;
    slot.store(inst->get(), std::memory_order_release);
  }
  return first;
}

std::string Program::disassemble(u64 pc) {
  const std::lock_guard lock(mutex_);
  for (const Table& table : tables_)
    if (pc - table.base < table.size) return disassembler_.disassemble(table.code.subspan(pc - table.base), pc).text;
  return "";
}

std::vector<Program::Unsupported> Program::unsupported() {
  std::vector<Unsupported> list;
  // What is not for compute kernels is not worth a warning: the device library's grid barrier holds ds_gws_barrier for
  // other chips.
  for (const auto& [mnemonic, pc] : mnemonics())
    if (find_op(mnemonic) == nullptr && reason_left_out(mnemonic).empty()) list.push_back({mnemonic, pc});
  return list;
}

std::map<std::string, u64> Program::mnemonics() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, u64> found;
  for (const Table& table : tables_) {
    for (u64 offset = 0; offset < table.size;) {
      const Disassembler::Name name = disassembler_.name(table.code.subspan(offset), table.base + offset);
      if (name.size != 0) found.try_emplace(name.mnemonic, table.base + offset);
      offset += std::max(name.size, 4u);  // what does not decode is padding or data
    }
  }
  return found;
}

}  // namespace hipbench::emulator
