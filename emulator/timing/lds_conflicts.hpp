#pragma once
// How many clocks the banks of the LDS need for one access of a wave. 32 banks of 4 bytes; an instruction is served in
// phases, in which a fixed group of lanes takes part; a phase takes a clock for every different dword that its fullest
// bank has to give. The groups are those that were measured on MI300 (shark-ai guide, composable_kernel, pyhip).

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// `bytes` at addresses[lane] + offset for the active lanes.
u32 lds_access_clocks(const u32* addresses, u32 offset, u64 active, u32 bytes, bool writes);

}  // namespace hipbench::emulator
