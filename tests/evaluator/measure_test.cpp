// The protocol of timing, with a scripted device that keeps a diary: a chip with caches, a stream that events bracket
// and work beside it.

#include "evaluator/measure.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "problems/random.hpp"

namespace hipbench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What a subject does in one of its calls, by their number.
struct Script {
  double stream_us = 100;  // between the events
  double beside_us = 0;    // on other streams, until after the tail of the given one
  bool right = true;
};

class ScriptedDevice final : public TimedDevice {
 public:
  using Calls = std::function<Script(uint64_t call)>;
  Calls candidate = [](uint64_t) { return Script{100}; };
  Calls baseline = [](uint64_t) { return Script{200}; };
  uint64_t cache_bytes = (256 + 32) * uint64_t{1} << 20;
  double jitter_us = 0.5;   // of the host's clock
  double interrupt_us = 0;  // added to the host's clock in every call, from the time on when samples are taken
  std::string fails;        // the step that the environment fails in
  std::vector<std::string> diary;
  std::set<uint64_t> prepared;

  std::optional<Verdict> begin(Subject subject) override {
    note("begin", subject);
    return std::nullopt;
  }
  Result<void> wait_until_idle() override { return step("idle"); }
  Result<void> prepare(Subject subject, uint64_t call) override {
    EXPECT_TRUE(prepared.insert(call).second) << "the same inputs twice";
    note("prepare", subject);
    cached_ = false;
    return step("");
  }
  Result<void> flush_caches(uint64_t bytes) override {
    if (bytes > cache_bytes) cached_ = false;
    return step("flush");
  }
  Result<double> read_canary_us(uint64_t bytes) override {
    TRY(step("canary"));
    const double rate = cached_ ? 12e12 : 4.2e12;
    cached_ = bytes <= cache_bytes;
    return 6 + static_cast<double>(bytes) / rate * 1e6;
  }
  Result<ClockReadings> time_nothing() override {
    TRY(step("nothing"));
    return ClockReadings{3, 3 + overhead() + (sampling_ ? interrupt_us : 0)};
  }
  std::variant<ClockReadings, Verdict> time(Subject subject) override {
    note("time", subject);
    sampling_ = true;
    const Script script = next_call(subject);
    right_ = script.right;
    return ClockReadings{script.stream_us, script.stream_us + script.beside_us + overhead() + interrupt_us};
  }
  Verdict verify(Subject subject, uint64_t) override {
    note("verify", subject);
    return right_ ? Verdict::pass() : Verdict{VerdictKind::WrongResult, "wrong", {}};
  }
  Telemetry telemetry() override {
    return {.core_mhz = 2100, .memory_mhz = {}, .power_watts = 500, .hottest_celsius = {}};
  }

 private:
  Script next_call(Subject subject) {
    const uint64_t number = calls_[subject]++;
    return subject == Subject::Candidate ? candidate(number) : baseline(number);
  }
  Result<void> step(const std::string& name) {
    if (!name.empty()) diary.push_back(name);
    if (!name.empty() && name == fails) return Error{"the device is gone"};
    return {};
  }
  void note(const std::string& what, Subject subject) {
    diary.push_back(what + (subject == Subject::Candidate ? " candidate" : " baseline"));
  }
  double overhead() { return 9 + jitter_us * (static_cast<double>(random_.below(1000)) / 1000); }

  RandomStream random_{"scripted device", 1, 0};
  std::map<Subject, uint64_t> calls_;
  bool cached_ = false, right_ = true, sampling_ = false;
};

MeasureOptions few_rounds() {
  return {.rounds = 20, .warm_up_rounds = 3, .with_baseline = true, .seed = 7, .floor_us = 10};
}

// The whole-machine verdict of a candidate that does `calls`.
Measured with_candidate(ScriptedDevice::Calls calls, MeasureOptions options = few_rounds()) {
  ScriptedDevice device;
  device.candidate = std::move(calls);
  return measure(device, options);
}

