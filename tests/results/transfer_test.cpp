#include "results/transfer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "results/database.hpp"
#include "results/migrations.hpp"
#include "results/run_store.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TransferTest : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }

  static Evaluation evaluation(uint64_t seed, const std::string& source = "a") {
    Evaluation e = sample_evaluation(source);
    e.seed = seed;
    return e;
  }
  void record(const std::string& name, const Evaluation& e) const { ASSERT_TRUE(Store::open(file(name))->record(e)); }
  int64_t number(const std::string& name, const std::string& query) const {
    SQLite::Database database(file(name).string());
    return database.execAndGet(query).getInt64();
  }
  std::vector<EvaluationSummary> list(const std::string& name) const { return Store::open(file(name))->list().value(); }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("transfer_test").value();
};

TEST_F(TransferTest, EvaluationsAreTakenOverWholeAndOnce) {
  record("mine.db", evaluation(1));
  for (uint64_t seed = 10; seed < 13; ++seed) record("other.db", evaluation(seed, "b"));
  for (int round = 0; round < 2; ++round) {
    const Result<ImportReport> report = import_database(file("mine.db"), file("other.db"), "from a friend");
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->evaluations, round == 0 ? 3 : 0);
    EXPECT_EQ(report->known, round == 0 ? 0 : 3);
  }
  record("other.db", evaluation(13, "c"));
  EXPECT_EQ(import_database(file("mine.db"), file("other.db"), "")->evaluations, 1);
  ASSERT_EQ(list("mine.db").size(), 5U);
  const Evaluation got = Store::open(file("mine.db"))->load(3).value();
  EXPECT_EQ(got.seed, 11U);
  EXPECT_EQ(got.source, "b");
  EXPECT_EQ(got.shapes.at(0).launches.size(), 2U);
  EXPECT_EQ(got.kernels.size(), 2U);
  EXPECT_EQ(number("mine.db", "SELECT original_id FROM imported_evaluations WHERE evaluation_id = 3"), 2);
  EXPECT_EQ(number("mine.db", "SELECT count(*) FROM imports"), 2);  // one that brought nothing leaves no trace
  EXPECT_THAT(check_integrity(file("mine.db")).value(), IsEmpty());
  EXPECT_EQ(list("other.db").size(), 4U);
}

void record_turn(RunStore& runs, int64_t run, int64_t turn, const Evaluation& e) {
  StoredTurn stored;
  stored.step = "write";
  stored.source = e.source;
  stored.rung = "passed";
  stored.feedback = "[]";
  stored.messages = {{"user", "write it"}};
  ASSERT_TRUE(runs.record_turn({run, "fp8_gemm", 0}, turn, stored, &e));
  ASSERT_TRUE(runs.keep_failure({run, "fp8_gemm", 0}, turn, "timeout", 5, 6));
}

TEST_F(TransferTest, RunsKeepTheirTurnsAndGrowWithLaterStates) {
  const std::string options = R"({"problems": [{"id": "fp8_gemm", "shape_set": "quick"}], "samples": 1})";
  ASSERT_TRUE(RunStore::open(file("mine.db"))->begin_run("monday", "{}", "refine", "m"));
  record("mine.db", evaluation(1));
  Result<RunStore> other = RunStore::open(file("other.db"));
  const int64_t run = other->begin_run("monday", options, "refine", "m")->id;
  record_turn(*other, run, 0, evaluation(20));
  Result<ImportReport> report = import_database(file("mine.db"), file("other.db"), "");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->runs, 1);
  EXPECT_THAT(report->renamed, ElementsAre("monday is monday-imported-1 here"));
  record_turn(*other, run, 1, evaluation(21));
  report = import_database(file("mine.db"), file("other.db"), "");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->runs, 0);
  EXPECT_EQ(report->turns, 1);
  Result<RunStore> mine = RunStore::open(file("mine.db"));
  const auto turns = mine->turns({2, "fp8_gemm", 0}).value();
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(Store::open(file("mine.db"))->load(*turns[1].evaluation)->seed, 21U);
  EXPECT_EQ(mine->spent(2)->tokens, 12U);
  EXPECT_THAT(check_integrity(file("mine.db")).value(), IsEmpty());
}

