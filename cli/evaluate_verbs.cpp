// hipbench eval, hipbench check.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "cli/candidate_file.hpp"
#include "cli/choices.hpp"
#include "cli/evaluate_jsonl.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/registry.hpp"

namespace hipbench::cli {

namespace {

constexpr unsigned kMostThreads = 1024;

// By hand: CLI11 takes -1 for the largest number.
uint64_t parse_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw CLI::ValidationError("--seed",
                               fmt::format("\"{}\" is not a number from 0 to 2^64 - 1", printable_line(text)));
  }
  return seed;
}

// A device that cannot be had here is no mistake of the command line.
ExitStatus status_of_refusal(const EvaluateArguments& arguments) {
  return arguments.device == "hip" && !choose_device("hip", look_for_gpu()) ? kEnvironmentFailed : kWrongUsage;
}

// Says everything that is wrong with the files at once.
Jobs read_files(const EvaluateArguments& arguments, const JobPattern& pattern) {
  Jobs result;
  const auto refuse = [&](const Error& error) {
    result.refused = static_cast<ExitStatus>(fail(kWrongUsage, error.message));
  };
  for (const std::string& name : arguments.files) {
    const Result<std::vector<std::string>> files = candidate_files(name);
    if (!files) refuse(files.error());
    for (const std::string& file : files ? *files : std::vector<std::string>()) {
      Result<std::string> source = read_candidate(file);
      if (!source)
        refuse(source.error());
      else
        result.jobs.push_back({pattern.problem, file, std::move(*source), pattern.options});
    }
  }
  return result;
}

Jobs read_reference(const EvaluateArguments& arguments, const JobPattern& pattern) {
  const auto refuse = [](std::string_view message) {
    return Jobs{{}, static_cast<ExitStatus>(fail(kWrongUsage, message))};
  };
  if (!arguments.files.empty()) return refuse("--reference stands for a file of ours: name no FILE");
  const Result<const ReferenceSolution*> reference = pattern.problem->find_reference(arguments.reference);
  if (!reference) return refuse(reference.error().message);
  return {{{pattern.problem, (*reference)->path, std::string((*reference)->source), pattern.options}}, {}};
}

// What every line relies on, before any is read. Shapes are a problem's, so they can wait for it.
Result<void> check_defaults(const EvaluateArguments& arguments) {
  if (!arguments.problem.empty()) {
    TRY(make_pattern(arguments));
    return {};
  }
  TRY(choose_track(arguments.track));
  TRY(choose_device(arguments.device, look_for_gpu()));
  return {};
}

int evaluate(const EvaluateArguments& arguments, const JsonlArguments& jsonl) {
  if (jsonl.input.empty()) {
    const Jobs jobs = make_jobs(arguments);
    return jobs.refused ? *jobs.refused : evaluate_jobs(jobs.jobs, arguments.jobs, arguments.output());
  }
  if (!arguments.reference.empty()) return fail(kWrongUsage, "with --jsonl there is no --reference");
  if (!arguments.files.empty())
    return fail(kWrongUsage, "with --jsonl the candidates come from its lines: name no FILE");
  if (const Result<void> fine = check_defaults(arguments); !fine)
    return fail(status_of_refusal(arguments), fine.error().message);
  return evaluate_jsonl(arguments, jsonl);
}

void add_verb(CLI::App& app, Action& action, bool check) {
  CLI::App* verb =
      check ? app.add_subcommand("check", "Correctness with the device's memory and race checks on; no times")
            : app.add_subcommand("eval", "Compile, check and time candidates, and store the results");
  auto arguments = std::make_shared<EvaluateArguments>();
  arguments->check = check;
  add_evaluate_options(*verb, *arguments);
  verb->add_option("--shapes,--shape", arguments->shapes,
                   "quick (default), tests, benchmarks or KEY=N,…; may be given several times")
      ->allow_extra_args(false);
  auto jsonl = std::make_shared<JsonlArguments>();
  verb->add_option("--jobs,-j", arguments->jobs, "Candidates at once; default: one a core, as far as memory allows")
      ->check(CLI::Range(1u, kMostThreads));
  verb->add_option("--jsonl", jsonl->input,
                   "Candidates from the lines of this file, - or none: standard input (docs/batches.md)")
      ->expected(0, 1)
      ->default_str("-");
  verb->add_option("--batch", jsonl->batch,
                   "With --jsonl: its name. The same name again goes on where a run was stopped");
  verb->add_flag("--keep-going", arguments->keep_going, "Go on with the other shapes after one that did not pass");
  if (!check)
    verb->add_flag("--with-baseline", arguments->with_baseline,
                   "Evaluate the problem's baseline too, where the database lacks its times, for the speed-up");
  add_database_options(*verb, *arguments);
  const std::string name = check ? "check" : "eval";
  verb->footer(
      fmt::format("Examples:\n  hipbench {0} gemm.hip --problem fp8_gemm\n"
                  "  hipbench {0} gemm.hip --problem fp8_gemm --shapes tests --json\n"
                  "  hipbench {0} --reference baseline --problem fp8_gemm\n"
                  "  hipbench {0} candidates/ --problem fp8_gemm --shapes m=64,n=64,k=128 --shapes m=96,n=64,k=256\n"
                  "  hipbench {0} --jsonl candidates.jsonl --batch monday > results.jsonl\n\n"
                  "Exit status: 0 all candidates passed, 1 one did not, 2 wrong usage, 3 the environment failed.",
                  name));
  verb->get_option("--batch")->needs("--jsonl")->excludes("--no-db");
  verb->callback([&action, arguments, jsonl] { action = [arguments, jsonl] { return evaluate(*arguments, *jsonl); }; });
}

}  // namespace

