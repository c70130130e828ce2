// How sure: the parts of metrics.hpp that draw samples anew, and the tests.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluator/statistics.hpp"
#include "problems/random.hpp"
#include "results/metrics.hpp"

namespace hipbench::results {

namespace {

constexpr double kTail = 0.025;         // of 95 %
constexpr size_t kMostDeals = 200'000;  // that are looked at one by one

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / as_double(values.size());
}

Band band_of(std::vector<double> resampled) {
  std::sort(resampled.begin(), resampled.end());
  return {quantile(resampled, kTail), quantile(resampled, 1 - kTail), resampled.front() == resampled.back()};
}

void draw_with_replacement(std::span<const double> values, RandomStream& random, std::vector<double>& drawn) {
  drawn.clear();
  for (size_t i = 0; i < values.size(); ++i) drawn.push_back(values[random.below(values.size())]);
}

}  // namespace

std::optional<Band> bootstrap(std::span<const std::vector<double>> problems, const Statistic& statistic, uint64_t seed,
                              size_t resamples) {
  const bool has_all =
      std::none_of(problems.begin(), problems.end(), [](const auto& values) { return values.empty(); });
  if (problems.empty() || !has_all || resamples == 0) return std::nullopt;
  RandomStream random("bootstrap", seed, 0);
  std::vector<double> results, drawn;
  for (size_t round = 0; round < resamples; ++round) {
    double sum = 0;
    for (const std::vector<double>& values : problems) {
      draw_with_replacement(values, random, drawn);
      sum += statistic(drawn);
    }
    results.push_back(sum / as_double(problems.size()));
  }
  return band_of(std::move(results));
}

std::vector<Band> bootstrap_curve(std::span<const std::vector<double>> problems, std::span<const double> thresholds,
                                  uint64_t seed, size_t resamples) {
  const bool has_all =
      std::none_of(problems.begin(), problems.end(), [](const auto& values) { return values.empty(); });
  if (problems.empty() || !has_all || resamples == 0) return {};
  std::vector<double> bars;  // ascending; a sample that failed is above none
  for (const double threshold : thresholds) bars.push_back(std::max(threshold, 0.0));
  std::sort(bars.begin(), bars.end());
  // How many bars each sample is above: all that a draw has to look up.
  std::vector<std::vector<uint32_t>> bars_below;
  for (const std::vector<double>& values : problems) {
    std::vector<uint32_t>& own = bars_below.emplace_back();
    for (const double value : values)
      own.push_back(static_cast<uint32_t>(std::lower_bound(bars.begin(), bars.end(), value) - bars.begin()));
  }
  RandomStream random("bootstrap", seed, 0);
  std::vector<std::vector<double>> results(bars.size());  // one list of resampled shares a bar
  std::vector<size_t> drawn(bars.size() + 1);             // samples by the number of bars that they are above
  for (size_t round = 0; round < resamples; ++round) {
    std::vector<double> sums(bars.size(), 0.0);
    for (const std::vector<uint32_t>& own : bars_below) {
      std::fill(drawn.begin(), drawn.end(), 0);
      for (size_t i = 0; i < own.size(); ++i) ++drawn[own[random.below(own.size())]];
      size_t above = 0;
      for (size_t bar = bars.size(); bar-- > 0;) {
        above += drawn[bar + 1];
        sums[bar] += as_double(above) / as_double(own.size());
      }
    }
    for (size_t bar = 0; bar < bars.size(); ++bar) results[bar].push_back(sums[bar] / as_double(problems.size()));
  }
  std::vector<Band> bands;
  for (const double threshold : thresholds) {
    const auto bar = std::lower_bound(bars.begin(), bars.end(), std::max(threshold, 0.0)) - bars.begin();
    bands.push_back(band_of(results[static_cast<size_t>(bar)]));
  }
  return bands;
}

std::optional<Band> share_interval(size_t count, size_t of) {
  if (of == 0 || count > of) return std::nullopt;
  constexpr double z = 1.959963984540054;  // of the normal distribution, 97.5 %
  const double n = as_double(of), share = as_double(count) / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double reach = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return Band{std::max(0.0, centre - reach), std::min(1.0, centre + reach), false};
}