TEST_F(TransferTest, BatchesKeepTheirAnswersWhichNameTheEvaluationsOfThisDatabase) {
  const auto line = [](std::optional<int64_t> id) { return fmt::format(R"({{"id":"x","evaluation":{}}})", *id); };
  const auto answer = [&](const std::string& name, const std::string& candidate, const Evaluation& e) {
    Store store = Store::open(file(name)).value();
    const int64_t batch = store.open_batch("monday").value();
    ASSERT_TRUE(store.record_answer(e, {batch, candidate, "hash"}, line));
  };
  const auto text = [&](const std::string& query) {
    SQLite::Database database(file("mine.db").string());
    return database.execAndGet(query).getString();
  };
  Evaluation ours = evaluation(9);
  ours.verdict = {VerdictKind::Infrastructure, "no memory", ""};
  record("mine.db", evaluation(1));
  record("mine.db", evaluation(2));
  answer("other.db", "x", ours);
  answer("other.db", "y", evaluation(10));
  Result<ImportReport> report = import_database(file("mine.db"), file("other.db"), "");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->answers, 2);
  EXPECT_THAT(report->renamed, IsEmpty());
  EXPECT_EQ(text("SELECT line FROM batch_results WHERE candidate = 'y'"), R"({"id":"x","evaluation":4})");
  EXPECT_EQ(number("mine.db", "SELECT evaluation_id FROM batch_results WHERE candidate = 'y'"), 4);

  // A later state: what failed by our fault has an answer now.
  answer("other.db", "x", evaluation(11));
  EXPECT_EQ(import_database(file("mine.db"), file("other.db"), "")->answers, 1);
  EXPECT_EQ(text("SELECT line FROM batch_results WHERE candidate = 'x'"), R"({"id":"x","evaluation":5})");
  EXPECT_EQ(import_database(file("mine.db"), file("other.db"), "")->answers, 0);
  Store store = Store::open(file("mine.db")).value();  // a batch that was imported can go on here
  EXPECT_EQ(store.find_answer(store.open_batch("monday").value(), "y").value()->fault, Fault::Candidate);

  SQLite::Database(file("other.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE batches SET started_at = '2020-01-01T00:00:00Z'");
  report = import_database(file("mine.db"), file("other.db"), "");
  EXPECT_THAT(report->renamed, ElementsAre("monday is monday-imported-1 here"));
  EXPECT_EQ(report->answers, 2);
  EXPECT_EQ(import_database(file("mine.db"), file("other.db"), "")->answers, 0);
  EXPECT_EQ(number("mine.db", "SELECT count(*) FROM batches"), 2);
  EXPECT_THAT(check_integrity(file("mine.db")).value(), IsEmpty());
}

TEST_F(TransferTest, AnOlderDatabaseIsImportedAndNotChanged) {
  ASSERT_TRUE(open_database(file("old.db"), {}, migrations().first(2)));
  record("mine.db", evaluation(1));
  ASSERT_TRUE(import_database(file("mine.db"), file("old.db"), ""));
  EXPECT_EQ(number("old.db", "PRAGMA user_version"), 2);
}

TEST_F(TransferTest, ATextThatIsNotWhatItsHashSaysIsRefused) {
  record("mine.db", evaluation(1));
  record("other.db", evaluation(2, "honest"));
  SQLite::Database(file("other.db").string(), SQLite::OPEN_READWRITE).exec("UPDATE sources SET text = 'another'");
  const auto report = import_database(file("mine.db"), file("other.db"), "");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("not what its hash says"));
  EXPECT_EQ(list("mine.db").size(), 1U);
}

TEST_F(TransferTest, WhatCannotBeImportedIsNamed) {
  record("mine.db", evaluation(1));
  EXPECT_THAT(import_database(file("mine.db"), file("none.db"), "").error().message, HasSubstr("there is no database"));
  EXPECT_THAT(import_database(file("mine.db"), file("mine.db"), "").error().message, HasSubstr("into itself"));
  std::ofstream(file("text.db")) << std::string(5000, 'x');
  EXPECT_THAT(import_database(file("mine.db"), file("text.db"), "").error().message, HasSubstr("is not a database"));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

TEST_F(TransferTest, PublishedTimesHaveATableOfTheirOwn) {
  const std::vector<PublishedTime> times = {
      {"fp8_gemm", "m=64,n=64,k=128", "somebody", "MI300X", "https://example.org", 12.5}};
  EXPECT_EQ(import_published(file("mine.db"), times).value(), 1);
  EXPECT_EQ(import_published(file("mine.db"), times).value(), 0);
  EXPECT_EQ(number("mine.db", "SELECT count(*) FROM evaluations"), 0);
}

TEST_F(TransferTest, ExportsEveryTableWithItsColumns) {
  record("mine.db", evaluation(1));
  for (const std::string& name : export_names()) {
    std::vector<std::string> columns;
    size_t rows = 0;
    ExportSink sink;
    sink.header = [&](const auto& names) { columns = names; };
    sink.row = [&](const auto& values) {
      EXPECT_EQ(values.size(), columns.size());
      return ++rows != 0;
    };
    const Result<void> exported = export_rows(file("mine.db"), name, "", sink);
    ASSERT_TRUE(exported) << exported.error().message;
    EXPECT_FALSE(columns.empty()) << name;
    const std::map<std::string, size_t> wanted = {{"evaluations", 1}, {"shapes", 2}, {"launches", 2}};
    EXPECT_EQ(rows, wanted.contains(name) ? wanted.at(name) : 0) << name;
  }
  EXPECT_THAT(export_rows(file("mine.db"), "all", "", {}).error().message, HasSubstr("there are: evaluations, shapes"));
}

TEST_F(TransferTest, EveryViewCanBeRead) {
  record("mine.db", evaluation(1));
  SQLite::Database database(file("mine.db").string());
  SQLite::Statement views(database, "SELECT name FROM sqlite_master WHERE type = 'view'");
  size_t count = 0;
  for (; views.executeStep(); ++count) {
    const std::string name = views.getColumn(0).getString();
    SQLite::Statement all(database, "SELECT * FROM " + name);
    while (all.executeStep()) continue;
  }
  EXPECT_EQ(count, 9U);
}

TEST_F(TransferTest, ARowWithoutItsParentIsFound) {
  record("mine.db", evaluation(1));
  SQLite::Database database(file("mine.db").string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = OFF; DELETE FROM sources");
  EXPECT_THAT(check_integrity(file("mine.db")).value(),
              ElementsAre("a row of evaluations belongs to no row of sources"));
}

}  // namespace
}  // namespace hipbench::results
