// The state of batches in the database: what was answered, once, together with its evaluation.
#include <gmock/gmock.h>

#include "results/store.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::HasSubstr;

class BatchStoreTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }
  Store open(Access access = Access::ReadWrite) { return Store::open(file(), {.access = access}).value(); }
  static std::string line_of(std::optional<int64_t> id) { return id ? "evaluation " + std::to_string(*id) : "none"; }

  static Evaluation infrastructure() {
    Evaluation evaluation = sample_evaluation();
    evaluation.verdict = {VerdictKind::Infrastructure, "no memory", ""};
    return evaluation;
  }
  size_t evaluations() { return open().list().value().size(); }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("batch_store_test").value();
};

TEST_F(BatchStoreTest, ABatchIsFoundAgainByItsName) {
  const int64_t first = open().open_batch("first").value();
  EXPECT_NE(open().open_batch("second").value(), first);
  EXPECT_EQ(open().open_batch("first").value(), first);
}

TEST_F(BatchStoreTest, AnAnswerIsFoundAgainAndHoldsTheEvaluationsId) {
  Store store = open();
  const int64_t batch = store.open_batch("b").value();
  EXPECT_EQ(store.find_answer(batch, "x").value(), std::nullopt);
  EXPECT_EQ(store.record_answer(sample_evaluation(), {batch, "x", "hash"}, line_of).value(), "evaluation 1");
  const auto answer = open().find_answer(batch, "x").value();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->line, "evaluation 1");
  EXPECT_EQ(answer->request_sha256, "hash");
  EXPECT_EQ(answer->fault, Fault::Candidate);
  EXPECT_EQ(store.find_answer(store.open_batch("other").value(), "x").value(), std::nullopt);
}

TEST_F(BatchStoreTest, ASecondAnswerIsRefusedWithItsEvaluation) {
  Store store = open();
  const int64_t batch = store.open_batch("b").value();
  ASSERT_TRUE(store.record_answer(sample_evaluation(), {batch, "x", "hash"}, line_of));
  const auto again = store.record_answer(sample_evaluation(), {batch, "x", "hash"}, line_of);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("\"x\""));
  EXPECT_EQ(evaluations(), 1u);
}

TEST_F(BatchStoreTest, AnInfrastructureFaultIsReplacedByALaterAnswer) {
  Store store = open();
  const int64_t batch = store.open_batch("b").value();
  ASSERT_TRUE(store.record_answer(infrastructure(), {batch, "x", "hash"}, line_of));
  EXPECT_EQ(store.find_answer(batch, "x").value()->fault, Fault::Infrastructure);
  EXPECT_EQ(store.record_answer(sample_evaluation(), {batch, "x", "hash"}, line_of).value(), "evaluation 2");
  EXPECT_EQ(store.find_answer(batch, "x").value()->line, "evaluation 2");
}

TEST_F(BatchStoreTest, ACancelledCandidateHasAnAnswerButNoEvaluation) {
  Store store = open();
  const int64_t batch = store.open_batch("b").value();
  Evaluation cancelled = infrastructure();
  cancelled.cancelled = true;
  EXPECT_EQ(store.record_answer(cancelled, {batch, "x", "hash"}, line_of).value(), "none");
  EXPECT_EQ(store.find_answer(batch, "x").value()->fault, Fault::None);
  EXPECT_EQ(evaluations(), 0u);
}

TEST_F(BatchStoreTest, AfterReadingNothingIsLeftBesideTheDatabase) {
  ASSERT_TRUE(open().record(sample_evaluation()));
  EXPECT_EQ(open(Access::Read).list().value().size(), 1u);
  for (const char* ending : {"-wal", "-shm", "-journal"})
    EXPECT_FALSE(std::filesystem::exists(file().string() + ending)) << ending;
}

}  // namespace
}  // namespace hipbench::results
