// The real device's whole path, with hipbench's drop-in library in the place of ROCm's: the same processes, requests
// and HIP calls as on a GPU. An emulator has no clock to trust, so the protocol gets scripted ones where it is to go
// on.

#include "evaluator/hip_device.hpp"

#include <fmt/format.h>

#include "evaluator/gpu_process.hpp"
#include "evaluator/timed_device.hpp"
#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::StartsWith;

constexpr uint64_t kSmall = uint64_t{64} << 10;

// Does every step on the device, with small caches, and reads its own clocks.
class ScriptedClocks final : public TimedDevice {
 public:
  ScriptedClocks(TimedDevice& device, std::vector<std::string>& diary) : device_(device), diary_(diary) {}
  std::optional<Verdict> begin(Subject subject) override { return device_.begin(subject); }
  Result<void> wait_until_idle() override { return device_.wait_until_idle(); }
  Result<void> prepare(Subject subject, uint64_t call) override { return device_.prepare(subject, call); }
  Result<void> flush_caches(uint64_t) override {
    cold_ = true;
    return device_.flush_caches(2 * kSmall);
  }
  Result<double> read_canary_us(uint64_t) override {
    const double us = TRY(device_.read_canary_us(kSmall));
    EXPECT_GT(us, 0);
    return std::exchange(cold_, false) ? 60 : 20;
  }
  Result<ClockReadings> time_nothing() override {
    TRY(device_.time_nothing());
    return ClockReadings{3, 12};
  }
  std::variant<ClockReadings, Verdict> time(Subject subject) override {
    diary_.push_back(subject == Subject::Candidate ? "candidate" : "baseline");
    std::variant<ClockReadings, Verdict> timed = device_.time(subject);
    if (const ClockReadings* clocks = std::get_if<ClockReadings>(&timed)) {
      EXPECT_GT(clocks->events_us, 0);
      EXPECT_GT(clocks->wall_us, 0);
      timed = ClockReadings{1000, 1009};
    }
    return timed;
  }
  Verdict verify(Subject subject, uint64_t call) override { return device_.verify(subject, call); }
  Telemetry telemetry() override { return device_.telemetry(); }

 private:
  TimedDevice& device_;
  std::vector<std::string>& diary_;
  bool cold_ = false;
};

// What calls were made, of whom.
std::vector<std::string> diary;

EvaluateOptions on_stand_in(const Problem& problem) {
  EvaluateOptions options = quick_options(problem);
  options.shapes.resize(1);
  options.device = DeviceKind::Hip;
  options.gpu.runtime = HIPBENCH_BINARY_DIR "/lib/libamdhip64.so.6";
  options.gpu.allow_stand_in = true;
  options.gpu.rounds = 12;
  options.gpu.warm_up_rounds = 1;
  options.gpu.wrap = [](TimedDevice& device) { return std::make_unique<ScriptedClocks>(device, diary); };
  diary.clear();
  return options;
}

const Problem& identity() { return **find_problem("identity"); }

Evaluation evaluate_identity(const std::string& source, const EvaluateOptions& options) {
  return evaluate(identity(), "identity.hip", source, options);
}

// A right copy until the 14th call of a session, when no emulated check looks any more; then what the shape says.
constexpr const char* kLater = R"hip(/* hipbench-plan 1
problem = "identity"
[[step]]
kernel = "copy"
grid = ["ceil_div(rows * columns, 256)"]
block = [256]
args = ["@args"]
[[step]]
kernel = "later"
grid = [1]
block = [1]
args = ["@args"]
*/
#include <hip/hip_runtime.h>
#include "hipbench/identity.h"
__device__ int calls;
extern "C" __global__ void copy(hb_identity args) {
  const int64_t i = int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < int64_t(args.rows) * args.columns) args.y[i] = args.x[i];
}
extern "C" __global__ void later(hb_identity args) {
  if (++calls < 14) return;
  switch (args.rows) {
    case 2: args.y[1] = 7; break;
    case 3: if (calls == 14) args.y[1] = 7; break;
    case 4: const_cast<float*>(args.x)[1] = 1e30f; break;
    case 5: args.y[args.rows * args.columns] = 0; break;
    case 6: args.y[int64_t(1) << 40] = 0; break;
    case 8: if (args.x[1] == 0 || args.x[2] == 0) args.y[1] = 7; break;  // as in structured inputs
    case 7: while (true) *static_cast<volatile int*>(&calls) = 14;
  }
}
)hip";
Evaluation evaluate_later(int rows, std::chrono::seconds patience = std::chrono::seconds(60), uint64_t more_seed = 0) {
  EvaluateOptions options = on_stand_in(identity());
  options.gpu.patience = patience;
  *options.seed += more_seed;
  options.shapes = {*identity().parse_shape(fmt::format("rows={},columns=3", rows))};
  return evaluate_identity(kLater, options);
}

