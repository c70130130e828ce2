#pragma once
// Finds out that a launch can never end: every wave goes round in circles while nothing in memory changes. A wave's
// state (registers, program counter, scratch) that comes back with memory unchanged comes back for ever, so that no
// wave that is only slow is taken for stuck.

#include <mutex>
#include <vector>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct Wave;

// One wave's turns since memory last changed.
class SpinState {
 public:
  // At the end of a turn in which the wave gave up voluntarily. True once its state has been there before.
  bool repeats(const Wave& wave, u32 vgprs, u32 agprs, u64 progress);

 private:
  u64 progress_ = ~u64{0};
  u64 anchor_ = 0;  // a state to meet again; moved on after 1, 2, 4, … turns, so that any cycle is found
  u32 turns_ = 0, next_anchor_ = 1;
  bool repeats_ = false;
};

// The threads that execute a launch agree on a deadlock.
class DeadlockWatch {
 public:
  explicit DeadlockWatch(size_t threads) : stuck_at_(threads, kRuns) {}

  // All that the thread has, and may start, is stuck while the launch's progress is `progress`. True when all threads
  // say so.
  bool thread_is_stuck(size_t thread, u64 progress);
  void thread_ended(size_t thread);

 private:
  static constexpr u64 kRuns = ~u64{0}, kEnded = ~u64{0} - 1;
  std::mutex mutex_;
  std::vector<u64> stuck_at_;
};

}  // namespace hipbench::emulator
