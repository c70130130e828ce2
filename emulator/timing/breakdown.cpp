#include "emulator/timing/breakdown.hpp"

#include <algorithm>
#include <map>

namespace hipbench::emulator {

namespace {

TimeCause cause_of(StallCause stall) {
  switch (stall) {
    case StallCause::Issue:
    case StallCause::Branch:
      return TimeCause::Issue;
    case StallCause::Mfma:
      return TimeCause::Mfma;
    case StallCause::Lds:
      return TimeCause::Lds;
    case StallCause::LdsPipe:
      return TimeCause::LdsPipe;
    case StallCause::Memory:
      return TimeCause::Memory;
    case StallCause::MemoryPipe:
      return TimeCause::MemoryPipe;
    case StallCause::Barrier:
      return TimeCause::Barrier;
    case StallCause::Fetch:
      return TimeCause::Fetch;
  }
  return TimeCause::Issue;
}

using Clocks = std::array<f64, kTimeCauses>;

f64 sum(const Clocks& clocks) {
  f64 total = 0;
  for (const f64 value : clocks) total += value;
  return total;
}

// Waiting apart, an instruction takes a turn of its SIMD.
constexpr f64 kTurn = 4;

Clocks clocks_of(const OpStalls& op) {
  Clocks clocks{};
  clocks[static_cast<u32>(TimeCause::Executing)] = kTurn * static_cast<f64>(op.executed);
  for (u32 stall = 0; stall < kStallCauses; ++stall)
    clocks[static_cast<u32>(cause_of(static_cast<StallCause>(stall)))] += static_cast<f64>(op.clocks[stall]);
  return clocks;
}

std::vector<HotLine> hot_lines(const std::vector<OpStalls>& ops, f64 all,
                               const std::function<std::string(u64)>& source_of) {
  // Looking a line up is slow: only those of the instructions where most of the time goes.
  constexpr size_t kInstructions = 256, kLines = 10;
  std::vector<std::pair<f64, u64>> order;
  for (u64 index = 0; index < ops.size(); ++index)
    if (ops[index].executed != 0) order.emplace_back(sum(clocks_of(ops[index])), index);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  if (order.size() > kInstructions) order.resize(kInstructions);
  std::map<std::string, Clocks> by_line;
  for (const auto& [time, index] : order) {
    Clocks& line = by_line[source_of(index)];
    const Clocks clocks = clocks_of(ops[index]);
    for (u32 cause = 0; cause < kTimeCauses; ++cause) line[cause] += clocks[cause];
  }
  std::vector<HotLine> lines;
  for (const auto& [source, clocks] : by_line)
    lines.push_back({.source = source,
                     .share = sum(clocks) / all,
                     .cause = static_cast<TimeCause>(std::ranges::max_element(clocks) - clocks.begin())});
  std::ranges::sort(lines, [](const HotLine& a, const HotLine& b) {
    return a.share > b.share || (a.share == b.share && a.source < b.source);
  });
  if (lines.size() > kLines) lines.resize(kLines);
  return lines;
}

}  // namespace

TimeBreakdown break_down(const ModelledLaunch& launch, const std::function<std::string(u64 op_index)>& source_of) {
  const XcdResult& xcd = launch.xcd;
  TimeBreakdown result;
  result.kernel_seconds = launch.kernel_seconds;
  result.launch_seconds = launch.seconds - launch.kernel_seconds;
  result.traced_workgroups = launch.traced_workgroups;
  Clocks all{};
  for (const OpStalls& op : xcd.stalls) {
    const Clocks clocks = clocks_of(op);
    for (u32 cause = 0; cause < kTimeCauses; ++cause) all[cause] += clocks[cause];
  }
  const f64 total = std::max(sum(all), 1.0), cu_clocks = std::max(xcd.clocks * xcd.cus, 1.0);
  for (u32 cause = 0; cause < kTimeCauses; ++cause) result.shares[cause] = all[cause] / total;
  result.mfma_busy = xcd.mfma_busy / cu_clocks / 4;
  result.valu_busy = xcd.valu_busy / cu_clocks / 4;
  result.lds_busy = xcd.lds_busy / cu_clocks;
  result.vector_memory_busy = xcd.vector_memory_busy / cu_clocks;
  const auto rate = [](u64 hits, u64 of) { return of == 0 ? 0.0 : static_cast<f64>(hits) / static_cast<f64>(of); };
  result.l1_hit_rate = rate(xcd.memory.l1_hits, xcd.memory.l1_lines);
  result.l2_hit_rate = rate(xcd.memory.l2_hits, xcd.memory.l2_lines);
  const auto bytes = [&](u64 lines) { return static_cast<f64>(lines) * kLineBytes * launch.of_sample; };
  result.l2_bytes = bytes(xcd.memory.l2_lines);
  result.beyond_l2_bytes = bytes(xcd.memory.beyond_l2_lines);
  result.hbm_bytes = bytes(xcd.memory.hbm_lines);
  result.lds_conflicts = xcd.lds_busy > 0 ? xcd.lds_conflict_clocks / xcd.lds_busy : 0;
  result.lines = hot_lines(xcd.stalls, total, source_of);
  return result;
}

}  // namespace hipbench::emulator
