#pragma once
// The emulated GPU's virtual memory: where buffers are, and how a guest address becomes a host pointer.
//
//   0x2000'0000'0000  device memory: 192 GiB to give out of 1 TiB of addresses, pages appear when touched
//   0x2100'0000'0000  host-shared memory (pinned and managed): the client process maps the same memfd at the same
//   address 0x1'0000'0000'0000 / 0x2'0000'0000'0000  the LDS and scratch apertures of flat addressing; never backed
//   here
//
// Every access is checked against the allocation table, always: an address outside every allocation is a GuestFault, so
// that a hostile kernel cannot reach the emulator's own memory. Allocations are only added while a kernel runs, never
// removed.

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/memory/fault.hpp"
#include "emulator/memory/written_map.hpp"

namespace hipbench::emulator {

inline constexpr u64 kDeviceMemoryBase = 0x2000'0000'0000;
inline constexpr u64 kDeviceMemorySize = u64{192} << 30;  // MI300X: 192 GB of HBM3
inline constexpr u64 kHostSharedBase = 0x2100'0000'0000;
inline constexpr u64 kHostSharedSize = u64{64} << 30;
inline constexpr u64 kLdsAperture = u64{1} << 48;      // flat addresses with this upper half are LDS
inline constexpr u64 kScratchAperture = u64{2} << 48;  // and with this one the lane's scratch

struct Allocation {
  u64 base = 0;               // guest address, 256-byte aligned (segments of a group: as the group lays them out)
  u64 size = 0;               // bytes as asked for: an access past base + size faults, padding or not
  std::byte* host = nullptr;  // the emulator's pointer to base
  bool writable = true;       // by kernels; code objects are not
  std::string label;          // for reports: "hipMalloc #3", "kernarg", "code", or a name the judge gave
  std::atomic<bool>* touched = nullptr;  // set when a kernel accesses it; see watch()
  u64 open_begin = 0, open_end = 0;      // but for these bytes of it
  bool code = false;                     // not for copies and fills either
};

class AddressSpace {
 public:
  // resident_budget: bytes that may be touched in all before accesses fault with OutOfMemory; 0 = 3/4 of what the
  // machine and our control group allow.
  static Result<std::unique_ptr<AddressSpace>> create(u64 resident_budget = 0);
  AddressSpace(const AddressSpace&) = delete;
  ~AddressSpace();

  // Device memory, aligned to 4 KiB or to the power of two asked for. Contents are undefined to the guest (zero pages
  // in fact). Neighbouring allocations are at least 4 KiB apart, and a freed address comes back only after the cursor
  // has gone once round the 1 TiB of addresses. May be called while a kernel runs.
  Result<u64> allocate(u64 size, std::string label, bool writable = true, u64 alignment = 4096);

  // Allocations at fixed distances from one base (the segments of a code object). Segments are in ascending order and
  // do not overlap. `free` of the returned base frees them all.
  struct Segment {
    u64 offset = 0, size = 0;
    bool writable = true;
    std::string label;
    bool code = false;
  };
  Result<u64> allocate_group(std::span<const Segment> segments, u64 alignment = 4096);

  // Memory shared with the client process: a sealed memfd mapped here; the client maps `fd` at `base` itself. Counts
  // fully against the resident budget, since the client can touch all of it.
  struct Shared {
    u64 base;
    int fd;  // owned by the address space
  };
  Result<Shared> allocate_shared(u64 size, std::string label);

  // Exactly what an allocate function returned. Waits while a kernel runs (see Pin), as hipFree does. The pages go back
  // to the system.
  Result<void> free(u64 base);

  // Renames an allocation for reports. Only while no kernel runs.
  Result<void> set_label(u64 base, std::string label);

  // From now on `touched` is set when a kernel accesses this allocation, but for the bytes from open_begin to before
  // open_end. It outlives the allocation. Only while no kernel runs.
  Result<void> watch(u64 base, std::atomic<bool>* touched, u64 open_begin = 0, u64 open_end = 0);

  // Bytes that kernels wrote to memory that a client process sees as well, since this was asked last. Lanes that write
  // the same byte count each.
  u64 take_bytes_written_to_host() { return bytes_written_to_host_.exchange(0, std::memory_order_relaxed); }
  void note_write_to_host(u64 bytes) const { bytes_written_to_host_.fetch_add(bytes, std::memory_order_relaxed); }

  // The allocation that holds address, or null. Lock-free. While a Pin is held the pointer stays valid; otherwise until
  // the allocation is freed.
  const Allocation* find(u64 address) const;

