#include "evaluator/time_advice.hpp"

#include <algorithm>

namespace hipbench {

using emulator::kTimeCauses;
using emulator::TimeBreakdown;
using emulator::TimeCause;

// What to try when waves spend their time so.
std::string_view advice(TimeCause cause) {
  switch (cause) {
    case TimeCause::Executing:
      return "fewer instructions for the same work: wider loads, packed arithmetic, addresses computed once";
    case TimeCause::Issue:
      return "waves of one SIMD want the same unit: fewer vector instructions beside the matrix ones, fewer branches";
    case TimeCause::Mfma:
      return "the matrix units are the limit here: only fewer or cheaper matrix instructions help";
    case TimeCause::Lds:
      return "read LDS further ahead of the use, or keep more in registers";
    case TimeCause::LdsPipe:
      return "fewer or wider LDS accesses, without bank conflicts (pad or swizzle the rows)";
    case TimeCause::Memory:
      return "load further ahead (one more stage of prefetch), more waves a SIMD, or reuse what is loaded";
    case TimeCause::MemoryPipe:
      return "coalesce: neighbouring lanes on neighbouring bytes, 16 bytes a lane";
    case TimeCause::Barrier:
      return "fewer barriers, or work that is split more evenly between the waves";
    case TimeCause::Fetch:
      return "smaller code: less unrolling, so that loops stay in the instruction cache";
  }
  return "";
}

std::vector<TimeChange> changes_that_help(const TimeBreakdown& breakdown) {
  constexpr size_t kShown = 3;
  constexpr double kLeastShare = 0.05;
  std::vector<TimeChange> all;
  for (uint32_t cause = 0; cause < kTimeCauses; ++cause)
    if (static_cast<TimeCause>(cause) != TimeCause::Executing && breakdown.shares[cause] >= kLeastShare)
      all.push_back({static_cast<TimeCause>(cause), breakdown.shares[cause] * breakdown.kernel_seconds});
  std::ranges::sort(all, [](const TimeChange& a, const TimeChange& b) {
    return a.gain_seconds > b.gain_seconds || (a.gain_seconds == b.gain_seconds && a.cause < b.cause);
  });
  if (all.size() > kShown) all.resize(kShown);
  return all;
}

}  // namespace hipbench
