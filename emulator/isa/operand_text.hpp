#pragma once
// Reading the assembler text that LLVM prints for gfx942: "v_fma_f32 v0, -v1, |v2|, 1.0 clamp mul:2".

#include <string_view>
#include <vector>

#include "emulator/isa/inst.hpp"

namespace hipbench::emulator {

// The pieces of one line: mnemonic, operands in order, modifier words.
struct InstText {
  std::string_view mnemonic;
  std::vector<std::string_view> operands;
  std::vector<std::string_view> modifiers;
};
InstText split_instruction(std::string_view line);

// One operand. `type` decides the bits of constants. False if the text is none of the known forms.
bool parse_operand(std::string_view text, OperandType type, Operand& operand);

// Modifier words into the instruction: memory flags, offsets, VOP3, SDWA, DPP, MFMA. False if one is unknown.
bool parse_modifier(std::string_view word, Inst& inst);

}  // namespace hipbench::emulator
