// hipbench eval, hipbench check.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "cli/candidate_file.hpp"
#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

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

Jobs refuse(ExitStatus status, const Error& error) {
  fail(status, error.message);
  return {{}, status};
}

// Says everything that is wrong with the files at once.
Jobs read_files(const EvaluateArguments& arguments, const Job& pattern) {
  Jobs result;
  for (const std::string& file : arguments.files) {
    Result<std::string> source = read_candidate(file);
    if (!source) {
      result.refused = static_cast<ExitStatus>(fail(kWrongUsage, source.error().message));
      continue;
    }
    Job job = pattern;
    job.file = file;
    job.source = std::move(*source);
    result.jobs.push_back(std::move(job));
  }
  return result;
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
  verb->add_flag("--keep-going", arguments->keep_going, "Go on with the other shapes after one that did not pass");
  add_database_options(*verb, *arguments);
  const std::string name = check ? "check" : "eval";
  verb->footer(
      fmt::format("Examples:\n  hipbench {0} gemm.hip --problem fp8_gemm\n"
                  "  hipbench {0} gemm.hip --problem fp8_gemm --shapes tests --json\n"
                  "  hipbench {0} *.hip --problem fp8_gemm --shapes m=64,n=64,k=128 --shapes m=96,n=64,k=256\n\n"
                  "Exit status: 0 all candidates passed, 1 one did not, 2 wrong usage, 3 the environment failed.",
                  name));
  verb->callback([&action, arguments] {
    action = [arguments]() -> int {
      const Jobs jobs = make_jobs(*arguments);
      return jobs.refused ? *jobs.refused : evaluate_jobs(jobs.jobs, arguments->output());
    };
  });
}

}  // namespace

OutputOptions EvaluateArguments::output() const {
  OutputOptions options;
  options.json = json;
  if (!no_database) options.database = database;
  return options;
}

void add_evaluate_options(CLI::App& verb, EvaluateArguments& arguments) {
  verb.add_option("FILE", arguments.files, "The candidates' source files")->required();
  verb.add_option("--problem,-p", arguments.problem, "The problem's id; `hipbench problems` lists them")->required();
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

Jobs make_jobs(const EvaluateArguments& arguments) {
  const Result<const Problem*> problem = choose_problem(arguments.problem);
  if (!problem) return refuse(kWrongUsage, problem.error());
  const Result<std::optional<Track>> track = choose_track(arguments.track);
  if (!track) return refuse(kWrongUsage, track.error());
  Result<ShapeChoice> shapes = choose_shapes(**problem, arguments.shapes);
  if (!shapes) return refuse(kWrongUsage, shapes.error());
  Result<DeviceChoice> device = choose_device(arguments.device, look_for_gpu());
  if (!device) return refuse(arguments.device == "hip" ? kEnvironmentFailed : kWrongUsage, device.error());
  if (!device->note.empty()) fmt::print(stderr, "note: {}\n", device->note);
  Job job;
  job.problem = *problem;
  job.options.shapes = std::move(shapes->shapes);
  job.options.shape_set = std::move(shapes->name);
  job.options.seed = arguments.seed;
  job.options.track = *track;
  job.options.device = device->device;
  job.options.keep_going = arguments.keep_going;
  job.options.check = arguments.check;
  job.options.unsafe_no_sandbox = arguments.unsafe_no_sandbox;
  job.options.threads = arguments.threads;
  return read_files(arguments, job);
}

void add_evaluate_verbs(CLI::App& app, Action& action) {
  add_verb(app, action, false);
  add_verb(app, action, true);
}

}  // namespace hipbench::cli
