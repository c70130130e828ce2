#include "evaluator/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/mi300x_rates.hpp"
#include "problems/random.hpp"

namespace hipbench {

namespace {

// Beyond three quartile distances from the quartiles lies what J. W. Tukey (Exploratory Data Analysis, 1977) calls far
// out.
constexpr double kFarOut = 3;
// Added to the calibrated margin: what an interrupt may take, and that the two clocks do not tick exactly alike.
constexpr double kInterruptUs = 2, kClockDrift = 0.002;
// Events tick at 100 MHz.
constexpr double kEventTickUs = 0.01;
// How much longer reading the flushed canary takes at least. From HBM it takes about twice as long.
constexpr double kColdOverCached = 1.3;
constexpr int kCachedReadings = 8;
// Calls without a result count as slower than all others; with more of them than this part there is no time at all.
constexpr double kMostWithoutResult = 0.1;
constexpr double kNoResult = std::numeric_limits<double>::infinity();

double overhead_of(const ClockReadings& clocks) { return clocks.wall_us - clocks.events_us; }

bool too_many(size_t part, size_t all) {
  return static_cast<double>(part) > kMostWithoutResult * static_cast<double>(all);
}

struct Turn {
  Subject subject;
  bool repeat;
};

class Measuring {
 public:
  Measuring(TimedDevice& device, const MeasureOptions& options) : device_(device), options_(options) {}

  Measured run() {
    std::optional<Verdict> ended = calibrate();
    if (!ended) ended = take_samples();
    if (!ended) ended = check_clocks();
    if (!ended) summarise_samples();
    return {ended ? std::move(*ended) : Verdict::pass(), std::move(result_)};
  }

 private:
  // Before any of the candidate's code has run.
  std::optional<Verdict> calibrate() {
    const Result<std::vector<double>> overheads = time_nothing();
    if (!overheads) return Verdict::our_fault(overheads.error());
    const Summary summary = summarise(*overheads);
    const double reach = kFarOut * (summary.upper_quartile - summary.lower_quartile) + kInterruptUs;
    result_.calibration.least_overhead_us = summary.lower_quartile - reach;
    result_.calibration.most_overhead_us = summary.upper_quartile + reach;
    double cached = kNoResult;
    for (int k = 0; k <= kCachedReadings; ++k) {
      const Result<double> reading = device_.read_canary_us(kCanaryBytes);
      if (!reading) return Verdict::our_fault(reading.error());
      if (k > 0) cached = std::min(cached, *reading);  // the first fills the caches
    }
    result_.calibration.cached_canary_us = cached;
    return std::nullopt;
  }

  Result<std::vector<double>> time_nothing() {
    std::vector<double> overheads;
    for (int k = 0; k < kCalibrationCalls; ++k) {
      TRY(device_.wait_until_idle());
      overheads.push_back(overhead_of(TRY(device_.time_nothing())));
    }
    return overheads;
  }

  std::optional<Verdict> take_samples() {
    // The baseline first: while it starts, no code of the candidate has run.
    for (const Subject subject : {Subject::Baseline, Subject::Candidate}) {
      if (subject == Subject::Baseline && !options_.with_baseline) continue;
      if (std::optional<Verdict> failed = device_.begin(subject)) return blamed(subject, std::move(*failed));
    }
    result_.telemetry.push_back(device_.telemetry());
    for (int round = 0; round < options_.warm_up_rounds + options_.rounds; ++round) {
      for (const Turn& turn : turns_of(round)) {
        Result<std::optional<Verdict>> failed = sample(round, turn);
        if (!failed) return Verdict::our_fault(failed.error());
        if (*failed) return blamed(turn.subject, std::move(**failed));
      }
      result_.telemetry.push_back(device_.telemetry());
    }
    return std::nullopt;
  }

