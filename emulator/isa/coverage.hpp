#pragma once
// Which instructions LLVM knows for gfx942 and which of them have a row.

#include <string>
#include <vector>

#include "emulator/isa/decode.hpp"

namespace hipbench::emulator {

struct Coverage {
  struct LeftOut {
    std::string mnemonic;
    std::string_view reason;
  };
  std::vector<std::string> known;    // mnemonics without encoding suffix, sorted
  std::vector<LeftOut> left_out;     // of those, the ones that are not for compute kernels
  std::vector<std::string> missing;  // of those, the other ones without a row
};

// Found by decoding every opcode of every encoding with several operand patterns; takes about 50 ms. That nothing is
// overlooked is tested against the assembler's own list of what gfx942 has.
Coverage instruction_coverage(Disassembler& disassembler);

}  // namespace hipbench::emulator
