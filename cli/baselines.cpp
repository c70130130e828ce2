#include "cli/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.hpp"

namespace hipbench::cli {

namespace {

bool has_all(const results::SourceTimes& times, const Evaluation& evaluation) {
  return std::all_of(evaluation.shapes.begin(), evaluation.shapes.end(),
                     [&](const ShapeResult& shape) { return times.us.contains(shape.shape.label); });
}

// Only a candidate with times can be compared with anything.
bool is_timed(const Evaluation& evaluation) {
  return evaluation.verdict.passed() && !evaluation.check &&
         std::any_of(evaluation.shapes.begin(), evaluation.shapes.end(),
                     [](const ShapeResult& s) { return s.time_us > 0; });
}

}  // namespace

results::Speedups Baselines::speedups(const Problem& problem, const Evaluation& evaluation,
                                      const EvaluateOptions& options, results::Store* store) {
  const ReferenceSolution* baseline = problem.reference(ReferenceRole::Baseline);
  if (baseline == nullptr || !is_timed(evaluation))
    return results::speedups_over(evaluation, baseline == nullptr ? "" : baseline->sha256, {});
  const std::lock_guard lock(mutex_);
  const auto look_up = [&] {
    results::SourceTimes times = evaluated_[problem.id()];
    if (store == nullptr) return times;
    const Result<results::SourceTimes> stored = store->times_of(baseline->sha256, evaluation);
    return stored ? *stored : times;
  };
  results::SourceTimes times = look_up();
  if (evaluate_missing_ && !has_all(times, evaluation)) {
    evaluate_baseline(problem, options, store);
    times = look_up();
  }
  return results::speedups_over(evaluation, baseline->sha256, times);
}

void Baselines::evaluate_baseline(const Problem& problem, const EvaluateOptions& options, results::Store* store) {
  std::string what = problem.id();
  for (const Shape& shape : options.shapes) what += " " + shape.label;
  if (!tried_.insert(what).second) return;
  const ReferenceSolution& baseline = *problem.reference(ReferenceRole::Baseline);
  EvaluateOptions own = options;
  own.track = std::nullopt;
  own.keep_going = true;
  own.inputs = nullptr;
  own.observe = {};
  own.progress = {};
  own.unsafe_no_sandbox = false;  // a baseline that is not ranked is none
  fmt::print(stderr, "evaluating the baseline of {} on the same shapes\n", problem.id());
  const Evaluation evaluation = evaluate(problem, baseline.path, std::string(baseline.source), own);
  if (evaluation.cancelled) return;
  if (!evaluation.verdict.passed()) {
    fmt::print(stderr, "note: the baseline did not pass ({}: {}), so there is no speed-up\n",
               to_string(evaluation.verdict.kind), printable_line(evaluation.verdict.reason));
  }
  results::SourceTimes& times = evaluated_[problem.id()];
  if (evaluation.verdict.passed())
    for (const ShapeResult& shape : evaluation.shapes)
      if (shape.time_us > 0) times.us[shape.shape.label] = shape.time_us;
  if (store == nullptr) return;
  const Result<int64_t> id = store->record(evaluation);
  if (!id) fmt::print(stderr, "note: the baseline's times could not be stored: {}\n", id.error().message);
}

}  // namespace hipbench::cli
