#pragma once
// A guest fault: the emulated program did what the chip would trap on, or what the emulator cannot execute. The one
// exception type of the emulator: thrown anywhere below an instruction, caught only where a wave is stepped (exec/),
// where it becomes a value with kernel, workgroup, lane, pc, disassembly and source line.

#include <string>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

enum class FaultKind {
  None,
  OutOfBounds,         // address in no allocation, or an access that runs over the end of one
  Misaligned,          // an address that the instruction requires aligned is not
  WriteToReadOnly,     // store or atomic to code
  UnknownInstruction,  // decoded by LLVM, but without a row here
  InvalidEncoding,     // LLVM cannot decode it for gfx942, or the program counter left the code
  IllegalOperand,      // a register outside the wave's allocation, an operand the instruction does not allow
  LdsOutOfBounds,
  Trap,              // s_trap: __builtin_trap, abort, a failed device assert
  Deadlock,          // no wave can make progress
  InstructionLimit,  // the launch executed more wave instructions than it may
  OutOfMemory,       // the resident budget behind device memory is used up
  DivergentBarrier,
  Race,
  UninitialisedRead,
  ForbiddenInstruction,  // valid, but the launch was asked to go without
};

// The name shown to users and stored in results, for example "out-of-bounds access".
const char* fault_name(FaultKind kind);

// What the thrower knows. The stepper adds kernel, workgroup, wave, pc, instruction and source line.
struct GuestFault {
  FaultKind kind = FaultKind::None;
  std::string message;  // one sentence: what happened, with address as buffer + offset where there is one
  u64 address = 0;      // the guest address, if one is involved
  u32 size = 0;         // bytes of the access
  int lane = -1;        // the lane, if one is to blame
};

}  // namespace hipbench::emulator
