#pragma once
// What the timing model needs to know of an instruction, whichever its operands' values: which unit takes it, for how
// long, what it waits for. Made once per static instruction.

#include <limits>

#include "emulator/isa/inst.hpp"
#include "emulator/timing/parameters.hpp"

namespace hipbench::emulator {

enum class TimedKind : u8 {
  Valu,
  Mfma,
  Salu,
  Smem,
  VectorMemory,
  LdsAccess,
  LdsCrossbar,
  Wait,
  Nop,
  Sleep,
  Barrier,
  Branch,
  End
};

// Where the lane addresses of a vector memory instruction come from.
enum class AddressForm : u8 { None, Global, Flat, Scratch, Buffer };

struct TimedOp {
  TimedKind kind = TimedKind::Salu;
  AddressForm form = AddressForm::None;
  u8 size = 4;             // bytes of code
  u8 bytes = 0;            // memory: a lane and access
  u8 accesses = 1;         // LDS: 2 for the two-address forms
  u8 address_operand = 0;  // memory: index into Inst::operands
  bool straddles = false;
  bool packed_f32 = false;
  bool writes = false;  // no data comes back
  bool atomic = false;
  u32 clocks = 0;       // of the unit; Nop and Sleep: of the wave
  u32 offsets[2] = {};  // LDS: bytes
  // Wait: how many may be outstanding.
  static constexpr u8 kAny = std::numeric_limits<u8>::max();
  u8 vector_wait = kAny, lds_wait = kAny;
  const Inst* inst = nullptr;
};

TimedOp time_op(const Inst& inst, const TimingParameters& parameters);

}  // namespace hipbench::emulator