namespace {

double observed_difference(std::span<const PairedProblem> problems) {
  double sum = 0;
  for (const PairedProblem& problem : problems) sum += mean(problem.b) - mean(problem.a);
  return sum / as_double(problems.size());
}

Band difference_band(std::span<const PairedProblem> problems, uint64_t seed, size_t resamples) {
  RandomStream random("difference", seed, 0);
  std::vector<double> results, drawn;
  for (size_t round = 0; round < resamples; ++round) {
    double sum = 0;
    for (const PairedProblem& problem : problems) {
      draw_with_replacement(problem.b, random, drawn);
      sum += mean(drawn);
      draw_with_replacement(problem.a, random, drawn);
      sum -= mean(drawn);
    }
    results.push_back(sum / as_double(problems.size()));
  }
  return band_of(std::move(results));
}

// How many ways there are to deal a problem's samples to the two runs; kMostDeals + 1 when there are more than that.
size_t count_deals(const PairedProblem& problem) {
  const size_t n = problem.a.size() + problem.b.size();
  const size_t k = std::min(problem.a.size(), problem.b.size());
  double deals = 1;
  for (size_t i = 1; i <= k && deals <= as_double(kMostDeals); ++i) deals *= as_double(n - k + i) / as_double(i);
  return deals > as_double(kMostDeals) ? kMostDeals + 1 : static_cast<size_t>(std::llround(deals));
}

// The difference of a problem for each deal.
std::vector<double> all_deals(const PairedProblem& problem) {
  std::vector<double> pool = problem.a;
  pool.insert(pool.end(), problem.b.begin(), problem.b.end());
  const double total = std::accumulate(pool.begin(), pool.end(), 0.0);
  const size_t n_a = problem.a.size(), n_b = problem.b.size();
  std::vector<bool> is_a(pool.size(), false);
  std::fill(is_a.begin(), is_a.begin() + static_cast<std::ptrdiff_t>(n_a), true);
  std::vector<double> differences;
  do {
    double sum_a = 0;
    for (size_t i = 0; i < pool.size(); ++i) sum_a += is_a[i] ? pool[i] : 0;
    differences.push_back((total - sum_a) / as_double(n_b) - sum_a / as_double(n_a));
  } while (std::prev_permutation(is_a.begin(), is_a.end()));
  return differences;
}

// Sums over problems of one deal each, all of them.
std::vector<double> all_sums(std::span<const PairedProblem> problems) {
  std::vector<double> sums = {0};
  for (const PairedProblem& problem : problems) {
    std::vector<double> next;
    for (const double deal : all_deals(problem))
      for (const double sum : sums) next.push_back(sum + deal);
    sums = std::move(next);
  }
  return sums;
}

double random_sum(std::span<const PairedProblem> problems, RandomStream& random) {
  double sum = 0;
  for (const PairedProblem& problem : problems) {
    std::vector<double> pool = problem.a;
    pool.insert(pool.end(), problem.b.begin(), problem.b.end());
    for (size_t i = pool.size(); i > 1; --i) std::swap(pool[i - 1], pool[random.below(i)]);
    sum += mean(std::span(pool).subspan(problem.a.size())) - mean(std::span(pool).first(problem.a.size()));
  }
  return sum;
}

}  // namespace

std::optional<RunComparison> compare_runs(std::span<const PairedProblem> problems, uint64_t seed, size_t resamples) {
  const bool has_all = std::none_of(problems.begin(), problems.end(), [](const PairedProblem& problem) {
    return problem.a.empty() || problem.b.empty();
  });
  if (problems.empty() || !has_all || resamples == 0) return std::nullopt;
  RunComparison comparison;
  comparison.difference = observed_difference(problems);
  comparison.band = difference_band(problems, seed, resamples);
  // Sums of the same numbers in another order differ in their last bits.
  const double bar = std::abs(comparison.difference) * as_double(problems.size()) * (1 - 1e-9);
  const auto is_as_large = [bar](double sum) { return std::abs(sum) >= bar - 1e-12; };
  size_t deals = 1;
  for (const PairedProblem& problem : problems) deals = std::min(deals * count_deals(problem), kMostDeals + 1);
  comparison.is_exact = deals <= kMostDeals;
  if (comparison.is_exact) {
    const std::vector<double> sums = all_sums(problems);
    const auto large = static_cast<size_t>(std::count_if(sums.begin(), sums.end(), is_as_large));
    comparison.p_value = as_double(large) / as_double(sums.size());
    return comparison;
  }
  RandomStream random("deals", seed, 0);
  size_t large = 0;
  for (size_t round = 0; round < resamples; ++round) large += is_as_large(random_sum(problems, random)) ? 1 : 0;
  comparison.p_value = as_double(large + 1) / as_double(resamples + 1);
  return comparison;
}

double sign_test(size_t above, size_t below) {
  const size_t n = above + below;
  const auto log_factorial = [](size_t count) { return std::lgamma(as_double(count) + 1); };
  double tail = 0;  // P(at most min of n fair coins)
  for (size_t i = 0; i <= std::min(above, below); ++i) {
    tail += std::exp(log_factorial(n) - log_factorial(i) - log_factorial(n - i) - as_double(n) * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace hipbench::results
