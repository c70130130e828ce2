#include "results/standings_data.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <unordered_map>

#include "results/rows.hpp"
#include "results/standings.hpp"

namespace hipbench::results {

namespace {

std::optional<int64_t> read_optional(Row& row) {
  const bool is_null = row.next_is_null();
  const int64_t value = row.integer();
  return is_null ? std::nullopt : std::optional(value);
}

double finite_or_zero(double number) { return number > 0 || number < 0 ? number : 0; }

Result<void> read_evaluations(SQLite::Database& database, const std::string& problem, StandingsData& data) {
  SQLite::Statement query(
      database,
      "SELECT e.id, e.started_at, e.problem, e.track, e.device, e.file, e.source_sha256, e.shape_set, e.reason, "
      "e.toolchain, e.device_description, coalesce(i.file, ''), e.verdict, e.sandboxed, e.memory_checks "
      "FROM evaluations AS e LEFT JOIN imported_evaluations AS x ON x.evaluation_id = e.id "
      "LEFT JOIN imports AS i ON i.id = x.import_id WHERE ?1 = '' OR e.problem = ?1 ORDER BY e.id");
  query.bind(1, problem);
  while (query.executeStep()) {
    Row row(query);
    EvaluationData& e = data.evaluations.emplace_back();
    e.id = row.integer();
    for (std::string* text : {&e.started_at, &e.problem, &e.track, &e.device, &e.file, &e.source_sha256, &e.shape_set,
                              &e.reason, &e.toolchain, &e.device_description, &e.imported_from}) {
      *text = row.text();
    }
    e.verdict = TRY(read_verdict(row.text()));
    e.sandboxed = row.boolean();
    e.check = row.boolean();
  }
  return {};
}

Result<void> read_shapes(SQLite::Database& database, StandingsData& data) {
  std::unordered_map<int64_t, size_t> place;
  for (size_t i = 0; i < data.evaluations.size(); ++i) place[data.evaluations[i].id] = i;
  SQLite::Statement query(database,
                          "SELECT evaluation_id, shape, verdict, time_us, coalesce(provenance, ''), timing_model, "
                          "time_error, noise_floor FROM shape_results ORDER BY evaluation_id, ordinal");
  while (query.executeStep()) {
    Row row(query);
    const auto found = place.find(row.integer());
    if (found == place.end()) continue;
    ShapeData& shape = data.evaluations[found->second].shapes.emplace_back();
    shape.shape = row.text();
    shape.verdict = TRY(read_verdict(row.text()));
    shape.time_us = finite_or_zero(row.real());
    shape.provenance = row.text();
    shape.timing_model = row.text();
    shape.time_error = finite_or_zero(row.real());
    const bool has_floor = !row.next_is_null();
    const double floor = row.real();
    if (has_floor) shape.noise_floor = floor;
  }
  return {};
}

void read_turns(SQLite::Database& database, const std::string& problem, StandingsData& data) {
  SQLite::Statement query(
      database,
      "SELECT run_id, problem, sample, turn, parent, partner, evaluation_id, step, answer, rung, verdict, "
      "coalesce(source_sha256, ''), similar_to, aided, prompt_tokens + answer_tokens, nano_usd, time_us FROM turns "
      "WHERE ?1 = '' OR problem = ?1 ORDER BY run_id, problem, sample, turn");
  query.bind(1, problem);
  while (query.executeStep()) {
    Row row(query);
    TurnData& t = data.turns.emplace_back();
    t.run = row.integer();
    t.problem = row.text();
    t.sample = row.integer();
    t.turn = row.integer();
    t.parent = read_optional(row);
    t.partner = read_optional(row);
    t.evaluation = read_optional(row);
    for (std::string* text : {&t.step, &t.answer, &t.rung, &t.verdict, &t.source_sha256, &t.similar_to})
      *text = row.text();
    t.aided = row.boolean();
    t.tokens = row.unsigned_integer();
    t.usd = row.real() * 1e-9;
    t.time_us = finite_or_zero(row.real());
  }
}

void read_runs(SQLite::Database& database, const std::string& problem, StandingsData& data) {
  SQLite::Statement runs(database,
                         "SELECT id, name, started_at, strategy, model, finished_at IS NOT NULL FROM runs ORDER BY id");
  while (runs.executeStep()) {
    Row row(runs);
    RunData& run = data.runs.emplace_back();
    run.id = row.integer();
    for (std::string* text : {&run.name, &run.started_at, &run.strategy, &run.model}) *text = row.text();
    run.is_finished = row.boolean();
  }
  SQLite::Statement problems(database,
                             "SELECT run_id, problem, shape_set, track, samples FROM run_problems "
                             "WHERE problem IS NOT NULL AND (?1 = '' OR problem = ?1) ORDER BY run_id");
  problems.bind(1, problem);
  while (problems.executeStep()) {
    Row row(problems);
    RunProblemData& asked = data.run_problems.emplace_back();
    asked.run = row.integer();
    for (std::string* text : {&asked.problem, &asked.shape_set, &asked.track}) *text = row.text();
    const int64_t samples = row.integer();
    asked.samples = samples > 0 ? static_cast<size_t>(samples) : 0;
  }
  SQLite::Statement costs(database, "SELECT run_id, problem, usd, tokens FROM run_costs");
  while (costs.executeStep()) {
    Row row(costs);
    const int64_t run = row.integer();
    CostData& cost = data.costs[{run, row.text()}];
    cost.usd = finite_or_zero(row.real());
    cost.tokens = row.unsigned_integer();
  }
}

void read_reverified(SQLite::Database& database, StandingsData& data) {
  SQLite::Statement query(database, "SELECT original_id, evaluation_id FROM reverified ORDER BY evaluation_id");
  while (query.executeStep()) {
    Row row(query);
    const int64_t original = row.integer();
    data.reverified[original].push_back(row.integer());
  }
}

}  // namespace

std::vector<PublishedStanding> read_published(SQLite::Database& database, const std::string& problem) {
  SQLite::Statement query(database,
                          "SELECT problem, shape, what, device, source, time_us FROM published_times "
                          "WHERE ?1 = '' OR problem = ?1 ORDER BY problem, shape, time_us");
  query.bind(1, problem);
  std::vector<PublishedStanding> published;
  while (query.executeStep()) {
    Row row(query);
    PublishedStanding& one = published.emplace_back();
    for (std::string* text : {&one.problem, &one.shape, &one.what, &one.device, &one.source}) *text = row.text();
    one.time_us = row.real();
  }
  return published;
}

Result<StandingsData> read_standings_data(SQLite::Database& database, const std::string& problem) {
  StandingsData data;
  SQLite::Transaction one_view(database);
  TRY(read_evaluations(database, problem, data));
  TRY(read_shapes(database, data));
  read_turns(database, problem, data);
  read_runs(database, problem, data);
  read_reverified(database, data);
  return data;
}

}  // namespace hipbench::results
