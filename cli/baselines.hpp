#pragma once
// What speed-ups are relative to: the times of each problem's frozen baseline, from the database or evaluated now.

#include <mutex>
#include <set>
#include <string>

#include "evaluator/evaluate.hpp"
#include "results/speedups.hpp"

namespace hipbench::cli {

// Safe to use from several threads at once; the store is its owner's to guard.
class Baselines {
 public:
  // `evaluate_missing`: what `--with-baseline` asks for.
  explicit Baselines(bool evaluate_missing) : evaluate_missing_(evaluate_missing) {}

  // Of an evaluation that was made with `options`. `store`: null = none, then only a baseline that was evaluated by
  // this object counts. A baseline that is evaluated is stored as an evaluation of its own.
  results::Speedups speedups(const Problem& problem, const Evaluation& evaluation, const EvaluateOptions& options,
                             results::Store* store);

 private:
  void evaluate_baseline(const Problem& problem, const EvaluateOptions& options, results::Store* store);

  const bool evaluate_missing_;
  std::mutex mutex_;
  std::map<std::string, results::SourceTimes> evaluated_;  // by problem: without a store
  std::set<std::string> tried_;                            // problem and shapes
};

}  // namespace hipbench::cli
