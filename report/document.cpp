#include "report/document.hpp"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "common/json.hpp"
#include "problems/registry.hpp"
#include "report/packs.hpp"
#include "results/store.hpp"

namespace hipbench::report {

namespace {


// Newest so many are listed; a page with more would be no help to anybody.
constexpr int64_t kMostEvaluations = 20'000;
// The best so many of each table have their texts in the page before any other.
constexpr size_t kBestOfTable = 100;

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Words that come again and again stand in the document once.
class Words {
 public:
  size_t index(const std::string& word) {
    const auto [at, is_new] = indices_.emplace(word, list_.size());
    if (is_new) list_.push_back(word);
    return at->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_map<std::string, size_t> indices_;
  std::vector<std::string> list_;
};

Json curve_json(const std::vector<results::FastPoint>& curve) {
  Json share = Json::array(), low = Json::array(), high = Json::array(), degenerate = Json::array();
  for (const results::FastPoint& point : curve) {
    share.push_back(point.share);
    low.push_back(point.band.low);
    high.push_back(point.band.high);
    degenerate.push_back(point.band.is_degenerate);
  }
  return {{"share", share}, {"low", low}, {"high", high}, {"degenerate", degenerate}};
}

Json turns_json(const results::RunStanding& run, Words& words) {
  Json json;
  for (const char* column : {"sample", "turn", "parent", "partner", "step", "verdict", "rung", "answer", "evaluation",
                             "speedup", "best", "usd", "tokens"})
    json[column] = Json::array();
  for (const results::SampleStanding& sample : run.samples) {
    for (const results::TurnPoint& turn : sample.turns) {
      json["sample"].push_back(sample.sample);
      json["turn"].push_back(turn.turn);
      json["parent"].push_back(optional_json(turn.parent));
      json["partner"].push_back(optional_json(turn.partner));
      json["step"].push_back(words.index(turn.step));
      json["verdict"].push_back(words.index(turn.verdict));
      json["rung"].push_back(words.index(turn.rung));
      json["answer"].push_back(words.index(turn.answer));
      json["evaluation"].push_back(optional_json(turn.evaluation));
      json["speedup"].push_back(turn.speedup);
      json["best"].push_back(turn.best_speedup);
      json["usd"].push_back(turn.usd);
      json["tokens"].push_back(turn.tokens);
    }
  }
  return json;
}

// What who draws k samples gets: [k, pass@k, fast_1@k, best of k].
Json draws_json(const results::RunStanding& run) {
  Json list = Json::array();
  const auto at = [](const std::map<size_t, double>& values, size_t k) {
    const auto found = values.find(k);
    return found == values.end() ? Json(nullptr) : Json(found->second);
  };
  for (const auto& [k, pass] : run.pass_at)
    list.push_back(Json::array({k, pass, at(run.fast_1_at, k), at(run.best_of, k)}));
  return list;
}

Json run_json(const results::RunStanding& run, Words& words) {
  return {{"run", run.run},
          {"model", run.model},
          {"strategy", run.strategy},
          {"started_at", run.started_at},
          {"finished", run.is_finished},
          {"aided", run.aided},
          {"unranked", run.unranked},
          {"requested", run.requested},
          {"drawn", run.drawn},
          {"passed", run.passed},
          {"similar", run.similar},
          {"without_speedup", run.without_speedup},
          {"speedups", run.speedups},
          {"fast",
           {{"0", optional_json(run.fast_0)},
            {"1", optional_json(run.fast_1)},
            {"2", optional_json(run.fast_2)},
            {"5", optional_json(run.fast_5)}}},
          {"fast_1_interval",
           run.fast_1_interval ? Json::array({run.fast_1_interval->low, run.fast_1_interval->high}) : Json(nullptr)},
          {"curve", curve_json(run.curve)},
          {"draws", draws_json(run)},
          {"fast_1_shape", optional_json(run.fast_1_shape)},
          {"expert_shares", run.expert_shares},
          {"median_position", optional_json(run.median_position)},
          {"usd", run.usd},
          {"tokens", run.tokens},
          {"usd_to_pass", optional_json(run.usd_to_pass)},
          {"usd_to_fast_1", optional_json(run.usd_to_fast_1)},
          {"turns", turns_json(run, words)}};
}

Json entries_json(const results::Table& table, Words& words) {
  Json json;
  for (const char* column : {"evaluation", "count", "us", "speedup", "position", "expert_fraction", "roof_fraction",
                             "sol_score", "why_none", "unranked", "aided", "similar", "reference", "imported"})
    json[column] = Json::array();
  for (const results::Entry& entry : table.entries) {
    json["evaluation"].push_back(entry.evaluation);
    json["count"].push_back(entry.evaluations);
    json["us"].push_back(optional_json(entry.time_us));
    json["speedup"].push_back(optional_json(entry.speedup));
    json["position"].push_back(optional_json(entry.position));
    json["expert_fraction"].push_back(optional_json(entry.expert_fraction));
    json["roof_fraction"].push_back(optional_json(entry.roof_fraction));
    json["sol_score"].push_back(optional_json(entry.sol_score));
    json["why_none"].push_back(words.index(entry.no_speedup));
    json["unranked"].push_back(words.index(entry.unranked));
    json["aided"].push_back(entry.aided);
    json["similar"].push_back(words.index(entry.similar_to));
    json["reference"].push_back(words.index(entry.reference));
    json["imported"].push_back(words.index(entry.imported_from));
  }
  return json;
}

double time_of(const results::ReferenceTimes& reference, const std::string& shape) {
  const auto at = reference.us.find(shape);
  return at == reference.us.end() ? 0 : at->second;
}

Json table_json(const results::Table& table, Words& words) {
  Json baseline = Json::array(), expert = Json::array(), times = Json::array(), runs = Json::array();
  for (const std::string& shape : table.key.shapes) {
    baseline.push_back(time_of(table.baseline, shape));
    expert.push_back(time_of(table.expert, shape));
  }
  for (const results::Entry& entry : table.entries) {
    for (const std::string& shape : table.key.shapes) {
      double us = 0;
      for (const results::ShapeStanding& one : entry.shapes)
        if (one.shape == shape && one.verdict == VerdictKind::Passed) us = one.time_us;
      times.push_back(us);
    }
  }
  for (const results::RunStanding& run : table.runs) runs.push_back(run_json(run, words));
  return {{"problem", table.key.problem},
          {"track", table.key.track},
          {"provenance", table.key.provenance},
          {"device", table.key.device},
          {"toolchain", table.key.toolchain},
          {"timing_model", table.key.timing_model},
          {"shape_set", table.shape_set},
          {"shapes", table.key.shapes},
          {"timed", table.timed},
          {"baseline_us", baseline},
          {"expert_us", expert},
          {"no_speedups", table.no_speedups},
          {"trust", table.trust},
          {"evaluations", table.evaluations},
          {"entries", entries_json(table, words)},
          {"entry_shape_us", times},
          {"runs", runs}};
}

Json headline_json(const results::RunHeadline& one) {
  Json fast_1 = Json::array();
  for (const std::optional<double>& value : one.fast_1) fast_1.push_back(optional_json(value));
  return {{"run", one.run},
          {"model", one.model},
          {"strategy", one.strategy},
          {"provenance", one.provenance},
          {"track", one.track},
          {"shape_set", one.shape_set},
          {"finished", one.is_finished},
          {"aided", one.aided},
          {"unranked", one.unranked},
          {"problems", one.problems},
          {"fast_1", fast_1},
          {"requested", one.requested},
          {"mean",
           {{"0", optional_json(one.mean_fast_0)},
            {"1", optional_json(one.mean_fast_1)},
            {"2", optional_json(one.mean_fast_2)},
            {"5", optional_json(one.mean_fast_5)}}},
          {"curve", curve_json(one.curve)},
          {"usd", one.usd},
          {"tokens", one.tokens}};
}

Json published_json(const results::PublishedStanding& one) {
  return {{"problem", one.problem}, {"shape", one.shape},   {"what", one.what},
          {"device", one.device},   {"source", one.source}, {"us", one.time_us}};
}

// Work, floor and roofs of every shape that occurs and that this program knows.
class Bounds {
 public:
  void add(const std::string& problem, const std::string& label) {
    if (!seen_.emplace(problem, label).second) return;
    const Result<const Problem*> known = find_problem(problem);
    if (!known) return;
    const Result<Shape> shape = (*known)->parse_shape(label);
    if (!shape) return;
    const Roofs roofs = (*known)->roofs(*shape);
    const double peak_flops = (*known)->work(*shape).rate.peak_flops;
    list_.push_back({{"problem", problem},
                     {"shape", label},
                     {"flops", roofs.flops},
                     {"bytes", roofs.input_bytes + roofs.output_bytes},
                     {"floor_us", roofs.floor_us},
                     {"peak_tflops", peak_flops / 1e12},
                     {"peak_tbytes", mi300x::kPeakHbmBytes / 1e12},
                     {"matrix_roof_us", roofs.matrix_roof_us},
                     {"memory_roof_us", roofs.memory_roof_us}});
  }
  Json& list() { return list_; }

