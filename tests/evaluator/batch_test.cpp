// Many candidates at once: order, cancelling, stopping and the bound of the queue. What holds a candidate up here is
// its progress callback, so that nothing depends on speed.

#include "evaluator/batch.hpp"

#include <future>
#include <latch>

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kBroken = "/* hipbench-plan 1\nproblem = \"none\"\n*/\n";  // rejected before anything is compiled
constexpr const char* kHangs = "for (;;) {}";

class BatchTest : public EvaluateTest {
 protected:
  BatchJob job(const std::string& id, const std::string& source = kBroken) {
    EvaluateOptions options = small_options();
    options.host_patience = 60s;
    return {id, &fp8_gemm(), id + ".hip", source, options};
  }
  // Begins when a thread of the batch has taken it, and goes on when `go` is there.
  BatchJob held(const std::string& id, std::latch& begun, std::latch& go) {
    BatchJob result = job(id, host_source("return 1;"));
    result.options.progress = [&, first = true](const std::string&) mutable {
      if (!std::exchange(first, false)) return;
      begun.count_down();
      go.wait();
    };
    return result;
  }
  Batch::Finished note() {
    return [this](const BatchJob& finished, const Evaluation& evaluation) {
      ids_.push_back(finished.id);
      results_[finished.id] = evaluation;
    };
  }

  std::vector<std::string> ids_;
  std::map<std::string, Evaluation> results_;
};

TEST_F(BatchTest, EveryJobFinishesOnce) {
  Batch batch({.jobs = 3}, note());
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(batch.submit(job(std::to_string(k))));
  batch.drain();
  EXPECT_EQ(results_.size(), 20u);
  EXPECT_EQ(ids_.size(), 20u);
  for (const auto& [id, evaluation] : results_) {
    EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Rejected) << described(evaluation);
    EXPECT_EQ(evaluation.stage, Stage::Plan);
    EXPECT_EQ(evaluation.file, id + ".hip");
  }
}

TEST_F(BatchTest, SubmitWaitsWhileTheQueueIsFull) {
  std::latch begun(1), go(1);
  Batch batch({.jobs = 1, .waiting = 2}, note());
  ASSERT_TRUE(batch.submit(held("held", begun, go)));
  begun.wait();
  ASSERT_TRUE(batch.submit(job("1")));
  ASSERT_TRUE(batch.submit(job("2")));
  std::future<bool> third = std::async(std::launch::async, [&] { return batch.submit(job("3")); });
  EXPECT_EQ(third.wait_for(100ms), std::future_status::timeout);
  go.count_down();
  EXPECT_TRUE(third.get());
  batch.drain();
  EXPECT_THAT(ids_, ElementsAre("held", "1", "2", "3"));
}

TEST_F(BatchTest, TwoJobsOfOneIdAreRefusedWhileTheFirstIsThere) {
  std::latch begun(1), go(1);
  Batch batch({.jobs = 1}, note());
  ASSERT_TRUE(batch.submit(held("a", begun, go)));
  begun.wait();
  EXPECT_FALSE(batch.submit(job("a")));
  ASSERT_TRUE(batch.submit(job("b")));
  EXPECT_FALSE(batch.submit(job("b")));
  go.count_down();
  batch.drain();
  EXPECT_TRUE(batch.submit(job("a")));
  batch.drain();
  EXPECT_THAT(ids_, ElementsAre("a", "b", "a"));
}

TEST_F(BatchTest, AWaitingJobIsCancelledAtOnce) {
  std::latch begun(1), go(1);
  Batch batch({.jobs = 1}, note());
  ASSERT_TRUE(batch.submit(held("held", begun, go)));
  begun.wait();
  ASSERT_TRUE(batch.submit(job("waits")));
  EXPECT_TRUE(batch.cancel("waits"));
  EXPECT_THAT(ids_, ElementsAre("waits"));
  EXPECT_TRUE(results_["waits"].cancelled);
  EXPECT_FALSE(batch.cancel("waits"));
  EXPECT_FALSE(batch.cancel("never came"));
  go.count_down();
  batch.drain();
  EXPECT_FALSE(results_["held"].cancelled);
}

TEST_F(BatchTest, ARunningJobIsCancelledWhateverItDoes) {
  const std::string endless_kernel =
      kernel_source("while (*(volatile uint16_t *)args.c != 0) {} args.c[index] = to_bf16(value);");
  const std::string endless_compile =
      "template <int n, int p> struct T { static constexpr int v = T<n - 1, 2 * p>::v + T<n - 1, 2 * p + 1>::v; };\n"
      "template <int p> struct T<0, p> { static constexpr int v = 1; };\nint x = T<30, 0>::v;\n";
  for (const std::string& source : {host_source(kHangs), endless_kernel, endless_compile}) {
    std::latch checking(source == endless_compile ? 1 : 2);  // "compiling", "checking"
    BatchJob endless = job("x", source);
    endless.options.shapes = {
        fp8_gemm().shapes(ShapeSet::Tests)[1].shape};  // so large that the limit of instructions is far
    endless.options.progress = [&](const std::string&) { checking.count_down(); };
    Batch batch({.jobs = 1}, note());
    ASSERT_TRUE(batch.submit(std::move(endless)));
    checking.wait();
    std::this_thread::sleep_for(200ms);
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(batch.cancel("x"));
    batch.drain();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);  // a hang, not a speed
    EXPECT_TRUE(results_["x"].cancelled) << described(results_["x"]);
  }
}

TEST_F(BatchTest, StoppingEndsEverythingWithoutResults) {
  std::latch checking(2);
  BatchJob hangs = job("hangs", host_source(kHangs));
  hangs.options.progress = [&](const std::string&) { checking.count_down(); };
  Batch batch({.jobs = 1}, note());
  ASSERT_TRUE(batch.submit(std::move(hangs)));
  ASSERT_TRUE(batch.submit(job("waits")));
  checking.wait();
  batch.stop();
  batch.drain();
  EXPECT_FALSE(batch.submit(job("late")));
  EXPECT_THAT(ids_, IsEmpty());
}

}  // namespace
}  // namespace hipbench::testing
