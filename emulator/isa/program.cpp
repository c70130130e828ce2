#include "emulator/isa/program.hpp"

#include <algorithm>
#include <map>

#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

Program::Program(std::vector<Range> ranges) {
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

}  // namespace

const Inst* Program::decode_block(Table& table, u64 pc) {
  const std::lock_guard lock(mutex_);
  Inst* previous = nullptr;
  const Inst* first = nullptr;
  for (u64 at = pc; at - table.base < table.size;) {
    std::atomic<const Inst*>& slot = table.slots[(at - table.base) / 4];
    const Inst* known = slot.load(std::memory_order_relaxed);
    if (known != nullptr) {
      if (previous != nullptr) previous->following = known;
      if (first == nullptr) first = known;
      break;
    }
    std::unique_ptr<Inst> inst = decode(disassembler_, table.code.subspan(at - table.base), at);
    if (previous != nullptr) previous->following = inst.get();
    if (first == nullptr) first = inst.get();
    previous = inst.get();
    at += inst->size;
    instructions_.push_back(std::move(inst));
    if (ends_block(*previous)) break;
  }
  // Published only now: `following` of every instruction is final before another thread can see it.
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
  // What is not for compute kernels is not worth a warning: the device library's grid barrier holds ds_gws_barrier for other chips.
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
