#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/files.hpp"
#include "results/database.hpp"
#include "results/migrations.hpp"
#include "results/transfer.hpp"

namespace hipbench::results {

namespace {

namespace fs = std::filesystem;

// A copy of another database, brought up to date: the original may be old, read-only, and in use.
Result<void> copy_up_to_date(const fs::path& from, const fs::path& copy) {
  std::error_code error;
  if (!fs::is_regular_file(from, error)) return Error{fmt::format("there is no database {}", from.string())};
  TRY(guarded(from, [&]() -> Result<void> {
    SQLite::Database source(from.string(), SQLite::OPEN_READONLY, 10'000);
    SQLite::Database target(copy.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(target, source).executeStep(-1);
    return {};
  }));
  const auto opened = open_database(copy, {}, migrations());
  if (!opened) return opened.error().with_context("imported from " + from.string());
  return {};
}

// One import, inside a transaction. The other database is attached as "other".
class Import {
 public:
  explicit Import(SQLite::Database& database) : database_(database) {}

  Result<ImportReport> run(const fs::path& from, const std::string& note) {
    database_.exec(
        "CREATE TEMP TABLE map_evaluations (original INTEGER PRIMARY KEY, id INTEGER, is_new INTEGER);"
        "CREATE TEMP TABLE map_runs (original INTEGER PRIMARY KEY, id INTEGER)");
    SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
    database_.exec("PRAGMA defer_foreign_keys = ON");
    SQLite::Statement import(database_,
                             "INSERT INTO imports (file, imported_at, note) VALUES (?, "
                             "strftime('%Y-%m-%dT%H:%M:%SZ'), ?)");
    SQLite::bind(import, from.string(), note);
    import.exec();
    import_ = database_.getLastInsertRowid();
    TRY(copy_texts("sources"));
    TRY(copy_texts("messages"));
    copy_evaluations();
    copy_runs();
    copy_rest();
    if (report_.evaluations + report_.runs + report_.turns + report_.published == 0) return report_;  // rolls back
    transaction.commit();
    return report_;
  }

 private:
  // The hash is what ties a text to evaluations and baselines, so it is not believed.
  Result<void> copy_texts(const std::string& table) {
    SQLite::Statement query(database_, fmt::format("SELECT sha256, text FROM other.{} AS o WHERE NOT EXISTS "
                                                   "(SELECT 1 FROM main.{} AS m WHERE m.sha256 = o.sha256)",
                                                   table, table));
    SQLite::Statement insert(database_, fmt::format("INSERT INTO main.{} (sha256, text) VALUES (?, ?)", table));
    while (query.executeStep()) {
      const std::string sha256 = query.getColumn(0).getString(), text = query.getColumn(1).getString();
      if (sha256_hex(text) != sha256) {
        return Error{
            fmt::format("a text in the table {} of the other database is not what its hash says ({}); it is "
                        "damaged, or was changed by hand. Nothing was imported",
                        table, sha256.substr(0, 12))};
      }
      SQLite::bind(insert, sha256, text);
      insert.exec();
      insert.reset();
    }
    return {};
  }

  // A table's columns but for some, with commas. Both databases are of the same version.
  std::vector<std::string> columns(const std::string& table, std::initializer_list<std::string_view> without) const {
    std::vector<std::string> names;
    SQLite::Statement query(database_, fmt::format("PRAGMA main.table_info({})", table));
    while (query.executeStep()) {
      const std::string name = query.getColumn(1).getString();
      if (std::find(without.begin(), without.end(), name) == without.end()) names.push_back(name);
    }
    return names;
  }

  int64_t execute(const std::string& text) {
    SQLite::Statement statement(database_, text);
    return statement.exec();
  }

  void copy_evaluations() {
    const std::string names = fmt::format("{}", fmt::join(columns("evaluations", {"id"}), ", "));
    // The seed is 64 random bits, so an evaluation that agrees in all of this is the same one.
    SQLite::Statement query(database_,
                            "SELECT o.id, (SELECT min(m.id) FROM main.evaluations AS m WHERE m.source_sha256 = "
                            "o.source_sha256 AND m.seed = o.seed AND m.started_at = o.started_at AND m.problem = "
                            "o.problem AND m.shape_set = o.shape_set AND m.total_seconds = o.total_seconds) "
                            "FROM other.evaluations AS o ORDER BY o.id");
    SQLite::Statement insert(database_, fmt::format("INSERT INTO main.evaluations ({0}) SELECT {0} FROM "
                                                    "other.evaluations WHERE id = ?",
                                                    names));
    SQLite::Statement map(database_, "INSERT INTO map_evaluations VALUES (?, ?, ?)");
    std::vector<std::pair<int64_t, std::optional<int64_t>>> rows;  // read first: the query looks at what is written
    while (query.executeStep()) {
      const bool is_new = query.isColumnNull(1);
      rows.emplace_back(query.getColumn(0).getInt64(),
                        is_new ? std::nullopt : std::optional(query.getColumn(1).getInt64()));
    }
    for (const auto& [original, known] : rows) {
      int64_t id = known.value_or(0);
      if (!known) {
        insert.bind(1, original);
        insert.exec();
        insert.reset();
        id = database_.getLastInsertRowid();
      }
      ++(known ? report_.known : report_.evaluations);
      SQLite::bind(map, original, id, known ? 0 : 1);
      map.exec();
      map.reset();
    }
    for (const char* table :
         {"shape_results", "launches", "kernels", "warnings", "time_samples", "telemetry", "launch_profiles"}) {
      const std::string rest = fmt::format("{}", fmt::join(columns(table, {"evaluation_id"}), ", "));
      execute(
          fmt::format("INSERT INTO main.{0} (evaluation_id, {1}) SELECT x.id, {1} FROM other.{0} AS o JOIN "
                      "map_evaluations AS x ON x.original = o.evaluation_id WHERE x.is_new",
                      table, rest));
    }
    execute(fmt::format("INSERT INTO imported_evaluations SELECT id, {}, original FROM map_evaluations WHERE is_new",
                        import_));
  }

  // A name that no run has here.
  std::string free_name(const std::string& name) const {
    for (int number = 1;; ++number) {
      const std::string candidate = fmt::format("{}-imported-{}", name, number);
      SQLite::Statement query(database_, "SELECT 1 FROM main.runs WHERE name = ?");
      query.bind(1, candidate);
      if (!query.executeStep()) return candidate;
    }
  }

  struct OtherRun {
    int64_t id = 0;
    std::string name;
    std::optional<int64_t> same;  // here
    bool name_is_taken = false;
  };
  std::vector<OtherRun> other_runs() const {
    SQLite::Statement query(
        database_,
        "SELECT o.id, o.name, (SELECT min(m.id) FROM main.runs AS m WHERE m.started_at = "
        "o.started_at AND m.options = o.options AND (m.name = o.name OR m.id IN (SELECT run_id FROM "
        "imported_runs WHERE original_name = o.name))), EXISTS (SELECT 1 FROM main.runs AS m WHERE "
        "m.name = o.name) FROM other.runs AS o ORDER BY o.id");
    std::vector<OtherRun> runs;
    while (query.executeStep()) {
      OtherRun& run = runs.emplace_back();
      run.id = query.getColumn(0).getInt64();
      run.name = query.getColumn(1).getString();
      if (!query.isColumnNull(2)) run.same = query.getColumn(2).getInt64();
      run.name_is_taken = query.getColumn(3).getInt64() != 0;
    }
    return runs;
  }

  void copy_runs() {
    const std::string names = fmt::format("{}", fmt::join(columns("runs", {"id", "name"}), ", "));
    SQLite::Statement insert(
        database_, fmt::format("INSERT INTO main.runs (name, {0}) SELECT ?, {0} FROM other.runs WHERE id = ?", names));
    SQLite::Statement finish(database_,
                             "UPDATE main.runs SET finished_at = (SELECT finished_at FROM other.runs WHERE id = ?) "
                             "WHERE id = ? AND finished_at IS NULL");
    SQLite::Statement provenance(database_, "INSERT INTO imported_runs VALUES (?, ?, ?)");
    for (const OtherRun& run : other_runs()) {
      int64_t id = run.same.value_or(0);
      if (run.same) {
        SQLite::bind(finish, run.id, id);
        finish.exec();
        finish.reset();
      } else {
        const std::string name = run.name_is_taken ? free_name(run.name) : run.name;
        SQLite::bind(insert, name, run.id);
        insert.exec();
        insert.reset();
        id = database_.getLastInsertRowid();
        SQLite::bind(provenance, id, import_, run.name);
        provenance.exec();
        provenance.reset();
        ++report_.runs;
        if (run.name_is_taken) report_.renamed.push_back(fmt::format("{} is {} here", run.name, name));
      }
      SQLite::Statement map(database_, "INSERT INTO map_runs VALUES (?, ?)");
      SQLite::bind(map, run.id, id);
      map.exec();
    }
    copy_turns();
  }

  void copy_turns() {
    const std::string turns = fmt::format("{}", fmt::join(columns("turns", {"run_id", "evaluation_id"}), ", "));
    report_.turns = execute(fmt::format(
        "INSERT OR IGNORE INTO main.turns (run_id, evaluation_id, {0}) SELECT r.id, e.id, {0} FROM other.turns AS o "
        "JOIN map_runs AS r ON r.original = o.run_id LEFT JOIN map_evaluations AS e ON e.original = o.evaluation_id",
        turns));
    for (const char* table : {"turn_messages", "exchanges"}) {
      const std::string rest = fmt::format("{}", fmt::join(columns(table, {"run_id"}), ", "));
      execute(
          fmt::format("INSERT OR IGNORE INTO main.{0} (run_id, {1}) SELECT r.id, {1} FROM other.{0} AS o JOIN "
                      "map_runs AS r ON r.original = o.run_id",
                      table, rest));
    }
    const std::string failures = fmt::format("{}", fmt::join(columns("failed_requests", {"id", "run_id"}), ", "));
    execute(fmt::format(
        "INSERT INTO main.failed_requests (run_id, {0}) SELECT r.id, {0} FROM other.failed_requests AS o JOIN map_runs "
        "AS r ON r.original = o.run_id WHERE NOT EXISTS (SELECT 1 FROM main.failed_requests AS m WHERE m.run_id = r.id "
        "AND m.problem = o.problem AND m.sample = o.sample AND m.turn = o.turn AND m.at = o.at AND m.what = o.what)",
        failures));
    const std::string baselines =
        fmt::format("{}", fmt::join(columns("run_baselines", {"run_id", "evaluation_id"}), ", "));
    execute(fmt::format(
        "INSERT OR IGNORE INTO main.run_baselines (run_id, evaluation_id, {0}) SELECT r.id, e.id, {0} FROM "
        "other.run_baselines AS o JOIN map_runs AS r ON r.original = o.run_id JOIN map_evaluations AS e ON e.original "
        "= o.evaluation_id",
        baselines));
  }

  void copy_rest() {
    execute(
        "INSERT OR IGNORE INTO main.reverified SELECT a.id, b.id, o.reason FROM other.reverified AS o JOIN "
        "map_evaluations AS a ON a.original = o.evaluation_id JOIN map_evaluations AS b ON b.original = "
        "o.original_id WHERE a.is_new");
    report_.published = execute("INSERT OR IGNORE INTO main.published_times SELECT * FROM other.published_times");
  }

  SQLite::Database& database_;
  int64_t import_ = 0;
  ImportReport report_;
};

}  // namespace

Result<ImportReport> import_database(const fs::path& into, const fs::path& from, const std::string& note) {
  std::error_code error;
  if (fs::equivalent(into, from, error)) return Error{fmt::format("{} cannot be imported into itself", from.string())};
  const TemporaryDirectory folder = TRY(TemporaryDirectory::create("hipbench-import"));
  const fs::path copy = folder.path() / "other.db";
  TRY(copy_up_to_date(from, copy));
  const auto database = TRY(open_database(into, {}, migrations()));
  return guarded(into, [&]() -> Result<ImportReport> {
    SQLite::Statement attach(*database, "ATTACH ? AS other");
    attach.bind(1, copy.string());
    attach.exec();
    return Import(*database).run(from, note);
  });
}

Result<int64_t> import_published(const fs::path& into, const std::vector<PublishedTime>& times) {
  const auto database = TRY(open_database(into, {}, migrations()));
  return guarded(into, [&]() -> Result<int64_t> {
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement insert(*database,
                             "INSERT OR IGNORE INTO published_times (problem, shape, what, device, time_us, source) "
                             "VALUES (?, ?, ?, ?, ?, ?)");
    int64_t count = 0;
    for (const PublishedTime& time : times) {
      SQLite::bind(insert, time.problem, time.shape, time.what, time.device, time.time_us, time.source);
      count += insert.exec();
      insert.reset();
    }
    transaction.commit();
    return count;
  });
}

}  // namespace hipbench::results
