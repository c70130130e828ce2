#pragma once
// Which bytes of device memory were written since they were allocated: one bit a byte, for allocations made while
// tracking is on. What is not tracked counts as written. Offsets are from the start of device memory. Thread-safe,
// except that a range is tracked or forgotten only while nobody uses it.

#include <atomic>
#include <optional>

#include "emulator/memory/lazy_array.hpp"

namespace hipbench::emulator {

class WrittenMap {
 public:
  static constexpr u64 kPage = 4096;

  // Reserves the map of `size` bytes, once; throws std::bad_alloc.
  void enable(u64 size);
  bool enabled() const { return enabled_.load(std::memory_order_acquire); }

  // An allocation begins its life unwritten. Allocations start on page boundaries and share no pages.
  void track(u64 offset, u64 size);
  void forget(u64 offset, u64 size);  // it counts as written from now on
  bool tracks_page(u64 page) const { return tracked_[page] != 0; }

  void mark(u64 offset, u64 size);
  // The first byte of a tracked range that nobody wrote.
  std::optional<u64> first_unwritten(u64 offset, u64 size) const;

 private:
  LazyArray<u64> bits_;
  LazyArray<u8> tracked_;  // a flag a page
  std::atomic<bool> enabled_{false};
};

}  // namespace hipbench::emulator
