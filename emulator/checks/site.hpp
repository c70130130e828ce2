#pragma once
// An earlier access in 64 bits, as the shadows of LDS and of global memory keep it.

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// Code offsets are kept in dwords; code beyond 4 MiB is not named in reports.
inline constexpr u64 kSiteCodeBits = 20;
inline constexpr u64 site_code(u64 code_offset) {
  const u64 dwords = code_offset / 4;
  return dwords >> kSiteCodeBits == 0 ? dwords : 0;
}

// What went before an access of a wave or workgroup, as far as the checks know: how often it released what it wrote to
// others, and whether it acquired something. Another's earlier access may happen before ours only if it released since,
// and we acquired.
struct SyncState {
  u32 releases = 0;
  bool acquired = false;
};

}  // namespace hipbench::emulator
