// A small database whose every number was worked out by hand.
#include "results/standings.hpp"

#include <gmock/gmock.h>

#include "evaluator/measure.hpp"
#include "problems/registry.hpp"
#include "results/database.hpp"
#include "results/migrations.hpp"
#include "results/run_store.hpp"
#include "results/speedups.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

constexpr const char* kModel = "mi300x-1.7012c48a";
const std::string kBaseline = "baseline source", kExpert = "expert source";

auto about(double value) { return Optional(DoubleNear(value, 1e-9)); }

// Passed on shapes "a" and "b" (which no problem lists, so that all are timed) in these times; 0: did not pass on it.
Evaluation evaluation(const std::string& source, std::vector<double> times_us) {
  Evaluation e;
  e.problem = "made_up";
  e.file = source + ".hip";
  e.source = source;
  e.shape_set = "a b";
  e.toolchain = std::string("clang 19; timing model ") + kModel;
  e.started_at = "2026-11-30T09:00:00Z";
  e.verdict = Verdict::pass();
  for (size_t i = 0; i < times_us.size(); ++i) {
    ShapeResult shape;
    shape.shape = {std::string(1, static_cast<char>('a' + i)), {static_cast<int32_t>(i)}};
    shape.verdict = Verdict::pass();
    shape.time_us = times_us[i];
    shape.timing_model = kModel;
    if (times_us[i] == 0) {
      shape.verdict = {VerdictKind::WrongResult, "wrong", ""};
      e.verdict = shape.verdict;
    }
    e.shapes.push_back(shape);
  }
  return e;
}

class StandingsTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }

  int64_t record(const Evaluation& e) {
    Result<Store> store = Store::open(file());
    return store->record(e).value();
  }
  void record_references() {
    record(evaluation(kBaseline, {40, 90}));
    record(evaluation(kExpert, {10, 10}));  // 4x and 9x: S = 6
  }
  Standings read() const {
    StandingsOptions options;
    options.references = [](const std::string& problem) {
      ReferenceHashes hashes;
      if (problem != "made_up") return hashes;
      hashes.baseline = sha256_hex(kBaseline);
      hashes.expert = sha256_hex(kExpert);
      hashes.names = {{hashes.baseline, "baseline"}, {hashes.expert, "expert"}};
      return hashes;
    };
    Result<Standings> standings = read_standings(file(), options);
    if (!standings) ADD_FAILURE() << standings.error().message;
    return standings ? std::move(standings).value() : Standings();
  }
  // A run of three samples on made_up.
  int64_t begin_run(const std::string& name, const std::string& model) {
    Result<RunStore> runs = RunStore::open(file());
    return runs
        ->begin_run(name, R"({"problems": [{"id": "made_up", "shape_set": "a b"}], "samples": 3, "track": "kernel"})",
                    "refine", model)
        ->id;
  }
  void record_turn(int64_t run, int64_t sample, int64_t turn, const Evaluation& e, int64_t nano_usd,
                   bool aided = false) {
    Result<RunStore> runs = RunStore::open(file());
    StoredTurn stored;
    stored.step = turn == 0 ? "write" : "improve";
    stored.source = e.source;
    stored.verdict = to_string(e.verdict.kind);
    stored.rung = e.verdict.passed() ? "passed" : "wrong";
    stored.answer = "answer";
    stored.feedback = "[]";
    stored.nano_usd = nano_usd;
    stored.aided = aided;
    const auto id = runs->record_turn({run, "made_up", sample}, turn, stored, &e);
    ASSERT_TRUE(id) << id.error().message;
    StoredExchange exchange;
    exchange.kind = "answer";
    exchange.nano_usd = nano_usd;
    ASSERT_TRUE(runs->keep_exchange({run, "made_up", sample}, turn, 0, exchange));
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("standings_test").value();
};

