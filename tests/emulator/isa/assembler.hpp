#pragma once
// Assembles gfx942 text for tests, through LLVM's MC layer.

#include <cstddef>
#include <string>
#include <vector>

namespace hipbench::emulator {

// The bytes of the text's .text section. On failure empty, with LLVM's message in `error`.
std::vector<std::byte> assemble(const std::string& text, std::string& error);

}  // namespace hipbench::emulator
