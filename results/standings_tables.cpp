#include "results/standings_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "problems/registry.hpp"

namespace hipbench::results {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool has_word(const std::string& shape_set, std::string_view word) {
  const std::vector<std::string> words = words_of(shape_set);
  return std::find(words.begin(), words.end(), word) != words.end();
}

const Problem* known_problem(const std::string& id) {
  const Result<const Problem*> problem = find_problem(id);
  return problem ? *problem : nullptr;
}

// The shapes of an evaluation that its set's times are of: the benchmarks where they are among them.
std::vector<std::string> timed_shapes(const EvaluationData& evaluation, const std::string& set) {
  std::set<std::string> benchmarks;
  const Problem* problem = known_problem(evaluation.problem);
  if (set == "benchmarks" && problem != nullptr)
    for (const ListedShape& listed : problem->shapes(ShapeSet::Benchmarks)) benchmarks.insert(listed.shape.label);
  std::vector<std::string> timed;
  for (const ShapeData& shape : evaluation.shapes)
    if (benchmarks.empty() || benchmarks.contains(shape.shape)) timed.push_back(shape.shape);
  std::sort(timed.begin(), timed.end());
  return timed;
}

std::string device_of(const EvaluationData& evaluation) {
  if (evaluation.device != "hip" || evaluation.device_description.empty()) return evaluation.device;
  return fmt::format("{}: {}", evaluation.device, evaluation.device_description);
}

const ShapeData* first_timed(const EvaluationData& evaluation) {
  for (const ShapeData& shape : evaluation.shapes)
    if (shape.time_us > 0) return &shape;
  return nullptr;
}

ComparabilityKey key_of(const EvaluationData& e, const std::string& set) {
  ComparabilityKey key;
  key.problem = e.problem;
  key.track = e.track;
  key.device = device_of(e);
  key.toolchain = compiler_of(e.toolchain);
  key.provenance = e.device == "hip" ? "measured" : "modelled";
  if (const ShapeData* shape = first_timed(e)) {
    if (!shape->provenance.empty()) key.provenance = shape->provenance;
    key.timing_model = shape->timing_model;
  }
  key.shapes = timed_shapes(e, set);
  return key;
}

bool is_ranked(const EvaluationData& e) { return e.sandboxed && !e.check; }

}  // namespace