TEST_F(StandingsTest, AnEmptyDatabaseHasNoTables) {
  ASSERT_TRUE(Store::open(file()));
  const Standings standings = read();
  EXPECT_TRUE(standings.tables.empty());
  EXPECT_TRUE(standings.headlines.empty());
}

TEST_F(StandingsTest, RanksByTheGeometricMeanOverTheBaseline) {
  record_references();
  record(evaluation("good", {20, 30}));  // 2x and 3x
  record(evaluation("better on one shape", {10, 90}));
  record(evaluation("wrong", {5, 0}));
  const Standings standings = read();
  ASSERT_EQ(standings.tables.size(), 1U);
  const Table& table = standings.tables[0];
  EXPECT_EQ(table.no_speedups, "");
  EXPECT_EQ(table.evaluations, 5U);
  EXPECT_EQ(table.verdicts.at(VerdictKind::WrongResult), 1U);
  EXPECT_THAT(table.trust, HasSubstr("not calibrated for made_up"));
  ASSERT_EQ(table.entries.size(), 5U);
  const Entry &expert = table.entries[0], &good = table.entries[1], &one_sided = table.entries[2];
  EXPECT_EQ(expert.reference, "expert");
  EXPECT_THAT(expert.speedup, about(6));
  EXPECT_THAT(expert.position, about(1));
  EXPECT_EQ(good.file, "good.hip");
  EXPECT_THAT(good.speedup, about(std::sqrt(6)));
  EXPECT_THAT(good.position, about(0.5));
  EXPECT_THAT(good.expert_fraction, about(1 / std::sqrt(6)));
  EXPECT_THAT(good.time_us, about(std::sqrt(600)));
  EXPECT_THAT(good.shapes[1].speedup, about(3));
  EXPECT_EQ(good.shapes[1].expert_us, 10);
  EXPECT_THAT(one_sided.speedup, about(2));
  EXPECT_EQ(table.entries[3].reference, "baseline");
  EXPECT_THAT(table.entries[3].speedup, about(1));
  EXPECT_FALSE(table.entries[4].speedup);
  EXPECT_EQ(table.entries[4].no_speedup, "did not pass");
}

TEST_F(StandingsTest, WithoutABaselineThereIsATimeAndTheReason) {
  record(evaluation("good", {20, 30}));
  const Standings standings = read();
  ASSERT_EQ(standings.tables.size(), 1U);
  EXPECT_THAT(standings.tables[0].no_speedups, HasSubstr("has no time here for a"));
  EXPECT_FALSE(standings.tables[0].entries[0].speedup);
  EXPECT_THAT(standings.tables[0].entries[0].no_speedup, HasSubstr("--with-baseline"));
  EXPECT_TRUE(standings.tables[0].entries[0].time_us);
}

TEST_F(StandingsTest, WhatIsNotComparableIsInTablesOfItsOwn) {
  record_references();
  Evaluation measured = evaluation("candidate", {20, 30});
  for (ShapeResult& shape : measured.shapes) shape.time_is_modelled = false;
  measured.device = DeviceKind::Hip;
  Evaluation other_model = evaluation("candidate", {20, 30});
  for (ShapeResult& shape : other_model.shapes) shape.timing_model = "mi300x-2.0";
  Evaluation other_compiler = evaluation("candidate", {20, 30});
  other_compiler.toolchain = "clang 20";
  Evaluation host = evaluation("candidate", {20, 30});
  host.track = Track::Host;
  Evaluation other_shapes = evaluation("candidate", {20});
  other_shapes.shape_set = "a";
  for (const Evaluation& e : {measured, other_model, other_compiler, host, other_shapes}) record(e);
  const Standings standings = read();
  ASSERT_EQ(standings.tables.size(), 6U);
  for (const Table& table : standings.tables) {
    const bool has_speedup = table.entries[0].speedup.has_value();
    // The baseline is no candidate: either track, and every set of shapes that it has times for, may use its times.
    const bool wanted =
        table.key.provenance == "modelled" && table.key.timing_model == kModel && table.key.toolchain == "clang 19";
    EXPECT_EQ(has_speedup, wanted) << table.key.track << " " << table.key.toolchain << " " << table.shape_set;
  }
}

