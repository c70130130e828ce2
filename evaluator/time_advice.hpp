#pragma once
// What would make a kernel faster, from where its modelled time goes.

#include <string_view>
#include <vector>

#include "emulator/device/time_breakdown.hpp"

namespace hipbench {

// What to try when waves spend their time so.
std::string_view advice(emulator::TimeCause cause);

struct TimeChange {
  emulator::TimeCause cause;
  double gain_seconds;  // at most: if that waiting were gone and nothing else waited instead
};
// The three that would help most, first the best.
std::vector<TimeChange> changes_that_help(const emulator::TimeBreakdown& breakdown);

}  // namespace hipbench
