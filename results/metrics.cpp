#include "results/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace hipbench::results {

namespace {

// S as the conventions of metrics.hpp have it: 0 where it is not defined.
double clean(double speedup) { return speedup > 0 ? speedup : 0; }

size_t denominator(size_t given, size_t requested) { return std::max(given, requested); }

double ratio_of(const ShapeOutcome& shape) {
  const bool has_times = is_time(shape.candidate_us, shape.floor_us) && is_time(shape.baseline_us, shape.floor_us);
  return shape.passed && has_times ? shape.baseline_us / shape.candidate_us : 0;
}

}  // namespace

bool is_time(double us, double floor_us) { return std::isfinite(us) && us > 0 && !(us < floor_us); }

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || !(value > 0)) return std::nullopt;
    sum += std::log(value);
  }
  return std::exp(sum / as_double(values.size()));
}

std::optional<double> sample_speedup(std::span<const ShapeOutcome> shapes) {
  std::vector<double> ratios;
  for (const ShapeOutcome& shape : shapes) {
    if (!shape.passed) return std::nullopt;
    if (shape.is_timed) ratios.push_back(ratio_of(shape));
  }
  return geometric_mean(ratios);
}

size_t count_above(std::span<const double> speedups, double p) {
  const double bar = std::max(p, 0.0);  // a sample that failed is above nothing
  return static_cast<size_t>(std::count_if(speedups.begin(), speedups.end(), [bar](double s) { return s > bar; }));
}

std::optional<double> fast_p(std::span<const double> speedups, size_t requested, double p) {
  const size_t samples = denominator(speedups.size(), requested);
  if (samples == 0) return std::nullopt;
  return as_double(count_above(speedups, p)) / as_double(samples);
}

std::vector<double> fast_p_curve(std::span<const double> speedups, size_t requested,
                                 std::span<const double> thresholds) {
  std::vector<double> curve;
  for (const double p : thresholds) curve.push_back(fast_p(speedups, requested, p).value_or(0));
  return curve;
}

std::vector<double> curve_thresholds() {
  constexpr int kPoints =
      40;  // that cover two decades; the powers of ten and their halves in the logarithm are among them
  std::vector<double> thresholds = {0};
  for (int i = 0; i <= kPoints; ++i) thresholds.push_back(std::pow(10.0, 2.0 * i / kPoints - 1));
  thresholds[1 + kPoints / 2] = 1;  // exactly: "faster than the baseline" is what most people look at
  return thresholds;
}

std::optional<double> fast_p_shape(std::span<const std::vector<ShapeOutcome>> samples, size_t requested, size_t shapes,
                                   double p) {
  size_t above = 0;
  size_t most_shapes = shapes;
  for (const std::vector<ShapeOutcome>& sample : samples) {
    std::vector<double> ratios;
    for (const ShapeOutcome& shape : sample)
      if (shape.is_timed) ratios.push_back(ratio_of(shape));
    above += count_above(ratios, p);
    most_shapes = std::max(most_shapes, ratios.size());
  }
  const size_t all = denominator(samples.size(), requested) * most_shapes;
  if (all == 0) return std::nullopt;
  return as_double(above) / as_double(all);
}

std::optional<double> at_least_one_of_k(size_t n, size_t c, size_t k) {
  if (k == 0 || k > n || c > n) return std::nullopt;
  if (n - c < k) return 1;
  double none = 1;
  for (size_t i = n - c + 1; i <= n; ++i) none *= 1 - as_double(k) / as_double(i);
  return 1 - none;
}

std::optional<double> pass_at_k(size_t requested, size_t passed, size_t k) {
  return at_least_one_of_k(requested, passed, k);
}

std::optional<double> fast_p_at_k(std::span<const double> speedups, size_t requested, double p, size_t k) {
  return at_least_one_of_k(denominator(speedups.size(), requested), count_above(speedups, p), k);
}

std::optional<double> best_of_k_speedup(std::span<const double> speedups, size_t requested, size_t k) {
  const size_t n = denominator(speedups.size(), requested);
  if (k == 0 || k > n) return std::nullopt;
  std::vector<double> gains(n, 0.0);  // log max(1, S); the missing samples fall back to the baseline
  for (size_t i = 0; i < speedups.size(); ++i) gains[i] = std::log(std::max(1.0, clean(speedups[i])));
  std::sort(gains.begin(), gains.end());
  double weight = as_double(k) / as_double(n);  // of the largest: C(n - 1, k - 1) / C(n, k)
  double sum = 0;
  for (size_t i = n; i >= k; --i) {
    sum += weight * gains[i - 1];
    if (i > 1) weight *= as_double(i - k) / as_double(i - 1);
  }
  return std::exp(sum);
}

std::optional<double> position(double speedup, double expert_speedup) {
  if (!(speedup > 0) || !std::isfinite(speedup) || !(expert_speedup > 1) || !std::isfinite(expert_speedup)) {
    return std::nullopt;
  }
  return std::log(speedup) / std::log(expert_speedup);
}

std::optional<double> expert_fraction(double speedup, double expert_speedup) {
  if (!(speedup > 0) || !std::isfinite(speedup) || !(expert_speedup > 0) || !std::isfinite(expert_speedup)) {
    return std::nullopt;
  }
  return speedup / expert_speedup;
}

std::vector<double> expert_shares(std::span<const double> speedups, size_t requested, double expert_speedup) {
  std::vector<double> fractions;
  for (const double s : speedups) fractions.push_back(expert_fraction(s, expert_speedup).value_or(0));
  return fast_p_curve(fractions, requested, kExpertShares);
}

std::optional<double> roof_fraction(double time_us, double roof_us) {
  if (!is_time(time_us) || !is_time(roof_us)) return std::nullopt;
  return roof_us / time_us;
}

std::optional<double> sol_score(double candidate_us, double baseline_us, double sol_us) {
  if (!is_time(candidate_us) || !is_time(baseline_us) || !is_time(sol_us) || !(baseline_us > sol_us)) {
    return std::nullopt;
  }
  const double gap = baseline_us - sol_us;
  return gap / (std::max(candidate_us - sol_us, 0.0) + gap);
}

std::optional<double> utilisation(double units, double time_us, double peak_per_second) {
  if (!is_time(time_us) || !(peak_per_second > 0) || !std::isfinite(units) || units < 0) return std::nullopt;
  return units / (time_us * 1e-6 * peak_per_second);
}

std::optional<double> cost_to_reach(std::span<const std::vector<CostedTurn>> samples, double p) {
  double spent = 0;
  size_t reached = 0;
  for (const std::vector<CostedTurn>& sample : samples) {
    for (const CostedTurn& turn : sample) {
      if (std::isfinite(turn.usd) && turn.usd > 0) spent += turn.usd;
      if (clean(turn.speedup) > std::max(p, 0.0)) {
        ++reached;
        break;
      }
    }
  }
  if (reached == 0) return std::nullopt;
  return spent / as_double(reached);
}

}  // namespace hipbench::results
