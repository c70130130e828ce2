#pragma once
// Where a modelled time goes, for people who want to make a kernel faster. Made by the timing model, shown by `hipbench
// profile`.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// What a wave does or waits for at any moment.
enum class TimeCause : u8 { Executing, Issue, Mfma, Lds, LdsPipe, Memory, MemoryPipe, Barrier, Fetch };
inline constexpr u32 kTimeCauses = 9;
inline constexpr std::array<std::string_view, kTimeCauses> kTimeCauseNames = {
    "executing",         "issue",          "mfma",
    "lds_latency",       "lds_throughput", "memory_latency",
    "memory_throughput", "barrier",        "instruction_fetch"};

struct HotLine {
  std::string source;                      // "file:line"; empty without a line table
  double share = 0;                        // of all waves' time: what was spent at its instructions
  TimeCause cause = TimeCause::Executing;  // what most of it was
};

struct TimeBreakdown {
  double kernel_seconds = 0, launch_seconds = 0;
  std::array<double, kTimeCauses> shares = {};  // of all waves' time; together 1
  // How busy the units of the modelled CUs were, 1 = all the time.
  double mfma_busy = 0, valu_busy = 0, lds_busy = 0, vector_memory_busy = 0;
  double l1_hit_rate = 0, l2_hit_rate = 0;
  // Of the whole chip, in lines of 128 bytes, estimated from the modelled XCD: what the CUs asked the L2 for and wrote
  // to it; what the L2 fetched and wrote back; of that, what went to HBM rather than the Infinity Cache.
  double l2_bytes = 0, beyond_l2_bytes = 0, hbm_bytes = 0;
  double lds_conflicts = 0;  // of the time that LDS banks were busy: waiting for lanes that met in a bank
  u64 traced_workgroups = 0;
  std::vector<HotLine> lines;  // the hottest, first the worst
};

}  // namespace hipbench::emulator
