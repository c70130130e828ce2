#include "emulator/checks/unwritten_registers.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "emulator/checks/instruction_facts.hpp"
#include "emulator/isa/op_table.hpp"

namespace hipbench::emulator {

namespace {

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return name.starts_with(part); });
}

// They leave out parts of their sources, or choose one: of use as long as one source was written.
bool takes_parts(std::string_view name) {
  return begins_with_any(name, {"v_cndmask", "v_perm_b32", "v_bfi", "v_and", "v_or", "v_lshl_or", "v_pack", "v_align"});
}

// They add to their destination.
bool reads_destination(std::string_view name) {
  return begins_with_any(name, {"v_fmac", "v_mac", "v_pk_fmac", "v_dot2c", "v_dot4c", "v_dot8c"});
}

// Rows with a function of their own do not say: they have one.
u32 destinations_of(const Op& op) {
  const auto named =
      std::count_if(op.operands, op.operands + kMaxOperands, [](const OperandSpec& spec) { return spec.destination; });
  return std::max(1u, static_cast<u32>(named));
}

}  // namespace

void UnwrittenRegisters::begin() {
  registers_.fill({});
  registers_[0].lanes = 0;
}

std::span<UnwrittenRegisters::Register> UnwrittenRegisters::registers_of(const Operand& operand) {
  if (!operand.is_vgpr()) return {};
  const size_t count = std::max<size_t>(operand.dwords, 1);
  return {registers_.data() + operand.index, std::min(count, registers_.size() - operand.index)};
}

std::span<const UnwrittenRegisters::Register> UnwrittenRegisters::registers_of(const Operand& operand) const {
  return const_cast<UnwrittenRegisters*>(this)->registers_of(operand);
}

std::optional<UnwrittenRegisters::Finding> UnwrittenRegisters::before(const Wave& wave, const Inst& inst) {
  if (inst.op == nullptr || inst.operand_count == 0) return std::nullopt;
  if ((wave.mode & kModeUnusualIssue) != 0) {  // the operands do not tell which registers are written
    if (inst.cls == InstClass::Valu) registers_.fill({0, 0});
    return std::nullopt;
  }
  switch (inst.cls) {
    case InstClass::Valu:
      compute(inst, wave.exec());
      return std::nullopt;
    case InstClass::Mfma:
      multiply_matrices(inst);
      return std::nullopt;
    case InstClass::Lds:
      return access_lds(inst, wave.exec());
    case InstClass::Vmem:
      return access_memory(inst, wave.exec());
    default:
      return std::nullopt;
  }
}

std::optional<UnwrittenRegisters::Finding> UnwrittenRegisters::access_lds(const Inst& inst, u64 exec) {
  const std::string_view name = inst.op->name;
  const u32 first = has_memory_result(inst) ? 1 : 0;
  std::optional<Finding> finding;
  if (name != "ds_swizzle_b32" && !contains(name, "addtid")) finding = use(inst, exec, first, first + 1, true);
  if (first == 1) write(inst.operands[0], exec);
  return finding;
}

std::optional<UnwrittenRegisters::Finding> UnwrittenRegisters::access_memory(const Inst& inst, u64 exec) {
  const std::string_view name = inst.op->name;
  const u32 first = has_memory_result(inst) ? 1 : 0;
  std::optional<Finding> finding;
  if (name.starts_with("scratch_")) {  // functions keep registers there that their callers need not have written
    finding = use(inst, exec, first, first + 1, true);
  } else if (first == 1 && !contains(name, "_atomic_")) {
    finding = use(inst, exec, 1, kMaxOperands, true);
  } else if (contains(name, "buffer_")) {  // data, which an atomic one returns in the same register, then addresses
    finding = use(inst, exec, 0, 1, inst.mods.lds);
    if (!finding) finding = use(inst, exec, 1, kMaxOperands, true);
  } else {
    finding = use(inst, exec, first, first + 1, true);
    if (!finding) finding = use(inst, exec, first + 1, kMaxOperands, false);
  }
  if (first == 1) write(inst.operands[0], exec);
  return finding;
}

