#pragma once
// What a set of times says. Only order statistics: they assume nothing of how times are distributed, and a few
// interrupted samples move them little. A sample without a result is infinite, so that it counts as slower than every
// other.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hipbench {

inline constexpr double kConfidence = 0.95;

// Ranks, counted from 1, of the ordered samples between which the median of what they were drawn from lies with at
// least the wanted probability. Whether a sample lies below the median is a fair coin, so the number below it is
// binomial and
//   P(x_(low) <= median < x_(high)) = sum over i from low to high - 1 of C(n, i) / 2^n
// whatever the distribution. Source: W. J. Conover, Practical Nonparametric Statistics, 3rd ed. 1999, §3.2 (confidence
// interval for a quantile); J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010,
// theorem 2.1.
struct MedianRanks {
  size_t low = 0, high = 0;
  double coverage = 0;  // the exact probability, at least the one that was wanted
};
// The narrowest such pair that lies evenly. None: too few samples for that confidence (for 0.95 it takes 6).
std::optional<MedianRanks> median_ranks(size_t count, double confidence);

struct Summary {
  size_t count = 0;
  double lowest = 0, highest = 0;
  double median = 0;
  double lower_quartile = 0, upper_quartile = 0;  // the spread: half of the samples lie between them
  double median_low = 0, median_high = 0;         // confidence interval of the median
  double coverage = 0;  // its exact confidence; 0: too few samples, the interval holds all of them
};
// Of at least one sample.
Summary summarise(std::span<const double> samples, double confidence = kConfidence);

// The value below which the part `fraction` of the ordered samples lies, interpolated between neighbours (type 7 of R.
// J. Hyndman and Y. Fan, Sample Quantiles in Statistical Packages, The American Statistician 50, 1996).
double quantile(std::span<const double> ordered, double fraction);

// Ratios of samples that were taken side by side: numerators[k] over denominators[k]. Pairs without a numerator are
// left out; one without a denominator counts as 0.
std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators);

}  // namespace hipbench
