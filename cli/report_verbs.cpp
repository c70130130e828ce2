// hipbench report, leaderboard, compare.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/compare.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/html_report.hpp"
#include "cli/json.hpp"
#include "cli/standings_json.hpp"
#include "cli/standings_text.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/registry.hpp"
#include "results/store.hpp"
#include "results/transfer.hpp"

namespace hipbench::cli {

namespace {

struct ReportOptions {
  std::string database = kDefaultDatabase;
  results::ListFilter filter{.problem = "", .limit = 50};
  bool json = false, integrity = false;
  std::string html;  // a file to write the page to; empty: none
};

std::string notes_of(const results::EvaluationSummary& evaluation) {
  std::string notes;
  if (evaluation.check) notes += "memory checks";
  if (!evaluation.sandboxed) notes += notes.empty() ? "no sandbox" : ", no sandbox";
  if (notes.empty()) notes = printable_line(evaluation.reason);
  return notes;
}

std::string evaluations_text(const std::vector<results::EvaluationSummary>& evaluations, const Painter& paint,
                             size_t width) {
  std::vector<std::vector<Cell>> rows;
  for (const results::EvaluationSummary& e : evaluations) {
    rows.push_back({{std::to_string(e.id)},
                    {printable_line(e.started_at)},
                    {printable_line(e.problem)},
                    {std::string(to_string(e.track))},
                    {std::string(to_string(e.device))},
                    {std::string(to_string(e.verdict)), color_of({e.verdict, "", ""})},
                    {fmt::format("{} of {}", e.passed_shapes, e.shapes)},
                    {shortened(printable_line(e.shape_set), 24)},
                    {duration(e.total_seconds)},
                    {printable_line(e.file)},
                    {notes_of(e)}});
  }
  return fitted_table({{"id", true},
                       {"started", false, 0, 3},
                       {"problem", false, 8},
                       {"track"},
                       {"device", false, 0, 4},
                       {"verdict"},
                       {"passed", true},
                       {"shapes", false, 8},
                       {"took", true, 0, 2},
                       {"file", false, 16, 0, true},
                       {"notes", false, 12}},
                      std::move(rows), width, paint);
}

// What is asked of a database that is not there is a mistake of the command line.
int refuse_database(const std::string& database, const Error& error) {
  std::error_code ignored;
  const bool missing = !std::filesystem::exists(database, ignored);
  return fail(missing ? kWrongUsage : kEnvironmentFailed, error.message);
}

// The metrics: each run over its problems, then each table.
void print_standings(const results::Standings& standings, size_t width, const Painter& paint) {
  if (!standings.headlines.empty()) {
    fmt::print("{}\n{}\n", paint(Color::Bold, "Runs, over their problems"),
               headlines_text(standings.headlines, width, paint));
  }
  for (const results::Table& table : standings.tables) {
    fmt::print("{}\n{}", paint(Color::Bold, title_of(table)), conditions_text(table, paint));
    if (!table.runs.empty()) fmt::print("{}", runs_of_table_text(table, width, paint));
    constexpr size_t kBest = 5;
    fmt::print("{}\n", leaderboard_text(table, kBest, width, paint));
  }
}

int check_file(const ReportOptions& options) {
  const Result<std::vector<std::string>> findings = results::check_integrity(options.database);
  if (!findings) return refuse_database(options.database, findings.error());
  if (findings->empty()) {
    fmt::print("{} is sound\n", printable_line(options.database));
    return kAllPassed;
  }
  std::string list;
  for (const std::string& finding : *findings) list += "\n  " + finding;
  return fail(
      kEnvironmentFailed,
      fmt::format("{0} is damaged:{1}\nsave what can be saved with: sqlite3 {0} .recover | sqlite3 recovered.db",
                  options.database, list));
}

int report(const ReportOptions& options) {
  if (options.integrity) return check_file(options);
  if (!options.html.empty()) return write_html_report(options.database, options.filter.problem, options.html);
  const Result<results::Store> store = results::Store::open(options.database, {.access = results::Access::Read});
  if (!store) return refuse_database(options.database, store.error());
  const Result<std::vector<results::EvaluationSummary>> evaluations = store->list(options.filter);
  if (!evaluations) return fail(kEnvironmentFailed, evaluations.error().message);
  const auto standings =
      results::read_standings(options.database, {.problem = options.filter.problem, .references = {}});
  if (!standings) return fail(kEnvironmentFailed, standings.error().message);
  if (options.json) {
    Json document = report_json(*evaluations);
    document["standings"] = standings_json(*standings, {.entries = false});
    print_json(document);
    return kAllPassed;
  }
  if (evaluations->empty() && standings->headlines.empty()) {
    fmt::print("no evaluations{} in {}\n",
               options.filter.problem.empty() ? "" : " of " + printable_line(options.filter.problem),
               printable_line(options.database));
    return kAllPassed;
  }
  const Painter paint = Painter::for_stdout();
  print_standings(*standings, terminal_width(), paint);
  fmt::print("{}\n{}",
             paint(Color::Bold,
                   fmt::format("Evaluations, newest first ({} of {})", evaluations->size(), standings->evaluations)),
             evaluations_text(*evaluations, paint, terminal_width()));
  return kAllPassed;
}

struct LeaderboardOptions {
  std::string database = kDefaultDatabase, problem, shape_set, track, provenance;
  int64_t limit = 20;
  bool json = false, trajectories = false;
};

// Those asked for; what is left out is not mixed in anywhere.
void filter(results::Standings& standings, const LeaderboardOptions& options) {
  const auto differs = [](const std::string& wanted, const std::string& is) { return !wanted.empty() && wanted != is; };
  std::erase_if(standings.tables, [&](const results::Table& t) {
    return differs(options.shape_set, t.shape_set) || differs(options.track, t.key.track) ||
           differs(options.provenance, t.key.provenance);
  });
  std::erase_if(standings.headlines, [&](const results::RunHeadline& h) {
    return differs(options.shape_set, h.shape_set) || differs(options.track, h.track) ||
           differs(options.provenance, h.provenance);
  });
}

int leaderboard(const LeaderboardOptions& options) {
  Result<results::Standings> standings =
      results::read_standings(options.database, {.problem = options.problem, .references = {}});
  if (!standings) return refuse_database(options.database, standings.error());
  filter(*standings, options);
  if (options.json) {
    Json document = {{"schema", "hipbench.leaderboard/1"}};
    document.update(standings_json(*standings, {.entries = true, .trajectories = options.trajectories}));
    print_json(document);
    return kAllPassed;
  }
  if (standings->tables.empty() && standings->published.empty()) {
    if (const Result<const Problem*> known = find_problem(options.problem); !known && !options.problem.empty())
      return fail(kWrongUsage, known.error().message);
    fmt::print("nothing to rank in {}\n", printable_line(options.database));
    return kAllPassed;
  }
  const Painter paint = Painter::for_stdout();
  const size_t width = terminal_width();
  const size_t limit = options.limit < 0 ? SIZE_MAX : static_cast<size_t>(options.limit);
  if (!standings->headlines.empty())
    fmt::print("{}\n{}\n", paint(Color::Bold, "Runs, over their problems"),
               headlines_text(standings->headlines, width, paint));
  for (const results::Table& table : standings->tables) {
    fmt::print("{}\n{}{}", paint(Color::Bold, title_of(table)), conditions_text(table, paint),
               leaderboard_text(table, limit, width, paint));
    if (!table.timed.empty()) fmt::print("{}", shapes_of_table_text(table, width, paint));
    if (!table.runs.empty())
      fmt::print("{}{}", runs_of_table_text(table, width, paint), draws_of_table_text(table, width, paint));
    fmt::print("\n");
  }
  if (!standings->published.empty() && options.provenance.empty())
    fmt::print("{}\n{}", paint(Color::Bold, "Published by others, not checked here and not comparable with the above"),
               published_text(standings->published, width, paint));
  return kAllPassed;
}

void add_report(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("report", "What a database says: metrics at the head, then its evaluations");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("--db", options->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->filter.problem, "Only those of this problem");
  verb->add_option("--limit", options->filter.limit, "At most so many evaluations; default: 50, -1: all");
  verb->add_flag("--json", options->json, "Print one JSON document (docs/json.md)");
  verb->add_option("--html", options->html,
                   "Write one self-contained page with charts here instead (docs/report-page.md)");
  verb->add_flag("--integrity", options->integrity, "Check the file instead: is everything there and in its place?");
  verb->footer(
      "docs/results.md defines the metrics.\n\nExamples:\n  hipbench report\n"
      "  hipbench report --problem fp8_gemm --limit -1 --json\n  hipbench report --integrity\n"
      "  hipbench report --html report.html");
  verb->callback([&action, options] { action = [options] { return report(*options); }; });
}

void add_leaderboard(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("leaderboard", "The best candidates and runs of each problem and shape");
  auto options = std::make_shared<LeaderboardOptions>();
  verb->add_option("--db", options->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->problem, "Only this problem");
  verb->add_option("--shapes", options->shape_set, "Only this set: quick, tests or benchmarks");
  verb->add_option("--track", options->track, "Only this track")->check(CLI::IsMember({"kernel", "host"}));
  verb->add_option("--provenance", options->provenance, "Only times of this kind")
      ->check(CLI::IsMember({"measured", "modelled"}));
  verb->add_option("--limit", options->limit, "At most so many candidates a table; default: 20, -1: all");
  verb->add_flag("--json", options->json, "Print one JSON document (docs/json.md)");
  verb->add_flag("--turns", options->trajectories, "With --json: each sample's turns");
  verb->footer(
      "What may not be compared is in tables of its own. docs/results.md defines the metrics.\n\nExamples:\n"
      "  hipbench leaderboard\n  hipbench leaderboard -p fp8_gemm --shapes benchmarks --json");
  verb->callback([&action, options] { action = [options] { return leaderboard(*options); }; });
}

void add_compare(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("compare", "Two runs, or two evaluations: who is better, by how much, how sure");
  auto options = std::make_shared<CompareOptions>();
  options->database = kDefaultDatabase;
  verb->add_option("A", options->a, "A run's name, or an evaluation's id")->required();
  verb->add_option("B", options->b, "The other one")->required();
  verb->add_option("--db", options->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->problem, "Only this problem, of two runs");
  verb->add_flag("--json", options->json, "Print one JSON document (docs/json.md)");
  verb->footer(
      "Two numbers are evaluations. Refuses, with the reason, what was not measured alike.\n\nExamples:\n"
      "  hipbench compare monday tuesday\n  hipbench compare 12 15");
  verb->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace

void add_report_verbs(CLI::App& app, Action& action) {
  add_report(app, action);
  add_leaderboard(app, action);
  add_compare(app, action);
}

}  // namespace hipbench::cli
