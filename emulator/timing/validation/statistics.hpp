#pragma once
// How well modelled times agree with measured ones.

#include <string>
#include <vector>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct Agreement {
  std::string shape;    // "1024x4608x7168"
  std::string variant;  // tile parameters
  bool fitted = false;  // was looked at while constants were chosen
  f64 measured_us = 0, modelled_us = 0;
  f64 error() const;  // |modelled - measured| / measured
};

// The value below which the share `p` of the values lies.
f64 percentile(std::vector<f64> values, f64 p);
// Spearman's rank correlation; ties share their rank. NaN for fewer than three.
f64 rank_correlation(const std::vector<f64>& a, const std::vector<f64>& b);
// The measured time of the one that the model takes for the best, relative to the best measured.
f64 regret(const std::vector<Agreement>& of_shape);
// exp(mean(log(modelled / measured))).
f64 bias(const std::vector<Agreement>& points);

// Of all pairs of one shape whose modelled times differ by the factor at least: how many, and the share that was
// measured in the same order.
struct PairOrder {
  f64 factor = 1;
  u64 pairs = 0;
  f64 same_order = 0;
};
PairOrder pair_order(const std::vector<Agreement>& points, f64 factor);

// What scripts/validate-timing prints.
std::string agreement_report(const std::vector<Agreement>& points);
// A figure: modelled over measured, both logarithmic, one colour a shape.
std::string scatter_svg(const std::vector<Agreement>& points);
// A figure: how the errors are distributed.
std::string error_svg(const std::vector<Agreement>& points);

}  // namespace hipbench::emulator