 private:
  std::set<std::pair<std::string, std::string>> seen_;
  Json list_ = Json::array();
};

// The evaluations to list: those that a table or a run's best turn shows first, so that their texts get room, then the
// newest.
std::vector<int64_t> listed(const results::Standings& standings,
                            const std::vector<results::EvaluationSummary>& newest) {
  std::vector<int64_t> ids;
  std::set<int64_t> seen;
  const auto add = [&](int64_t id) {
    if (seen.insert(id).second) ids.push_back(id);
  };
  for (const results::Table& table : standings.tables) {
    for (size_t i = 0; i < std::min(table.entries.size(), kBestOfTable); ++i) add(table.entries[i].evaluation);
    for (const results::RunStanding& run : table.runs)
      for (const results::SampleStanding& sample : run.samples)
        if (sample.best && sample.turns[*sample.best].evaluation) add(*sample.turns[*sample.best].evaluation);
  }
  for (const results::EvaluationSummary& one : newest) add(one.id);
  return ids;
}

double mean_time(const Evaluation& evaluation) {
  std::vector<double> times;
  for (const ShapeResult& shape : evaluation.shapes) times.push_back(shape.verdict.passed() ? shape.time_us : 0);
  return evaluation.verdict.passed() ? results::geometric_mean(times).value_or(0) : 0;
}

// The rows of `evaluations`, and the packs with what is behind them.
class EvaluationRows {
 public:
  EvaluationRows(const DocumentOptions& options, Words& words, Bounds& bounds)
      : options_(options),
        words_(words),
        bounds_(bounds),
        details_(options.details_bytes),
        sources_(options.source_bytes) {
    for (const char* column : {"id", "at", "problem", "track", "provenance", "file", "sha", "verdict", "reason",
                               "stage", "shape_set", "unranked", "us", "pack", "source_pack"})
      json_[column] = Json::array();
  }

