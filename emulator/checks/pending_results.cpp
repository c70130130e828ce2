#include "emulator/checks/pending_results.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "emulator/checks/instruction_facts.hpp"
#include "emulator/isa/op_table.hpp"

namespace hipbench::emulator {

namespace {

// An instruction is held back when a counter is full.
constexpr u32 kMostVectorMemory = 63, kMostLdsOrScalar = 15;

bool is_memory(const Inst& inst) {
  return inst.cls == InstClass::Vmem || inst.cls == InstClass::Lds || inst.cls == InstClass::Smem;
}

// It writes its first operand and does not read it as well.
bool is_pure_result(const Inst& inst) {
  const std::string_view name = inst.op->name;
  return has_memory_result(inst) && !(name.starts_with("buffer_atomic") || contains(name, "_d16"));
}

u32 registers_of(const Operand& operand) { return std::max<u32>(operand.dwords, 1); }

}  // namespace

PendingResults::PendingResults() : s_waitcnt_(find_op("s_waitcnt")) { begin(); }

void PendingResults::begin() {
  vector_memory_ = lds_or_scalar_ = {};
  vgprs_.fill({});
  scalars_.fill({});
}

void PendingResults::Counter::wait(u32 at_most) {
  if (issued <= at_most) return;
  if (at_most == 0 || last_unordered <= done) done = std::max(done, issued - at_most);
}

std::optional<PendingResults::Finding> PendingResults::before(const Wave& wave, const Inst& inst) {
  if (inst.op == nullptr) return std::nullopt;
  if (inst.op == s_waitcnt_) {
    const u32 bits = static_cast<u16>(inst.simm16);
    vector_memory_.wait((bits & 0xf) | (bits >> 14 & 3) << 4);
    lds_or_scalar_.wait(bits >> 8 & 0xf);
    return std::nullopt;
  }
  const bool memory = is_memory(inst);
  std::optional<Finding> finding;
  // While registers are indexed at run time, the operands are not what is written.
  if ((vector_memory_.outstanding() || lds_or_scalar_.outstanding()) && (wave.mode & kModeUnusualIssue) == 0)
    finding = pending_operand(wave, inst, memory);
  if (memory) issue(wave, inst);
  return finding;
}

std::optional<PendingResults::Finding> PendingResults::pending_operand(const Wave& wave, const Inst& inst,
                                                                       bool memory) const {
  const u64 exec = wave.exec();
  const auto finding_of = [&](const Result& result, const Operand& operand, u32 operand_number, u32 index) {
    Finding finding;
    finding.scalar = operand.is_scalar();
    finding.index = index;
    if (!finding.scalar) finding.lane = std::countr_zero(result.lanes & exec);
    finding.issued_pc = result.pc;
    finding.vector_memory = result.vector_memory > vector_memory_.done;
    finding.lds_or_scalar = result.lds_or_scalar > lds_or_scalar_.done;
    finding.overwritten = inst.op->operand_count != 0xff && inst.op->operands[operand_number].destination;
    return finding;
  };
  // Memory instructions of one kind deliver in order, so that a later one may write the same register. Sources first: a
  // register that is both is used.
  const u32 first = memory && is_pure_result(inst) ? 1 : 0;
  for (u32 k = inst.operand_count; k-- > first;) {
    const Operand& operand = inst.operands[k];
    if (operand.is_vgpr()) {
      const u32 end = std::min<u32>(operand.index + registers_of(operand), static_cast<u32>(vgprs_.size()));
      for (u32 index = operand.index; index < end; ++index)
        if (is_pending(vgprs_[index]) && (vgprs_[index].lanes & exec) != 0)
          return finding_of(vgprs_[index], operand, k, index);
    } else if (operand.is_scalar()) {
      const u32 end = std::min<u32>(operand.index + registers_of(operand), static_cast<u32>(scalars_.size()));
      for (u32 index = operand.index; index < end; ++index)
        if (is_pending(scalars_[index])) return finding_of(scalars_[index], operand, k, index);
    }
  }
  return std::nullopt;
}

void PendingResults::issue(const Wave& wave, const Inst& inst) {
  const bool flat = inst.op->name.starts_with("flat_");
  Result result;
  result.lanes = wave.exec();
  result.pc = inst.pc;
  if (inst.cls == InstClass::Vmem) {
    result.vector_memory = ++vector_memory_.issued;
    vector_memory_.wait(kMostVectorMemory);
  }
  if (inst.cls != InstClass::Vmem || flat) {
    result.lds_or_scalar = ++lds_or_scalar_.issued;
    if (inst.cls == InstClass::Smem) lds_or_scalar_.last_unordered = lds_or_scalar_.issued;
    lds_or_scalar_.wait(kMostLdsOrScalar);
  }
  if (inst.operand_count == 0 || !has_memory_result(inst)) return;
  const Operand& operand = inst.operands[0];
  const u32 count = registers_of(operand);
  if (operand.is_vgpr())
    std::fill_n(vgprs_.begin() + operand.index, std::min<u32>(count, static_cast<u32>(vgprs_.size()) - operand.index),
                result);
  else if (operand.is_scalar())
    std::fill_n(scalars_.begin() + operand.index,
                std::min<u32>(count, static_cast<u32>(scalars_.size()) - operand.index), result);
}

}  // namespace hipbench::emulator