  // In a secret order, so that neither drift nor what ran just before favours anybody.
  std::vector<Turn> turns_of(int round) const {
    std::vector<Turn> turns = {{Subject::Candidate, false}};
    if (options_.with_baseline) turns.push_back({Subject::Baseline, false});
    turns.push_back({options_.with_baseline ? Subject::Baseline : Subject::Candidate, true});
    RandomStream random("turns", options_.seed, static_cast<uint64_t>(round));
    for (size_t k = turns.size(); k > 1; --k) std::swap(turns[k - 1], turns[random.below(k)]);
    return turns;
  }

  // One call. Every one takes exactly these steps, so that the candidate cannot tell a warm-up from one that counts.
  Result<std::optional<Verdict>> sample(int round, const Turn& turn) {
    const uint64_t call = result_.samples.size();
    TRY(device_.wait_until_idle());
    TRY(device_.prepare(turn.subject, call));
    TRY(device_.read_canary_us(kCanaryBytes));  // into the caches, behind the inputs
    TRY(device_.flush_caches(kFlushBytes));
    TimedSample sample{
        .round = round, .warm_up = round < options_.warm_up_rounds, .subject = turn.subject, .repeat = turn.repeat};
    sample.canary_us = TRY(device_.read_canary_us(kCanaryBytes));
    TRY(device_.wait_until_idle());
    std::variant<ClockReadings, Verdict> timed = device_.time(turn.subject);
    if (Verdict* failed = std::get_if<Verdict>(&timed)) return std::optional(std::move(*failed));
    sample.clocks = std::get<ClockReadings>(timed);
    sample.clocks_agree = agree(sample.clocks);
    sample.caches_were_cold = is_cold(sample.canary_us);
    result_.samples.push_back(sample);
    // A wrong result says more than an impossible time does.
    Verdict right = device_.verify(turn.subject, call);
    if (!right.passed()) return std::optional(std::move(right));
    return check_floor(sample);
  }

  bool agree(const ClockReadings& clocks) const {
    const double drift = kClockDrift * clocks.wall_us, overhead = overhead_of(clocks);
    return overhead >= result_.calibration.least_overhead_us - drift &&
           overhead <= result_.calibration.most_overhead_us + drift;
  }

  bool is_cold(double canary_us) const {
    const double fastest_from_hbm_us = static_cast<double>(kCanaryBytes) / mi300x::kPeakHbmBytes * 1e6;
    return canary_us >= fastest_from_hbm_us && canary_us >= kColdOverCached * result_.calibration.cached_canary_us;
  }

  std::optional<Verdict> check_floor(const TimedSample& sample) const {
    const double us = sample.clocks.events_us;
    if (!std::isfinite(us) || !std::isfinite(sample.clocks.wall_us) || us <= 0)
      return Verdict::our_fault(
          fmt::format("the device's clock said {} µs, the host's {} µs", us, sample.clocks.wall_us));
    if (us + kEventTickUs >= options_.floor_us) return std::nullopt;
    return Verdict{VerdictKind::Cheating,
                   fmt::format("a call took {:.3g} µs; none that does the work can take less than {:.3g} µs", us,
                               options_.floor_us),
                   fmt::format("round {}: {:.3f} µs between the events, {:.3f} µs by the clock outside; the floor is "
                               "what must at least be "
                               "computed and moved (hipbench problems show)",
                               sample.round, us, sample.clocks.wall_us)};
  }

  // What fails in a baseline is never the candidate's.
  static Verdict blamed(Subject subject, Verdict verdict) {
    if (subject == Subject::Candidate || verdict.kind == VerdictKind::Infrastructure) return verdict;
    return {VerdictKind::Infrastructure, "the baseline failed: " + verdict.reason, verdict.evidence};
  }

  template <typename Predicate>
  size_t count_samples(Predicate wanted) const {
    return static_cast<size_t>(std::count_if(result_.samples.begin(), result_.samples.end(), wanted));
  }