std::string normal_shape_set(const std::string& shape_set) {
  std::vector<std::string> words = words_of(shape_set);
  for (const std::string_view set : {"benchmarks", "tests", "quick"})
    if (std::find(words.begin(), words.end(), set) != words.end()) return std::string(set);
  std::sort(words.begin(), words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

TableMaker::TableMaker(const StandingsData& data, const StandingsOptions& options) : data_(data), options_(options) {
  for (const EvaluationData& e : data.evaluations) {
    by_id_[e.id] = &e;
    by_source_[e.source_sha256].push_back(&e);
  }
  group_timed();
  group_untimed();
}

const EvaluationData* TableMaker::find(int64_t evaluation) const {
  const auto found = by_id_.find(evaluation);
  return found == by_id_.end() ? nullptr : found->second;
}

const EvaluationData* TableMaker::find_newest(int64_t evaluation) const {
  const EvaluationData* newest = find(evaluation);
  const auto repeated = data_.reverified.find(evaluation);
  const auto table = table_of_.find(evaluation);
  if (newest == nullptr || repeated == data_.reverified.end() || table == table_of_.end()) return newest;
  for (const int64_t id : repeated->second) {
    const EvaluationData* other = find(id);
    const auto its_table = table_of_.find(id);
    const bool counts = other != nullptr && other->source_sha256 == newest->source_sha256 &&
                        other->verdict != VerdictKind::Infrastructure && its_table != table_of_.end() &&
                        its_table->second == table->second;
    if (counts) newest = other;
  }
  return newest;
}

TableRows* TableMaker::table_of(int64_t evaluation) {
  const auto found = table_of_.find(evaluation);
  return found == table_of_.end() ? nullptr : &tables_[found->second];
}

const ReferenceHashes& TableMaker::references(const std::string& problem) {
  const auto [place, is_new] = references_.try_emplace(problem);
  if (is_new && options_.references) place->second = options_.references(problem);
  return place->second;
}

TableRows& TableMaker::add_table(const ComparabilityKey& key, const std::string& shape_set) {
  TableRows& rows = tables_.emplace_back();
  rows.table.key = key;
  rows.table.shape_set = shape_set;
  rows.table.timed = key.shapes;
  rows.table.key.baseline_sha256 = references(key.problem).baseline;
  fill_facts(rows);
  fill_references(rows);
  return rows;
}

void TableMaker::add(size_t table, const EvaluationData& evaluation) {
  tables_[table].evaluations.push_back(&evaluation);
  tables_[table].table.evaluations++;
  tables_[table].table.verdicts[evaluation.verdict]++;
  table_of_[evaluation.id] = table;
}

// What passed and has times says by itself what it may be compared with.
void TableMaker::group_timed() {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string,
                      std::vector<std::string>, std::string>,
           size_t>
      known;
  for (const EvaluationData& e : data_.evaluations) {
    if (e.check || !(e.verdict == VerdictKind::Passed) || first_timed(e) == nullptr) continue;
    const std::string set = normal_shape_set(e.shape_set);
    const ComparabilityKey key = key_of(e, set);
    const auto [place, is_new] = known.try_emplace(
        {key.problem, key.track, key.device, key.toolchain, key.provenance, key.timing_model, key.shapes, set},
        tables_.size());
    if (is_new) add_table(key, set);
    add(place->second, e);
    latest_[{key.problem, key.track, key.device, set}] = place->second;
  }
}

// What failed, or has no time, does not say which compiler's or model's times it would have had: it is shown where the
// newest ones are.
void TableMaker::group_untimed() {
  for (const EvaluationData& e : data_.evaluations) {
    if (e.check || table_of_.contains(e.id)) continue;
    const std::string set = normal_shape_set(e.shape_set);
    const auto [place, is_new] = latest_.try_emplace({e.problem, e.track, device_of(e), set}, tables_.size());
    if (is_new) {
      ComparabilityKey key = key_of(e, set);
      key.shapes.clear();
      add_table(key, set);
    }
    add(place->second, e);
  }
  const auto older = [](const EvaluationData* a, const EvaluationData* b) { return a->id < b->id; };
  for (TableRows& rows : tables_) std::sort(rows.evaluations.begin(), rows.evaluations.end(), older);
}

TableRows& TableMaker::table_for(const RunProblemData& asked) {
  const std::string set = normal_shape_set(asked.shape_set);
  const auto [place, is_new] = latest_.try_emplace({asked.problem, asked.track, "emulated", set}, tables_.size());
  if (is_new) {
    ComparabilityKey key;
    key.problem = asked.problem;
    key.track = asked.track;
    key.provenance = "modelled";
    key.device = "emulated";
    add_table(key, set);
  }
  return tables_[place->second];
}

void TableMaker::fill_facts(TableRows& rows) const {
  const Problem* problem = known_problem(rows.table.key.problem);
  if (problem == nullptr) return;
  for (const ListedShape& listed : problem->shapes(ShapeSet::Benchmarks))
    rows.facts[listed.shape.label].is_benchmark = true;
  for (const std::string& label : rows.table.key.shapes) {
    const Result<Shape> shape = problem->parse_shape(label);
    if (!shape) continue;
    const Roofs roofs = problem->roofs(*shape);
    ShapeFacts& facts = rows.facts[label];
    facts.floor_us = roofs.floor_us;
    facts.roof_us = std::max(roofs.matrix_roof_us, roofs.memory_roof_us);
    facts.flops = roofs.flops;
    facts.peak_flops = problem->work(*shape).rate.peak_flops;
    facts.bytes = static_cast<double>(roofs.input_bytes + roofs.output_bytes);
  }
}

ReferenceTimes TableMaker::reference_times(const ComparabilityKey& key, const std::string& sha256) const {
  ReferenceTimes times;
  times.sha256 = sha256;
  const auto found = by_source_.find(sha256);
  if (sha256.empty() || found == by_source_.end()) return times;
  // Our own last, so that they overrule imported ones.
  std::vector<const EvaluationData*> evaluations = found->second;
  const auto rank = [](const EvaluationData* e) { return std::tuple(e->imported_from.empty(), e->id); };
  std::sort(evaluations.begin(), evaluations.end(),
            [&](const EvaluationData* x, const EvaluationData* y) { return rank(x) < rank(y); });
  for (const EvaluationData* e : evaluations) {
    if (e->problem != key.problem || !is_ranked(*e) || e->verdict != VerdictKind::Passed) continue;
    const ComparabilityKey own = key_of(*e, "");
    if (own.device != key.device || own.toolchain != key.toolchain || own.provenance != key.provenance ||
        own.timing_model != key.timing_model)
      continue;
    for (const ShapeData& shape : e->shapes)
      if (is_time(shape.time_us)) times.us[shape.shape] = shape.time_us;  // the newest
    times.evaluations.push_back(e->id);
  }
  return times;
}

void TableMaker::fill_references(TableRows& rows) {
  Table& table = rows.table;
  const ReferenceHashes& hashes = references(table.key.problem);
  table.baseline = reference_times(table.key, hashes.baseline);
  table.expert = reference_times(table.key, hashes.expert);
  const auto missing = std::find_if(table.timed.begin(), table.timed.end(),
                                    [&](const std::string& shape) { return !table.baseline.us.contains(shape); });
  if (hashes.baseline.empty()) {
    table.no_speedups = fmt::format("{} has no baseline yet", table.key.problem);
  } else if (missing != table.timed.end() || table.timed.empty()) {
    table.no_speedups = fmt::format(
        "the baseline of {} has no time here for {}, by the same compiler and timing model; "
        "`hipbench eval FILE --with-baseline` adds it",
        table.key.problem, table.timed.empty() ? table.shape_set : *missing);
  }
  table.trust = trust_note(provenance_from(table.key.provenance).value_or(Provenance::Published), table.key.problem,
                           table.key.timing_model, std::nullopt);
  table.is_calibrated =
      table.key.provenance == "modelled" && calibration_of(table.key.problem, table.key.timing_model).is_calibrated;
}

// Of the same source, whatever evaluation they ran in. None: they did not run.
std::optional<bool> TableMaker::tests_passed(const EvaluationData& evaluation) const {
  if (has_word(evaluation.shape_set, "tests")) return evaluation.verdict == VerdictKind::Passed;
  std::optional<bool> passed;
  for (const EvaluationData* other : by_source_.at(evaluation.source_sha256)) {
    if (other->problem != evaluation.problem || other->track != evaluation.track || !is_ranked(*other)) continue;
    if (!has_word(other->shape_set, "tests") || other->verdict == VerdictKind::Infrastructure) continue;
    passed = other->verdict == VerdictKind::Passed;
  }
  return passed;
}

TableMaker::Outcome TableMaker::outcome(const TableRows& rows, const EvaluationData& evaluation) const {
  const Table& table = rows.table;
  const bool are_benchmarks = table.shape_set == "benchmarks";
  Outcome outcome;
  bool lacks_time = false;
  for (const std::string& label : table.timed) {
    const auto shape = std::find_if(evaluation.shapes.begin(), evaluation.shapes.end(),
                                    [&](const ShapeData& one) { return one.shape == label; });
    const auto baseline = table.baseline.us.find(label);
    const auto facts = rows.facts.find(label);
    ShapeOutcome& one = outcome.shapes.emplace_back();
    if (baseline != table.baseline.us.end()) one.baseline_us = baseline->second;
    if (facts != rows.facts.end()) one.floor_us = facts->second.floor_us;
    if (shape == evaluation.shapes.end()) continue;
    one.passed = shape->verdict == VerdictKind::Passed;
    one.candidate_us = shape->time_us;
    lacks_time |= !is_time(one.candidate_us, one.floor_us);
  }
  if (are_benchmarks) outcome.shapes.push_back({.passed = tests_passed(evaluation).value_or(false), .is_timed = false});
  if (evaluation.verdict == VerdictKind::Passed) outcome.speedup = sample_speedup(outcome.shapes);
  if (outcome.speedup) return outcome;
  if (evaluation.verdict != VerdictKind::Passed) {
    outcome.no_speedup = "did not pass";
  } else if (are_benchmarks && !tests_passed(evaluation)) {
    outcome.no_speedup = "its test shapes were not evaluated: add --shapes tests";
  } else if (are_benchmarks && !*tests_passed(evaluation)) {
    outcome.no_speedup = "did not pass its test shapes";
  } else if (lacks_time || table.timed.empty()) {
    outcome.no_speedup = "a shape has no time";
  } else {
    outcome.no_speedup = table.no_speedups;
  }
  return outcome;
}

}  // namespace hipbench::results
