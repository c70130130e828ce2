#pragma once
// What thousands of evaluations say, as numbers. Pure functions on plain data: no database, no problem, no clock.
// docs/results.md has each definition in words. Conventions:
//   * A sample's speed-up S is 0 where it is not defined (see sample_speedup), so that a sample that failed is faster
//     than nothing. Not-a-number and negative values are read as 0.
//   * "More than" is strict everywhere.
//   * An empty optional: there is no such number, which is not the same as 0.
//   * Whatever draws at random takes a seed and gives the same bits on every machine.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace hipbench::results {

inline double as_double(size_t count) { return static_cast<double>(count); }

// ---- One sample ----

// Whether a number can be a time in microseconds: finite, above zero, and not below what the chip can do at all
// (0: no floor is known). Everything else is no time, never a good one.
bool is_time(double us, double floor_us = 0);

// exp(mean(log x)), summed in log space, so that no product over- or underflows. None for no values, and if any of
// them is not finite or not above zero.
std::optional<double> geometric_mean(std::span<const double> values);

// One test or benchmark shape of one sample. A shape that never ran is there too, as one that did not pass.
struct ShapeOutcome {
  bool passed = false;
  bool is_timed = true;     // false: a test shape, which must pass but whose time does not count
  double candidate_us = 0;  // 0: no time
  double baseline_us = 0;   // 0: no time
  double floor_us = 0;      // 0: not known
};

// S(sample): the geometric mean over all benchmark shapes of t_baseline / t_candidate, defined only if every test and
// every benchmark shape passed and has a time that can be one. None where it is not defined.
std::optional<double> sample_speedup(std::span<const ShapeOutcome> shapes);

// ---- Many samples of one problem ----
// `speedups`: S of each sample that was drawn. `requested`: how many samples were asked for; those that are missing
// (a run out of budget, a crash) count as failed. Never less than the number of speed-ups.

// fast_p(problem): the share of the samples requested with S > p. Source: Ouyang et al., KernelBench, 2025 (fast_p),
// with the denominator spelled out. None if none were requested.
std::optional<double> fast_p(std::span<const double> speedups, size_t requested, double p);
// How many: the numerator.
size_t count_above(std::span<const double> speedups, double p);

// fast_p at each of `thresholds`.
std::vector<double> fast_p_curve(std::span<const double> speedups, size_t requested,
                                 std::span<const double> thresholds);
// Where curves are drawn: 0 to 10, evenly in the logarithm from 0.1 on.
std::vector<double> curve_thresholds();

// fast_p_shape, another metric: the share of (samples requested x timed shapes) that passed on that shape and are more
// than p times as fast there, whatever the other shapes did. One inner vector a sample.
std::optional<double> fast_p_shape(std::span<const std::vector<ShapeOutcome>> samples, size_t requested, size_t shapes,
                                   double p);

// The chance that at least one of k samples, drawn without replacement from n of which c are good, is good:
// 1 - C(n - c, k) / C(n, k). Unbiased for k independent samples. Source: Chen et al., Evaluating Large Language Models
// Trained on Code, 2021 (pass@k). None if k is 0 or more than n, or c more than n.
std::optional<double> at_least_one_of_k(size_t n, size_t c, size_t k);
std::optional<double> pass_at_k(size_t requested, size_t passed, size_t k);
std::optional<double> fast_p_at_k(std::span<const double> speedups, size_t requested, double p, size_t k);

// What who draws k samples and keeps the best gains over the baseline, which is kept where no sample is faster: the
// geometric mean, over all choices of k of the samples requested, of max(1, the largest S among them). In log space
// and by order statistics: the i-th smallest is the largest of C(i - 1, k - 1) of the C(n, k) choices.
std::optional<double> best_of_k_speedup(std::span<const double> speedups, size_t requested, size_t k);

// ---- Between bounds ----

