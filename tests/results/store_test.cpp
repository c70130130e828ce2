#include "results/store.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "evaluator/measure.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }

  Store open(const StoreOptions& options = {}) {
    Result<Store> store = Store::open(file(), options);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(store).value();
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("store_test").value();
};

void expect_equal(const Comparison& got, const Comparison& wanted) {
  EXPECT_EQ(got.passed, wanted.passed);
  EXPECT_EQ(got.output, wanted.output);
  EXPECT_EQ(got.elements, wanted.elements);
  EXPECT_EQ(got.mismatches, wanted.mismatches);
  EXPECT_EQ(got.non_finite, wanted.non_finite);
  EXPECT_EQ(got.untouched, wanted.untouched);
  EXPECT_EQ(got.worst_ratio, wanted.worst_ratio);
  EXPECT_EQ(got.pattern, wanted.pattern);
  EXPECT_EQ(got.map, wanted.map);
  ASSERT_EQ(got.worst.has_value(), wanted.worst.has_value());
  if (!got.worst) return;
  EXPECT_EQ(got.worst->row, wanted.worst->row);
  EXPECT_EQ(got.worst->column, wanted.worst->column);
  EXPECT_TRUE(got.worst->got == wanted.worst->got || (std::isnan(got.worst->got) && std::isnan(wanted.worst->got)));
  EXPECT_EQ(got.worst->expected, wanted.worst->expected);
  EXPECT_EQ(got.worst->error, wanted.worst->error);
  EXPECT_EQ(got.worst->allowed, wanted.worst->allowed);
}

void expect_equal(const LaunchRecord& got, const LaunchRecord& wanted) {
  EXPECT_EQ(got.kernel, wanted.kernel);
  EXPECT_EQ(got.grid.x, wanted.grid.x);
  EXPECT_EQ(got.grid.z, wanted.grid.z);
  EXPECT_EQ(got.block.y, wanted.block.y);
  EXPECT_EQ(got.dynamic_lds_bytes, wanted.dynamic_lds_bytes);
  EXPECT_EQ(got.host_seconds, wanted.host_seconds);
  const emulator::Counters &a = got.counters, &b = wanted.counters;
  EXPECT_THAT((std::vector{a.instructions, a.valu, a.salu, a.smem, a.vmem, a.lds, a.mfma, a.branch, a.other,
                           a.mfma_flops, a.bytes_read, a.bytes_written, a.barriers, a.workgroups, a.waves}),
              ElementsAre(b.instructions, b.valu, b.salu, b.smem, b.vmem, b.lds, b.mfma, b.branch, b.other,
                          b.mfma_flops, b.bytes_read, b.bytes_written, b.barriers, b.workgroups, b.waves));
  EXPECT_DOUBLE_EQ(got.modelled_seconds, wanted.modelled_seconds);
  const emulator::TimeBreakdown &t = got.time_breakdown, &u = wanted.time_breakdown;
  EXPECT_DOUBLE_EQ(t.kernel_seconds, u.kernel_seconds);
  EXPECT_DOUBLE_EQ(t.launch_seconds, u.launch_seconds);
  EXPECT_EQ(t.shares, u.shares);
  EXPECT_THAT((std::vector{t.mfma_busy, t.valu_busy, t.lds_busy, t.vector_memory_busy, t.l1_hit_rate, t.l2_hit_rate,
                           t.beyond_l2_bytes, t.l2_bytes, t.hbm_bytes, t.lds_conflicts}),
              ElementsAre(u.mfma_busy, u.valu_busy, u.lds_busy, u.vector_memory_busy, u.l1_hit_rate, u.l2_hit_rate,
                          u.beyond_l2_bytes, u.l2_bytes, u.hbm_bytes, u.lds_conflicts));
  EXPECT_EQ(t.traced_workgroups, u.traced_workgroups);
  ASSERT_EQ(t.lines.size(), u.lines.size());
  for (size_t i = 0; i < t.lines.size(); ++i) {
    EXPECT_EQ(t.lines[i].source, u.lines[i].source);
    EXPECT_EQ(t.lines[i].share, u.lines[i].share);
    EXPECT_EQ(t.lines[i].cause, u.lines[i].cause);
  }
}

void expect_equal(const ShapeResult& got, const ShapeResult& wanted) {
  EXPECT_EQ(got.shape.label, wanted.shape.label);
  EXPECT_EQ(got.shape.values, wanted.shape.values);
  EXPECT_EQ(got.verdict.kind, wanted.verdict.kind);
  EXPECT_EQ(got.verdict.reason, wanted.verdict.reason);
  EXPECT_EQ(got.verdict.evidence, wanted.verdict.evidence);
  expect_equal(got.comparison, wanted.comparison);
  EXPECT_EQ(got.checked_rows, wanted.checked_rows);
  EXPECT_EQ(got.row_count, wanted.row_count);
  EXPECT_EQ(got.rounds, wanted.rounds);
  EXPECT_EQ(got.time_us, wanted.time_us);
  EXPECT_EQ(got.time_is_modelled, wanted.time_is_modelled);
  EXPECT_EQ(got.timing_model, wanted.timing_model);
  EXPECT_EQ(got.time_error, wanted.time_error);
  EXPECT_EQ(got.wave_instructions, wanted.wave_instructions);
  EXPECT_EQ(got.emulation_seconds, wanted.emulation_seconds);
  ASSERT_EQ(got.launches.size(), wanted.launches.size());
  for (size_t i = 0; i < got.launches.size(); ++i) expect_equal(got.launches[i], wanted.launches[i]);
}

