#include "emulator/checks/instruction_facts.hpp"

#include "emulator/isa/op_table.hpp"

namespace hipbench::emulator {

bool has_memory_result(const Inst& inst) {
  const std::string_view name = inst.op->name;
  switch (inst.cls) {
    case InstClass::Smem:
      return contains(name, "_load_dword") || name.starts_with("s_mem");
    case InstClass::Vmem:
      if (contains(name, "_load_lds") || inst.mods.lds) return false;
      return contains(name, "_load_") || (contains(name, "_atomic_") && inst.mods.sc0);
    case InstClass::Lds:
      return name.starts_with("ds_read") || contains(name, "_rtn") || contains(name, "permute") ||
             name == "ds_swizzle_b32" || name == "ds_append" || name == "ds_consume";
    default:
      return false;
  }
}

}  // namespace hipbench::emulator
