#pragma once
// The documents that --json prints; docs/json.md describes them.

#include <optional>
#include <span>
#include <string>

#include "common/json.hpp"
#include "evaluator/evaluation.hpp"
#include "results/speedups.hpp"
#include "results/store.hpp"

namespace hipbench::cli {

// `speedups`: null where they are not looked up.
Json evaluation_json(const Evaluation& evaluation, std::optional<int64_t> id,
                     const results::Speedups* speedups = nullptr);

Json counters_json(const emulator::Counters& counters);
Json problem_json(const Problem& problem);
Json report_json(std::span<const results::EvaluationSummary> evaluations);
Json profile_json(const Evaluation& evaluation);

// Prints the document on standard output. Any bytes may be in its strings: what is not UTF-8 becomes U+FFFD.
void print_json(const Json& document);

}  // namespace hipbench::cli
