#pragma once
// What the memory and race checks (emulator/checks) see of a wave. Instruction rows call it when the wave has an
// observer, before they touch memory; an unchecked wave has none, so that a memory instruction costs it one predictable
// branch.

#include <cstddef>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct Wave;
struct LaneAddresses;

enum class AccessKind : u8 { Load, Store, Atomic };

class AccessObserver {
 public:
  virtual ~AccessObserver() = default;

  // Lanes whose host pointers are known: `at` is not Checked. LDS or global memory.
  virtual void loads(Wave& wave, const LaneAddresses& at, u32 size) = 0;
  // The new bytes of a lane are source[lane] >> shift, source[64 + lane] and so on.
  virtual void stores(Wave& wave, const LaneAddresses& at, u32 size, const u32* source, u32 shift) = 0;
  // One lane's access. `data`: the bytes to be stored; null when they are not known yet.
  virtual void access(Wave& wave, const std::byte* host, u32 size, u32 lane, AccessKind kind, const void* data) = 0;
  virtual void scalar_load(Wave& wave, const std::byte* host, u32 size) = 0;
  // An atomic is done. What it left as it was (a failed compare-and-swap) is no progress.
  virtual void atomic_done(bool changed) = 0;
  // Writeback or invalidation of caches that other workgroups do not share: release and acquire between workgroups.
  virtual void fence() = 0;
};

}  // namespace hipbench::emulator
