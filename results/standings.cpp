#include "results/standings.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>

#include "problems/registry.hpp"
#include "results/database.hpp"
#include "results/migrations.hpp"
#include "results/standings_runs.hpp"
#include "results/standings_tables.hpp"

namespace hipbench::results {

namespace {

// The turn that an evaluation was made in.
using TurnsByEvaluation = std::map<int64_t, const TurnData*>;

ShapeStanding shape_standing(const TableRows& rows, const ShapeData& shape) {
  const Table& table = rows.table;
  ShapeStanding standing;
  standing.shape = shape.shape;
  standing.verdict = shape.verdict;
  standing.is_timed = std::find(table.timed.begin(), table.timed.end(), shape.shape) != table.timed.end();
  standing.time_us = shape.time_us;
  standing.time_error = shape.time_error;
  standing.noise_floor = shape.noise_floor;
  if (const auto baseline = table.baseline.us.find(shape.shape); baseline != table.baseline.us.end())
    standing.baseline_us = baseline->second;
  if (const auto expert = table.expert.us.find(shape.shape); expert != table.expert.us.end())
    standing.expert_us = expert->second;
  const auto found = rows.facts.find(shape.shape);
  const ShapeFacts facts = found == rows.facts.end() ? ShapeFacts() : found->second;
  standing.floor_us = facts.floor_us;
  standing.roof_us = facts.roof_us;
  if (shape.verdict != VerdictKind::Passed || !is_time(shape.time_us, standing.floor_us)) return standing;
  standing.roof_fraction = roof_fraction(shape.time_us, standing.roof_us);
  standing.matrix_utilisation = utilisation(facts.flops, shape.time_us, facts.peak_flops);
  if (facts.bytes > 0) standing.memory_utilisation = utilisation(facts.bytes, shape.time_us, mi300x::kPeakHbmBytes);
  if (is_time(standing.baseline_us)) standing.speedup = standing.baseline_us / shape.time_us;
  return standing;
}

// A geometric mean over the timed shapes, if every one of them has the value.
template <typename Value>
std::optional<double> mean_of(const Table& table, const std::vector<ShapeStanding>& shapes, Value value) {
  std::vector<double> values;
  for (const ShapeStanding& shape : shapes) {
    if (!shape.is_timed) continue;
    const std::optional<double> one = value(shape);
    if (!one) return std::nullopt;
    values.push_back(*one);
  }
  return values.size() == table.timed.size() ? geometric_mean(values) : std::nullopt;
}

std::optional<double> mean_sol_score(const Table& table, const std::vector<ShapeStanding>& shapes) {
  double sum = 0;
  size_t count = 0;
  for (const ShapeStanding& shape : shapes) {
    if (!shape.is_timed) continue;
    const std::optional<double> score = sol_score(shape.time_us, shape.baseline_us, shape.roof_us);
    if (!score) return std::nullopt;
    sum += *score;
    ++count;
  }
  if (count == 0 || count != table.timed.size()) return std::nullopt;
  return sum / static_cast<double>(count);
}

void fill_scores(Entry& entry, const TableRows& rows, const TableMaker::Outcome& outcome) {
  const Table& table = rows.table;
  entry.speedup = outcome.speedup;
  entry.no_speedup = outcome.no_speedup;
  if (entry.verdict != VerdictKind::Passed) return;
  const auto time = [](const ShapeStanding& s) -> std::optional<double> {
    return s.verdict == VerdictKind::Passed && is_time(s.time_us, s.floor_us) ? std::optional(s.time_us) : std::nullopt;
  };
  entry.time_us = mean_of(table, entry.shapes, time);
  if (!entry.time_us) return;
  entry.roof_fraction = mean_of(table, entry.shapes, [](const ShapeStanding& s) { return s.roof_fraction; });
  entry.sol_score = mean_sol_score(table, entry.shapes);
  const std::optional<double> expert = expert_speedup(table);
  if (!entry.speedup || !expert) return;
  entry.position = position(*entry.speedup, *expert);
  entry.expert_fraction = expert_fraction(*entry.speedup, *expert);
}

// The evaluation that speaks for a source: the newest that may be ranked and was not our fault, else the newest that is
// there.
const EvaluationData* newest(const std::vector<const EvaluationData*>& evaluations) {
  const auto rank = [](const EvaluationData* e) {
    return std::tuple(e->sandboxed, e->verdict != VerdictKind::Infrastructure, e->id);
  };
  return *std::max_element(evaluations.begin(), evaluations.end(),
                           [&](const EvaluationData* a, const EvaluationData* b) { return rank(a) < rank(b); });
}

Entry make_entry(TableMaker& maker, const TableRows& rows, const std::vector<const EvaluationData*>& evaluations,
                 const TurnsByEvaluation& turns, const std::map<int64_t, const RunData*>& runs) {
  const EvaluationData& e = *newest(evaluations);
  Entry entry;
  entry.evaluation = e.id;
  entry.evaluations = static_cast<int64_t>(evaluations.size());
  entry.source_sha256 = e.source_sha256;
  entry.file = e.file;
  entry.started_at = e.started_at;
  entry.verdict = e.verdict;
  entry.reason = e.reason;
  entry.imported_from = e.imported_from;
  entry.unranked = why_unranked(e.sandboxed, e.check);
  entry.shapes_asked = static_cast<int64_t>(std::max(rows.table.key.shapes.size(), e.shapes.size()));
  const ReferenceHashes& references = maker.references(rows.table.key.problem);
  if (const auto name = references.names.find(e.source_sha256); name != references.names.end())
    entry.reference = name->second;
  for (const EvaluationData* one : evaluations) {  // a candidate that was timed again is still of its run
    const auto turn = turns.find(one->id);
    if (turn == turns.end()) continue;
    const auto run = runs.find(turn->second->run);
    if (run != runs.end()) {
      entry.run = run->second->name;
      entry.model = run->second->model;
    }
    entry.sample = turn->second->sample;
    entry.turn = turn->second->turn;
    entry.aided = turn->second->aided;
    entry.similar_to = turn->second->similar_to;
    break;
  }
  for (const ShapeData& shape : e.shapes) entry.shapes.push_back(shape_standing(rows, shape));
  fill_scores(entry, rows, maker.outcome(rows, e));
  return entry;
}

// Ranked first, by speed-up, then time; the aided behind the others, then what is not ranked; what failed last.
bool is_ahead(const Entry& a, const Entry& b) {
  const auto rank = [](const Entry& e) {
    return std::tuple(e.verdict != VerdictKind::Passed, !e.unranked.empty(), e.aided, -e.speedup.value_or(0),
                      e.time_us.value_or(std::numeric_limits<double>::infinity()), e.evaluation);
  };
  return rank(a) < rank(b);
}

void fill_entries(TableMaker& maker, TableRows& rows, const TurnsByEvaluation& turns,
                  const std::map<int64_t, const RunData*>& runs) {
  std::map<std::string, std::vector<const EvaluationData*>> by_source;
  for (const EvaluationData* e : rows.evaluations) by_source[e->source_sha256].push_back(e);
  for (const auto& [sha256, evaluations] : by_source)
    rows.table.entries.push_back(make_entry(maker, rows, evaluations, turns, runs));
  std::sort(rows.table.entries.begin(), rows.table.entries.end(), is_ahead);
  if (rows.table.key.provenance != to_string(Provenance::Measured)) return;
  std::optional<double> noise;  // the worst of what was taken: it bounds every ratio of the table
  for (const Entry& entry : rows.table.entries)
    for (const ShapeStanding& shape : entry.shapes)
      if (shape.noise_floor) noise = std::max(noise.value_or(0), *shape.noise_floor);
  rows.table.trust = trust_note(Provenance::Measured, rows.table.key.problem, "", noise);
}

bool is_before(const Table& a, const Table& b) {
  const auto rank = [](const Table& t) {
    return std::tuple(t.key.problem, -static_cast<int64_t>(t.evaluations), t.shape_set, t.key.track, t.key.provenance,
                      t.key.timing_model, t.key.toolchain, t.key.shapes);
  };
  return rank(a) < rank(b);
}

}  // namespace

std::optional<double> expert_speedup(const Table& table) {
  std::vector<double> ratios;
  for (const std::string& shape : table.timed) {
    const auto baseline = table.baseline.us.find(shape), expert = table.expert.us.find(shape);
    if (baseline == table.baseline.us.end() || expert == table.expert.us.end()) return std::nullopt;
    ratios.push_back(baseline->second / expert->second);
  }
  return geometric_mean(ratios);
}

ReferenceHashes references_of(const std::string& id) {
  ReferenceHashes hashes;
  const Result<const Problem*> problem = find_problem(id);
  if (!problem) return hashes;
  for (const auto& list : {(*problem)->references(), (*problem)->ladder()})
    for (const ReferenceSolution& one : list) hashes.names[one.sha256] = one.name;
  const ReferenceSolution* baseline = (*problem)->reference(ReferenceRole::Baseline);
  const ReferenceSolution* expert = (*problem)->reference(ReferenceRole::Expert);
  if (baseline != nullptr) hashes.baseline = baseline->sha256;
  if (expert != nullptr) hashes.expert = expert->sha256;
  return hashes;
}

Result<Standings> read_standings(const std::filesystem::path& path, const StandingsOptions& options) {
  StandingsOptions own = options;
  if (!own.references) own.references = references_of;
  const auto database = TRY(open_database(path, {.access = Access::Read}, migrations()));
  const StandingsData data = TRY(guarded(path, [&] { return read_standings_data(*database, own.problem); }));
  TableMaker maker(data, own);
  TurnsByEvaluation turns;
  for (const TurnData& turn : data.turns)
    if (turn.evaluation) turns.try_emplace(*turn.evaluation, &turn);
  std::map<int64_t, const RunData*> runs;
  for (const RunData& run : data.runs) runs[run.id] = &run;

  Standings standings;
  standings.published = TRY(guarded(
      path, [&]() -> Result<std::vector<PublishedStanding>> { return read_published(*database, own.problem); }));
  standings.headlines = add_runs(data, maker, own);
  std::set<std::string> candidates;
  for (const EvaluationData& e : data.evaluations) candidates.insert(e.source_sha256);
  standings.candidates = candidates.size();
  standings.evaluations = data.evaluations.size();
  for (TableRows& rows : maker.tables()) {
    fill_entries(maker, rows, turns, runs);
    standings.tables.push_back(std::move(rows.table));
  }
  std::sort(standings.tables.begin(), standings.tables.end(), is_before);
  return standings;
}

}  // namespace hipbench::results
