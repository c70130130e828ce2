#pragma once
// Sums up what the model saw for people.

#include <functional>

#include "emulator/device/time_breakdown.hpp"
#include "emulator/timing/launch_model.hpp"

namespace hipbench::emulator {

// `source_of` names the line of an op index.
TimeBreakdown break_down(const ModelledLaunch& launch, const std::function<std::string(u64 op_index)>& source_of);

}  // namespace hipbench::emulator