TEST(Measure, AnHonestCandidateIsTimedWithSpreadIntervalAndSpeedUp) {
  const Measured measured = with_candidate([](uint64_t call) { return Script{100 + static_cast<double>(call % 5)}; });
  ASSERT_TRUE(measured.verdict.passed()) << measured.verdict.reason << measured.verdict.evidence;
  const Measurement& m = measured.measurement;
  EXPECT_EQ(m.candidate.count, 20u);
  EXPECT_NEAR(m.candidate.median, 102, 1);
  EXPECT_GE(m.candidate.coverage, 0.95);
  EXPECT_LE(m.candidate.median_low, m.candidate.median);
  EXPECT_GE(m.candidate.median_high, m.candidate.median);
  ASSERT_TRUE(m.baseline && m.speedup);
  EXPECT_NEAR(m.baseline->median, 200, 1e-9);
  EXPECT_NEAR(m.speedup->median, 200. / 102, 0.03);
  EXPECT_EQ(m.without_result, 0);
  EXPECT_NEAR(m.noise_floor, 0, 1e-12);
}

TEST(Measure, EverySampleIsKeptWarmUpAndRepeatsIncluded) {
  const Measurement m = with_candidate([](uint64_t) { return Script{}; }).measurement;
  ASSERT_EQ(m.samples.size(), size_t{23 * 3});
  EXPECT_EQ(std::count_if(m.samples.begin(), m.samples.end(), [](const TimedSample& s) { return s.warm_up; }), 3 * 3);
  EXPECT_EQ(m.telemetry.size(), size_t{1 + 23});
  EXPECT_EQ(m.telemetry.back().core_mhz, 2100);
  for (const TimedSample& sample : m.samples) {
    EXPECT_GT(sample.clocks.wall_us, sample.clocks.events_us);
    EXPECT_GT(sample.canary_us, m.calibration.cached_canary_us);
  }
}

TEST(Measure, EveryCallTakesTheSameSteps) {
  ScriptedDevice device;
  ASSERT_TRUE(measure(device, few_rounds()).verdict.passed());
  int calls = 0;
  for (size_t k = 0; k < device.diary.size(); ++k) {
    if (!device.diary[k].starts_with("prepare ")) continue;
    const std::string subject = device.diary[k].substr(8);
    const std::vector<std::string> steps = {"idle", "prepare " + subject, "canary",           "flush", "canary",
                                            "idle", "time " + subject,    "verify " + subject};
    ASSERT_LE(k - 1 + steps.size(), device.diary.size());
    const auto from = device.diary.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    EXPECT_EQ(std::vector<std::string>(from, from + static_cast<std::ptrdiff_t>(steps.size())), steps)
        << "call " << calls;
    ++calls;
  }
  EXPECT_EQ(calls, 23 * 3);
}

TEST(Measure, TheCandidatesCodeRunsOnlyAfterCalibrationAndAfterTheBaselineHasStarted) {
  ScriptedDevice device;
  ASSERT_TRUE(measure(device, few_rounds()).verdict.passed());
  const auto at = [&](const std::string& step) { return std::find(device.diary.begin(), device.diary.end(), step); };
  EXPECT_LT(at("begin baseline"), at("begin candidate"));
  EXPECT_EQ(std::count(device.diary.begin(), at("begin candidate"), "nothing"), kCalibrationCalls);
  EXPECT_EQ(std::count(device.diary.begin(), device.diary.end(), "begin candidate"), 1);
}

TEST(Measure, TheOrderWithinARoundIsSecretAndEvenlySpread) {
  MeasureOptions options = few_rounds();
  options.rounds = 600;
  const auto order = [&](uint64_t seed) {
    options.seed = seed;
    const Measurement m = with_candidate([](uint64_t) { return Script{}; }, options).measurement;
    std::vector<size_t> places;  // of the candidate
    for (size_t k = 0; k < m.samples.size(); ++k)
      if (m.samples[k].subject == Subject::Candidate) places.push_back(k % 3);
    return places;
  };
  const std::vector<size_t> one = order(1);
  EXPECT_NE(one, order(2));
  EXPECT_EQ(one, order(1));
  for (size_t place = 0; place < 3; ++place)
    EXPECT_NEAR(static_cast<double>(std::count(one.begin(), one.end(), place)), 201, 50) << place;
}

TEST(Measure, StallingInTheWarmUpChangesNeitherTheNumberOfCallsNorTheResult) {
  const Measured measured = with_candidate([](uint64_t call) { return Script{call < 3 ? 1e6 : 100}; });
  ASSERT_TRUE(measured.verdict.passed()) << measured.verdict.reason;
  EXPECT_EQ(measured.measurement.candidate.count, 20u);
  EXPECT_NEAR(measured.measurement.candidate.highest, 100, 1e-9);
}