class HipDeviceTest : public EvaluateTest {};

TEST_F(HipDeviceTest, AnHonestCandidateGoesThroughTheWholeProtocolButAStandInGivesNoTime) {
  const Evaluation evaluation =
      evaluate_identity(std::string(identity().starter(Track::Kernel)), on_stand_in(identity()));
  ASSERT_TRUE(evaluation.verdict.passed()) << described(evaluation);
  EXPECT_EQ(diary.size(), size_t{13 * 2});  // no baseline: the candidate twice
  ASSERT_EQ(evaluation.shapes.size(), 1u);
  const ShapeResult& shape = evaluation.shapes.front();
  EXPECT_EQ(shape.rounds, 13 * 2);
  EXPECT_TRUE(shape.comparison.passed);
  EXPECT_EQ(shape.comparison.elements, 37u * 1001u);
  EXPECT_EQ(shape.time_us, 0);
  EXPECT_EQ(shape.measurement, nullptr);
  EXPECT_THAT(evaluation.device_description, StartsWith("stand-in for a GPU: "));
}

TEST_F(HipDeviceTest, TheDevicesOwnClocksAreNotBelievedOnAnEmulator) {
  EvaluateOptions options = on_stand_in(identity());
  options.shapes = {identity().shapes(ShapeSet::Quick).back().shape};
  options.gpu.rounds = 2;
  struct SmallCaches final : TimedDevice {
    explicit SmallCaches(TimedDevice& of) : device(of) {}
    std::optional<Verdict> begin(Subject subject) override { return device.begin(subject); }
    Result<void> wait_until_idle() override { return device.wait_until_idle(); }
    Result<void> prepare(Subject subject, uint64_t call) override { return device.prepare(subject, call); }
    Result<void> flush_caches(uint64_t) override { return device.flush_caches(kSmall); }
    Result<double> read_canary_us(uint64_t) override { return device.read_canary_us(kSmall); }
    Result<ClockReadings> time_nothing() override { return device.time_nothing(); }
    std::variant<ClockReadings, Verdict> time(Subject subject) override { return device.time(subject); }
    Verdict verify(Subject subject, uint64_t call) override { return device.verify(subject, call); }
    Telemetry telemetry() override { return device.telemetry(); }
    TimedDevice& device;
  };
  options.gpu.wrap = [](TimedDevice& device) { return std::make_unique<SmallCaches>(device); };
  const Evaluation evaluation = evaluate_identity(std::string(identity().starter(Track::Kernel)), options);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Infrastructure) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("caches are not flushed"));
}

TEST_F(HipDeviceTest, HipbenchsOwnLibraryIsNoGpu) {
  EvaluateOptions options = on_stand_in(identity());
  options.gpu.allow_stand_in = false;
  const Evaluation evaluation = evaluate_identity(std::string(identity().starter(Track::Kernel)), options);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Infrastructure);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("nothing timed with it would be measured"));
  EXPECT_TRUE(diary.empty());
}

TEST_F(HipDeviceTest, EveryTimedOutputIsVerified) {
  const Evaluation wrong = evaluate_later(2);
  EXPECT_EQ(wrong.verdict.kind, VerdictKind::WrongResult) << described(wrong);
  EXPECT_THAT(wrong.verdict.evidence, HasSubstr("of the measurement on the GPU"));
  // Two of the calls before the 14th may have been those with structured inputs.
  EXPECT_THAT(diary.size(), AllOf(Ge(12u), Le(14u)));
}

