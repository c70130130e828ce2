#include "results/standings_runs.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "results/metrics.hpp"

namespace hipbench::results {

namespace {

constexpr size_t kMostSamples = 1'000'000;  // of a run on a problem; a database may hold any number

// The table that most of a run's evaluations on a problem are in.
TableRows& table_of_run(TableMaker& maker, const RunProblemData& asked, const std::vector<const TurnData*>& turns) {
  std::map<TableRows*, size_t> counts;
  for (const TurnData* turn : turns) {
    if (!turn->evaluation) continue;
    const EvaluationData* e = maker.find(*turn->evaluation);
    TableRows* rows = maker.table_of(*turn->evaluation);
    if (e != nullptr && rows != nullptr) counts[rows] += e->verdict == VerdictKind::Passed ? 1000 : 1;
  }
  TableRows* best = nullptr;
  for (const auto& [rows, count] : counts)
    if (best == nullptr || count > counts[best]) best = rows;
  return best != nullptr ? *best : maker.table_for(asked);
}

struct SampleRows {
  SampleStanding standing;
  std::vector<ShapeOutcome> best_shapes;
  std::vector<CostedTurn> to_pass, to_speedup;
  bool best_is_similar = false;
};

// By S; where neither has one, by time.
bool is_faster(const TurnPoint& a, const TurnPoint& b) {
  if (a.speedup > 0 || b.speedup > 0) return a.speedup > b.speedup;
  return a.time_us > 0 && b.time_us > 0 && a.time_us < b.time_us;
}

void add_turn(SampleRows& sample, const TurnData& turn, TableMaker& maker, TableRows& rows, RunStanding& run) {
  TurnPoint point;
  point.turn = turn.turn;
  point.parent = turn.parent;
  point.partner = turn.partner;
  point.evaluation = turn.evaluation;
  point.step = turn.step;
  point.answer = turn.answer;
  point.rung = turn.rung;
  point.verdict = turn.verdict;
  point.source_sha256 = turn.source_sha256;
  point.time_us = turn.time_us;
  point.usd = turn.usd;
  point.tokens = turn.tokens;
  const EvaluationData* e = turn.evaluation ? maker.find_newest(*turn.evaluation) : nullptr;
  const bool passed = e != nullptr && e->verdict == VerdictKind::Passed;
  SampleStanding& standing = sample.standing;
  if (turn.source_sha256.empty()) run.no_candidate++;
  if (e != nullptr) {
    run.verdicts[e->verdict]++;
    if (const std::string why = why_unranked(e->sandboxed, e->check); !why.empty()) run.unranked = why;
  }
  // Results under another key than the table's (another compiler half-way through a run) have no place in it.
  if (passed && maker.table_of(e->id) == &rows) {
    const TableMaker::Outcome outcome = maker.outcome(rows, *e);
    point.speedup = outcome.speedup.value_or(0);
    if (!standing.best || is_faster(point, standing.turns[*standing.best])) {
      standing.best = standing.turns.size();
      sample.best_shapes = outcome.shapes;
      sample.best_is_similar = !turn.similar_to.empty();
    }
  }
  standing.passed |= passed;
  standing.usd += turn.usd;
  standing.speedup = std::max(standing.speedup, point.speedup);
  point.best_speedup = standing.speedup;
  run.aided |= turn.aided;
  sample.to_pass.push_back({turn.usd, passed ? 1.0 : 0.0});
  sample.to_speedup.push_back({turn.usd, point.speedup});
  standing.turns.push_back(std::move(point));
}

std::vector<FastPoint> curve_of(const std::vector<std::vector<double>>& problems, const StandingsOptions& options) {
  const std::vector<double> thresholds = curve_thresholds();
  const std::vector<Band> bands = bootstrap_curve(problems, thresholds, options.seed, options.resamples);
  std::vector<FastPoint> curve;
  for (size_t i = 0; i < thresholds.size() && i < bands.size(); ++i) {
    double sum = 0;
    for (const std::vector<double>& speedups : problems)
      sum += fast_p(speedups, speedups.size(), thresholds[i]).value_or(0);
    curve.push_back({thresholds[i], sum / as_double(problems.size()), bands[i]});
  }
  return curve;
}

void fill_speed_metrics(RunStanding& run, const Table& table, const std::vector<SampleRows>& samples,
                        const StandingsOptions& options) {
  run.fast_0 = fast_p(run.speedups, run.requested, 0);
  run.fast_1 = fast_p(run.speedups, run.requested, 1);
  run.fast_2 = fast_p(run.speedups, run.requested, 2);
  run.fast_5 = fast_p(run.speedups, run.requested, 5);
  if (!run.speedups.empty()) run.curve = curve_of({run.speedups}, options);
  run.fast_1_interval = share_interval(count_above(run.speedups, 1), run.speedups.size());
  std::vector<std::vector<ShapeOutcome>> shapes;
  std::vector<std::vector<CostedTurn>> costs;
  std::vector<double> positions;
  const std::optional<double> expert = expert_speedup(table);
  for (const SampleRows& sample : samples) {
    shapes.push_back(sample.best_shapes);
    costs.push_back(sample.to_speedup);
    if (!expert) continue;
    if (const auto where = position(sample.standing.speedup, *expert)) positions.push_back(*where);
  }
  run.fast_1_shape = fast_p_shape(shapes, run.requested, table.timed.size(), 1);
  run.usd_to_fast_1 = cost_to_reach(costs, 1);
  for (size_t k = 1; k <= run.requested; k *= 2) {
    if (const auto chance = fast_p_at_k(run.speedups, run.requested, 1, k)) run.fast_1_at[k] = *chance;
    if (const auto best = best_of_k_speedup(run.speedups, run.requested, k)) run.best_of[k] = *best;
  }
  if (!expert) return;
  run.expert_shares = expert_shares(run.speedups, run.requested, *expert);
  if (positions.empty()) return;
  std::sort(positions.begin(), positions.end());
  const size_t middle = positions.size() / 2;
  run.median_position = positions.size() % 2 != 0 ? positions[middle] : (positions[middle - 1] + positions[middle]) / 2;
}

void fill_metrics(RunStanding& run, const Table& table, const std::vector<SampleRows>& samples,
                  const StandingsOptions& options) {
  std::vector<std::vector<CostedTurn>> to_pass;
  for (const SampleRows& sample : samples) {
    const SampleStanding& standing = sample.standing;
    run.passed += standing.passed ? 1 : 0;
    run.without_speedup += standing.passed && !(standing.speedup > 0) ? 1 : 0;
    run.similar += sample.best_is_similar ? 1 : 0;
    run.speedups.push_back(standing.speedup);
    to_pass.push_back(sample.to_pass);
  }
  run.drawn = samples.size();
  run.requested = std::max(std::min(run.requested, kMostSamples), run.drawn);
  run.speedups.resize(run.requested, 0.0);
  for (size_t k = 1; k <= run.requested; k *= 2)
    if (const auto chance = pass_at_k(run.requested, run.passed, k)) run.pass_at[k] = *chance;
  run.usd_to_pass = cost_to_reach(to_pass, 0);
  if (table.no_speedups.empty()) fill_speed_metrics(run, table, samples, options);
}

RunStanding make_run(const RunData& data, const RunProblemData& asked, const std::vector<const TurnData*>& turns,
                     const CostData& cost, TableMaker& maker, TableRows& rows, const StandingsOptions& options) {
  RunStanding run;
  run.run_id = data.id;
  run.run = data.name;
  run.model = data.model;
  run.strategy = data.strategy;
  run.started_at = data.started_at;
  run.is_finished = data.is_finished;
  run.requested = asked.samples;
  run.usd = cost.usd;
  run.tokens = cost.tokens;
  std::vector<SampleRows> samples;
  for (const TurnData* turn : turns) {
    if (samples.empty() || samples.back().standing.sample != turn->sample)
      samples.emplace_back().standing.sample = turn->sample;
    add_turn(samples.back(), *turn, maker, rows, run);
  }
  fill_metrics(run, rows.table, samples, options);
  for (SampleRows& sample : samples) run.samples.push_back(std::move(sample.standing));
  return run;
}

// The run over its problems, from what it is on each of them.
struct Part {
  const Table* table = nullptr;
  const RunStanding* run = nullptr;
};

std::optional<double> mean_over(const std::vector<Part>& parts, std::optional<double> RunStanding::*value) {
  double sum = 0;
  for (const Part& part : parts) {
    if (!(part.run->*value)) return std::nullopt;
    sum += *(part.run->*value);
  }
  return sum / as_double(parts.size());
}

RunHeadline make_headline(const std::vector<Part>& parts, const StandingsOptions& options) {
  RunHeadline headline;
  const RunStanding& first = *parts.front().run;
  const ComparabilityKey& key = parts.front().table->key;
  headline.run = first.run;
  headline.model = first.model;
  headline.strategy = first.strategy;
  headline.provenance = key.provenance;
  headline.track = key.track;
  headline.shape_set = parts.front().table->shape_set;
  headline.is_finished = first.is_finished;
  std::vector<std::vector<double>> speedups;
  for (const auto& [table, run] : parts) {
    headline.problems.push_back(table->key.problem);
    headline.fast_1.push_back(run->fast_1);
    headline.requested.push_back(run->requested);
    headline.aided |= run->aided;
    if (!run->unranked.empty()) headline.unranked = run->unranked;
    headline.usd += run->usd;
    headline.tokens += run->tokens;
    speedups.push_back(run->speedups);
  }
  headline.mean_fast_0 = mean_over(parts, &RunStanding::fast_0);
  headline.mean_fast_1 = mean_over(parts, &RunStanding::fast_1);
  headline.mean_fast_2 = mean_over(parts, &RunStanding::fast_2);
  headline.mean_fast_5 = mean_over(parts, &RunStanding::fast_5);
  if (headline.mean_fast_1) headline.curve = curve_of(speedups, options);
  return headline;
}

// Best first; unranked and aided runs behind the others of their kind.
bool headline_is_ahead(const RunHeadline& a, const RunHeadline& b) {
  const auto rank = [](const RunHeadline& h) {
    return std::tuple(h.provenance, h.track, h.shape_set, !h.unranked.empty(), h.aided, -h.mean_fast_1.value_or(-1),
                      -h.mean_fast_0.value_or(-1), h.run);
  };
  return rank(a) < rank(b);
}

bool run_is_ahead(const RunStanding& a, const RunStanding& b) {
  const auto rank = [](const RunStanding& r) {
    return std::tuple(!r.unranked.empty(), r.aided, -r.fast_1.value_or(-1),
                      -as_double(r.passed) / as_double(std::max<size_t>(r.requested, 1)), r.run_id);
  };
  return rank(a) < rank(b);
}

}  // namespace

std::vector<RunHeadline> add_runs(const StandingsData& data, TableMaker& maker, const StandingsOptions& options) {
  std::map<std::pair<int64_t, std::string>, std::vector<const TurnData*>> turns;
  for (const TurnData& turn : data.turns) turns[{turn.run, turn.problem}].push_back(&turn);
  std::map<int64_t, const RunData*> runs;
  for (const RunData& run : data.runs) runs[run.id] = &run;

  for (const RunProblemData& asked : data.run_problems) {
    const auto run = runs.find(asked.run);
    if (run == runs.end()) continue;
    const auto cost = data.costs.find({asked.run, asked.problem});
    const std::vector<const TurnData*>& own = turns[{asked.run, asked.problem}];
    TableRows& rows = table_of_run(maker, asked, own);
    rows.table.runs.push_back(
        make_run(*run->second, asked, own, cost == data.costs.end() ? CostData() : cost->second, maker, rows, options));
  }
  // One headline a run and kind of result; its problems in the tables' order.
  std::map<std::tuple<int64_t, std::string, std::string, std::string>, std::vector<Part>> parts;
  for (TableRows& rows : maker.tables()) {
    std::sort(rows.table.runs.begin(), rows.table.runs.end(), run_is_ahead);
    const ComparabilityKey& key = rows.table.key;
    for (const RunStanding& run : rows.table.runs)
      parts[{run.run_id, key.provenance, key.track, rows.table.shape_set}].push_back({&rows.table, &run});
  }
  std::vector<RunHeadline> headlines;
  for (const auto& [kind, of_run] : parts) headlines.push_back(make_headline(of_run, options));
  std::sort(headlines.begin(), headlines.end(), headline_is_ahead);
  return headlines;
}

}  // namespace hipbench::results