  // Held while a kernel runs: nothing is freed meanwhile.
  class Pin {
   public:
    explicit Pin(AddressSpace& space);
    Pin(const Pin&) = delete;
    ~Pin();

   private:
    AddressSpace& space_;
  };

  // True once the pages touched exceed the budget (or the machine is about to run out): the launch must end with an
  // OutOfMemory fault. Looks at the system at most once a millisecond, in which a thread touches some 20 MiB at the
  // most; otherwise it costs a clock reading. Each executing thread calls it at least every 4096 wave instructions.
  bool over_budget() const;

  // For the memory checks. From start_tracking() on it is known which bytes of a buffer were written; what was
  // allocated before counts as written. The host says what it writes by mark_written().
  Result<void> start_tracking();
  // An allocation that counts as unwritten: device memory of a program. Without effect while tracking is off.
  void track(u64 base);
  void mark_written(u64 address, u64 size);
  // Somebody writes without telling: everything there is counts as written.
  void forget_tracked();
  WrittenMap& written() { return written_; }
  // The host addresses that stand for device memory.
  std::span<std::byte> device_window() const;

  // Bytes in use and free as hipMemGetInfo reports them.
  u64 used() const;
  u64 total() const { return kDeviceMemorySize; }

  // Host-side access by the runtime and the judge: the range must lie in one allocation, and touching it whole must not
  // break the resident budget.
  Result<std::byte*> host_range(u64 address, u64 size) const;

  // "'c' + 4096 (its size is 4096 bytes)" for reports; "right past the end of 'c' (4096 bytes)",
  // "a null pointer", "in no buffer (the nearest …)" otherwise, naming freed buffers too.
  std::string describe(u64 address) const;

 private:
  struct Impl;
  explicit AddressSpace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  WrittenMap written_;
  mutable std::atomic<u64> bytes_written_to_host_{0};
};

// A wave's (or thread's) view: remembers the last allocations hit, so that the common access costs two compares and a
// kernel that goes round a few buffers does not search the table. Lives no longer than the launch (a Pin) it serves.
class MemoryView {
 public:
  explicit MemoryView(const AddressSpace& space) : space_(&space) {}

  // The host pointer for [address, address + size), or throws GuestFault. `lane` is for the report.
  std::byte* read(u64 address, u32 size, int lane = -1) {
    const Window& last = windows_[last_];
    if (address - last.base < last.size && last.size - (address - last.base) >= size) [[likely]]
      return last.host + (address - last.base);
    return lookup(address, size, lane, "read");
  }
  // `lanes`: how many write `size` bytes each near `address`, for the count of what goes to host memory.
  std::byte* write(u64 address, u32 size, int lane = -1, u32 lanes = 1) {
    const Window& last = windows_[last_];
    std::byte* host = address - last.base < last.size && last.size - (address - last.base) >= size
                          ? last.host + (address - last.base)
                          : lookup(address, size, lane, "write");
    if (!windows_[last_].writable) [[unlikely]]
      write_unlike_others(address, size, lane, lanes);
    return host;
  }
  // The host pointer if [address, address + size) lies in one allocation (which is remembered) that may be accessed so;
  // else null.
  std::byte* find(u64 address, u64 size, bool writes) {
    if (address - windows_[last_].base >= windows_[last_].size && !remember(address)) return nullptr;
    const Window& window = windows_[last_];
    const u64 offset = address - window.base;
    return window.size - offset >= size && (window.writable || !writes) ? window.host + offset : nullptr;
  }
  // True if [low, high) lies in one allocation, which is remembered.
  bool covers(u64 low, u64 high) {
    if (high < low) return false;
    if (low - windows_[last_].base >= windows_[last_].size && !remember(low)) return false;
    return high - windows_[last_].base <= windows_[last_].size;
  }

 private:
  std::byte* lookup(u64 address, u32 size, int lane, const char* access);
  // Read-only memory, which faults, or memory shared with the host, where it is counted.
  void write_unlike_others(u64 address, u32 size, int lane, u32 lanes) const;
  // Makes the allocation that holds address the last one hit; false when there is none.
  bool remember(u64 address);

  struct Window {
    u64 base = 0, size = 0;
    std::byte* host = nullptr;
    bool writable = false;  // without further ado
  };
  static constexpr u32 kWindows = 8;
  const AddressSpace* space_;
  u32 last_ = 0, oldest_ = 0;
  Window windows_[kWindows];
};

}  // namespace hipbench::emulator
