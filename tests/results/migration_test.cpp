#include "results/migrations.hpp"

#include <gmock/gmock.h>

#include "results/database.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::HasSubstr;

class MigrationTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }

  // A database as the program of an earlier version left it.
  void make_version(size_t version) { ASSERT_TRUE(open_database(file(), {}, migrations().first(version))); }

  int64_t number(const std::string& query) const {
    SQLite::Database database(file().string());
    SQLite::Statement statement(database, query);
    return statement.executeStep() ? statement.getColumn(0).getInt64() : -1;
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("migration_test").value();
};

constexpr const char* kOldRows = R"sql(
INSERT INTO sources VALUES ('00ff', 'old source');
INSERT INTO evaluations (id, started_at, problem, track, device, file, source_sha256, seed, shape_set, sandboxed, memory_checks, verdict,
  reason, evidence, compile_seconds, compile_was_cached, total_seconds, toolchain) VALUES (5, '2026-11-01T00:00:00Z', 'fp8_gemm', 'kernel', 'emulated', 'old.hip', '00ff', '18446744073709551615',
  'quick', 1, 0, 'passed', '', '', 1.0, 0, 2.0, 'clang 19; HIP 6.4; timing model mi300x-1.old');
INSERT INTO shape_results (evaluation_id, ordinal, shape, field_values, verdict, reason, evidence, checked_rows, row_count, rounds,
  time_us, provenance, wave_instructions, emulation_seconds, within_tolerance, output, elements, mismatches, non_finite, untouched,
  worst_ratio, pattern) VALUES (5, 0, 'm=64,n=64,k=128', '64 64 128 0', 'passed', '', '', 64, 64, 3, NULL, NULL, 1000, 0.5, 1, 'c', 4096,
  0, 0, 0, 0.25, '');
INSERT INTO shape_results (evaluation_id, ordinal, shape, field_values, verdict, reason, evidence, checked_rows, row_count, rounds,
  time_us, provenance, wave_instructions, emulation_seconds, within_tolerance, output, elements, mismatches, non_finite, untouched,
  worst_ratio, pattern) VALUES (5, 1, 'm=96,n=64,k=128', '96 64 128 0', 'passed', '', '', 64, 64, 3, 7.5, 'modelled', 1000, 0.5, 1,
  'c', 4096, 0, 0, 0, 0.25, '');
)sql";

// Tables that later versions brought, by the version.
constexpr std::pair<size_t, const char*> kLaterRows[] = {
    {3,
     "INSERT INTO batches VALUES (1, 'b', '2026-11-01T00:00:00Z');"
     "INSERT INTO batch_results VALUES (1, 'x', 'hash', 'none', 5, '{}')"},
    {4,
     "INSERT INTO messages VALUES ('11', 'a prompt');"
     "INSERT INTO runs VALUES (1, 'monday', '2026-11-01T00:00:00Z', NULL, '{}', 'refine', 'm');"
     "INSERT INTO turns VALUES (1, 'fp8_gemm', 0, 0, 'write', NULL, NULL, 0, 0, 'answer', '', 'fence', '00ff', '', 5, "
     "'passed', 'passed', 1, 7.5, 1000, '[]', 10, 20, 30);"
     "INSERT INTO turn_messages VALUES (1, 'fp8_gemm', 0, 0, 0, 'user', '11');"
     "INSERT INTO exchanges VALUES (1, 'fp8_gemm', 0, 0, 0, 'r', 'answer', x'00', 10, 20, 1, 30, 1.5)"},
    {5,
     "INSERT INTO imports VALUES (1, 'o.db', '2026-11-01T00:00:00Z', '');"
     "INSERT INTO imported_evaluations VALUES (5, 1, 9);"
     "UPDATE shape_results SET timing_model = 'mi300x-1.old' WHERE ordinal = 1"},
};

TEST_F(MigrationTest, EveryEarlierVersionIsBroughtUpToDateAndKeepsItsRows) {
  for (size_t version = 1; version < migrations().size(); ++version) {
    std::filesystem::remove(file());
    make_version(version);
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec(kOldRows);
    for (const auto& [since, rows] : kLaterRows)
      if (version >= since) SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec(rows);
    for (const Access access : {Access::Read, Access::ReadWrite}) {
      Result<Store> store = Store::open(file(), {.access = access});
      ASSERT_TRUE(store) << store.error().message;
      const Result<Evaluation> loaded = store->load(5);
      ASSERT_TRUE(loaded) << loaded.error().message;
      EXPECT_EQ(loaded->source, "old source");
      EXPECT_EQ(loaded->seed, 18446744073709551615U);
      ASSERT_EQ(loaded->shapes.size(), 2U);
      EXPECT_EQ(loaded->shapes[0].time_us, 0);
      EXPECT_EQ(loaded->shapes[0].timing_model, "");
      EXPECT_EQ(loaded->shapes[1].time_us, 7.5);
      EXPECT_EQ(loaded->shapes[1].timing_model, "mi300x-1.old");  // it was in the toolchain's words before
      EXPECT_EQ(store->list()->front().passed_shapes, 2);
    }
    EXPECT_EQ(number("PRAGMA user_version"), static_cast<int64_t>(migrations().size()));
    EXPECT_EQ(number("SELECT count(*) FROM batch_results"), version >= 3 ? 1 : 0);
    EXPECT_EQ(number("SELECT count(*) FROM turn_overview"), version >= 4 ? 1 : 0);
    EXPECT_EQ(number("SELECT count(*) FROM turn_messages"), version >= 4 ? 1 : 0);
    EXPECT_EQ(number("SELECT count(*) FROM imported_evaluations"), version >= 5 ? 1 : 0);
    Result<Store> store = Store::open(file());
    EXPECT_EQ(store->record(sample_evaluation()).value(), 6);
  }
}

TEST_F(MigrationTest, WhatAnEarlierVersionDidNotRecordIsNotANumber) {
  Result<Store> store = Store::open(file());
  ASSERT_TRUE(store->record(sample_evaluation()));
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("UPDATE launch_profiles SET hbm_bytes = NULL");
  const Result<Evaluation> loaded = store->load(1);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const emulator::TimeBreakdown& b = loaded->shapes.at(0).launches.at(0).time_breakdown;
  EXPECT_EQ(b.beyond_l2_bytes, 4096);
  EXPECT_NE(b.hbm_bytes, b.hbm_bytes);
}

TEST_F(MigrationTest, ADatabaseFromTheFutureIsRefusedAndNotTouched) {
  ASSERT_TRUE(Store::open(file()));
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  for (const Access access : {Access::Read, Access::ReadWrite}) {
    const Result<Store> store = Store::open(file(), {.access = access});
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message, HasSubstr("was written by a newer hipbench (its schema has version 99"));
  }
  EXPECT_EQ(number("PRAGMA user_version"), 99);
}

TEST_F(MigrationTest, AStepThatFailsLeavesTheVersionBefore) {
  make_version(1);
  const std::string_view steps[] = {migrations()[0], "CREATE TABLE half (x); INSERT INTO no_such_table VALUES (1);"};
  const auto database = open_database(file(), {}, steps);
  ASSERT_FALSE(database);
  EXPECT_THAT(database.error().message, HasSubstr("no_such_table"));
  EXPECT_EQ(number("PRAGMA user_version"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_master WHERE name = 'half'"), 0);
}

TEST_F(MigrationTest, AnotherProgramsDatabaseIsRefused) {
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE notes (text)");
  EXPECT_THAT(Store::open(file()).error().message, HasSubstr("database of another program"));
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_master"), 1);
}

}  // namespace
}  // namespace hipbench::results
