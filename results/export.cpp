// Reading whole tables: exports and the integrity check.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/database.hpp"
#include "results/migrations.hpp"
#include "results/transfer.hpp"

namespace hipbench::results {

namespace {

struct ExportTable {
  std::string_view name;
  std::string_view query;  // with ?1 for the problem
};

constexpr ExportTable kExports[] = {
    {"evaluations",
     "SELECT e.*, (SELECT i.file FROM imported_evaluations AS x JOIN imports AS i ON i.id = x.import_id WHERE "
     "x.evaluation_id = e.id) AS imported_from, (SELECT r.name FROM turns AS t JOIN runs AS r ON r.id = t.run_id WHERE "
     "t.evaluation_id = e.id) AS run FROM evaluations AS e WHERE ?1 = '' OR e.problem = ?1 ORDER BY e.id"},
    {"shapes",
     "SELECT e.problem, e.track, e.device, e.file, e.source_sha256, e.sandboxed, e.memory_checks, e.toolchain, s.* "
     "FROM "
     "shape_results AS s JOIN evaluations AS e ON e.id = s.evaluation_id WHERE ?1 = '' OR e.problem = ?1 ORDER BY "
     "s.evaluation_id, s.ordinal"},
    {"samples",
     "SELECT e.problem, s.shape, t.* FROM time_samples AS t JOIN evaluations AS e ON e.id = t.evaluation_id JOIN "
     "shape_results AS s ON s.evaluation_id = t.evaluation_id AND s.ordinal = t.shape_ordinal WHERE ?1 = '' OR "
     "e.problem = ?1 ORDER BY t.evaluation_id, t.shape_ordinal, t.ordinal"},
    {"launches",
     "SELECT e.problem, s.shape, l.*, p.modelled_us, p.kernel_us, p.launch_us, p.shares FROM launches AS l JOIN "
     "evaluations AS e ON e.id = l.evaluation_id JOIN shape_results AS s ON s.evaluation_id = l.evaluation_id AND "
     "s.ordinal = l.shape_ordinal LEFT JOIN launch_profiles AS p ON p.evaluation_id = l.evaluation_id AND "
     "p.shape_ordinal = l.shape_ordinal AND p.launch_ordinal = l.ordinal WHERE ?1 = '' OR e.problem = ?1 ORDER BY "
     "l.evaluation_id, l.shape_ordinal, l.ordinal"},
    {"runs",
     "SELECT p.run, r.model, r.strategy, r.started_at, r.finished_at, p.problem, p.shape_set, p.track, p.samples AS "
     "requested, g.drawn, g.passed, g.turns, c.usd, c.tokens FROM run_problems AS p JOIN runs AS r ON r.id = p.run_id "
     "LEFT JOIN run_progress AS g ON g.run_id = p.run_id AND g.problem = p.problem LEFT JOIN run_costs AS c ON "
     "c.run_id = p.run_id AND c.problem = p.problem WHERE ?1 = '' OR p.problem = ?1 ORDER BY p.run_id"},
    {"turns", "SELECT * FROM turn_overview WHERE ?1 = '' OR problem = ?1"},
    {"answers",
     "SELECT b.name AS batch, b.started_at, a.candidate, a.fault, a.evaluation_id, a.line FROM batch_results AS a JOIN "
     "batches AS b ON b.id = a.batch_id LEFT JOIN evaluations AS e ON e.id = a.evaluation_id WHERE ?1 = '' OR "
     "e.problem = ?1 ORDER BY b.id, a.evaluation_id, a.candidate"},
    {"published", "SELECT * FROM published_times WHERE ?1 = '' OR problem = ?1"},
};

ExportValue value_of(const SQLite::Column& column) {
  if (column.isNull()) return std::monostate();
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

}  // namespace

std::vector<std::string> export_names() {
  std::vector<std::string> names;
  for (const ExportTable& table : kExports) names.emplace_back(table.name);
  return names;
}

Result<void> export_rows(const std::filesystem::path& path, const std::string& name, const std::string& problem,
                         const ExportSink& sink) {
  const auto table =
      std::find_if(std::begin(kExports), std::end(kExports), [&](const ExportTable& one) { return one.name == name; });
  if (table == std::end(kExports))
    return Error{
        fmt::format("there is no table \"{}\" to export; there are: {}", name, fmt::join(export_names(), ", "))};
  const auto database = TRY(open_database(path, {.access = Access::Read}, migrations()));
  return guarded(path, [&]() -> Result<void> {
    SQLite::Statement query(*database, std::string(table->query));
    query.bind(1, problem);
    std::vector<std::string> columns;
    for (int i = 0; i < query.getColumnCount(); ++i) columns.emplace_back(query.getColumnName(i));
    sink.header(columns);
    while (query.executeStep()) {
      std::vector<ExportValue> values;
      for (int i = 0; i < query.getColumnCount(); ++i) values.push_back(value_of(query.getColumn(i)));
      if (!sink.row(values)) break;
    }
    return {};
  });
}

Result<std::vector<std::string>> check_integrity(const std::filesystem::path& path) {
  const auto database = TRY(open_database(path, {.access = Access::Read}, migrations()));
  std::vector<std::string> findings;
  const Result<void> checked = guarded(path, [&]() -> Result<void> {
    SQLite::Statement pages(*database, "PRAGMA integrity_check(20)");
    while (pages.executeStep())
      if (const std::string line = pages.getColumn(0).getString(); line != "ok") findings.push_back(line);
    SQLite::Statement keys(*database, "PRAGMA foreign_key_check");
    while (keys.executeStep() && findings.size() < 20) {
      findings.push_back(fmt::format("a row of {} belongs to no row of {}", keys.getColumn(0).getString(),
                                     keys.getColumn(2).getString()));
    }
    return {};
  });
  if (!checked) {
    if (findings.empty()) return checked.error();
    findings.push_back(checked.error().message);
  }
  return findings;
}

}  // namespace hipbench::results
