// hipbench report, hipbench replay.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/run_report.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/tensor_files.hpp"
#include "results/store.hpp"

namespace hipbench::cli {

namespace {

struct ReportOptions {
  std::string database = kDefaultDatabase;
  results::ListFilter filter{.problem = "", .limit = 50};
  bool json = false;
};

std::string notes_of(const results::EvaluationSummary& evaluation) {
  std::string notes;
  if (evaluation.check) notes += "memory checks";
  if (!evaluation.sandboxed) notes += notes.empty() ? "no sandbox" : ", no sandbox";
  if (notes.empty()) notes = printable_line(evaluation.reason);
  return notes;
}

std::string report_text(const std::vector<results::EvaluationSummary>& evaluations, const Painter& paint,
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
                    {shortened(printable_line(e.file), 40)},
                    {notes_of(e)}});
  }
  const std::vector<std::string> header = {"id",     "started", "problem", "track", "device", "verdict",
                                           "passed", "shapes",  "took",    "file",  "notes"};
  // The last column takes what the terminal leaves; where there is no terminal, all of it.
  if (width > 0) {
    std::vector<std::vector<Cell>> others = rows;
    for (std::vector<Cell>& row : others) row.pop_back();
    const std::string text = table(std::span(header).first(header.size() - 1), others, "rlllllrlrl", Painter(false));
    size_t taken = 0;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      taken = std::max(taken, columns(std::string_view(text).substr(at, text.find('\n', at) - at)) + 2);
    }
    for (std::vector<Cell>& row : rows)
      row.back().text = shortened(row.back().text, std::max<size_t>(12, width > taken ? width - taken : 0));
  }
  return table(header, rows, "rlllllrlrll", paint);
}

// The runs of `hipbench generate`, oldest first.
Result<std::vector<results::RunSummary>> runs_of(const ReportOptions& options) {
  const results::RunStore store = TRY(results::RunStore::open_for_reading(options.database));
  std::vector<results::RunSummary> runs;
  for (results::RunSummary& run : TRY(store.summaries()))
    if (options.filter.problem.empty() || run.problem == options.filter.problem) runs.push_back(std::move(run));
  return runs;
}

int report(const ReportOptions& options) {
  Result<results::Store> store = results::Store::open(options.database, {.access = results::Access::Read});
  if (!store) {
    std::error_code ignored;
    const bool missing = !std::filesystem::exists(options.database, ignored);
    return fail(missing ? kWrongUsage : kEnvironmentFailed, store.error().message);
  }
  const Result<std::vector<results::EvaluationSummary>> evaluations = store->list(options.filter);
  if (!evaluations) return fail(kEnvironmentFailed, evaluations.error().message);
  const Result<std::vector<results::RunSummary>> runs = runs_of(options);
  if (!runs) return fail(kEnvironmentFailed, runs.error().message);
  if (options.json) {
    Json document = report_json(*evaluations);
    document["runs"] = runs_json(*runs);
    print_json(document);
  } else if (evaluations->empty()) {
    fmt::print("no evaluations{} in {}\n",
               options.filter.problem.empty() ? "" : " of " + printable_line(options.filter.problem),
               printable_line(options.database));
  } else {
    fmt::print("{}", report_text(*evaluations, Painter::for_stdout(), terminal_width()));
    if (!runs->empty()) fmt::print("\n{}", runs_text(*runs, Painter::for_stdout()));
  }
  return kAllPassed;
}

// Says where a replay differs: on the emulated device the same source, inputs and toolchain give the same bits.
void compare_with(const Evaluation& before, int64_t id, const Evaluation& now) {
  std::string differences;
  const auto differ = [&](std::string_view what, const auto& was, const auto& is) {
    if (was != is) differences += fmt::format("  {}: {} then, {} now\n", what, was, is);
  };
  differ("verdict", to_string(before.verdict.kind), to_string(now.verdict.kind));
  differ("toolchain", printable_line(before.toolchain), printable_line(now.toolchain));
  for (size_t i = 0; i < std::min(before.shapes.size(), now.shapes.size()); ++i) {
    const ShapeResult &was = before.shapes[i], &is = now.shapes[i];
    differ(was.shape.label + " verdict", to_string(was.verdict.kind), to_string(is.verdict.kind));
    differ(was.shape.label + " wrong elements", was.comparison.mismatches, is.comparison.mismatches);
    differ(was.shape.label + " wave instructions", was.wave_instructions, is.wave_instructions);
  }
  fmt::print(stderr, "{}\n{}",
             differences.empty() ? fmt::format("the same outcome as evaluation {}", id)
                                 : fmt::format("differs from evaluation {}:", id),
             differences);
}

struct ReplayOptions {
  int64_t id = 0;
  std::string dump;  // a folder; empty = none
  EvaluateArguments arguments;
};

// Shapes that were never reached cannot have caused the outcome, so the ones that were run are all there is to repeat.
// Where it came to none (a compile error), it is those that were asked for.
Result<ShapeChoice> shapes_to_repeat(const Problem& problem, const Evaluation& before) {
  std::vector<std::string> words;
  for (const ShapeResult& shape : before.shapes) words.push_back(shape.shape.label);
  if (words.empty()) {
    std::istringstream asked(before.shape_set);
    for (std::string word; asked >> word;) words.push_back(word);
  }
  return choose_shapes(problem, words);
}

