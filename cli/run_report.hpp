#pragma once
// The runs of `hipbench generate` as a table and as JSON.

#include <span>
#include <string>

#include "cli/json.hpp"
#include "cli/text.hpp"
#include "results/run_store.hpp"

namespace hipbench::cli {

// Share of the samples that passed and are more than `p` times as fast as the starter; p = 0: that passed.
double fast_p(const results::RunSummary& run, double p);

std::string runs_text(std::span<const results::RunSummary> runs, const Painter& paint);
Json runs_json(std::span<const results::RunSummary> runs);

}  // namespace hipbench::cli
