#pragma once
// The memory and race checks of one launch: what its workgroups share. Workgroups hold a GroupChecks each
// (group_checks.hpp).

#include <atomic>
#include <functional>
#include <string>

#include "emulator/checks/global_shadow.hpp"
#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

class LaunchChecks {
 public:
  // source_of: "file:line" of a load-relative code address, or empty. Throws std::bad_alloc.
  LaunchChecks(AddressSpace& memory, u64 load_base, u64 workgroups, std::function<std::string(u64)> source_of)
      : memory_(memory), load_base_(load_base), source_of_(std::move(source_of)), global_(memory, workgroups) {}

  GlobalShadow& global() { return global_; }
  u64 load_base() const { return load_base_; }

  // " at file:line", or the code address when there is no line table. Empty for an unknown place.
  std::string at_source(u64 offset) const;

  std::string describe(u64 address) const { return memory_.describe(address); }

  // Counts what may let a waiting wave go on: changes of memory, waves that end, barriers, the host's doing.
  void note_progress() { progress_.fetch_add(1, std::memory_order_relaxed); }
  u64 progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  const AddressSpace& memory_;
  const u64 load_base_;
  std::function<std::string(u64)> source_of_;
  GlobalShadow global_;
  std::atomic<u64> progress_{0};
};

}  // namespace hipbench::emulator
