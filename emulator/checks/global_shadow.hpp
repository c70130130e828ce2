#pragma once
// Device memory as one launch sees it: which workgroup wrote a dword last, and where nothing has to be looked at.
// Shared by all threads that execute the launch; entries are read and written whole.

#include <atomic>
#include <optional>

#include "emulator/checks/site.hpp"
#include "emulator/isa/access_observer.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/memory/lazy_array.hpp"

namespace hipbench::emulator {

class GlobalShadow {
 public:
  GlobalShadow(AddressSpace& memory, u64 workgroups);

  struct Finding {
    bool uninitialised = false;
    u64 offset = 0;  // of the first byte concerned, in device memory
    u64 other_group = 0;
    u64 earlier = 0;  // load-relative code address of the other's access, 0 when unknown
  };

  // Offset in device memory, or nothing for memory that the host shares, of which no more is known.
  std::optional<u64> offset_of(const std::byte* host) const {
    const u64 offset = static_cast<u64>(host - window_.data());
    return offset < window_.size() ? std::optional<u64>(offset) : std::nullopt;
  }

  // True when loads of [offset, offset + size) are surely fine: initialised, and nobody has written there in this
  // launch.
  bool is_clean(u64 offset, u64 size) {
    const u64 last = (offset + size - 1) / kPage;
    for (u64 page = offset / kPage; page <= last; ++page)
      if (std::atomic_ref<u8>(pages_[page]).load(std::memory_order_relaxed) != kClean && !becomes_clean(page))
        return false;
    return true;
  }
  std::optional<Finding> load(u64 offset, u32 size, u64 group);
  // `changes(offset, mask)`: whether the store changes these bytes of the dword; a store that does not races with
  // nobody.
  template <typename Changes>
  std::optional<Finding> store(u64 offset, u32 size, u64 group, u64 code_offset, const Changes& changes) {
    begin_store(offset, size);
    std::optional<Finding> found;
    for (u64 dword = offset / 4; dword * 4 < offset + size; ++dword) {
      const u32 mask = byte_mask(dword, offset, size);
      const std::optional<Finding> race = note_write(dword, mask, group, code_offset);
      if (race && !found && changes(dword * 4, mask)) found = race;
    }
    return found;
  }
  // Atomics race with nobody here. An atomic that needs a value wants it initialised.
  std::optional<Finding> atomic(u64 offset, u32 size, bool needs_value);

  // Release and acquire between workgroups.
  void release(u64 group) { std::atomic_ref<u32>(releases_[group]).fetch_add(1, std::memory_order_seq_cst); }
  void acquire(u64 group) { std::atomic_ref<u8>(acquired_[group]).store(1, std::memory_order_relaxed); }

 private:
  static constexpr u64 kPage = WrittenMap::kPage;
  static constexpr u8 kUnknown = 0, kClean = 1, kWritten = 2;
  static constexpr u64 kGroupBits = 26, kReleaseBits = 14;
  static constexpr u64 kManyReleases = (u64{1} << kReleaseBits) - 1;

  static u32 byte_mask(u64 dword, u64 offset, u32 size) {
    const u64 low = dword * 4 < offset ? offset % 4 : 0, end = offset + size - dword * 4;
    return (15u << low) & (end < 4 ? (1u << end) - 1 : 15u);
  }
  bool becomes_clean(u64 page);
  void begin_store(u64 offset, u64 size);
  u64 releases_of(u64 group) const;
  // The last writer when it is another group's, wrote these bytes and is not ordered before us.
  std::optional<Finding> race_with_writer(u64 dword, u32 mask, u64 group) const;
  std::optional<Finding> note_write(u64 dword, u32 mask, u64 group, u64 code_offset);

  WrittenMap& written_;
  std::span<std::byte> window_;
  LazyArray<u8> pages_;
  LazyArray<u64> writers_;  // a dword: group + 1, its releases then, code, byte mask; 0 = not written in this launch
  LazyArray<u32> releases_;
  LazyArray<u8> acquired_;
};

}  // namespace hipbench::emulator
