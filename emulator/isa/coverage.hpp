#pragma once
// Which instructions LLVM knows for gfx942 and which of them have a row.

#include <string>
#include <vector>

#include "emulator/isa/decode.hpp"

namespace hipbench::emulator {

struct Coverage {
  std::vector<std::string> known;    // mnemonics without encoding suffix, sorted
  std::vector<std::string> missing;  // of those, the ones without a row
};

// Found by decoding every opcode of every encoding with several operand patterns; takes about 50 ms.
Coverage instruction_coverage(Disassembler& disassembler);

}  // namespace hipbench::emulator