OutputOptions EvaluateArguments::output() const {
  OutputOptions options;
  options.json = json;
  options.with_baseline = with_baseline;
  if (!no_database) options.database = database;
  return options;
}

void add_evaluate_options(CLI::App& verb, EvaluateArguments& arguments) {
  verb.add_option("FILE", arguments.files, "The candidates' source files; a folder stands for its *.hip files");
  verb.add_option("--problem,-p", arguments.problem, "The problem's id; `hipbench problems` lists them");
  verb.add_option("--reference", arguments.reference,
                  "In place of FILE a reference solution: naive, baseline, expert or another that "
                  "`hipbench problems show` names");
  verb.add_option("--track", arguments.track, "kernel or host; default: kernel if the file holds a launch plan");
  verb.add_option("--device", arguments.device, "auto (default), emulated or hip");
  verb.add_option_function<std::string>(
      "--seed", [&arguments](const std::string& text) { arguments.seed = parse_seed(text); },
      "Draw the inputs from this number; default: secret and new");
  verb.add_option("--threads", arguments.threads, "Threads of the emulated device; default: one a core")
      ->check(CLI::Range(0u, kMostThreads));
  verb.add_flag("--json", arguments.json, "Print one JSON document (docs/json.md)");
  verb.add_flag("--unsafe-no-sandbox", arguments.unsafe_no_sandbox,
                "Compile and run without a sandbox: only for sources that you trust; never ranked");
}

void add_database_options(CLI::App& verb, EvaluateArguments& arguments) {
  CLI::Option* database = verb.add_option("--db", arguments.database, "The database of results; default: hipbench.db");
  verb.add_flag("--no-db", arguments.no_database, "Store nothing")->excludes(database);
}

Result<JobPattern> make_pattern(const EvaluateArguments& arguments) {
  JobPattern pattern;
  pattern.problem = TRY(choose_problem(arguments.problem));
  EvaluateOptions& options = pattern.options;
  options.track = TRY(choose_track(arguments.track));
  ShapeChoice shapes = TRY(choose_shapes(*pattern.problem, arguments.shapes));
  options.shapes = std::move(shapes.shapes);
  options.shape_set = std::move(shapes.name);
  options.device = TRY(choose_device(arguments.device, look_for_gpu())).device;
  options.seed = arguments.seed;
  options.keep_going = arguments.keep_going;
  options.check = arguments.check;
  options.unsafe_no_sandbox = arguments.unsafe_no_sandbox;
  options.threads = arguments.threads;
  return pattern;
}

Jobs make_jobs(const EvaluateArguments& arguments) {
  const auto refuse = [](ExitStatus status, std::string_view message) {
    fail(status, message);
    return Jobs{{}, status};
  };
  if (arguments.files.empty() && arguments.reference.empty())
    return refuse(kWrongUsage, "FILE is missing: name a candidate's source file, or a folder of them");
  if (arguments.problem.empty())
    return refuse(kWrongUsage,
                  fmt::format("--problem is missing; the problems are: {}", fmt::join(problem_ids(), ", ")));
  const Result<JobPattern> pattern = make_pattern(arguments);
  if (!pattern) return refuse(status_of_refusal(arguments), pattern.error().message);
  if (const std::string note = choose_device(arguments.device, look_for_gpu())->note; !note.empty())
    fmt::print(stderr, "note: {}\n", note);
  return arguments.reference.empty() ? read_files(arguments, *pattern) : read_reference(arguments, *pattern);
}

void add_evaluate_verbs(CLI::App& app, Action& action) {
  add_verb(app, action, false);
  add_verb(app, action, true);
}

}  // namespace hipbench::cli
