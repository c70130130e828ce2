#pragma once
// How many clocks the banks of the LDS need for one access of a wave. 32 banks of 4 bytes; an instruction is served in
// phases, in which a fixed group of lanes takes part; a phase takes a clock for every different dword that its fullest
// bank has to give. The groups are those that were measured on MI300 (shark-ai guide, composable_kernel, pyhip).

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct LdsClocks {
  u32 all = 0;
  u32 conflicts = 0;  // of them: beyond the one that a phase takes when no two lanes want different dwords of a bank
};

// `bytes` at addresses[lane] + offset for the active lanes.
LdsClocks lds_access_clocks(const u32* addresses, u32 offset, u64 active, u32 bytes, bool writes);

}  // namespace hipbench::emulator
