#include "results/comparability.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hipbench::results {

namespace {

constexpr std::array<std::string_view, 3> kProvenances = {"measured", "modelled", "published"};

// What docs/timing-model.md reports of. A model whose constants changed since is another one until it is validated
// again: whoever does that brings these up to date. (Validated as a59e67ac, which had one more constant that nothing
// read.)
constexpr std::string_view kValidatedModel = "mi300x-1.7012c48a";
constexpr std::array<std::string_view, 1> kValidatedProblems = {"fp8_gemm"};
constexpr double kMedianError = 0.200, kP90Error = 0.431;

// Held-out pairs of one shape: modelled at least so far apart, measured in the same order.
struct PairAgreement {
  double ratio, share;
};
constexpr std::array kPairAgreement = {PairAgreement{1.0, 0.830}, PairAgreement{1.1, 0.875}, PairAgreement{1.25, 0.914},
                                       PairAgreement{1.5, 0.981}, PairAgreement{2.0, 1.0}};

std::string named(std::string_view value) { return value.empty() ? "none" : fmt::format("\"{}\"", value); }

// The first twelve digits are enough to tell two hashes apart.
std::string short_hash(std::string_view sha256) { return sha256.empty() ? "none" : std::string(sha256.substr(0, 12)); }

std::vector<std::string> sorted(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

std::optional<std::string> why_shapes_differ(const ComparabilityKey& a, const ComparabilityKey& b) {
  const std::vector<std::string> of_a = sorted(a.shapes), of_b = sorted(b.shapes);
  if (of_a == of_b) return std::nullopt;
  std::vector<std::string> only;
  std::set_symmetric_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(only));
  return fmt::format("they are of different shapes: {} and {} of them, and only one side has {}", of_a.size(),
                     of_b.size(), only.front());
}

}  // namespace

std::string_view to_string(Provenance provenance) { return kProvenances[static_cast<size_t>(provenance)]; }

std::optional<Provenance> provenance_from(std::string_view name) {
  for (size_t i = 0; i < kProvenances.size(); ++i)
    if (kProvenances[i] == name) return static_cast<Provenance>(i);
  return std::nullopt;
}

std::optional<std::string> why_not_comparable(const ComparabilityKey& a, const ComparabilityKey& b) {
  const auto differ = [](std::string_view what, std::string_view one, std::string_view other) {
    return fmt::format("{}: {} and {}", what, named(one), named(other));
  };
  if (a.problem != b.problem) return differ("they are of different problems", a.problem, b.problem);
  if (a.track != b.track) return differ("they are of different tracks", a.track, b.track);
  if (a.provenance != b.provenance) return differ("their times are of different kinds", a.provenance, b.provenance);
  if (a.device != b.device) return differ("they ran on different devices", a.device, b.device);
  if (a.timing_model != b.timing_model)
    return differ("their times are from different versions of the timing model", a.timing_model, b.timing_model);
  if (a.toolchain != b.toolchain) return differ("they were compiled by different compilers", a.toolchain, b.toolchain);
  if (a.baseline_sha256 != b.baseline_sha256)
    return fmt::format("their speed-ups are over different baselines: {} and {}", short_hash(a.baseline_sha256),
                       short_hash(b.baseline_sha256));
  return why_shapes_differ(a, b);
}

std::string compiler_of(const std::string& toolchain) { return toolchain.substr(0, toolchain.find("; timing model ")); }

std::string why_unranked(bool sandboxed, bool memory_checks) {
  if (!sandboxed) return "ran without a sandbox (--unsafe-no-sandbox)";
  if (memory_checks) return "ran with memory checks, without times";
  return "";
}

Calibration calibration_of(std::string_view problem, std::string_view timing_model) {
  Calibration calibration;
  if (timing_model != kValidatedModel) {
    calibration.note = fmt::format("timing model {}: not validated (version {} was)",
                                   timing_model.empty() ? "not recorded" : timing_model, kValidatedModel);
    return calibration;
  }
  if (std::find(kValidatedProblems.begin(), kValidatedProblems.end(), problem) == kValidatedProblems.end()) {
    calibration.note = fmt::format("timing model {}: not calibrated for {}, no measured time was compared with it",
                                   timing_model, problem);
    return calibration;
  }
  calibration.is_calibrated = true;
  calibration.median_error = kMedianError;
  calibration.p90_error = kP90Error;
  calibration.note = fmt::format(
      "timing model {}: a single time is off by {:.0f} % (median) or {:.0f} % (90th percentile); of two kernels "
      "modelled at least 1.25 times apart {:.0f} % were measured in the same order",
      timing_model, 100 * kMedianError, 100 * kP90Error, 100 * same_order_share(1.25));
  return calibration;
}

double same_order_share(double ratio) {
  double share = 0.5;  // not a number: a coin
  for (const PairAgreement& known : kPairAgreement)
    if (ratio >= known.ratio) share = known.share;
  return share;
}

std::string trust_note(Provenance provenance, std::string_view problem, std::string_view timing_model,
                       std::optional<double> noise_floor) {
  switch (provenance) {
    case Provenance::Measured:
      return noise_floor ? fmt::format("A/A noise floor {:.1f} %", 100 * *noise_floor) : "A/A noise floor not taken";
    case Provenance::Modelled:
      return calibration_of(problem, timing_model).note;
    case Provenance::Published:
      return "published by others, not checked here";
  }
  return "";
}

bool is_above_noise(double ratio, std::optional<double> noise_floor) {
  if (!noise_floor || !std::isfinite(ratio) || !(ratio > 0)) return false;
  return std::max(ratio, 1 / ratio) > 1 + *noise_floor;
}

}  // namespace hipbench::results
