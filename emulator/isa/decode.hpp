#pragma once
// From machine code to Inst, through LLVM's MC disassembler for gfx942. LLVM prints the instruction; the text is the
// one public, complete and version-stable description of an encoding (mnemonic, operands, modifiers), so it is what we
// read. LLVM is used here and nowhere else in isa/.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/inst.hpp"
#include "emulator/isa/op_table.hpp"

namespace hipbench::emulator {

class Disassembler {
 public:
  Disassembler();
  ~Disassembler();

  // The assembler text of the instruction at the start of `bytes` and its size in bytes; size 0 when LLVM cannot decode
  // it.
  struct Text {
    std::string text;
    u32 size = 0;
  };
  Text disassemble(std::span<const std::byte> bytes, u64 address);
  // Only the mnemonic without its encoding suffix: the key of the instruction table.
  struct Name {
    std::string mnemonic;
    u32 size = 0;
  };
  Name name(std::span<const std::byte> bytes, u64 address);

 private:
  struct Llvm;
  std::unique_ptr<Llvm> llvm_;
};

// Splits off _e32, _e64, _dpp, _sdwa.
std::string_view strip_encoding_suffix(std::string_view mnemonic);

// Decodes one instruction. Never fails: what cannot be decoded or has no row becomes an Inst whose execution throws a
// GuestFault that says so.
std::unique_ptr<Inst> decode(Disassembler& disassembler, std::span<const std::byte> bytes, u64 pc);

}  // namespace hipbench::emulator