  void add(int64_t id, const Evaluation& e) {
    for (const ShapeResult& shape : e.shapes) bounds_.add(e.problem, shape.shape.label);
    const double us = mean_time(e);
    json_["id"].push_back(id);
    json_["at"].push_back(e.started_at);
    json_["problem"].push_back(words_.index(e.problem));
    json_["track"].push_back(words_.index(std::string(to_string(e.track))));
    json_["provenance"].push_back(words_.index(std::string(
        to_string(e.device == DeviceKind::Hip ? results::Provenance::Measured : results::Provenance::Modelled))));
    json_["file"].push_back(words_.index(e.file));
    json_["sha"].push_back(words_.index(e.source_sha256));
    json_["verdict"].push_back(words_.index(std::string(to_string(e.verdict.kind))));
    json_["reason"].push_back(words_.index(e.verdict.reason.substr(0, kReasonBytes)));
    json_["stage"].push_back(words_.index(std::string(to_string(e.stage))));
    json_["shape_set"].push_back(words_.index(e.shape_set));
    json_["unranked"].push_back(words_.index(results::why_unranked(e.sandboxed, e.check)));
    json_["us"].push_back(us > 0 ? Json(us) : Json(nullptr));
    details_of_.push_back(details_.add(std::to_string(id), options_.evaluation_json(e, id)));
    const auto [source, is_new] = source_packs_.emplace(e.source_sha256, std::nullopt);
    if (is_new) source->second = sources_.add(e.source_sha256, json_string(e.source));
    source_of_.push_back(source->second);
  }

