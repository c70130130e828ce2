#pragma once
// How much memory the emulation may really occupy. The guest sees 192 GiB; behind it stands this budget, so that a
// kernel that touches too much gets an OutOfMemory fault instead of waking the kernel's OOM killer.

#include <atomic>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

class ResidentBudget {
 public:
  // 0 = 3/4 of the machine's memory or of our control group's limit, whichever is less.
  static Result<ResidentBudget> create(u64 budget);

  u64 bytes() const { return budget_; }
  // Private resident bytes of this process plus `shared_bytes` plus `more` exceed the budget, or the machine has almost
  // nothing left.
  bool exceeded(u64 shared_bytes, u64 more = 0) const;

 private:
  explicit ResidentBudget(u64 budget) : budget_(budget) {}
  u64 budget_ = 0;
  UniqueFd statm_, meminfo_;
};

// The least memory limit of our control group and its parents (cgroup v2), or UINT64_MAX.
u64 control_group_memory_limit();

}  // namespace hipbench::emulator
