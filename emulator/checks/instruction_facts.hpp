#pragma once
// What the checks ask of instructions beyond what their rows say.

#include <string_view>

#include "emulator/isa/inst.hpp"

namespace hipbench::emulator {

inline bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

// Whether the first operand of a memory instruction is a register that it writes. False for all others.
bool has_memory_result(const Inst& inst);

}  // namespace hipbench::emulator
