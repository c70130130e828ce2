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
        "CREATE TEMP TABLE map_runs (original INTEGER PRIMARY KEY, id INTEGER);"
        "CREATE TEMP TABLE map_batches (original INTEGER PRIMARY KEY, id INTEGER)");
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
    copy_batches();
    copy_rest();
    if (report_.evaluations + report_.runs + report_.turns + report_.answers + report_.published == 0)
      return report_;  // rolls back
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

  // A name that no row of `table` has here.
  std::string free_name(const std::string& table, const std::string& name) const {
    for (int number = 1;; ++number) {
      const std::string candidate = fmt::format("{}-imported-{}", name, number);
      SQLite::Statement query(database_, fmt::format("SELECT 1 FROM main.{} WHERE name = ?", table));
      query.bind(1, candidate);
      if (!query.executeStep()) return candidate;
    }
  }

  // A run or a batch.
  struct Named {
    int64_t id = 0;
    std::string name;
    std::optional<int64_t> same;  // here
    bool name_is_taken = false;
  };
  // `imported`: the table of those that came from elsewhere, and its first column; `and_same`: what else makes them
  // one.
  std::vector<Named> named_of_other(const std::string& table, const std::string& imported, const std::string& id,
                                    const std::string& and_same) const {
    SQLite::Statement query(
        database_,
        fmt::format("SELECT o.id, o.name, (SELECT min(m.id) FROM main.{0} AS m WHERE m.started_at = o.started_at {3} "
                    "AND (m.name = o.name OR m.id IN (SELECT {2} FROM main.{1} WHERE original_name = o.name))), EXISTS "
                    "(SELECT 1 FROM main.{0} AS m WHERE m.name = o.name) FROM other.{0} AS o ORDER BY o.id",
                    table, imported, id, and_same));
    std::vector<Named> list;
    while (query.executeStep()) {
      Named& one = list.emplace_back();
      one.id = query.getColumn(0).getInt64();
      one.name = query.getColumn(1).getString();
      if (!query.isColumnNull(2)) one.same = query.getColumn(2).getInt64();
      one.name_is_taken = query.getColumn(3).getInt64() != 0;
    }
    return list;
  }

  // Puts it into its table, which has the `columns` besides id and name, and into that of the imported ones.
  int64_t add_named(const Named& one, const std::string& table, const std::string& imported,
                    const std::vector<std::string>& columns) {
    const std::string name = one.name_is_taken ? free_name(table, one.name) : one.name;
    SQLite::Statement insert(database_, fmt::format("INSERT INTO main.{0} (name, {1}) SELECT ?, {1} FROM other.{0} "
                                                    "WHERE id = ?",
                                                    table, fmt::join(columns, ", ")));
    SQLite::bind(insert, name, one.id);
    insert.exec();
    const int64_t id = database_.getLastInsertRowid();
    SQLite::Statement provenance(database_, fmt::format("INSERT INTO main.{} VALUES (?, ?, ?)", imported));
    SQLite::bind(provenance, id, import_, one.name);
    provenance.exec();
    if (one.name_is_taken) report_.renamed.push_back(fmt::format("{} is {} here", one.name, name));
    return id;
  }

  void map_named(const std::string& map, int64_t original, int64_t id) {
    SQLite::Statement statement(database_, fmt::format("INSERT INTO {} VALUES (?, ?)", map));
    SQLite::bind(statement, original, id);
    statement.exec();
  }

  void copy_runs() {
    const std::vector<std::string> names = columns("runs", {"id", "name"});
    SQLite::Statement finish(database_,
                             "UPDATE main.runs SET finished_at = (SELECT finished_at FROM other.runs WHERE id = ?) "
                             "WHERE id = ? AND finished_at IS NULL");
    for (const Named& run : named_of_other("runs", "imported_runs", "run_id", "AND m.options = o.options")) {
      if (run.same) {
        SQLite::bind(finish, run.id, *run.same);
        finish.exec();
        finish.reset();
      } else {
        ++report_.runs;
      }
      map_named("map_runs", run.id, run.same ? *run.same : add_named(run, "runs", "imported_runs", names));
    }
    copy_turns();
  }

  // An answer names its evaluation, which has another id here. One that failed by our fault gives way to a better one,
  // as it does when a batch goes on.
  void copy_batches() {
    const std::vector<std::string> names = columns("batches", {"id", "name"});
    for (const Named& batch : named_of_other("batches", "imported_batches", "batch_id", ""))
      map_named("map_batches", batch.id,
                batch.same ? *batch.same : add_named(batch, "batches", "imported_batches", names));
    report_.answers = execute(
        "INSERT INTO main.batch_results (batch_id, candidate, request_sha256, fault, evaluation_id, line) "
        "SELECT b.id, o.candidate, o.request_sha256, o.fault, e.id, CASE WHEN e.id IS NOT NULL AND json_valid(o.line) "
        "THEN json_set(o.line, '$.evaluation', e.id) ELSE o.line END FROM other.batch_results AS o "
        "JOIN map_batches AS b ON b.original = o.batch_id LEFT JOIN map_evaluations AS e ON e.original = "
        "o.evaluation_id WHERE true ON CONFLICT DO UPDATE SET request_sha256 = excluded.request_sha256, fault = "
        "excluded.fault, evaluation_id = excluded.evaluation_id, line = excluded.line "
        "WHERE fault = 'infrastructure' AND excluded.fault <> 'infrastructure'");
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
