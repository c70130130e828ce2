#include "emulator/memory/fault.hpp"

namespace hipbench::emulator {

const char* fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::None:
      return "none";
    case FaultKind::OutOfBounds:
      return "out-of-bounds access";
    case FaultKind::Misaligned:
      return "misaligned access";
    case FaultKind::WriteToReadOnly:
      return "write to read-only memory";
    case FaultKind::UnknownInstruction:
      return "unsupported instruction";
    case FaultKind::InvalidEncoding:
      return "invalid instruction";
    case FaultKind::IllegalOperand:
      return "illegal operand";
    case FaultKind::LdsOutOfBounds:
      return "out-of-bounds LDS access";
    case FaultKind::Trap:
      return "trap";
    case FaultKind::Deadlock:
      return "deadlock";
    case FaultKind::InstructionLimit:
      return "instruction limit exceeded";
    case FaultKind::OutOfMemory:
      return "out of memory";
    case FaultKind::DivergentBarrier:
      return "divergent barrier";
    case FaultKind::Race:
      return "data race";
    case FaultKind::UninitialisedRead:
      return "uninitialised read";
    case FaultKind::ForbiddenInstruction:
      return "forbidden instruction";
  }
  return "unknown fault";
}

}  // namespace hipbench::emulator
