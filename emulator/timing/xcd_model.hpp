#pragma once
// One XCD that runs the traced workgroups, event by event at the granularity of waves: each SIMD's issue and its vector
// and matrix units, the CU's LDS and memory pipelines, waits, barriers, dispatch in order.

#include <span>

#include "emulator/timing/memory_model.hpp"
#include "emulator/timing/trace.hpp"

namespace hipbench::emulator {

// What a wave waited for.
enum class StallCause : u8 { Issue, Mfma, Lds, LdsPipe, Memory, MemoryPipe, Barrier, Branch, Fetch };
inline constexpr u32 kStallCauses = 9;

struct OpStalls {
  u64 executed = 0;
  u64 clocks[kStallCauses] = {};  // of all waves together
};

struct XcdResult {
  f64 clocks = 0;                // until everything is written back
  std::vector<f64> completions;  // of the workgroups, ascending
  std::vector<OpStalls> stalls;  // by op index
  f64 wave_clocks = 0;           // of all waves together, from launch to end
  f64 mfma_busy = 0, valu_busy = 0, lds_busy = 0,
      vector_memory_busy = 0;   // of all units of the XCD together, in clocks
  f64 lds_conflict_clocks = 0;  // of lds_busy
  MemoryCounters memory;
  u32 cus = 0;
};

struct XcdLoad {
  u32 workgroups_per_cu = 1;
  u32 cus = 38;  // modelled
  u32 active_xcds = 8;
  u64 scratch_bytes_per_wave = 0;
  bool resident = true;  // in the Infinity Cache
};

XcdResult run_xcd(const TimingParameters& parameters, const LaunchTracer& code, const XcdLoad& load,
                  std::span<const std::unique_ptr<WorkgroupTrace>> workgroups);

}  // namespace hipbench::emulator
