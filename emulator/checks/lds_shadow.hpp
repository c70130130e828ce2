#pragma once
// What was done to each dword of a workgroup's LDS: who wrote it since the last barrier, who read it, and which bytes
// were written at all. A barrier begins an epoch; accesses of different epochs are ordered, and so are those of one
// wave.

#include <optional>
#include <vector>

#include "emulator/checks/site.hpp"
#include "emulator/isa/access_observer.hpp"

namespace hipbench::emulator {

class LdsShadow {
 public:
  struct Access {
    u32 wave;
    u64 code_offset;
    AccessKind kind;
    const SyncState* sync;  // of all the workgroup's waves
  };
  // What is wrong with an access. `earlier` is a load-relative code address, 0 when unknown.
  struct Finding {
    bool uninitialised = false;
    u32 offset = 0;  // LDS byte
    u32 other_wave = 0;
    bool this_plain_read = false,
         other_plain_read = false;  // against an atomic: may be the look before a compare-and-swap
    bool other_wrote = false, other_atomic = false;
    bool first_write = false;  // of what the other has read: it matters whatever the value
    u64 earlier = 0;
  };

  // A new workgroup, of which nothing is written yet.
  void begin(u32 lds_bytes);
  void barrier();

  // Notes accesses to [offset, offset + size); the first thing wrong with them. A write that changes nothing races with
  // nobody: `changes(offset, mask)` says whether it changes those bytes of the dword at `offset`, and is asked only
  // when it matters.
  template <typename Changes>
  std::optional<Finding> access(const Access& access, u32 offset, u32 size, const Changes& changes) {
    std::optional<Finding> unwritten;
    for (u32 dword = offset / 4; dword * 4 < offset + size; ++dword) {
      const u32 low = dword * 4 < offset ? offset % 4 : 0, end = offset + size - dword * 4;
      const u32 mask = (15u << low) & (end < 4 ? (1u << end) - 1 : 15u);
      std::optional<Finding> found =
          access.kind == AccessKind::Load ? read(access, dword, mask) : write(access, dword, mask);
      if (!found) continue;
      if (access.kind == AccessKind::Store && !found->first_write && !changes(dword * 4, mask)) continue;
      if (!found->uninitialised) return found;
      if (!unwritten) unwritten = found;
    }
    return unwritten;
  }

 private:
  struct Entry {
    u64 epoch : 22 = 0;
    u64 code : kSiteCodeBits = 0;
    u64 wave : 4 = 0;
    u64 mask : 4 = 0;     // bytes of the dword
    u64 written : 4 = 0;  // writer entries: bytes written by anybody in this workgroup, whenever
    u64 atomic : 1 = 0;
    u64 releases : 7 = 0;
  };
  static_assert(sizeof(Entry) == 8);
  static constexpr u32 kLastEpoch = (1u << 22) - 1, kManyReleases = 127;

  std::optional<Finding> read(const Access& access, u32 dword, u32 mask);
  std::optional<Finding> write(const Access& access, u32 dword, u32 mask);
  bool conflicts(const Entry& earlier, const Access& access, u32 mask) const;
  Entry entry_of(const Access& access, u32 mask) const;
  Finding race(const Entry& earlier, u32 dword, u32 mask, bool wrote) const;
  void note_read(const Access& access, u32 dword, u32 mask);
  void clear();

  std::vector<Entry> writer_, reader_, second_reader_;
  u32 epoch_ = 0, first_epoch_ = 1;  // of this workgroup: what is older is another's
};

}  // namespace hipbench::emulator