  // Whether there are enough calls whose two clocks agree, and if not, whose fault that is.
  std::optional<Verdict> check_clocks() {
    const size_t warm = count_samples([](const TimedSample& s) { return !s.caches_were_cold; });
    if (too_many(warm, result_.samples.size()))
      return Verdict::our_fault(fmt::format(
          "the caches are not flushed: in {} of {} calls what lay in them before was read back as fast as from them",
          warm, result_.samples.size()));
    const auto all = [&](Subject subject) {
      return count_samples([&](const TimedSample& s) { return s.subject == subject; });
    };
    const auto split = [&](Subject subject) {
      return count_samples([&](const TimedSample& s) { return s.subject == subject && !s.clocks_agree; });
    };
    const Result<std::vector<double>> overheads = time_nothing();
    if (!overheads) return Verdict::our_fault(overheads.error());
    const auto unusual = static_cast<size_t>(
        std::count_if(overheads->begin(), overheads->end(), [&](double overhead) { return !agree({0, overhead}); }));
    if (too_many(unusual, overheads->size()) || too_many(split(Subject::Baseline), all(Subject::Baseline)))
      return Verdict::our_fault(
          "this machine is too busy to time anything: its clocks disagree even on an empty kernel or on the baseline");
    if (!too_many(split(Subject::Candidate), all(Subject::Candidate))) return std::nullopt;
    return split_clocks(split(Subject::Candidate), all(Subject::Candidate));
  }

  Verdict split_clocks(size_t split, size_t all) const {
    std::vector<double> overheads;
    for (const TimedSample& sample : result_.samples)
      if (sample.subject == Subject::Candidate && !sample.clocks_agree) overheads.push_back(overhead_of(sample.clocks));
    return {
        VerdictKind::Rejected,
        fmt::format("rule `clocks`: in {} of {} calls the time on the given stream and the time until the whole device "
                    "is idle do not fit "
                    "together; order all work before the tail of the given stream, and do what takes the host long "
                    "outside of the call",
                    split, all),
        fmt::format(
            "they differ by {:.3g} µs in the median of these calls; an empty kernel of ours by {:.3g} to {:.3g} µs",
            summarise(overheads).median, result_.calibration.least_overhead_us, result_.calibration.most_overhead_us)};
  }

  // One time a round; infinite where there is no result.
  std::vector<double> times_of(Subject subject, bool repeat) const {
    std::vector<double> times;
    for (const TimedSample& sample : result_.samples)
      if (!sample.warm_up && sample.subject == subject && sample.repeat == repeat)
        times.push_back(sample.counts() ? sample.clocks.events_us : kNoResult);
    return times;
  }

  void summarise_samples() {
    const std::vector<double> candidate = times_of(Subject::Candidate, false);
    result_.without_result = static_cast<int>(std::count(candidate.begin(), candidate.end(), kNoResult));
    result_.candidate = summarise(candidate);
    const Subject twice = options_.with_baseline ? Subject::Baseline : Subject::Candidate;
    const std::vector<double> first = times_of(twice, false), again = times_of(twice, true);
    result_.noise_floor = noise_floor(first, again);
    if (!options_.with_baseline) return;
    std::vector<double> baseline = first;
    for (size_t k = 0; k < baseline.size(); ++k) baseline[k] = (first[k] + again[k]) / 2;
    result_.baseline = summarise(baseline);
    if (const std::vector<double> speedups = ratios(baseline, candidate); !speedups.empty())
      result_.speedup = summarise(speedups);
  }

  static double noise_floor(std::span<const double> first, std::span<const double> again) {
    std::vector<double> same;
    for (size_t k = 0; k < first.size(); ++k)
      if (std::isfinite(first[k]) && std::isfinite(again[k])) same.push_back(first[k] / again[k]);
    if (same.empty()) return kNoResult;
    const Summary summary = summarise(same);
    return std::max(summary.median_high, 1 / summary.median_low) - 1;
  }

  TimedDevice& device_;
  const MeasureOptions& options_;
  Measurement result_;
};

}  // namespace

Measured measure(TimedDevice& device, const MeasureOptions& options) {
  CHECK(options.rounds > 0 && options.warm_up_rounds >= 0);
  return Measuring(device, options).run();
}

}  // namespace hipbench
