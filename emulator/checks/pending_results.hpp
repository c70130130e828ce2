#pragma once
// Which registers a wave's memory instructions have not delivered yet, as far as its s_waitcnt instructions tell. The
// emulator executes memory instructions at once, so that a missing wait shows nowhere else.
//
// VMCNT counts vector memory instructions, LGKMCNT those of LDS and scalar memory; FLAT counts in both. Each counts up
// when an instruction is issued and down when it is done, in order, but for scalar memory. Source: AMD Instinct MI300
// ISA, "Data dependency resolution"; LLVM's SIInsertWaitcnts does the same for compiled code.

#include <array>
#include <optional>

#include "emulator/isa/inst.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

struct Op;

class PendingResults {
 public:
  struct Finding {
    bool scalar = false;
    u32 index = 0;       // of the register; accumulation registers from kAgprBase
    int lane = -1;       // of a vector register: the first that waits
    u64 issued_pc = 0;   // of the instruction whose result it is
    bool vector_memory = false, lds_or_scalar = false;  // what is to be waited for
    bool overwritten = false;                           // not read
  };

  PendingResults();

  // Forgets everything: a new wave.
  void begin();
  // An instruction is about to be executed.
  std::optional<Finding> before(const Wave& wave, const Inst& inst);

 private:
  struct Counter {
    u32 issued = 0, done = 0;  // instructions since the wave began
    u32 last_unordered = 0;    // the newest scalar one: while it is out, only a wait for all of them tells anything

    bool outstanding() const { return issued != done; }
    void wait(u32 at_most);
  };
  struct Result {
    u32 vector_memory = 0, lds_or_scalar = 0;  // numbers in the counters; 0: not one of theirs
    u64 lanes = 0;
    u64 pc = 0;
  };

  bool is_pending(const Result& result) const {
    return result.vector_memory > vector_memory_.done || result.lds_or_scalar > lds_or_scalar_.done;
  }
  std::optional<Finding> pending_operand(const Wave& wave, const Inst& inst, bool is_memory) const;
  void issue(const Wave& wave, const Inst& inst);

  const Op* const s_waitcnt_;
  Counter vector_memory_, lds_or_scalar_;
  std::array<Result, 2 * kAgprBase> vgprs_;
  std::array<Result, 128> scalars_;
};

}  // namespace hipbench::emulator
