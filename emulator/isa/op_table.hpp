#pragma once
// The instruction table: one row an instruction. A row is the mnemonic as LLVM prints it (without the _e32, _e64, _dpp,
// _sdwa suffix) and the body; the body's parameter types are the operand specification (isa/lanes.hpp). Everything
// else, coverage reports included, is derived from this table.

#include <span>
#include <string_view>

#include "emulator/isa/inst.hpp"

namespace hipbench::emulator {

struct OperandSpec {
  OperandType type = OperandType::None;
  bool destination = false;
};

// Chooses at decoding: something faster for what is known of the instruction by then, or null.
using Pick = Execute (*)(const Inst&);

struct Op {
  std::string_view name;
  InstClass cls = InstClass::Valu;
  Execute plain = nullptr;    // operands without modifiers
  Execute general = nullptr;  // any modifiers; null = the row allows none
  Pick pick = nullptr;
  u8 operand_count = 0;       // operands in assembler order; 0xff = as many as the text has, all of type Wide
  OperandSpec operands[kMaxOperands] = {};
  u32 detail = 0;             // row-specific: MFMA table index, access size, …
};

// The row of a mnemonic, or null.
const Op* find_op(std::string_view mnemonic);

// All rows, for coverage reports and tests.
std::span<const Op* const> all_ops();

// Why an instruction that LLVM assembles for gfx942 has no row although it might: it is not for compute kernels. Empty
// for others.
std::string_view reason_left_out(std::string_view mnemonic);

// Every category file provides its rows; op_table.cpp joins them. Rows must have static storage.
std::span<const Op> salu_ops();
std::span<const Op> smem_ops();
std::span<const Op> control_ops();
std::span<const Op> valu_ops();
std::span<const Op> valu_half_ops();
std::span<const Op> valu_integer_ops();
std::span<const Op> valu_division_ops();
std::span<const Op> valu_transcendental_ops();
std::span<const Op> valu_compare_ops();
std::span<const Op> valu_convert_ops();
std::span<const Op> valu_packed_ops();
std::span<const Op> valu_cross_lane_ops();
std::span<const Op> mfma_ops();
std::span<const Op> lds_ops();
std::span<const Op> global_ops();
std::span<const Op> buffer_ops();

}  // namespace hipbench::emulator
