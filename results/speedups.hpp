#pragma once
// One evaluation's speed-ups over its problem's frozen baseline.

#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluation.hpp"
#include "results/comparability.hpp"
#include "results/store.hpp"

namespace hipbench::results {

// What the times of an evaluation depend on.
ComparabilityKey key_of(const Evaluation& evaluation, const std::string& baseline_sha256);

// A/A of a measured time; none: it was not taken.
std::optional<double> noise_floor_of(const ShapeResult& shape);

struct Speedups {
  std::string baseline_sha256;                // empty: the problem has none
  std::vector<int64_t> baseline_evaluations;  // whose times these are over
  std::vector<std::optional<double>> shapes;  // one a shape of the evaluation
  // Over the benchmark shapes where they are among the shapes, else over all; only if every shape that was asked for
  // passed and has both times.
  std::optional<double> speedup;
  std::string why_none;  // in words; empty: there is one
};

// `baseline_sha256`: of the problem's baseline; empty: it has none.
Speedups speedups_over(const Evaluation& evaluation, const std::string& baseline_sha256, const SourceTimes& baseline);

}  // namespace hipbench::results
