#pragma once
// Finds the launch plan's comment in a candidate.

#include <string_view>

#include "evaluator/plan.hpp"

namespace hipbench {

struct PlanBlock {
  std::string_view text;  // between "/* hipbench-plan 1" and "*/"
  SourcePosition start;   // of text's first character
};

// The one comment that opens with "/* hipbench-plan 1". Text inside string literals and other comments does not count.
// Throws PlanError when there is none, more than one, one of another version, or one without an end.
PlanBlock find_plan_block(std::string_view source);

// 1-based position of a byte offset.
SourcePosition position_of(std::string_view source, size_t offset);

}  // namespace hipbench
