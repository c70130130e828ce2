#pragma once
// Which numbers may stand in one ratio, and how far a number can be trusted. Whoever divides two times asks here first.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench::results {

// Where a time comes from. The three are never in one table or one ratio.
enum class Provenance {
  Measured,   // on a GPU, by this program
  Modelled,   // by the timing model of the emulated device
  Published,  // by somebody else, taken over with its source
};
std::string_view to_string(Provenance provenance);  // "measured", …
std::optional<Provenance> provenance_from(std::string_view name);

// What a time depends on besides the candidate. Two times may be divided by each other only if all of this is equal.
struct ComparabilityKey {
  std::string problem, track;       // "fp8_gemm", "kernel"
  std::string provenance;           // "modelled"
  std::string device;               // "emulated"; of a GPU its kind and description
  std::string toolchain;            // the compiler and its versions
  std::string baseline_sha256;      // of the source that speed-ups are relative to; empty: none
  std::string timing_model;         // its version; empty for times that are not modelled
  std::vector<std::string> shapes;  // labels; the order does not matter

  bool operator==(const ComparabilityKey&) const = default;
};

// Why the times of `a` and `b` must not be divided, in words for people; none: they may. The first difference found,
// the most basic ones first.
std::optional<std::string> why_not_comparable(const ComparabilityKey& a, const ComparabilityKey& b);

// The compiler's part of an evaluation's toolchain, whose words end with the timing model where there are times.
std::string compiler_of(const std::string& toolchain);

// Results that are shown, but not ranked, and why: "ran without a sandbox". Empty: ranked.
std::string why_unranked(bool sandboxed, bool memory_checks);

// ---- Trust ----

// How far the timing model is to be trusted, from its validation (docs/timing-model.md). Never an A/A comparison: that
// is zero for a model, and would look like precision.
struct Calibration {
  bool is_calibrated = false;              // this problem's kind of kernel, with this version of the model
  double median_error = 0, p90_error = 0;  // relative, of single times
  std::string note;                        // a sentence for people
};
Calibration calibration_of(std::string_view problem, std::string_view timing_model);
// How often two kernels of one shape whose modelled times are at least `ratio` (1 or more) apart were measured in the
// same order, in the validation's held-out pairs.
double same_order_share(double ratio);

// What stands beside a ratio: for a measured one its A/A noise floor, for a modelled one the model's calibration.
// `noise_floor`: 0.02 = 2 %; none: it was not taken.
std::string trust_note(Provenance provenance, std::string_view problem, std::string_view timing_model,
                       std::optional<double> noise_floor);
// Whether a measured ratio is farther from 1 than its noise floor. A ratio without a noise floor says nothing.
bool is_above_noise(double ratio, std::optional<double> noise_floor);

}  // namespace hipbench::results
