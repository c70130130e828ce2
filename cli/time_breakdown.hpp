#pragma once
// Where a modelled launch spends its time, as text, JSON and a roofline figure.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "evaluator/evaluation.hpp"

namespace hipbench::cli {

// Lines for people; empty when the launch has no modelled time.
std::string time_breakdown_text(const LaunchRecord& launch);
// Null when it has none.
nlohmann::ordered_json time_breakdown_json(const LaunchRecord& launch);

// Operations on the matrix units a second over operations a byte that came from behind the L2, below the chip's roofs:
// SVG.
std::string roofline_svg(const std::vector<LaunchRecord>& launches);

}  // namespace hipbench::cli