TEST_F(StoreTest, LoadsEveryFieldAsItWasRecorded) {
  const Evaluation wanted = sample_evaluation();
  const Result<int64_t> id = open().record(wanted);
  ASSERT_TRUE(id) << id.error().message;
  const Result<Evaluation> loaded = open({.access = Access::Read}).load(*id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Evaluation& got = *loaded;
  EXPECT_EQ(got.problem, wanted.problem);
  EXPECT_EQ(got.track, wanted.track);
  EXPECT_EQ(got.device, wanted.device);
  EXPECT_EQ(got.file, wanted.file);
  EXPECT_EQ(got.source, wanted.source);
  EXPECT_EQ(got.source_sha256, wanted.source_sha256);
  EXPECT_EQ(got.seed, wanted.seed);
  EXPECT_EQ(got.shape_set, wanted.shape_set);
  EXPECT_EQ(got.sandboxed, wanted.sandboxed);
  EXPECT_EQ(got.check, wanted.check);
  EXPECT_EQ(got.verdict.kind, wanted.verdict.kind);
  EXPECT_EQ(got.verdict.reason, wanted.verdict.reason);
  EXPECT_EQ(got.verdict.evidence, wanted.verdict.evidence);
  ASSERT_EQ(got.shapes.size(), wanted.shapes.size());
  for (size_t i = 0; i < got.shapes.size(); ++i) expect_equal(got.shapes[i], wanted.shapes[i]);
  ASSERT_EQ(got.kernels.size(), wanted.kernels.size());
  const KernelResources& k = got.kernels[0];
  EXPECT_EQ(k.name, wanted.kernels[0].name);
  EXPECT_THAT((std::vector{k.vgprs, k.agprs, k.sgprs, k.vgpr_spills, k.sgpr_spills, k.lds_bytes, k.scratch_bytes}),
              ElementsAre(128, 64, 40, 2, 1, 32768, 16));
  EXPECT_EQ(got.warnings, wanted.warnings);
  EXPECT_EQ(got.stage, wanted.stage);
  EXPECT_EQ(got.attempts, wanted.attempts);
  EXPECT_EQ(got.peak_memory_bytes, wanted.peak_memory_bytes);
  EXPECT_EQ(got.compile_seconds, wanted.compile_seconds);
  EXPECT_EQ(got.compile_was_cached, wanted.compile_was_cached);
  EXPECT_EQ(got.total_seconds, wanted.total_seconds);
  EXPECT_EQ(got.toolchain, wanted.toolchain);
  EXPECT_EQ(got.device_description, wanted.device_description);
  EXPECT_EQ(got.started_at, wanted.started_at);
}

TEST_F(StoreTest, KeepsEverySampleOfAMeasuredTime) {
  Evaluation evaluation = sample_evaluation();
  ShapeResult& shape = evaluation.shapes[0];
  shape.time_is_modelled = false;
  auto measurement = std::make_shared<Measurement>();
  measurement->samples = {
      {0, true, Subject::Candidate, false, {4.5, 6.5}, 30, true, true},
      {1, false, Subject::Baseline, true, {9, std::numeric_limits<double>::infinity()}, 31, false, true}};
  measurement->telemetry = {{2100, 2600, std::nullopt, 55.5}, {}};
  measurement->noise_floor = 0.02;
  shape.measurement = measurement;
  Store store = open();
  const Result<Evaluation> loaded = store.load(store.record(evaluation).value());
  ASSERT_TRUE(loaded) << loaded.error().message;
  const ShapeResult& got = loaded->shapes[0];
  EXPECT_EQ(got.timing_model, "");  // a model's version beside a measured time would be a lie
  ASSERT_NE(got.measurement, nullptr);
  EXPECT_EQ(loaded->shapes[1].measurement, nullptr);
  EXPECT_EQ(got.measurement->noise_floor, 0.02);
  ASSERT_EQ(got.measurement->samples.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const TimedSample &a = got.measurement->samples[i], &b = measurement->samples[i];
    EXPECT_EQ(a.round, b.round);
    EXPECT_EQ(a.warm_up, b.warm_up);
    EXPECT_EQ(a.subject, b.subject);
    EXPECT_EQ(a.repeat, b.repeat);
    EXPECT_EQ(a.clocks.events_us, b.clocks.events_us);
    EXPECT_EQ(a.clocks.wall_us, b.clocks.wall_us);
    EXPECT_EQ(a.canary_us, b.canary_us);
    EXPECT_EQ(a.clocks_agree, b.clocks_agree);
    EXPECT_EQ(a.caches_were_cold, b.caches_were_cold);
  }
  ASSERT_EQ(got.measurement->telemetry.size(), 2U);
  EXPECT_EQ(got.measurement->telemetry[0].core_mhz, 2100);
  EXPECT_EQ(got.measurement->telemetry[0].power_watts, std::nullopt);
  EXPECT_EQ(got.measurement->telemetry[1].hottest_celsius, std::nullopt);
}

TEST_F(StoreTest, KeepsBytesThatAreNoText) {
  Evaluation evaluation = sample_evaluation(std::string("nul \0 and \xff\xfe", 10));
  evaluation.file = "\xff.hip";
  Store store = open();
  const Result<Evaluation> loaded = store.load(store.record(evaluation).value());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->source, evaluation.source);
  EXPECT_EQ(loaded->file, evaluation.file);
}

