#include "results/speedups.hpp"

#include <algorithm>

#include "evaluator/measure.hpp"
#include "problems/registry.hpp"
#include "results/metrics.hpp"

namespace hipbench::results {

namespace {

const Problem* known_problem(const std::string& id) {
  const Result<const Problem*> problem = find_problem(id);
  return problem ? *problem : nullptr;
}

bool is_benchmark(const Problem& problem, const Shape& shape) {
  const auto listed = problem.shapes(ShapeSet::Benchmarks);
  return std::any_of(listed.begin(), listed.end(),
                     [&](const ListedShape& one) { return one.shape.label == shape.label; });
}

std::string why_none(const Evaluation& evaluation, const Speedups& speedups) {
  if (!evaluation.verdict.passed()) return "the candidate did not pass";
  if (evaluation.check) return "runs with memory checks have no times";
  const auto has_time = [](const ShapeResult& shape) { return is_time(shape.time_us); };
  if (!std::all_of(evaluation.shapes.begin(), evaluation.shapes.end(), has_time)) return "a shape has no time";
  if (speedups.baseline_sha256.empty()) return evaluation.problem + " has no baseline yet";
  return "the baseline has not been evaluated on these shapes with this compiler and timing model: --with-baseline "
         "does";
}

}  // namespace

ComparabilityKey key_of(const Evaluation& evaluation, const std::string& baseline_sha256) {
  ComparabilityKey key;
  key.problem = evaluation.problem;
  key.track = to_string(evaluation.track);
  key.device = to_string(evaluation.device);
  if (evaluation.device == DeviceKind::Hip) key.device += ": " + evaluation.device_description;
  key.toolchain = compiler_of(evaluation.toolchain);
  key.baseline_sha256 = baseline_sha256;
  key.provenance = evaluation.device == DeviceKind::Hip ? "measured" : "modelled";
  for (const ShapeResult& shape : evaluation.shapes) {
    key.shapes.push_back(shape.shape.label);
    if (!(shape.time_us > 0)) continue;
    key.provenance = shape.time_is_modelled ? "modelled" : "measured";
    key.timing_model = shape.time_is_modelled ? shape.timing_model : "";
  }
  return key;
}

std::optional<double> noise_floor_of(const ShapeResult& shape) {
  return shape.measurement == nullptr ? std::nullopt : std::optional(shape.measurement->noise_floor);
}

Speedups speedups_over(const Evaluation& evaluation, const std::string& baseline_sha256, const SourceTimes& baseline) {
  Speedups speedups;
  speedups.baseline_sha256 = baseline_sha256;
  speedups.baseline_evaluations = baseline.evaluations;
  const Problem* problem = known_problem(evaluation.problem);
  const bool asked_benchmarks = evaluation.shape_set.find("benchmarks") != std::string::npos && problem != nullptr;
  std::vector<ShapeOutcome> outcomes;
  for (const ShapeResult& shape : evaluation.shapes) {
    ShapeOutcome outcome;
    outcome.passed = shape.verdict.passed();
    outcome.is_timed = !asked_benchmarks || is_benchmark(*problem, shape.shape);
    outcome.candidate_us = shape.time_us;
    const auto found = baseline.us.find(shape.shape.label);
    if (found != baseline.us.end()) outcome.baseline_us = found->second;
    const bool has_both = outcome.passed && is_time(outcome.candidate_us) && is_time(outcome.baseline_us);
    speedups.shapes.push_back(has_both ? std::optional(outcome.baseline_us / outcome.candidate_us) : std::nullopt);
    outcomes.push_back(outcome);
  }
  if (evaluation.verdict.passed()) speedups.speedup = sample_speedup(outcomes);
  if (!speedups.speedup) speedups.why_none = why_none(evaluation, speedups);
  return speedups;
}

}  // namespace hipbench::results
