#pragma once
// How a call is timed on a real device: the protocol and what follows from its samples. Everything a number depends on
// is fixed before the first call, every call takes the same path, and a call whose clocks or caches cannot be trusted
// has no result. docs/measurement.md says why. It knows no device: evaluator/timed_device.hpp does the steps.

#include <cstdint>
#include <optional>
#include <vector>

#include "evaluator/statistics.hpp"
#include "evaluator/timed_device.hpp"

namespace hipbench {

struct MeasureOptions {
  int rounds = 50;         // that count; in each, candidate and baseline take turns in a secret order
  int warm_up_rounds = 5;  // the same before them, but not counted; nobody but us knows which is which
  bool with_baseline = true;
  uint64_t seed = 0;    // secret
  double floor_us = 0;  // no call can be faster (Roofs::floor_us)
};

// One call, as it was read.
struct TimedSample {
  int round = 0;
  bool warm_up = false;
  Subject subject = Subject::Candidate;
  bool repeat = false;  // the second of its subject in the round: the other half of the A/A comparison
  ClockReadings clocks = {};
  double canary_us = 0;       // reading what lay in the caches before the flush
  bool clocks_agree = false;  // within the calibrated margin
  bool caches_were_cold = false;
  bool counts() const { return clocks_agree && caches_were_cold; }
};

// What the machine's clocks and caches are like, found before the first call without the candidate.
struct Calibration {
  double least_overhead_us = 0, most_overhead_us = 0;  // wall clock less events, of a call with nothing to hide
  double cached_canary_us = 0;                         // reading the canary from the caches
};

struct Measurement {
  Calibration calibration;
  std::vector<TimedSample> samples;  // all of them, warm-up included, in the order they were taken
  std::vector<Telemetry> telemetry;  // before the first round and after each
  int without_result = 0;            // of the candidate's counted samples
  Summary candidate;                 // event times in µs
  std::optional<Summary> baseline;
  std::optional<Summary> speedup;  // baseline over candidate, round by round
  // A/A: how far the same code is from itself. A speed-up whose confidence interval reaches into 1 ± this says nothing.
  double noise_floor = 0;
};

struct Measured {
  Verdict verdict;          // passed: the measurement holds
  Measurement measurement;  // whatever was read up to then
};
Measured measure(TimedDevice& device, const MeasureOptions& options);

// Well above what the chip can keep: 8 × 4 MB of L2 and 256 MB of Infinity Cache (CDNA 3 white paper).
inline constexpr uint64_t kFlushBytes = uint64_t{1} << 30;
// Fits into the Infinity Cache as a whole, and takes long enough to read that a launch's own time does not hide the
// difference.
inline constexpr uint64_t kCanaryBytes = uint64_t{128} << 20;
inline constexpr int kCalibrationCalls = 64;

}  // namespace hipbench
