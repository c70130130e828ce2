#pragma once
// Assembles gfx942 text for tests, through LLVM's MC layer.

#include <cstddef>
#include <string>
#include <vector>

namespace hipbench::emulator {

// The bytes of the text's .text section. On failure empty, with LLVM's message in `error`.
std::vector<std::byte> assemble(const std::string& text, std::string& error);

// The mnemonics that LLVM's assembler takes for gfx942, without encoding suffix, sorted: of all in its instruction
// tables, whatever their chip, those that it does not call invalid or unsupported on this GPU when it reads them alone.
std::vector<std::string> assembler_mnemonics();

}  // namespace hipbench::emulator
