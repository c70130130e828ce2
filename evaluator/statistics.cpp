#include "evaluator/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "common/result.hpp"

namespace hipbench {

std::optional<MedianRanks> median_ranks(size_t count, double confidence) {
  // From the inside out: `outside` is the probability of fewer than `low` samples below the median. In logarithms,
  // since 2^-n is no double for large n.
  const auto n = static_cast<double>(count);
  double outside = 0;
  std::optional<MedianRanks> best;
  for (size_t low = 1; 2 * low <= count; ++low) {
    const auto i = static_cast<double>(low - 1);
    outside += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
    const double coverage = 1 - 2 * outside;
    if (coverage < confidence) break;
    best = MedianRanks{low, count + 1 - low, coverage};
  }
  return best;
}

double quantile(std::span<const double> ordered, double fraction) {
  CHECK(!ordered.empty() && fraction >= 0 && fraction <= 1);
  const double place = fraction * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<size_t>(place);
  const double part = place - static_cast<double>(below);
  if (part == 0) return ordered[below];  // infinity times zero is no number
  return ordered[below] * (1 - part) + ordered[below + 1] * part;
}

Summary summarise(std::span<const double> samples, double confidence) {
  CHECK(!samples.empty());
  std::vector<double> ordered(samples.begin(), samples.end());
  std::sort(ordered.begin(), ordered.end());
  Summary summary;
  summary.count = ordered.size();
  summary.lowest = ordered.front();
  summary.highest = ordered.back();
  summary.median = quantile(ordered, 0.5);
  summary.lower_quartile = quantile(ordered, 0.25);
  summary.upper_quartile = quantile(ordered, 0.75);
  const std::optional<MedianRanks> ranks = median_ranks(ordered.size(), confidence);
  summary.median_low = ranks ? ordered[ranks->low - 1] : summary.lowest;
  summary.median_high = ranks ? ordered[ranks->high - 1] : summary.highest;
  summary.coverage = ranks ? ranks->coverage : 0;
  return summary;
}

std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators) {
  CHECK(numerators.size() == denominators.size());
  std::vector<double> found;
  for (size_t k = 0; k < numerators.size(); ++k)
    if (std::isfinite(numerators[k])) found.push_back(numerators[k] / denominators[k]);
  return found;
}

}  // namespace hipbench