TEST_F(StoreTest, AMeasuredTimeIsNotShownAsModelled) {
  Evaluation evaluation = sample_evaluation();
  evaluation.shapes[0].time_is_modelled = false;
  Store store = open();
  EXPECT_FALSE(store.load(store.record(evaluation).value())->shapes[0].time_is_modelled);
}

TEST_F(StoreTest, ListsTheNewestFirst) {
  Store store = open();
  Evaluation other = sample_evaluation();
  other.problem = "moe";
  ASSERT_TRUE(store.record(sample_evaluation()));
  ASSERT_TRUE(store.record(other));
  ASSERT_TRUE(store.record(sample_evaluation()));
  const auto ids = [&](const ListFilter& filter) {
    std::vector<int64_t> result;
    const std::vector<EvaluationSummary> list = store.list(filter).value();
    for (const EvaluationSummary& summary : list) result.push_back(summary.id);
    return result;
  };
  EXPECT_THAT(ids({}), ElementsAre(3, 2, 1));
  EXPECT_THAT(ids({.problem = "moe"}), ElementsAre(2));
  EXPECT_THAT(ids({.problem = "", .limit = 2}), ElementsAre(3, 2));
  const EvaluationSummary summary = store.list({.problem = "", .limit = 1}).value().front();
  EXPECT_EQ(summary.shapes, 2);
  EXPECT_EQ(summary.passed_shapes, 1);
  EXPECT_EQ(summary.verdict, VerdictKind::WrongResult);
}

TEST_F(StoreTest, AnEvaluationWithoutShapesIsListed) {
  Evaluation evaluation = sample_evaluation();
  evaluation.shapes.clear();
  evaluation.verdict = {VerdictKind::CompileError, "does not compile", "gemm.hip:1:1: error: …"};
  Store store = open();
  ASSERT_TRUE(store.record(evaluation));
  EXPECT_EQ(store.list().value().front().shapes, 0);
  EXPECT_THAT(store.load(1)->shapes, IsEmpty());
}

TEST_F(StoreTest, AnUnknownIdIsAnErrorThatSaysHowToFindOne) {
  EXPECT_THAT(open().load(7).error().message, HasSubstr("there is no evaluation 7; `hipbench report`"));
}

TEST_F(StoreTest, ReadingNeverMakesADatabase) {
  const Result<Store> store = Store::open(file(), {.access = Access::Read});
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("there is no database"));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(StoreTest, ThreadsThatWriteAtOnceLoseNothing) {
  constexpr int kWriters = 8, kEach = 25;
  std::vector<std::thread> writers;
  std::mutex mutex;
  std::set<int64_t> ids;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&] {
      Store store = open();  // they also race to make the file and its schema
      for (int i = 0; i < kEach; ++i) {
        const Result<int64_t> id = store.record(sample_evaluation());
        ASSERT_TRUE(id) << id.error().message;
        const std::lock_guard lock(mutex);
        ids.insert(*id);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(ids.size(), kWriters * kEach);
  EXPECT_EQ(open().list().value().size(), kWriters * kEach);
}

TEST_F(StoreTest, AKilledWriterLeavesWholeEvaluations) {
  const pid_t child = ::fork();
  if (child == 0) {
    Store store = open();
    for (;;) store.record(sample_evaluation()).value();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  Store store = open();
  ASSERT_TRUE(store.record(sample_evaluation()));
  const std::vector<EvaluationSummary> list = store.list().value();
  EXPECT_GT(list.size(), 1U);
  for (const EvaluationSummary& summary : list) {
    ASSERT_EQ(summary.shapes, 2);
    const Result<Evaluation> loaded = store.load(summary.id);
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(loaded->shapes[0].launches.size(), 2U);
    ASSERT_EQ(loaded->kernels.size(), 2U);
  }
}

}  // namespace
}  // namespace hipbench::results