TEST_F(StandingsTest, UnsandboxedResultsAreShownBehindTheRankedOnesAndCheckedOnesNotAtAll) {
  record_references();
  Evaluation unsafe = evaluation("unsafe", {1, 1});
  unsafe.sandboxed = false;
  record(unsafe);
  Evaluation checked = evaluation("checked", {1, 1});
  checked.check = true;
  record(checked);
  const Table table = read().tables.at(0);
  ASSERT_EQ(table.entries.size(), 3U);
  EXPECT_EQ(table.entries[2].file, "unsafe.hip");
  EXPECT_THAT(table.entries[2].unranked, HasSubstr("without a sandbox"));
}

TEST_F(StandingsTest, AnUnsandboxedRunOfTheBaselineIsNoBaseline) {
  Evaluation unsafe = evaluation(kBaseline, {40, 90});
  unsafe.sandboxed = false;
  record(unsafe);
  record(evaluation("good", {20, 30}));
  EXPECT_FALSE(read().tables.at(0).no_speedups.empty());
}

TEST_F(StandingsTest, TheNewestEvaluationOfASourceCountsAndOurFaultsDoNot) {
  record_references();
  record(evaluation("candidate", {40, 90}));
  record(evaluation("candidate", {20, 45}));
  Evaluation ours = evaluation("candidate", {});
  ours.verdict = {VerdictKind::Infrastructure, "no memory", ""};
  record(ours);
  const Table table = read().tables.at(0);
  ASSERT_EQ(table.entries.size(), 3U);
  EXPECT_EQ(table.entries[1].evaluations, 3);
  EXPECT_THAT(table.entries[1].speedup, about(2));
}