TEST_F(HipDeviceTest, WhatIsWrongOnceIsNondeterministic) {
  const Evaluation evaluation = evaluate_later(3);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Nondeterministic) << described(evaluation);
}

TEST_F(HipDeviceTest, InputsAreLookedAtAfterEveryCall) {
  const Evaluation evaluation = evaluate_later(4);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::WrongResult) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("changed 'x' where it may only read"));
}

TEST_F(HipDeviceTest, StructuredInputsComeAmongTheTimedCalls) {
  // When they come is a secret of the seed: it may be before the candidate dares.
  Evaluation evaluation;
  for (uint64_t more = 0; more < 8 && evaluation.verdict.kind != VerdictKind::WrongResult; ++more)
    evaluation = evaluate_later(8, std::chrono::seconds(60), more);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::WrongResult) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, StartsWith("with structured inputs ("));
}

TEST_F(HipDeviceTest, RedZonesAreLookedAtAfterEveryCall) {
  const Evaluation evaluation = evaluate_later(5);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("behind the end of 'y'"));
}

TEST_F(HipDeviceTest, AFaultOnTheDeviceIsACrash) {
  const Evaluation evaluation = evaluate_later(6);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("failed on the GPU"));
}

TEST_F(HipDeviceTest, ACallThatDoesNotEndIsTimedOut) {
  const Evaluation evaluation = evaluate_later(7, std::chrono::seconds(5));
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::TimedOut) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("did not answer within 5 s"));
}

TEST_F(HipDeviceTest, WhatTheEmulatedDeviceRejectsNeverReachesTheGpu) {
  const std::string prints = R"hip(/* hipbench-plan 1
problem = "identity"
[[step]]
kernel = "copy"
grid = ["ceil_div(rows * columns, 256)"]
block = [256]
args = ["@args"]
*/
#include <hip/hip_runtime.h>
#include "hipbench/identity.h"
extern "C" __global__ void copy(hb_identity args) {
  const int64_t i = int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < int64_t(args.rows) * args.columns) args.y[i] = args.x[i];
  if (i == 0) printf("done\n");
}
)hip";
  const Evaluation evaluation = evaluate_identity(prints, on_stand_in(identity()));
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Rejected) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, StartsWith("on the emulated device, where a candidate has to pass before"));
  EXPECT_TRUE(diary.empty());
}

TEST_F(HipDeviceTest, HostCodeIsRefusedWithTheReason) {
  const Evaluation evaluation =
      evaluate_identity(std::string(identity().starter(Track::Host)), on_stand_in(identity()));
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Infrastructure);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("times the kernel track only"));
}

TEST_F(HipDeviceTest, TheBaselineTakesTurnsWithTheCandidate) {
  EvaluateOptions options = on_stand_in(fp8_gemm());
  options.gpu.rounds = 1;
  options.gpu.warm_up_rounds = 1;
  const ReferenceSolution& naive = *fp8_gemm().reference(ReferenceRole::Naive);
  const Evaluation evaluation = evaluate(fp8_gemm(), "naive.hip", std::string(naive.source), options);
  ASSERT_TRUE(evaluation.verdict.passed()) << described(evaluation);
  EXPECT_EQ(std::count(diary.begin(), diary.end(), "candidate"), 2);
  EXPECT_EQ(std::count(diary.begin(), diary.end(), "baseline"), 4);
}

TEST(GpuProcess, SaysWhatIsWrongWithARuntime) {
  const auto missing = GpuProcess::start("/nowhere/libamdhip64.so.6", std::chrono::seconds(60), {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("the HIP runtime cannot be loaded: /nowhere/libamdhip64.so.6"));
  const auto other = GpuProcess::start("libc.so.6", std::chrono::seconds(60), {});
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("lacks hipGetDeviceCount"));
}

}  // namespace
}  // namespace hipbench::testing
