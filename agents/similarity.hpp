#pragma once
#include <string>
#include <string_view>

#include "problems/problem.hpp"

namespace hipbench::agents {

// Share of the runs of six tokens that two sources have in common, of those of the one that has fewer. Comments, blanks
// and the names of things do not count.
double similarity(std::string_view a, std::string_view b);

// A shipped kernel of the problem (starter, candidate, reference) that the source nearly repeats; empty = none.
inline constexpr double kNearlyIdentical = 0.9;
std::string nearly_shipped(const Problem& problem, std::string_view source);

}  // namespace hipbench::agents