TEST(Measure, WorkBesideTheGivenStreamIsSeenByTheOutsideClock) {
  const Measured measured = with_candidate([](uint64_t) { return Script{20, 80}; });
  EXPECT_EQ(measured.verdict.kind, VerdictKind::Rejected);
  EXPECT_THAT(measured.verdict.reason, StartsWith("rule `clocks`: in 23 of 23 calls"));
  EXPECT_THAT(measured.verdict.evidence, HasSubstr("differ by 89"));
}

TEST(Measure, EventsLongerThanTheOutsideClockAreNoResultEither) {
  EXPECT_EQ(with_candidate([](uint64_t) { return Script{200, -100}; }).verdict.kind, VerdictKind::Rejected);
}

TEST(Measure, AFewInterruptedCallsCountAsSlowAndNoMore) {
  const Measured measured =
      with_candidate([](uint64_t call) { return Script{100, call == 10 || call == 15 ? 300. : 0}; });
  ASSERT_TRUE(measured.verdict.passed()) << measured.verdict.reason;
  EXPECT_EQ(measured.measurement.without_result, 2);
  EXPECT_TRUE(std::isinf(measured.measurement.candidate.highest));
  EXPECT_NEAR(measured.measurement.candidate.median, 100, 1e-9);
  EXPECT_EQ(measured.measurement.speedup->lowest, 0);
}

TEST(Measure, ABusyMachineIsNotTheCandidatesFault) {
  ScriptedDevice device;
  device.interrupt_us = 50;  // after the calibration
  const Measured measured = measure(device, few_rounds());
  EXPECT_EQ(measured.verdict.kind, VerdictKind::Infrastructure);
  EXPECT_THAT(measured.verdict.reason, HasSubstr("too busy"));
}

TEST(Measure, ATimeBelowTheFloorIsCheatingNeverAScore) {
  const Measured once = with_candidate([](uint64_t call) { return Script{call == 17 ? 9.9 : 100}; });
  EXPECT_EQ(once.verdict.kind, VerdictKind::Cheating);
  EXPECT_THAT(once.verdict.reason, HasSubstr("9.9 µs; none that does the work can take less than 10 µs"));
  EXPECT_FALSE(once.measurement.samples.empty()) << "the samples are the evidence";
  EXPECT_EQ(with_candidate([](uint64_t) { return Script{9.995}; }).verdict.kind, VerdictKind::Passed)
      << "a tick of the clock";
}

TEST(Measure, AClockThatSaysNothingIsOurFault) {
  for (const double reading : {0., -5., std::nan(""), HUGE_VAL})
    EXPECT_EQ(with_candidate([&](uint64_t) { return Script{reading}; }).verdict.kind, VerdictKind::Infrastructure)
        << reading;
}

TEST(Measure, EveryTimedOutputIsVerified) {
  for (const uint64_t wrong : {0u, 11u, 22u})
    EXPECT_EQ(with_candidate([&](uint64_t call) { return Script{100, 0, call != wrong}; }).verdict.kind,
              VerdictKind::WrongResult)
        << wrong;
}

TEST(Measure, AFlushThatDoesNotFlushGivesNoTimes) {
  ScriptedDevice device;
  device.cache_bytes = uint64_t{2} << 30;  // more than is flushed
  const Measured measured = measure(device, few_rounds());
  EXPECT_EQ(measured.verdict.kind, VerdictKind::Infrastructure);
  EXPECT_THAT(measured.verdict.reason, StartsWith("the caches are not flushed: in 69 of 69 calls"));
}

TEST(Measure, ACanaryThatSeesNoDifferenceGivesNoTimes) {
  ScriptedDevice device;
  device.cache_bytes = 0;  // the canary is never cached, so that nothing shows whether the flush works
  EXPECT_EQ(measure(device, few_rounds()).verdict.kind, VerdictKind::Infrastructure);
}

TEST(Measure, TheFlushIsWellAboveWhatTheChipCanKeep) { EXPECT_GE(kFlushBytes, 3 * ((256 + 32) * uint64_t{1} << 20)); }

