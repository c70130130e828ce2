#include "cli/standings_json.hpp"

#include <cmath>

namespace hipbench::cli {

namespace {

using results::Band;
using results::Entry;
using results::RunStanding;
using results::Table;

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}
Json time(double us) { return results::is_time(us) ? Json(us) : Json(nullptr); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json band_json(const Band& band) {
  return {{"low", band.low}, {"high", band.high}, {"degenerate", band.is_degenerate}};
}

Json verdicts_json(const std::map<VerdictKind, size_t>& verdicts) {
  Json json = Json::object();
  for (const auto& [kind, count] : verdicts) json[std::string(to_string(kind))] = count;
  return json;
}

Json by_k_json(const std::map<size_t, double>& values) {
  Json json = Json::object();
  for (const auto& [k, value] : values) json[std::to_string(k)] = value;
  return json;
}

Json curve_json(const std::vector<results::FastPoint>& curve) {
  Json json = Json::array();
  for (const results::FastPoint& point : curve)
    json.push_back({{"p", point.p}, {"share", point.share}, {"band", band_json(point.band)}});
  return json;
}

Json shape_json(const results::ShapeStanding& s) {
  return {{"shape", s.shape},
          {"verdict", to_string(s.verdict)},
          {"timed", s.is_timed},
          {"time_us", time(s.time_us)},
          {"baseline_us", time(s.baseline_us)},
          {"expert_us", time(s.expert_us)},
          {"speedup", number(s.speedup)},
          {"roof_fraction", number(s.roof_fraction)},
          {"matrix_utilisation", number(s.matrix_utilisation)},
          {"memory_utilisation", number(s.memory_utilisation)},
          {"noise_floor", number(s.noise_floor)},
          {"floor_us", time(s.floor_us)},
          {"roof_us", time(s.roof_us)}};
}

Json entry_json(const Entry& e) {
  Json shapes = Json::array();
  for (const results::ShapeStanding& shape : e.shapes) shapes.push_back(shape_json(shape));
  const bool has_turn = e.sample >= 0;
  return {{"evaluation", e.evaluation},
          {"evaluations", e.evaluations},
          {"file", e.file},
          {"source_sha256", e.source_sha256},
          {"reference", text_or_null(e.reference)},
          {"run", text_or_null(e.run)},
          {"model", text_or_null(e.model)},
          {"sample", has_turn ? Json(e.sample) : Json(nullptr)},
          {"turn", has_turn ? Json(e.turn) : Json(nullptr)},
          {"verdict", to_string(e.verdict)},
          {"reason", e.reason},
          {"speedup", number(e.speedup)},
          {"no_speedup", text_or_null(e.no_speedup)},
          {"time_us", number(e.time_us)},
          {"position", number(e.position)},
          {"expert_fraction", number(e.expert_fraction)},
          {"roof_fraction", number(e.roof_fraction)},
          {"sol_score", number(e.sol_score)},
          {"unranked", text_or_null(e.unranked)},
          {"aided", e.aided},
          {"similar_to", text_or_null(e.similar_to)},
          {"imported_from", text_or_null(e.imported_from)},
          {"shapes", std::move(shapes)}};
}

Json turns_json(const results::SampleStanding& sample) {
  Json turns = Json::array();
  for (const results::TurnPoint& t : sample.turns) {
    turns.push_back({{"turn", t.turn},
                     {"parent", t.parent ? Json(*t.parent) : Json(nullptr)},
                     {"step", t.step},
                     {"verdict", text_or_null(t.verdict)},
                     {"rung", t.rung},
                     {"speedup", t.speedup},
                     {"best_speedup", t.best_speedup},
                     {"usd", t.usd},
                     {"tokens", t.tokens},
                     {"evaluation", t.evaluation ? Json(*t.evaluation) : Json(nullptr)}});
  }
  return turns;
}

Json samples_json(const RunStanding& run, const StandingsDetail& detail) {
  Json samples = Json::array();
  for (const results::SampleStanding& sample : run.samples) {
    Json one = {{"sample", sample.sample}, {"passed", sample.passed}, {"speedup", sample.speedup}, {"usd", sample.usd}};
    if (detail.trajectories) one["turns"] = turns_json(sample);
    samples.push_back(std::move(one));
  }
  return samples;
}

Json run_json(const RunStanding& run, const StandingsDetail& detail) {
  return {{"run", run.run},
          {"model", run.model},
          {"strategy", run.strategy},
          {"started_at", run.started_at},
          {"finished", run.is_finished},
          {"aided", run.aided},
          {"unranked", text_or_null(run.unranked)},
          {"requested", run.requested},
          {"drawn", run.drawn},
          {"passed", run.passed},
          {"without_speedup", run.without_speedup},
          {"nearly_shipped", run.similar},
          {"fast_0", number(run.fast_0)},
          {"fast_1", number(run.fast_1)},
          {"fast_2", number(run.fast_2)},
          {"fast_5", number(run.fast_5)},
          {"fast_1_interval", run.fast_1_interval ? band_json(*run.fast_1_interval) : Json(nullptr)},
          {"fast_1_shape", number(run.fast_1_shape)},
          {"curve", curve_json(run.curve)},
          {"pass_at", by_k_json(run.pass_at)},
          {"fast_1_at", by_k_json(run.fast_1_at)},
          {"best_of", by_k_json(run.best_of)},
          {"expert_shares", run.expert_shares},
          {"median_position", number(run.median_position)},
          {"usd", run.usd},
          {"tokens", run.tokens},
          {"usd_to_pass", number(run.usd_to_pass)},
          {"usd_to_fast_1", number(run.usd_to_fast_1)},
          {"verdicts", verdicts_json(run.verdicts)},
          {"no_candidate", run.no_candidate},
          {"samples", samples_json(run, detail)}};
}

Json reference_json(const results::ReferenceTimes& times) {
  if (times.sha256.empty()) return nullptr;
  return {{"sha256", times.sha256}, {"us", times.us}, {"evaluations", times.evaluations}};
}

Json table_json(const Table& table, const StandingsDetail& detail) {
  Json entries = Json::array(), runs = Json::array();
  if (detail.entries)
    for (const Entry& entry : table.entries) entries.push_back(entry_json(entry));
  for (const RunStanding& run : table.runs) runs.push_back(run_json(run, detail));
  return {{"problem", table.key.problem},
          {"shape_set", table.shape_set},
          {"track", table.key.track},
          {"provenance", table.key.provenance},
          {"device", table.key.device},
          {"compiler", table.key.toolchain},
          {"timing_model", text_or_null(table.key.timing_model)},
          {"shapes", table.timed},
          {"baseline", reference_json(table.baseline)},
          {"expert", reference_json(table.expert)},
          {"no_speedups", text_or_null(table.no_speedups)},
          {"trust", table.trust},
          {"calibrated", table.is_calibrated},
          {"evaluations", table.evaluations},
          {"verdicts", verdicts_json(table.verdicts)},
          {"entries", std::move(entries)},
          {"runs", std::move(runs)}};
}

Json headline_json(const results::RunHeadline& h) {
  Json problems = Json::array();
  for (size_t i = 0; i < h.problems.size(); ++i)
    problems.push_back({{"problem", h.problems[i]}, {"fast_1", number(h.fast_1[i])}, {"requested", h.requested[i]}});
  return {{"run", h.run},
          {"model", h.model},
          {"strategy", h.strategy},
          {"provenance", h.provenance},
          {"track", h.track},
          {"shape_set", h.shape_set},
          {"finished", h.is_finished},
          {"aided", h.aided},
          {"unranked", text_or_null(h.unranked)},
          {"problems", std::move(problems)},
          {"fast_0", number(h.mean_fast_0)},
          {"fast_1", number(h.mean_fast_1)},
          {"fast_2", number(h.mean_fast_2)},
          {"fast_5", number(h.mean_fast_5)},
          {"curve", curve_json(h.curve)},
          {"usd", h.usd},
          {"tokens", h.tokens}};
}

}  // namespace

Json standings_json(const results::Standings& standings, const StandingsDetail& detail) {
  Json headlines = Json::array(), tables = Json::array(), published = Json::array();
  for (const results::PublishedStanding& p : standings.published)
    published.push_back({{"problem", p.problem},
                         {"shape", p.shape},
                         {"what", p.what},
                         {"device", p.device},
                         {"time_us", time(p.time_us)},
                         {"source", p.source}});
  for (const results::RunHeadline& headline : standings.headlines) headlines.push_back(headline_json(headline));
  for (const Table& table : standings.tables) tables.push_back(table_json(table, detail));
  return {{"evaluations", standings.evaluations},
          {"candidates", standings.candidates},
          {"headlines", std::move(headlines)},
          {"tables", std::move(tables)},
          {"published", std::move(published)}};
}

}  // namespace hipbench::cli