// inputs, got and expected of the first call, as .npy files.
Result<void> dump_case(const Problem& problem, const Shape& shape, const Case& one, const Buffers& outputs,
                       const std::filesystem::path& folder) {
  TRY(write_tensors(problem, shape, one.inputs, folder / "inputs"));
  TRY(write_packed_outputs(problem, shape, outputs, folder / "got"));
  const Buffers expected = one.rows.empty() ? one.expected : problem.expected(shape, one.inputs, {}, 1);
  return write_packed_outputs(problem, shape, expected, folder / "expected");
}

int replay(const ReplayOptions& options) {
  Result<results::Store> store = results::Store::open(options.arguments.database, {.access = results::Access::Read});
  if (!store) {
    std::error_code ignored;
    const bool missing = !std::filesystem::exists(options.arguments.database, ignored);
    return fail(missing ? kWrongUsage : kEnvironmentFailed, store.error().message);
  }
  Result<Evaluation> before = store->load(options.id);
  if (!before) return fail(kWrongUsage, before.error().message);
  const Result<const Problem*> problem = choose_problem(before->problem);
  if (!problem) return fail(kEnvironmentFailed, problem.error().message);
  Job job{*problem, before->file, before->source, {}};
  Result<ShapeChoice> shapes = shapes_to_repeat(**problem, *before);
  if (!shapes) return fail(kEnvironmentFailed, "the problem has changed since: " + shapes.error().message);
  job.options.shapes = std::move(shapes->shapes);
  job.options.shape_set = std::move(shapes->name);
  job.options.seed = before->seed;
  job.options.track = before->track;
  job.options.device = before->device;
  job.options.check = before->check || options.arguments.check;
  job.options.keep_going = true;
  job.options.unsafe_no_sandbox = options.arguments.unsafe_no_sandbox;
  job.options.threads = options.arguments.threads;
  if (before->device == DeviceKind::Hip)
    return fail(kEnvironmentFailed, choose_device("hip", look_for_gpu()).error().message);
  if (!before->sandboxed && !options.arguments.unsafe_no_sandbox) {
    fmt::print(stderr,
               "note: evaluation {} ran without a sandbox; this one runs in it (--unsafe-no-sandbox does as before)\n",
               options.id);
  }
  Result<void> dumped;
  if (!options.dump.empty()) {
    job.options.observe = [&](const Shape& shape, const Case& one, const Buffers& outputs) {
      if (dumped) dumped = dump_case(**problem, shape, one, outputs, std::filesystem::path(options.dump) / shape.label);
    };
  }
  const int status = evaluate_jobs(std::span(&job, 1), 1, options.arguments.output(),
                                   [&](const Evaluation& now) { compare_with(*before, options.id, now); });
  return dumped ? status : fail(kEnvironmentFailed, dumped.error().message);
}

}  // namespace

void add_result_verbs(CLI::App& app, Action& action) {
  CLI::App* list = app.add_subcommand("report", "The evaluations of a database, newest first");
  auto report_options = std::make_shared<ReportOptions>();
  list->add_option("--db", report_options->database, "The database of results; default: hipbench.db");
  list->add_option("--problem,-p", report_options->filter.problem, "Only those of this problem");
  list->add_option("--limit", report_options->filter.limit, "At most so many; default: 50, -1: all");
  list->add_flag("--json", report_options->json, "Print one JSON document (docs/json.md)");
  list->footer("Examples:\n  hipbench report\n  hipbench report --problem fp8_gemm --limit -1 --json");
  list->callback([&action, report_options] { action = [report_options] { return report(*report_options); }; });

  CLI::App* again = app.add_subcommand("replay", "Evaluate a stored candidate again: same source, shapes and seed");
  auto options = std::make_shared<ReplayOptions>();
  again->add_option("EVALUATION", options->id, "Its id; `hipbench report` lists them")->required();
  add_database_options(*again, options->arguments);
  // The evaluation is read from the database all the same.
  again->get_option("--no-db")->remove_excludes(again->get_option("--db"));
  again->get_option("--db")->remove_excludes(again->get_option("--no-db"));
  again->add_option("--dump", options->dump, "Write inputs, got and expected of each shape's first call here, as .npy files");
  again->add_flag("--check", options->arguments.check, "With the device's memory and race checks on");
  again->add_option("--threads", options->arguments.threads, "Threads of the emulated device; default: one a core")
      ->check(CLI::Range(0u, 1024u));
  again->add_flag("--json", options->arguments.json, "Print one JSON document (docs/json.md)");
  again->add_flag("--unsafe-no-sandbox", options->arguments.unsafe_no_sandbox,
                  "Without a sandbox: only for sources that you trust");
  again->footer(
      "The replay is stored as an evaluation of its own, unless --no-db is given.\n\nExample:\n  hipbench replay 12\n  hipbench replay 12 --no-db --dump tensors");
  again->callback([&action, options] { action = [options] { return replay(*options); }; });
}

}  // namespace hipbench::cli