  // The packs of sources follow those of details.
  Json finish(std::vector<std::string>& packs) {
    details_.finish_pack();
    sources_.finish_pack();
    const size_t first_source = details_.packs().size();
    for (const std::optional<size_t>& pack : details_of_) json_["pack"].push_back(optional_json(pack));
    for (const std::optional<size_t>& pack : source_of_)
      json_["source_pack"].push_back(pack ? Json(*pack + first_source) : Json(nullptr));
    packs = details_.packs();
    packs.insert(packs.end(), sources_.packs().begin(), sources_.packs().end());
    return std::move(json_);
  }

 private:
  static constexpr size_t kReasonBytes = 300;  // whole in the details

  const DocumentOptions& options_;
  Words& words_;
  Bounds& bounds_;
  Packs details_, sources_;
  std::vector<std::optional<size_t>> details_of_, source_of_;
  std::unordered_map<std::string, std::optional<size_t>> source_packs_;
  Json json_;
};

std::string without_angle(std::string text) {
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

Result<Document> make_document(const std::filesystem::path& database, const DocumentOptions& options) {
  results::StandingsOptions standings_options;
  standings_options.problem = options.problem;
  standings_options.references = options.references;
  const results::Standings standings = TRY(results::read_standings(database, standings_options));
  const results::Store store = TRY(results::Store::open(database, {.access = results::Access::Read}));
  const std::vector<results::EvaluationSummary> newest =
      TRY(store.list({.problem = options.problem, .limit = kMostEvaluations}));

  Words words;
  Bounds bounds;
  Document document;
  Json tables = Json::array(), headlines = Json::array(), published = Json::array();
  for (const results::Table& table : standings.tables) {
    for (const std::string& shape : table.key.shapes) bounds.add(table.key.problem, shape);
    tables.push_back(table_json(table, words));
  }
  for (const results::RunHeadline& one : standings.headlines) headlines.push_back(headline_json(one));
  for (const results::PublishedStanding& one : standings.published) published.push_back(published_json(one));

  EvaluationRows rows(options, words, bounds);
  for (const int64_t id : listed(standings, newest)) rows.add(id, TRY(store.load(id)));
  Json evaluations = rows.finish(document.packs);
  // Last, since what is above makes it.
  const Json json = {{"schema", "hipbench.page/1"},
                     {"generated_at", options.generated_at},
                     {"hipbench_version", HIPBENCH_VERSION},
                     {"database", database.filename().string()},
                     {"live", options.revision.empty() ? Json(nullptr) : Json{{"revision", options.revision}}},
                     {"thresholds", results::curve_thresholds()},
                     {"bounds", std::move(bounds.list())},
                     {"tables", std::move(tables)},
                     {"headlines", std::move(headlines)},
                     {"published", std::move(published)},
                     {"evaluations", std::move(evaluations)},
                     {"strings", words.list()}};
  document.json = without_angle(json_text(json));
  return document;
}

}  // namespace hipbench::report