// Where a candidate stands between the baseline (0) and the expert (1), by ratios: log S / log S_expert. Below 0:
// slower than the baseline. None where S is not defined or the expert is not faster than the baseline.
std::optional<double> position(double speedup, double expert_speedup);
// t_expert / t_candidate, which is S / S_expert: 1 is as fast as the expert.
std::optional<double> expert_fraction(double speedup, double expert_speedup);
// Shares of the samples requested that reach more than 0.25, 0.5, 0.75 and 1.0 of the expert's speed.
inline constexpr double kExpertShares[] = {0.25, 0.5, 0.75, 1.0};
std::vector<double> expert_shares(std::span<const double> speedups, size_t requested, double expert_speedup);

// roof / time: how much of the best published rates a call reaches. Not clamped: a roof can be beaten, hardly.
std::optional<double> roof_fraction(double time_us, double roof_us);
// The part of the way from the baseline to the speed of light: (t_b - t_sol) / ((t_c - t_sol) + (t_b - t_sol)), 0.5 for
// the baseline and 1 at the roof, clamped to 1 above it. Source: SOL-ExecBench, arXiv 2603.19173 (SOL score), there not
// clamped. None where the baseline is not slower than the roof.
std::optional<double> sol_score(double candidate_us, double baseline_us, double sol_us);
// The part of a peak rate (units a second) that `units` of work in that time are.
std::optional<double> utilisation(double units, double time_us, double peak_per_second);

// ---- Cost ----

// What one turn of a sample cost and what it gave.
struct CostedTurn {
  double usd = 0, speedup = 0;
};
// The expected cost until a turn has S > p, when sample after sample is drawn and each is left as soon as it gets
// there: the cost of all samples up to that point (all of it for those that never got there), over the number of
// samples that did. Source: the expected running time of N. Hansen et al., COCO: performance assessment, 2016. None if
// none got there.
std::optional<double> cost_to_reach(std::span<const std::vector<CostedTurn>> samples, double p);

// ---- How sure ----

struct Band {
  double low = 0, high = 0;
  // The resamples were all alike (all failed, all passed, one sample): the band says nothing and must not look like
  // precision.
  bool is_degenerate = false;
};

inline constexpr size_t kResamples = 2000;

// Percentile bootstrap, 95 %, of the mean over problems of a statistic: within each problem as many samples are drawn
// with replacement as were requested; samples and problems are never pooled. Source: Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993, chapter 13. The values of a problem are what its samples contribute, those that
// are missing included. None if a problem has no values, or there is none.
using Statistic = std::function<double(std::span<const double> values)>;
std::optional<Band> bootstrap(std::span<const std::vector<double>> problems, const Statistic& statistic, uint64_t seed,
                              size_t resamples = kResamples);
// The same for the whole fast_p curve with one set of resamples: one band a threshold. `problems`: S of the samples
// requested, 0 for those that are missing.
std::vector<Band> bootstrap_curve(std::span<const std::vector<double>> problems, std::span<const double> thresholds,
                                  uint64_t seed, size_t resamples = kResamples);

// Wilson's interval, 95 %, of a share: says something where the bootstrap is degenerate. Source: Wilson, Probable
// inference, 1927.
std::optional<Band> share_interval(size_t count, size_t of);

// ---- Two runs ----

// The samples of both runs on one problem: what each contributes to the mean (1 or 0 for fast_p, log max(1, S) for the
// gain).
struct PairedProblem {
  std::vector<double> a, b;
};
struct RunComparison {
  double difference = 0;  // mean over problems of (mean of b - mean of a)
  Band band;              // bootstrap of it
  // How often samples dealt anew to the two runs, within each problem, give a difference at least as large: the
  // chance of it if the runs were alike. Two-sided.
  double p_value = 1;
  bool is_exact = false;  // all deals were looked at, not a random choice of them
};
// The runs are paired by problem; within a problem samples are exchangeable and their numbers may differ. A stratified
// permutation test: Phipson and Smyth, Permutation p-values should never be zero, 2010, (b + 1) / (m + 1) where deals
// are drawn. None if a problem lacks the samples of a run, or there is none.
std::optional<RunComparison> compare_runs(std::span<const PairedProblem> problems, uint64_t seed,
                                          size_t resamples = kResamples);

// Ratios of pairs that belong together (the same candidate timed twice, the same shape in both): the exact two-sided
// sign test on how many are above and below 1. Equal ones are left out. 1 where nothing is left.
double sign_test(size_t above, size_t below);

}  // namespace hipbench::results
