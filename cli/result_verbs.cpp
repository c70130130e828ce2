// hipbench replay, hipbench reverify.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <sstream>

#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/tensor_files.hpp"
#include "results/standings.hpp"
#include "results/store.hpp"

namespace hipbench::cli {

namespace {

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
    if (was.time_us > 0 && is.time_us > 0) differ(was.shape.label + " time", time_cell(was), time_cell(is));
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
    if (const Result<DeviceChoice> gpu = choose_device("hip", look_for_gpu()); !gpu)
      return fail(kEnvironmentFailed, gpu.error().message);
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

struct ReverifyOptions {
  std::string run, problem;
  EvaluateArguments arguments;
};

// The winner of each of the run's samples: its best turn. A source that won several of them is timed once.
std::vector<int64_t> winners_of(const results::Standings& standings, const std::string& run) {
  std::vector<int64_t> winners;
  std::set<std::pair<std::string, std::string>> seen;
  for (const results::Table& table : standings.tables) {
    for (const results::RunStanding& standing : table.runs) {
      if (standing.run != run) continue;
      for (const results::SampleStanding& sample : standing.samples) {
        if (!sample.best) continue;
        const results::TurnPoint& turn = sample.turns[*sample.best];
        if (turn.evaluation && seen.insert({table.key.problem, turn.source_sha256}).second)
          winners.push_back(*turn.evaluation);
      }
    }
  }
  return winners;
}

bool has_run(const results::Standings& standings, const std::string& run) {
  return std::any_of(standings.headlines.begin(), standings.headlines.end(),
                     [&](const results::RunHeadline& headline) { return headline.run == run; });
}

Result<Job> job_to_reverify(const Evaluation& before, int64_t id, const ReverifyOptions& options) {
  const Problem* problem = TRY(choose_problem(before.problem));
  Job job{problem, before.file, before.source, {}};
  ShapeChoice shapes = TRY(shapes_to_repeat(*problem, before));
  job.options.shapes = std::move(shapes.shapes);
  job.options.shape_set = before.shape_set;  // so that it stands in the same table
  job.options.seed = options.arguments.seed;
  job.options.track = before.track;
  job.options.device = before.device;
  job.options.keep_going = true;
  job.options.threads = options.arguments.threads;
  job.reverifies = id;
  job.reason = "run " + options.run;
  return job;
}

int reverify(const ReverifyOptions& options) {
  const std::string& database = options.arguments.database;
  const auto standings = results::read_standings(database, {.problem = options.problem, .references = {}});
  const Result<results::Store> store = results::Store::open(database, {.access = results::Access::Read});
  std::error_code ignored;
  const bool missing = !std::filesystem::exists(database, ignored);
  if (!standings) return fail(missing ? kWrongUsage : kEnvironmentFailed, standings.error().message);
  if (!store) return fail(kEnvironmentFailed, store.error().message);
  if (!has_run(*standings, options.run)) {
    std::vector<std::string> names;
    for (const results::RunHeadline& headline : standings->headlines) names.push_back(headline.run);
    return fail(kWrongUsage, fmt::format("there is no run \"{}\" in {}{}", printable_line(options.run),
                                         printable_line(database), suggestion(options.run, names)));
  }
  std::vector<Job> jobs;
  std::vector<Evaluation> before;
  for (const int64_t id : winners_of(*standings, options.run)) {
    Result<Evaluation> winner = store->load(id);
    if (!winner) return fail(kEnvironmentFailed, winner.error().message);
    Result<Job> job = job_to_reverify(*winner, id, options);
    if (!job) return fail(kEnvironmentFailed, job.error().with_context("the problem has changed since").message);
    before.push_back(std::move(*winner));
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) {
    fmt::print("no sample of run {} passed, so there is nothing to time again\n", printable_line(options.run));
    return kAllPassed;
  }
  fmt::print(stderr, "timing {} winner{} of run {} again, on new inputs\n", jobs.size(), jobs.size() == 1 ? "" : "s",
             printable_line(options.run));
  size_t next = 0;
  return evaluate_jobs(jobs, options.arguments.jobs, options.arguments.output(), [&](const Evaluation& now) {
    compare_with(before[next], jobs[next].reverifies, now);
    ++next;
  });
}

void add_reverify(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("reverify", "Check and time the winners of a run again; adds rows, changes none");
  auto options = std::make_shared<ReverifyOptions>();
  verb->add_option("RUN", options->run, "The run's name; `hipbench report` lists them")->required();
  verb->add_option("--db", options->arguments.database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->problem, "Only its winners on this problem");
  verb->add_option("--jobs,-j", options->arguments.jobs,
                   "Candidates at once; default: one a core, as far as memory allows")
      ->check(CLI::Range(1u, 1024u));
  verb->add_option("--threads", options->arguments.threads, "Threads of the emulated device; default: one a core")
      ->check(CLI::Range(0u, 1024u));
  verb->add_flag("--with-baseline", options->arguments.with_baseline,
                 "Evaluate the problem's baseline too, where the database lacks its times");
  verb->add_flag("--json", options->arguments.json, "Print one JSON document (docs/json.md)");
  verb->footer(
      "The inputs are new, so that a candidate that was right by chance shows. From then on the newest evaluation\n"
      "of a winner counts.\n\nExample:\n  hipbench reverify monday");
  verb->callback([&action, options] { action = [options] { return reverify(*options); }; });
}

}  // namespace

void add_result_verbs(CLI::App& app, Action& action) {
  add_reverify(app, action);
  CLI::App* again = app.add_subcommand("replay", "Evaluate a stored candidate again: same source, shapes and seed");
  auto options = std::make_shared<ReplayOptions>();
  again->add_option("EVALUATION", options->id, "Its id; `hipbench report` lists them")->required();
  add_database_options(*again, options->arguments);
  // The evaluation is read from the database all the same.
  again->get_option("--no-db")->remove_excludes(again->get_option("--db"));
  again->get_option("--db")->remove_excludes(again->get_option("--no-db"));
  again->add_option("--dump", options->dump,
                    "Write inputs, got and expected of each shape's first call here, as .npy files");
  again->add_flag("--check", options->arguments.check, "With the device's memory and race checks on");
  again->add_option("--threads", options->arguments.threads, "Threads of the emulated device; default: one a core")
      ->check(CLI::Range(0u, 1024u));
  again->add_flag("--json", options->arguments.json, "Print one JSON document (docs/json.md)");
  again->add_flag("--unsafe-no-sandbox", options->arguments.unsafe_no_sandbox,
                  "Without a sandbox: only for sources that you trust");
  again->footer(
      "The replay is stored as an evaluation of its own, unless --no-db is given.\n\nExample:\n  hipbench replay 12\n  "
      "hipbench replay 12 --no-db --dump tensors");
  again->callback([&action, options] { action = [options] { return replay(*options); }; });
}

}  // namespace hipbench::cli
