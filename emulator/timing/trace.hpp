#pragma once
// Records what the waves of sampled workgroups execute: the instructions, and of memory instructions which lines they
// touch and how long their addresses keep the units busy. The run loop calls the tracer for traced waves only; all
// others know nothing of it. Recording changes nothing in the emulated machine.

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/timing/timed_op.hpp"

namespace hipbench::emulator {

struct Wave;

inline constexpr u32 kLineBytes = 128, kSegmentBytes = 64;

// Instructions one behind the other in memory.
struct TraceRun {
  u32 first;   // (pc - code base) / 4
  u32 dwords;  // of code
};

// A line is 31 bits of guest address / 128, or an offset into the wave's scratch / 128 with this bit.
inline constexpr u32 kScratchLine = 1u << 31;

// The word of a vector memory instruction: how many lines, and how many pieces that are moved one a clock.
namespace trace_word {
inline constexpr u32 pack(u32 lines, u32 segments) { return lines | segments << 16; }
inline constexpr u32 lines(u32 word) { return word & 0xffff; }
inline constexpr u32 segments(u32 word) { return word >> 16; }
}  // namespace trace_word

struct WaveTrace {
  std::vector<TraceRun> runs;
  std::vector<u32> words;  // one a memory instruction; LDS: clocks of its banks; scalar memory: address / 64
  std::vector<u32> lines;  // of the vector memory instructions, one behind the other
  u64 instructions = 0;
  u64 lds_conflict_clocks = 0;
};

// What workgroups did, as far as it takes the chip's time.
struct Effort {
  u64 workgroups = 0;
  u64 instructions = 0, mfma_flops = 0, memory_bytes = 0, lds_instructions = 0;
  u64 longest_wave = 0;  // instructions
  void add(const Effort& other);
};

struct WorkgroupTrace {
  u64 xcd = 0, local = 0;  // of which it is the `local`th workgroup
  std::vector<WaveTrace> waves;
  bool waited = false;  // for another workgroup or the host: what it executed depends on when it was asked
  Effort effort;
};

// The trace of one launch. Thread-safe.
class LaunchTracer {
 public:
  // `workgroups`: of the launch. `resident`: how many the traced XCD holds at once. `secret`: chooses the witnesses; none:
  // there are none.
  LaunchTracer(const TimingParameters& parameters, u64 code_base, u64 code_bytes, u64 workgroups, u64 resident,
               std::optional<u64> secret);

  // Null: this workgroup is not sampled.
  std::unique_ptr<WorkgroupTrace> begin(u64 linear, u32 waves);
  // False once the first workgroup has told that this one is not among those that can be afforded.
  bool wants(u64 xcd, u64 local) const;
  // Before the instruction is executed: its addresses are still in the registers. What it is; null: not of the traced
  // code.
  const TimedOp* record(WaveTrace& trace, Wave& wave, const Inst& inst);
  void end(std::unique_ptr<WorkgroupTrace> trace);
  // Of every workgroup that has ended, traced or not.
  void add_effort(const Effort& effort);
  const Effort& effort() const { return effort_; }  // once the launch is over

  using Traces = std::vector<std::unique_ptr<WorkgroupTrace>>;
  // XCD 0's traced workgroups, in dispatch order. Which ones these are does not depend on the order in which threads took
  // them.
  Traces take();
  // Witnesses: a few workgroups of every XCD, at places that a candidate cannot foresee, so that nobody can have the work
  // done where the model does not look. XCD by XCD, in dispatch order; XCD 0's only where take() has none of that place.
  // After take().
  std::vector<Traces> take_witnesses();
  u64 first_witness() const { return first_of(witnesses()); }  // a place in its XCD
  u64 witnesses() const { return witnesses_.load(); }           // places
  const TimedOp& op(u32 index) const { return *ops_[index].load(std::memory_order_acquire); }
  u64 op_slots() const { return slots_; }
  u64 code_base() const { return code_base_; }
  u64 workgroups_of_xcd() const { return of_xcd_; }

 private:
  const TimedOp& op_of(const Inst& inst);
  void record_vector_memory(WaveTrace& trace, Wave& wave, const TimedOp& op);

  const TimingParameters& parameters_;
  const u64 code_base_, slots_, of_xcd_, resident_;
  std::unique_ptr<std::atomic<const TimedOp*>[]> ops_;
  std::atomic<u64> wanted_;  // of the XCD's workgroups, the first so many
  u64 first_of(u64 witnesses) const { return secret_ % (of_xcd_ - witnesses + 1); }
  u64 secret_ = 0;
  std::atomic<u64> witnesses_{0};
  std::mutex mutex_;
  std::deque<TimedOp> storage_;
  Effort effort_;
  Traces done_;
};

}  // namespace hipbench::emulator
