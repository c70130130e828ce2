#pragma once
// A resident workgroup: its waves, their registers and scratch, its LDS.

#include <memory>
#include <vector>

#include "emulator/checks/group_checks.hpp"
#include "emulator/exec/launch.hpp"
#include "emulator/isa/wave.hpp"
#include "emulator/timing/trace.hpp"

namespace hipbench::emulator {

// Host memory for the registers, scratch and LDS of one workgroup; reused by the next one on the same thread. Pages
// appear when touched: a kernel that uses 32 VGPRs touches 32.
class WorkgroupStorage {
 public:
  WorkgroupStorage(u32 waves, u32 scratch_bytes_per_lane, u32 lds_bytes);
  ~WorkgroupStorage();
  WorkgroupStorage(const WorkgroupStorage&) = delete;

  u32* vgprs(u32 wave) const { return reinterpret_cast<u32*>(base_ + wave * wave_stride_); }
  std::byte* scratch(u32 wave) const { return base_ + wave * wave_stride_ + kVgprs * kWaveSize * 4; }
  std::byte* lds() const { return base_ + lds_offset_; }
  std::unique_ptr<GroupChecks> checks;  // of a checked launch

 private:
  std::byte* base_ = nullptr;
  size_t size_ = 0, wave_stride_ = 0, lds_offset_ = 0;
};

// Watches over running waves: called every few thousand wave instructions and at the end of each wave's turn.
class Supervisor {
 public:
  virtual ~Supervisor() = default;
  // Throws GuestFault when a limit is exceeded; returns false when the launch is being stopped.
  virtual bool check(u64 executed_since_last) = 0;
};

// Where the host's time goes: of every few ten thousand wave instructions some thousands are timed one by one, in ticks
// of the processor's clock. One for each thread.
struct Sampler {
  static constexpr i64 kTimed = 4096, kUntimed = 64 * kTimed;  // wave instructions
  bool timing = false;
  i64 left = kTimed;  // until that changes; the first ones of a thread touch new pages
  u64 ticks[kInstClasses] = {};

  void note_executed(u64 instructions) {
    left -= static_cast<i64>(instructions);
    if (left > 0) return;
    timing = !timing;
    left = timing ? kTimed : kUntimed;
  }
};

struct Workgroup {
  Workgroup(const ExecLaunch& launch, u64 linear_index, std::unique_ptr<WorkgroupStorage> memory);

  const ExecLaunch& launch;
  Dim3 id;
  u64 linear = 0;
  std::unique_ptr<WorkgroupStorage> storage;
  std::vector<Wave> waves;
  std::unique_ptr<WorkgroupTrace> trace;  // of a sampled workgroup
  u32 live = 0;  // waves that have not ended

  // Lets every wave run until it ends, waits at a barrier that is not complete, or yields. Throws WaveFault.
  void run_slice(Supervisor& supervisor, Sampler& sampler);
  bool finished() const { return live == 0; }
  // True when every wave of a checked workgroup waits in vain, as far as the turn that has just ended shows.
  bool is_stuck() const { return storage->checks != nullptr && !finished() && storage->checks->end_turn(waves); }
  bool yielded = false;  // a wave gave up its turn in the last slice: it waits for another workgroup or the host
};

// A guest fault with the wave and instruction it happened in.
struct WaveFault {
  GuestFault fault;
  const Workgroup* group;
  const Wave* wave;
  const Inst* inst;  // null when fetching failed
  u64 pc;
};

// LDS bytes a workgroup of the launch has.
u32 lds_bytes(const ExecLaunch& launch);

}  // namespace hipbench::emulator