TEST(Measure, NoiseShowsInTheDistanceOfTheBaselineFromItself) {
  ScriptedDevice device;
  RandomStream random("noise", 3, 0);
  device.baseline = [&](uint64_t) {
    return Script{200 * (1 + 0.1 * (static_cast<double>(random.below(2000)) / 1000 - 1))};
  };
  const Measured measured = measure(device, few_rounds());
  ASSERT_TRUE(measured.verdict.passed());
  EXPECT_GT(measured.measurement.noise_floor, 0.005);
  EXPECT_LT(measured.measurement.noise_floor, 0.15);
}

TEST(Measure, DriftThatBothShareDoesNotMoveTheSpeedUp) {
  ScriptedDevice device;  // it gets hotter and slower from call to call, to a half of its speed
  device.candidate = [](uint64_t call) { return Script{100 * (1 + static_cast<double>(call) / 23)}; };
  device.baseline = [](uint64_t call) { return Script{200 * (1 + static_cast<double>(call) / 46)}; };
  const Measured measured = measure(device, few_rounds());
  ASSERT_TRUE(measured.verdict.passed());
  EXPECT_NEAR(measured.measurement.speedup->median, 2, 0.03);
  EXPECT_GT(measured.measurement.candidate.upper_quartile, 1.2 * measured.measurement.candidate.lower_quartile);
}

TEST(Measure, WithoutABaselineTheCandidateIsComparedWithItself) {
  MeasureOptions options = few_rounds();
  options.with_baseline = false;
  const Measured measured = with_candidate([](uint64_t) { return Script{}; }, options);
  ASSERT_TRUE(measured.verdict.passed());
  EXPECT_EQ(measured.measurement.samples.size(), size_t{23 * 2});
  EXPECT_FALSE(measured.measurement.speedup);
  EXPECT_EQ(measured.measurement.candidate.count, 20u);
  EXPECT_NEAR(measured.measurement.noise_floor, 0, 1e-12);
}

TEST(Measure, ABaselineThatFailsIsNeverTheCandidatesFault) {
  ScriptedDevice device;
  device.baseline = [](uint64_t call) { return Script{200, 0, call != 5}; };
  const Measured wrong = measure(device, few_rounds());
  EXPECT_EQ(wrong.verdict.kind, VerdictKind::Infrastructure);
  EXPECT_THAT(wrong.verdict.reason, HasSubstr("the baseline failed: wrong"));
  ScriptedDevice slow;
  slow.baseline = [](uint64_t) { return Script{200, 500}; };
  EXPECT_EQ(measure(slow, few_rounds()).verdict.kind, VerdictKind::Infrastructure);
}

TEST(Measure, AStepThatFailsIsInfrastructure) {
  for (const char* step : {"idle", "flush", "canary", "nothing"}) {
    ScriptedDevice device;
    device.fails = step;
    const Measured measured = measure(device, few_rounds());
    EXPECT_EQ(measured.verdict.kind, VerdictKind::Infrastructure) << step;
    EXPECT_EQ(measured.verdict.reason, "the device is gone") << step;
  }
}

// As the amdgpu driver lays its sensors out, with an MI300X's values.
TEST(Telemetry, ReadsWhatTheDriverShows) {
  const std::filesystem::path device = ::testing::TempDir() + "hipbench-telemetry";
  std::filesystem::create_directories(device / "hwmon/hwmon3");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(device / "hwmon/hwmon3" / name) << text;
  };
  write("freq1_input", "2104000000\n");
  write("temp1_input", "41000\n");
  write("temp2_input", "48000\n");
  write("power1_average", "551000000\n");
  write("name", "amdgpu\n");
  const Telemetry telemetry = read_telemetry(device);
  std::filesystem::remove_all(device);
  EXPECT_EQ(telemetry.core_mhz, 2104);
  EXPECT_FALSE(telemetry.memory_mhz);
  EXPECT_EQ(telemetry.power_watts, 551);
  EXPECT_EQ(telemetry.hottest_celsius, 48);
}

TEST(Telemetry, IsEmptyWhereTheSystemTellsNothing) {
  const Telemetry telemetry = read_telemetry("/nonexistent");
  EXPECT_FALSE(telemetry.core_mhz || telemetry.memory_mhz || telemetry.power_watts || telemetry.hottest_celsius);
}

}  // namespace
}  // namespace hipbench