std::optional<UnwrittenRegisters::Finding> UnwrittenRegisters::use(const Inst& inst, u64 exec, u32 first, u32 end,
                                                                   bool is_address) const {
  for (u32 k = first; k < std::min<u32>(end, inst.operand_count); ++k)
    for (const Register& from : registers_of(inst.operands[k]))
      if (const u64 lanes = from.lanes & exec; lanes != 0)
        return Finding{static_cast<u32>(&from - registers_.data()), std::countr_zero(lanes), is_address,
                       from.computed_pc};
  return std::nullopt;
}

void UnwrittenRegisters::write(const Operand& operand, u64 exec) {
  for (Register& to : registers_of(operand)) to.lanes &= ~exec;
}

void UnwrittenRegisters::compute(const Inst& inst, u64 exec) {
  u64 anything = 0;
  for (u32 k = 0; k < inst.operand_count; ++k)
    for (const Register& one : registers_of(inst.operands[k])) anything |= one.lanes;
  if ((anything & exec) == 0) [[likely]]
    return;
  const Operand& destination = inst.operands[0];
  const std::string_view name = inst.op->name;
  if (name == "v_writelane_b32") return write(destination, ~u64{0});  // it keeps a scalar in each lane, and is read so
  const u32 first = destinations_of(*inst.op);
  if (!destination.is_vgpr()) return;
  if (name == "v_swap_b32") return std::swap(registers_of(destination)[0], registers_of(inst.operands[1])[0]);

  const std::span<Register> results = registers_of(destination);
  Register computed{0, 0};
  u64 some_source_written = 0;
  // A dword of the result depends on those of the sources up to it: the low half of a wide integer does not see the
  // high one.
  std::array<u64, 4> lanes{};
  for (u32 k = first; k < inst.operand_count; ++k) {
    const std::span<const Register> source = registers_of(inst.operands[k]);
    if (source.empty() || (inst.dpp != nullptr && k == first)) {
      some_source_written = ~u64{0};
      continue;
    }
    u64 missing = 0;
    for (size_t dword = 0; dword < source.size(); ++dword) {
      missing |= source[dword].lanes;
      for (size_t to = dword; to < lanes.size(); ++to) lanes[to] |= source[dword].lanes;
      if ((source[dword].lanes & exec) != 0 && computed.computed_pc == 0) computed = source[dword];
    }
    some_source_written |= ~missing;
  }
  if (takes_parts(name))
    for (u64& missing : lanes) missing &= ~some_source_written;
  const bool adds = reads_destination(name);
  for (size_t dword = 0; dword < results.size(); ++dword) {
    Register& to = results[dword];
    u64 missing = lanes[std::min(dword, lanes.size() - 1)];
    if (adds) missing |= to.lanes;
    if ((missing & exec) != 0) {
      const u64 earlier = computed.computed_pc != 0 ? computed.computed_pc : adds ? to.computed_pc : 0;
      to.computed_pc = earlier != 0 ? earlier : inst.pc;
    }
    to.lanes = (to.lanes & ~exec) | (missing & exec);
  }
}

// D = A*B + C: C and D have the same layout. Rows of A and columns of B that do not matter are often left alone.
void UnwrittenRegisters::multiply_matrices(const Inst& inst) {
  if (inst.op->name.starts_with("v_smfmac")) return;  // D is C
  const std::span<Register> d = registers_of(inst.operands[0]);
  const std::span<const Register> c =
      inst.operand_count > 3 ? registers_of(inst.operands[3]) : std::span<const Register>();
  for (size_t k = 0; k < d.size(); ++k) {
    const Register from = k < c.size() ? c[k] : Register{0, 0};
    d[k] = {from.lanes, from.lanes != 0 && from.computed_pc == 0 ? inst.pc : from.computed_pc};
  }
}

}  // namespace hipbench::emulator
