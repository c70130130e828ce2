#include "cli/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/standings_json.hpp"
#include "cli/standings_text.hpp"
#include "results/speedups.hpp"

namespace hipbench::cli {

namespace {

using results::RunStanding;
using results::Table;

constexpr uint64_t kSeed = 1;  // the same numbers each time

// ---- Two evaluations ----

std::optional<int64_t> as_number(const std::string& text) {
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

struct ShapePair {
  std::string shape;
  double a_us = 0, b_us = 0;
  std::optional<double> ratio;  // a / b: how much faster b is
};

std::vector<ShapePair> pairs_of(const Evaluation& a, const Evaluation& b) {
  std::vector<ShapePair> pairs;
  for (const ShapeResult& of_a : a.shapes) {
    const auto of_b = std::find_if(b.shapes.begin(), b.shapes.end(),
                                   [&](const ShapeResult& s) { return s.shape.label == of_a.shape.label; });
    if (of_b == b.shapes.end()) continue;
    ShapePair pair{of_a.shape.label, of_a.time_us, of_b->time_us, std::nullopt};
    if (results::is_time(pair.a_us) && results::is_time(pair.b_us)) pair.ratio = pair.a_us / pair.b_us;
    pairs.push_back(pair);
  }
  return pairs;
}

int print_pairs(const CompareOptions& options, const std::vector<ShapePair>& pairs, const std::string& trust) {
  std::vector<double> ratios;
  size_t faster = 0, slower = 0;
  for (const ShapePair& pair : pairs) {
    if (!pair.ratio) continue;
    ratios.push_back(*pair.ratio);
    faster += *pair.ratio > 1 ? 1 : 0;
    slower += *pair.ratio < 1 ? 1 : 0;
  }
  const std::optional<double> mean = ratios.size() == pairs.size() ? results::geometric_mean(ratios) : std::nullopt;
  if (options.json) {
    Json shapes = Json::array();
    for (const ShapePair& pair : pairs)
      shapes.push_back({{"shape", pair.shape},
                        {"a_us", results::is_time(pair.a_us) ? Json(pair.a_us) : Json(nullptr)},
                        {"b_us", results::is_time(pair.b_us) ? Json(pair.b_us) : Json(nullptr)},
                        {"ratio", pair.ratio ? Json(*pair.ratio) : Json(nullptr)}});
    print_json({{"schema", "hipbench.comparison/1"},
                {"kind", "evaluations"},
                {"a", options.a},
                {"b", options.b},
                {"ratio", mean ? Json(*mean) : Json(nullptr)},
                {"faster", faster},
                {"slower", slower},
                {"sign_test_p", results::sign_test(faster, slower)},
                {"trust", trust},
                {"shapes", std::move(shapes)}});
    return kAllPassed;
  }
  std::vector<std::vector<Cell>> rows;
  for (const ShapePair& pair : pairs)
    rows.push_back({{printable_line(pair.shape)},
                    {microseconds_cell(pair.a_us)},
                    {microseconds_cell(pair.b_us)},
                    {ratio_cell(pair.ratio), Color::Bold}});
  const Painter paint = Painter::for_stdout();
  fmt::print("{}", fitted_table({{"shape", false, 12},
                                 {"evaluation " + options.a, true},
                                 {"evaluation " + options.b, true},
                                 {options.b + " is faster by", true}},
                                std::move(rows), terminal_width(), paint));
  fmt::print("\ngeometric mean {}; faster on {} shapes, slower on {} (sign test p = {:.3f})\n{}\n", ratio_cell(mean),
             faster, slower, results::sign_test(faster, slower), paint(Color::Dim, trust));
  return kAllPassed;
}

int compare_evaluations(const CompareOptions& options, int64_t id_a, int64_t id_b) {
  const Result<results::Store> store = results::Store::open(options.database, {.access = results::Access::Read});
  if (!store) return fail(kEnvironmentFailed, store.error().message);
  const Result<Evaluation> a = store->load(id_a), b = store->load(id_b);
  if (!a) return fail(kWrongUsage, a.error().message);
  if (!b) return fail(kWrongUsage, b.error().message);
  for (const auto& [id, e] : {std::pair(id_a, &*a), std::pair(id_b, &*b)}) {
    if (!e->verdict.passed())
      return fail(kWrongUsage, fmt::format("evaluation {} did not pass ({}), so it has no times to compare", id,
                                           to_string(e->verdict.kind)));
  }
  const results::ComparabilityKey key_a = results::key_of(*a, results::references_of(a->problem).baseline),
                                  key_b = results::key_of(*b, results::references_of(b->problem).baseline);
  if (const auto why = results::why_not_comparable(key_a, key_b))
    return fail(kWrongUsage, fmt::format("evaluations {} and {} cannot be compared: {}", id_a, id_b, *why));
  std::optional<double> noise;
  for (const ShapeResult& shape : a->shapes) {
    const auto floor = results::noise_floor_of(shape);
    if (floor) noise = std::max(noise.value_or(0), *floor);
  }
  std::string trust =
      results::trust_note(results::provenance_from(key_a.provenance).value_or(results::Provenance::Published),
                          a->problem, key_a.timing_model, noise);
  for (const Evaluation* e : {&*a, &*b})
    if (const std::string why = results::why_unranked(e->sandboxed, e->check); !why.empty())
      trust += "; unranked: " + why;
  return print_pairs(options, pairs_of(*a, *b), trust);
}

// ---- Two runs ----

struct RunPair {
  const Table* table = nullptr;
  const RunStanding *a = nullptr, *b = nullptr;
};

struct Places {
  const Table* table = nullptr;
  const RunStanding* run = nullptr;
};
std::vector<Places> places_of(const results::Standings& standings, const std::string& name) {
  std::vector<Places> places;
  for (const Table& table : standings.tables)
    for (const RunStanding& run : table.runs)
      if (run.run == name) places.push_back({&table, &run});
  return places;
}

// The problems that both are on under the same conditions, and in words what stands in the way on the others.
std::vector<RunPair> pair_up(const std::vector<Places>& a, const std::vector<Places>& b,
                             std::vector<std::string>& refused) {
  std::vector<RunPair> pairs;
  for (const Places& of_a : a) {
    const std::string& problem = of_a.table->key.problem;
    const auto same = std::find_if(b.begin(), b.end(), [&](const Places& p) { return p.table == of_a.table; });
    if (same != b.end()) {
      pairs.push_back({of_a.table, of_a.run, same->run});
      continue;
    }
    const auto other =
        std::find_if(b.begin(), b.end(), [&](const Places& p) { return p.table->key.problem == problem; });
    if (other == b.end()) {
      refused.push_back(problem + ": only the first run has it");
    } else {
      const auto why = results::why_not_comparable(of_a.table->key, other->table->key);
      refused.push_back(fmt::format("{}: {}", problem, why.value_or("their sets of shapes have other names")));
    }
  }
  for (const Places& of_b : b) {
    const bool known = std::any_of(a.begin(), a.end(),
                                   [&](const Places& p) { return p.table->key.problem == of_b.table->key.problem; });
    if (!known) refused.push_back(of_b.table->key.problem + ": only the second run has it");
  }
  return pairs;
}

// What each sample requested contributes.
using Contribution = double (*)(double speedup, bool passed);
std::vector<double> values_of(const RunStanding& run, Contribution contribution) {
  std::vector<double> values;
  for (size_t i = 0; i < run.requested; ++i) {
    const bool passed = i < run.samples.size() && run.samples[i].passed;
    values.push_back(contribution(i < run.speedups.size() ? run.speedups[i] : 0, passed));
  }
  return values;
}

struct Line {
  std::string name, meaning;
  std::optional<results::RunComparison> result;
  std::string why_not;
  bool is_ratio = false;  // the difference is one of logarithms
};

std::vector<Line> compare_lines(const std::vector<RunPair>& pairs) {
  std::string no_speedups;
  for (const RunPair& pair : pairs)
    if (!pair.table->no_speedups.empty()) no_speedups = pair.table->no_speedups;
  const auto line = [&](const char* name, const char* meaning, Contribution contribution, bool by_speed,
                        bool is_ratio) {
    Line one{name, meaning, std::nullopt, "", is_ratio};
    if (by_speed && !no_speedups.empty()) {
      one.why_not = no_speedups;
      return one;
    }
    std::vector<results::PairedProblem> problems;
    for (const RunPair& pair : pairs)
      problems.push_back({values_of(*pair.a, contribution), values_of(*pair.b, contribution)});
    one.result = results::compare_runs(problems, kSeed);
    if (!one.result) one.why_not = "a run has no samples on a problem";
    return one;
  };
  return {line(
              "passed", "share of samples", [](double, bool passed) { return passed ? 1.0 : 0.0; }, false, false),
          line(
              "fast_1", "share of samples", [](double s, bool) { return s > 1 ? 1.0 : 0.0; }, true, false),
          line(
              "fast_2", "share of samples", [](double s, bool) { return s > 2 ? 1.0 : 0.0; }, true, false),
          line(
              "gain", "speed-up, at least 1, of a sample", [](double s, bool) { return std::log(std::max(1.0, s)); },
              true, true)};
}

Json runs_comparison_json(const CompareOptions& options, const std::vector<RunPair>& pairs,
                          const std::vector<Line>& lines, const std::vector<std::string>& refused) {
  Json metrics = Json::array(), problems = Json::array();
  for (const Line& line : lines) {
    Json one = {{"metric", line.name}, {"logarithmic", line.is_ratio}};
    one["difference"] = line.result ? Json(line.result->difference) : Json(nullptr);
    one["low"] = line.result ? Json(line.result->band.low) : Json(nullptr);
    one["high"] = line.result ? Json(line.result->band.high) : Json(nullptr);
    one["p_value"] = line.result ? Json(line.result->p_value) : Json(nullptr);
    one["exact"] = line.result ? Json(line.result->is_exact) : Json(nullptr);
    one["why_not"] = line.why_not.empty() ? Json(nullptr) : Json(line.why_not);
    metrics.push_back(std::move(one));
  }
  for (const RunPair& pair : pairs)
    problems.push_back({{"problem", pair.table->key.problem},
                        {"a",
                         {{"fast_1", pair.a->fast_1 ? Json(*pair.a->fast_1) : Json(nullptr)},
                          {"passed", pair.a->passed},
                          {"requested", pair.a->requested}}},
                        {"b",
                         {{"fast_1", pair.b->fast_1 ? Json(*pair.b->fast_1) : Json(nullptr)},
                          {"passed", pair.b->passed},
                          {"requested", pair.b->requested}}},
                        {"trust", pair.table->trust}});
  return {{"schema", "hipbench.comparison/1"},
          {"kind", "runs"},
          {"a", options.a},
          {"b", options.b},
          {"metrics", std::move(metrics)},
          {"problems", std::move(problems)},
          {"refused", refused}};
}

void print_runs(const CompareOptions& options, const std::vector<RunPair>& pairs, const std::vector<Line>& lines) {
  const Painter paint = Painter::for_stdout();
  std::vector<std::vector<Cell>> rows;
  for (const RunPair& pair : pairs)
    rows.push_back({{printable_line(pair.table->key.problem)},
                    {fmt::format("{} of {}", pair.a->passed, pair.a->requested)},
                    {fmt::format("{} of {}", pair.b->passed, pair.b->requested)},
                    {share_cell(pair.a->fast_1)},
                    {share_cell(pair.b->fast_1)}});
  fmt::print(
      "A is {}, B is {}\n\n{}\n", printable_line(options.a), printable_line(options.b),
      fitted_table(
          {{"problem", false, 8}, {"A passed", true}, {"B passed", true}, {"A fast_1", true}, {"B fast_1", true}},
          std::move(rows), terminal_width(), paint));
  rows.clear();
  for (const Line& line : lines) {
    if (!line.result) {
      rows.push_back({{line.name}, {"-"}, {"-"}, {"-"}, {printable_line(line.why_not), Color::Yellow}});
      continue;
    }
    const results::RunComparison& r = *line.result;
    const auto shown = [&](double v) {
      return line.is_ratio ? fmt::format("{:.2f}x", std::exp(v)) : fmt::format("{:+.2f}", v);
    };
    rows.push_back({{line.name},
                    {shown(r.difference), Color::Bold},
                    {r.band.is_degenerate ? "-" : fmt::format("{} to {}", shown(r.band.low), shown(r.band.high))},
                    {fmt::format("{:.3f}", r.p_value), r.p_value < 0.05 ? Color::Green : Color::Plain},
                    {fmt::format("{}{}", line.meaning, r.is_exact ? ", every deal counted" : "")}});
  }
  fmt::print("{}", fitted_table({{"", false}, {"B against A", true}, {"95 %", true}, {"p", true}, {"", false, 12}},
                                std::move(rows), terminal_width(), paint));
  for (const RunPair& pair : pairs)
    fmt::print("{}\n", paint(Color::Dim, printable_line(pair.table->key.problem + ": " + pair.table->trust)));
}

int compare_runs_of(const CompareOptions& options) {
  const Result<results::Standings> standings =
      results::read_standings(options.database, {.problem = options.problem, .references = {}});
  if (!standings) return fail(kEnvironmentFailed, standings.error().message);
  const std::vector<Places> a = places_of(*standings, options.a), b = places_of(*standings, options.b);
  std::vector<std::string> names;
  for (const results::RunHeadline& headline : standings->headlines) names.push_back(headline.run);
  for (const auto& [name, places] : {std::pair(options.a, &a), std::pair(options.b, &b)}) {
    if (places->empty())
      return fail(kWrongUsage,
                  fmt::format("there is no run \"{}\" in {}{}; `hipbench report` lists runs and evaluations",
                              printable_line(name), printable_line(options.database), suggestion(name, names)));
  }
  std::vector<std::string> refused;
  const std::vector<RunPair> pairs = pair_up(a, b, refused);
  if (pairs.empty())
    return fail(kWrongUsage, fmt::format("the runs cannot be compared: {}",
                                         refused.empty() ? "they share no problem" : refused.front()));
  const std::vector<Line> lines = compare_lines(pairs);
  if (options.json) {
    print_json(runs_comparison_json(options, pairs, lines, refused));
  } else {
    print_runs(options, pairs, lines);
  }
  for (const std::string& why : refused) fmt::print(stderr, "note: not compared: {}\n", printable_line(why));
  return kAllPassed;
}

}  // namespace

int compare(const CompareOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.database, ignored))
    return fail(kWrongUsage,
                fmt::format("there is no database {}; `hipbench eval` makes one", printable_line(options.database)));
  const auto a = as_number(options.a), b = as_number(options.b);
  if (a && b) return compare_evaluations(options, *a, *b);
  return compare_runs_of(options);
}

}  // namespace hipbench::cli
