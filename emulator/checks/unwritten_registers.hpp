#pragma once
// Which vector registers of a wave hold nothing that the program has put there: neither the launch nor an instruction
// wrote them, or what was written was computed from such a register. A wave finds them as the wave before left them.
// Told lane by lane.
//
// Compilers let instructions read such registers where the result does not matter, so that only what does matter is a
// finding: an address, and what is stored to memory that others see. Where the value may come from another place (other
// lanes, half a register, a choice between two), it counts as written. Not followed: scalar registers, and through LDS
// and scratch memory.

#include <array>
#include <optional>
#include <span>

#include "emulator/isa/inst.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

class UnwrittenRegisters {
 public:
  struct Finding {
    u32 index = 0;  // of the register; accumulation registers from kAgprBase
    int lane = 0;
    bool is_address = false;
    u64 computed_pc =
        0;  // of the first instruction that computed with what nobody wrote; 0: nobody wrote this register
  };

  // A new wave: the launch wrote v0.
  void begin();
  // An instruction is about to be executed.
  std::optional<Finding> before(const Wave& wave, const Inst& inst);

 private:
  struct Register {
    u64 lanes = ~u64{0};  // that hold nothing
    u64 computed_pc = 0;
  };

  std::optional<Finding> access_lds(const Inst& inst, u64 exec);
  std::optional<Finding> access_memory(const Inst& inst, u64 exec);
  // Operands from `first` to before `end` are used.
  std::optional<Finding> use(const Inst& inst, u64 exec, u32 first, u32 end, bool is_address) const;
  void write(const Operand& operand, u64 exec);
  void compute(const Inst& inst, u64 exec);
  void multiply_matrices(const Inst& inst);
  std::span<Register> registers_of(const Operand& operand);
  std::span<const Register> registers_of(const Operand& operand) const;

  std::array<Register, 2 * kAgprBase> registers_;
};

}  // namespace hipbench::emulator