TEST_F(StandingsTest, ARunsMetricsAreOverTheSamplesRequested) {
  record_references();
  const int64_t run = begin_run("monday", "model-1");
  record_turn(run, 0, 0, evaluation("s0t0", {80, 180}), 1'000'000'000);  // S = 1/2
  record_turn(run, 0, 1, evaluation("s0t1", {20, 45}), 1'000'000'000);   // S = 2
  record_turn(run, 1, 0, evaluation("s1t0", {20, 0}), 2'000'000'000);    // wrong
  // The third sample never came.
  const Standings standings = read();
  ASSERT_EQ(standings.tables.size(), 1U);
  ASSERT_EQ(standings.tables[0].runs.size(), 1U);
  const RunStanding& got = standings.tables[0].runs[0];
  EXPECT_EQ(got.requested, 3U);
  EXPECT_EQ(got.drawn, 2U);
  EXPECT_EQ(got.passed, 1U);
  EXPECT_THAT(got.speedups, ElementsAre(DoubleNear(2, 1e-9), 0, 0));
  EXPECT_THAT(got.fast_0, about(1.0 / 3));
  EXPECT_THAT(got.fast_1, about(1.0 / 3));
  EXPECT_THAT(got.fast_2, about(0));
  EXPECT_THAT(got.fast_1_shape, about(2.0 / 6));
  EXPECT_NEAR(got.pass_at.at(2), 2.0 / 3, 1e-9);
  EXPECT_NEAR(got.best_of.at(1), std::cbrt(2), 1e-9);
  EXPECT_THAT(got.usd_to_fast_1, about(4));  // 1 + 1 for the one that got there, 2 for the other
  EXPECT_NEAR(got.usd, 4, 1e-9);
  EXPECT_EQ(got.verdicts.at(VerdictKind::Passed), 2U);
  EXPECT_THAT(got.expert_shares, ElementsAre(DoubleNear(1.0 / 3, 1e-9), 0, 0, 0));  // 2 of 6 is a third of the expert
  ASSERT_EQ(got.samples.size(), 2U);
  EXPECT_EQ(got.samples[0].best, 1U);
  EXPECT_NEAR(got.samples[0].turns[0].best_speedup, 0.5, 1e-9);
  EXPECT_FALSE(got.curve.empty());
  EXPECT_EQ(got.curve.front().share, *got.fast_0);
  ASSERT_EQ(standings.headlines.size(), 1U);
  EXPECT_THAT(standings.headlines[0].mean_fast_1, about(1.0 / 3));
  // The candidates know whose they are.
  const auto entry = std::find_if(standings.tables[0].entries.begin(), standings.tables[0].entries.end(),
                                  [](const Entry& e) { return e.run == "monday" && e.turn == 1; });
  ASSERT_NE(entry, standings.tables[0].entries.end());
  EXPECT_EQ(entry->model, "model-1");
}

TEST_F(StandingsTest, AidedResultsStandBehindTheOthersHoweverFast) {
  record_references();
  record_turn(begin_run("aided", "model-1"), 0, 0, evaluation("aided", {1, 1}), 0, true);
  record_turn(begin_run("alone", "model-1"), 0, 0, evaluation("alone", {30, 80}), 0);
  const Table table = read().tables.at(0);
  EXPECT_EQ(table.runs.at(0).run, "alone");
  EXPECT_TRUE(table.runs.at(1).aided);
  ASSERT_EQ(table.entries.size(), 4U);
  EXPECT_EQ(table.entries[3].run, "aided");
  EXPECT_TRUE(table.entries[3].aided);
}

TEST_F(StandingsTest, AWinnerThatIsTimedAgainCountsAsTheNewTimeSays) {
  record_references();
  const int64_t run = begin_run("monday", "model-1");
  record_turn(run, 0, 0, evaluation("winner", {20, 45}), 0);
  const int64_t original = 3;
  Result<Store> store = Store::open(file());
  ASSERT_TRUE(store->record_reverified(evaluation("winner", {40, 90}), original, "run monday"));
  Evaluation ours = evaluation("winner", {});
  ours.verdict = {VerdictKind::Infrastructure, "no memory", ""};
  ASSERT_TRUE(store->record_reverified(ours, original, "run monday"));
  EXPECT_THAT(read().tables.at(0).runs.at(0).speedups, ElementsAre(DoubleNear(1, 1e-9), 0, 0));
  // One that does not pass any more is no winner.
  ASSERT_TRUE(store->record_reverified(evaluation("winner", {40, 0}), original, "run monday"));
  EXPECT_THAT(read().tables.at(0).runs.at(0).speedups, ElementsAre(0, 0, 0));
  EXPECT_FALSE(store->record_reverified(ours, 99, "of nothing"));
}

TEST_F(StandingsTest, ARunThatHasNothingYetIsThereWithZeros) {
  record_references();
  begin_run("empty", "model-2");
  const Standings standings = read();
  ASSERT_EQ(standings.tables.at(0).runs.size(), 1U);
  EXPECT_THAT(standings.tables[0].runs[0].fast_1, about(0));
  EXPECT_EQ(standings.tables[0].runs[0].requested, 3U);
}

TEST_F(StandingsTest, ARunWhoseOptionsAreNoJsonIsPassedOver) {
  Result<RunStore> runs = RunStore::open(file());
  ASSERT_TRUE(runs->begin_run("odd", "not json", "single", "m"));
  ASSERT_TRUE(
      runs->begin_run("huge", R"({"problems": [{"id": "x", "shape_set": "quick"}], "samples": 1e300})", "single", "m"));
  ASSERT_TRUE(runs->begin_run("listless", R"({"problems": 3})", "single", "m"));
  EXPECT_LE(read().headlines.size(), 1U);
}

TEST_F(StandingsTest, TheTimesOfASourceAreThoseOfTheSameConditions) {
  const std::string sha256 = sha256_hex(kBaseline);
  const Evaluation like = evaluation("candidate", {20, 30});
  const auto times = [&] { return Store::open(file())->times_of(sha256, like).value(); };
  EXPECT_TRUE(times().us.empty());
  Evaluation other = evaluation(kBaseline, {1, 1});
  other.toolchain = "clang 20";
  Evaluation unsafe = evaluation(kBaseline, {2, 2});
  unsafe.sandboxed = false;
  Evaluation model = evaluation(kBaseline, {3, 3});
  for (ShapeResult& shape : model.shapes) shape.timing_model = "mi300x-2.0";
  for (const Evaluation& e : {other, unsafe, model, evaluation(kBaseline, {4, 0})}) record(e);
  EXPECT_TRUE(times().us.empty());
  const int64_t old = record(evaluation(kBaseline, {40, 80}));
  Evaluation one_shape = evaluation(kBaseline, {41});
  one_shape.track = Track::Host;  // a baseline is of one track, its candidates of either
  const int64_t newer = record(one_shape);
  EXPECT_THAT(times().us, ElementsAre(testing::Pair("a", 41), testing::Pair("b", 80)));
  EXPECT_THAT(times().evaluations, ElementsAre(old, newer));
  const Speedups speedups = speedups_over(like, sha256, times());
  EXPECT_THAT(speedups.speedup, about(std::sqrt(41.0 / 20 * 80 / 30)));
  EXPECT_THAT(speedups.shapes[1], about(80.0 / 30));
  EXPECT_EQ(speedups.why_none, "");
  EXPECT_THAT(speedups_over(evaluation("wrong", {20, 0}), sha256, times()).why_none, HasSubstr("did not pass"));
  EXPECT_THAT(speedups_over(evaluation("more", {20, 30, 40}), sha256, times()).why_none, HasSubstr("--with-baseline"));
}

TEST_F(StandingsTest, AnEvaluationsKeyIsThatOfItsTable) {
  const Evaluation e = evaluation("candidate", {20, 30});
  record(e);
  ComparabilityKey key = key_of(e, sha256_hex(kBaseline));
  EXPECT_EQ(why_not_comparable(key, read().tables.at(0).key), std::nullopt);
}

TEST_F(StandingsTest, AMeasuredTablesTrustIsItsWorstNoiseFloor) {
  for (const double floor : {0.01, 0.03}) {
    Evaluation e = evaluation(fmt::format("noise {}", floor), {20, 30});
    e.device = DeviceKind::Hip;
    for (ShapeResult& shape : e.shapes) {
      shape.time_is_modelled = false;
      auto measurement = std::make_shared<Measurement>();
      measurement->noise_floor = floor;
      shape.measurement = measurement;
    }
    record(e);
  }
  const Table table = read().tables.at(0);
  EXPECT_EQ(table.trust, "A/A noise floor 3.0 %");
  EXPECT_THAT(table.entries[0].shapes[0].noise_floor, about(0.01));
}

TEST_F(StandingsTest, BenchmarkTimesCountOnlyIfTheTestsPassed) {
  const auto of = [](const char* source, const char* set, std::vector<std::string> labels, double time_us) {
    Evaluation e = evaluation(source, std::vector<double>(labels.size(), time_us));
    e.problem = "fp8_gemm";
    e.shape_set = set;
    for (size_t i = 0; i < labels.size(); ++i) e.shapes[i].shape.label = labels[i];
    return e;
  };
  const std::string label = find_problem("fp8_gemm").value()->shapes(ShapeSet::Benchmarks)[0].shape.label;
  record(of("a", "benchmarks", {label}, 1e6));
  record(of("b", "benchmarks", {label}, 1e6));
  record(of("b", "tests", {"y"}, 1e6));
  for (const Table& table : read().tables) {
    if (table.shape_set != "benchmarks") continue;
    ASSERT_EQ(table.entries.size(), 2U);
    for (const Entry& entry : table.entries)
      EXPECT_THAT(entry.no_speedup, HasSubstr(entry.file == "a.hip" ? "were not evaluated" : "no baseline"));
  }
}

}  // namespace
}  // namespace hipbench::results
