#pragma once
// The matrix instructions of gfx942 (v_mfma_*, v_smfmac_*) as pure functions on register contents: no wave, no EXEC
// (the hardware ignores it), no timing. All 64 lanes compute and are written.
//
// Registers are structures of arrays: register r of an operand is the 64 words at pointer + 64·r. D may overlap A, B
// and C in any way: all sources are read first.

#include <span>
#include <string_view>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct MfmaModifiers {
  u8 cbsz = 0;  // v_mfma: log2 of the blocks that share one A block; v_smfmac: not 0 = the first index set, whatever
                // abid says
  u8 abid = 0;  // v_mfma: which A block of those is shared; v_smfmac: which index set of the index register
  u8 blgp = 0;  // swizzle of B's groups of 16 lanes; for f64 the bits negate A (1), B (2) and C (4)
  bool flush_f32_denormals = false;  // MODE.denorm of f32 forbids input denormals: matters to the plain f32 forms alone
  u64 c_constant = 0;  // the value of every element of src2 when its pointer is null (low 32 bits but for f64)
};

// c is src2 as encoded: the accumulator of v_mfma (null: modifiers.c_constant), the index register of v_smfmac, whose
// accumulator is d.
using MfmaFunction = void (*)(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers);

struct MfmaEntry {
  std::string_view mnemonic;  // as LLVM 19 prints it for gfx942
  u8 m, n, k, blocks;
  u8 a_registers, b_registers, c_registers, d_registers;
  bool sparse;  // v_smfmac
  u8 cycles;    // issue to issue on one SIMD
  u32 flops;    // dense operations, 2·m·n·k·blocks; integer operations for i8
  MfmaFunction execute;
};

// Every matrix instruction of gfx942.
std::span<const MfmaEntry> mfma_table();

// Null if there is none of that name.
const MfmaEntry* find_mfma(std::string_view mnemonic);

}  // namespace hipbench::emulator
