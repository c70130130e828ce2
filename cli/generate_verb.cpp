// hipbench generate: a model writes candidates, learns from the judge, and everything is in the database.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <random>
#include <thread>

#include "agents/loop.hpp"
#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/standings_text.hpp"
#include "cli/stop_signals.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "evaluator/batch.hpp"

namespace hipbench::cli {

namespace {

using namespace hipbench::agents;
using Clock = std::chrono::steady_clock;

struct GenerateArguments {
  std::vector<std::string> problems, shapes, examples, no_feedback;
  std::string provider = "openai", url, track = "kernel", key_file, prices, proxy;
  std::string database = kDefaultDatabase, run, resume, rerun;
  std::optional<double> budget_usd, budget_minutes, temperature;
  std::optional<uint64_t> budget_tokens, seed;
  RunSpec spec;
  Rate rate;
  unsigned requests_at_once = 64, jobs = 0, threads = 0, parallel = 8, timeout_seconds = 1200;
  bool no_hardware = false, no_baseline = false, unsafe_no_sandbox = false;
};

std::string new_run_name() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}-{}", fmt::gmtime(now), ::getpid());
}

Result<std::vector<SpecProblem>> spec_problems(const GenerateArguments& arguments) {
  if (arguments.problems.empty())
    return Error{fmt::format("--problem is missing; the problems are: {}", fmt::join(problem_ids(), ", "))};
  std::vector<SpecProblem> problems;
  for (const std::string& id : arguments.problems) {
    const Problem* problem = TRY(choose_problem(id));
    const ShapeChoice choice = TRY(choose_shapes(*problem, arguments.shapes));
    SpecProblem made{id, choice.name, {}};
    for (const Shape& shape : choice.shapes) made.shapes.push_back(shape.label);
    for (const SpecProblem& other : problems)
      if (other.id == id) return Error{fmt::format("--problem {} is given twice", id)};
    problems.push_back(std::move(made));
  }
  return problems;
}

Result<RunSpec> make_spec(const GenerateArguments& arguments) {
  RunSpec spec = arguments.spec;
  const std::optional<Protocol> protocol = protocol_from(arguments.provider);
  if (!protocol)
    return Error{
        fmt::format("--provider is openai, anthropic or gemini, not \"{}\"", printable_line(arguments.provider))};
  if (spec.model.empty()) return Error{"--model is missing: the model's name as its provider spells it"};
  spec.endpoint = {*protocol, arguments.url.empty() ? std::string(default_url(*protocol)) : arguments.url};
  while (spec.endpoint.url.ends_with('/')) spec.endpoint.url.pop_back();
  spec.temperature = arguments.temperature;
  spec.problems = TRY(spec_problems(arguments));
  spec.track = TRY(choose_track(arguments.track)).value_or(Track::Kernel);
  spec.hardware = !arguments.no_hardware;
  for (const std::string& id : arguments.examples) {
    TRY(choose_problem(id));
    spec.examples.push_back(id);
  }
  for (const std::string& name : arguments.no_feedback) {
    const std::optional<FeedbackPart> part = feedback_part_from(name);
    if (!part) {
      std::vector<std::string> parts;
      for (const FeedbackPart known : FeedbackOptions::all_parts()) parts.emplace_back(to_string(known));
      return Error{fmt::format("there is no feedback part \"{}\"; the parts are: {}", printable_line(name),
                               fmt::join(parts, ", "))};
    }
    spec.feedback.parts.erase(*part);
  }
  TRY(make_strategy(spec.strategy, spec.strategy_options));
  spec.prompts_sha256 = TRY(PromptSet::load(spec.prompts_folder)).sha256();
  spec.seed = arguments.seed.value_or((uint64_t{std::random_device{}()} << 32) | std::random_device{}());
  return spec;
}

// The run to go on with, the one to repeat, or a new one, which is not in the database yet.
struct ChosenRun {
  RunSpec spec;
  results::StoredRun run;
  std::optional<int64_t> recording;
};

Result<ChosenRun> choose_run(const GenerateArguments& arguments, results::RunStore& store) {
  ChosenRun chosen;
  const std::string& known = arguments.resume.empty() ? arguments.rerun : arguments.resume;
  if (!known.empty()) {
    const std::optional<results::StoredRun> stored = TRY(store.find_run(known));
    if (!stored)
      return Error{fmt::format("there is no run \"{}\" in {}; `hipbench report` lists them", printable_line(known),
                               arguments.database)};
    chosen.spec = TRY(parse_spec(stored->options));
    chosen.run = *stored;
    if (!arguments.resume.empty()) return chosen;
    chosen.recording = stored->id;
    chosen.run = {};
  } else {
    chosen.spec = TRY(make_spec(arguments));
  }
  const std::string name = arguments.run.empty() ? new_run_name() : arguments.run;
  if (TRY(store.find_run(name))) {
    return Error{fmt::format("there is a run \"{}\" already; --resume {} goes on with it, or give another --run",
                             printable_line(name), shell_word(name))};
  }
  chosen.run.name = name;
  return chosen;
}

Result<ChatOptions> chat_options(const GenerateArguments& arguments, const RunSpec& spec) {
  ChatOptions options;
  options.endpoint = spec.endpoint;
  options.rate = arguments.rate;
  options.requests_at_once = arguments.requests_at_once;
  options.limits.whole = std::chrono::seconds(arguments.timeout_seconds);
  const PriceTable prices = arguments.prices.empty() ? PriceTable::shipped() : TRY(PriceTable::read(arguments.prices));
  options.price = prices.find(spec.model);
  if (!options.price && arguments.budget_usd) {
    return Error{
        fmt::format("the price of {} is not known, so --budget-usd cannot be kept; give its price in a file "
                    "(--prices, see agents/prices.toml) or use --budget-tokens",
                    printable_line(spec.model))};
  }
  return options;
}

Result<Secret> find_key(const GenerateArguments& arguments, const RunSpec& spec) {
  // Taken from the environment in any case: nothing that we start has a use for it.
  Secret key = TRY(take_key_from_environment(std::string(key_variable(spec.endpoint.protocol))));
  if (!arguments.key_file.empty()) key = TRY(read_key_file(arguments.key_file));
  TRY(check_endpoint(spec.endpoint, !key.empty()));
  if (key.empty() && spec.endpoint.url == default_url(spec.endpoint.protocol))
    return Error{fmt::format("there is no key: set {} or give --key-file", key_variable(spec.endpoint.protocol))};
  return key;
}

std::string score_text(const Score& score) {
  if (!score.passed()) return std::string(to_string(score.rung));
  return score.time_us > 0 ? fmt::format("{:.2f} us", score.time_us)
                           : quantity(score.wave_instructions) + " instructions";
}

// One line a turn, on standard error.
class Display {
 public:
  explicit Display(bool has_price) : has_price_(has_price) {}

  void show(const LoopProgress& p) {
    const double per_turn =
        std::chrono::duration<double>(Clock::now() - begin_).count() / static_cast<double>(++shown_);
    const double left = per_turn * static_cast<double>(p.most_turns > p.turns_done ? p.most_turns - p.turns_done : 0);
    const std::string_view outcome = p.last->source.empty() ? to_string(p.last->answer) : to_string(p.last->verdict);
    const auto best = p.best.find(p.problem);
    const std::string cost = has_price_ ? fmt::format("{:.4f} USD", static_cast<double>(p.spent.nano_usd) * 1e-9)
                                        : quantity(static_cast<double>(p.spent.tokens)) + " tokens";
    fmt::print(stderr, "[{}/{}] {} sample {} turn {} ({}): {}; best {}; {}; at most {} left\n", p.turns_done,
               p.most_turns, p.problem, p.sample, p.turn, to_string(p.last->step.kind), outcome,
               best == p.best.end() ? "none" : score_text(best->second), cost, duration(left));
  }

 private:
  const bool has_price_;
  const Clock::time_point begin_ = Clock::now();
  size_t shown_ = 0;  // turns; those of an earlier run are not
};

int end_of(const ChosenRun& chosen, const LoopResult& result, const GenerateArguments& arguments,
           results::RunStore& store, int signal) {
  const std::string resume =
      fmt::format("hipbench generate --resume {} --db {}", shell_word(chosen.run.name), shell_word(arguments.database));
  if (result.unfinished == 0) {
    if (const Result<void> finished = store.finish_run(chosen.run.id); !finished)
      return fail(kEnvironmentFailed, finished.error().message);
  }
  Result<results::Standings> standings = results::read_standings(arguments.database);
  if (!standings) return fail(kEnvironmentFailed, standings.error().message);
  fmt::print("{}", run_text(std::move(*standings), chosen.run.name, terminal_width(), Painter::for_stdout()));
  for (const std::string& reason : result.reasons) fmt::print(stderr, "unfinished: {}\n", printable_line(reason));
  if (result.unfinished != 0)
    fmt::print(stderr, "{} samples are unfinished{}\n", result.unfinished,
               chosen.recording ? "" : "; go on with: " + resume);
  if (signal != 0) return kSignalReceived + signal;
  if (result.unfinished != 0 && !result.out_of_budget) return kEnvironmentFailed;
  for (const SpecProblem& problem : chosen.spec.problems) {
    const auto best = result.best.find(problem.id);
    if (best == result.best.end() || !best->second.passed()) return kCandidateFailed;
  }
  return kAllPassed;
}

int generate(const GenerateArguments& arguments) {
  Result<results::RunStore> store = results::RunStore::open(arguments.database);
  if (!store) return fail(kEnvironmentFailed, store.error().message);
  Result<ChosenRun> chosen = choose_run(arguments, *store);
  if (!chosen) return fail(kWrongUsage, chosen.error().message);
  const Result<ChatOptions> options = chat_options(arguments, chosen->spec);
  if (!options) return fail(kWrongUsage, options.error().message);
  std::unique_ptr<HttpClient> http;
  if (!chosen->recording) {
    Result<Secret> key = find_key(arguments, chosen->spec);
    if (!key) return fail(kWrongUsage, key.error().message);
    Result<std::unique_ptr<HttpClient>> made = HttpClient::create(arguments.proxy, std::move(*key));
    if (!made) return fail(kEnvironmentFailed, made.error().message);
    http = std::move(*made);
  }
  if (chosen->run.id == 0) {
    const RunSpec& spec = chosen->spec;
    Result<results::StoredRun> begun = store->begin_run(chosen->run.name, to_json(spec), spec.strategy, spec.model);
    if (!begun) return fail(kEnvironmentFailed, begun.error().message);
    chosen->run = std::move(*begun);
  }
  const Result<results::RunStore::Spent> spent = store->spent(chosen->run.id);
  if (!spent) return fail(kEnvironmentFailed, spent.error().message);
  BudgetLimits limits;
  if (arguments.budget_usd) limits.nano_usd = std::llround(*arguments.budget_usd * 1e9);
  limits.tokens = arguments.budget_tokens;
  if (arguments.budget_minutes) limits.wall = std::chrono::seconds(std::llround(*arguments.budget_minutes * 60));
  Budget budget(limits, {spent->nano_usd, spent->tokens});
  ChatClient client(*options, http.get(), budget);

  LoopOptions loop;
  loop.samples_at_once = arguments.parallel;
  loop.evaluations_at_once = arguments.jobs != 0 ? arguments.jobs : default_jobs();
  loop.threads = arguments.threads != 0 ? arguments.threads
                                        : std::max(1u, std::thread::hardware_concurrency() / loop.evaluations_at_once);
  loop.unsafe_no_sandbox = arguments.unsafe_no_sandbox;
  loop.baselines = !arguments.no_baseline;
  loop.recording = chosen->recording;
  fmt::print(stderr, "run {}: {} by {}\n", printable_line(chosen->run.name), chosen->spec.strategy,
             printable_line(chosen->spec.model));
  std::stop_source stop;
  const StopSignals signals([&] { stop.request_stop(); });
  Display display(options->price.has_value());
  const Result<LoopResult> result = run_loop(
      chosen->spec, chosen->run.id, loop, *store, client, budget,
      [&](const LoopProgress& progress) { display.show(progress); }, stop.get_token());
  if (!result) return fail(kEnvironmentFailed, result.error().message);
  return end_of(*chosen, *result, arguments, *store, signals.received());
}

void add_run_options(CLI::App& verb, GenerateArguments& a) {
  verb.add_option("--db", a.database, "The database of runs and results; default: hipbench.db");
  verb.add_option("--run", a.run, "The run's name; default: date and time");
  CLI::Option* resume =
      verb.add_option("--resume", a.resume, "Go on with a run that was interrupted; its options are known");
  verb.add_option("--rerun", a.rerun, "Repeat a run from its recording, without a network")->excludes(resume);
  verb.add_option("--jobs,-j", a.jobs, "Evaluations at once; default: as the machine allows");
  verb.add_option("--threads", a.threads, "Threads of one evaluation; default: the cores, shared");
  verb.add_option("--parallel", a.parallel, "Samples at once; default: 8")->check(CLI::Range(1u, 4096u));
  verb.add_flag("--no-baseline", a.no_baseline, "Do not evaluate the problems' baselines: no speed-ups in the report");
  verb.add_flag("--unsafe-no-sandbox", a.unsafe_no_sandbox,
                "Without a sandbox: only for models that you trust; never ranked");
}

void add_provider_options(CLI::App& verb, GenerateArguments& a) {
  verb.add_option("--provider", a.provider,
                  "openai (and all servers that speak it), anthropic, gemini; default: openai");
  verb.add_option("--url", a.url, "Where the provider is: http://localhost:8000/v1; default: the provider's own");
  verb.add_option("--model,-m", a.spec.model, "The model's name as its provider spells it");
  verb.add_option("--key-file", a.key_file,
                  "A file (mode 600) with the key; default: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY");
  verb.add_option("--proxy", a.proxy, "A proxy; default: as https_proxy says");
  verb.add_option("--max-tokens", a.spec.most_tokens, "Of one answer; default: 16384")
      ->check(CLI::Range(16u, 1u << 20));
  verb.add_option("--temperature", a.temperature, "Default: the provider's own")->check(CLI::Range(0.0, 2.0));
  verb.add_option("--requests-per-minute", a.rate.requests_per_minute, "Default: no limit");
  verb.add_option("--tokens-per-minute", a.rate.tokens_per_minute, "Default: no limit");
  verb.add_option("--concurrency", a.requests_at_once, "Requests at once; default: 64")->check(CLI::Range(1u, 4096u));
  verb.add_option("--timeout", a.timeout_seconds, "Seconds for one answer; default: 1200")
      ->check(CLI::Range(1u, 86400u));
  verb.add_option("--budget-usd", a.budget_usd, "No request begins that could go beyond it")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--budget-tokens", a.budget_tokens, "The same in tokens");
  verb.add_option("--budget-minutes", a.budget_minutes, "The same in minutes from now")->check(CLI::NonNegativeNumber);
  verb.add_option("--prices", a.prices, "A price table instead of the shipped one");
}

void add_strategy_options(CLI::App& verb, GenerateArguments& a) {
  verb.add_option("--problem,-p", a.problems, "One or more, separated by commas")->delimiter(',');
  verb.add_option("--shapes", a.shapes,
                  "quick (default), tests, benchmarks, or a shape; more than one word is allowed");
  verb.add_option("--track", a.track, "kernel (default) or host");
  verb.add_option("--strategy,-s", a.spec.strategy, "single, best-of, refine (default), evolve");
  verb.add_option("--samples,-k", a.spec.samples, "Independent attempts at each problem; default: 1")
      ->check(CLI::Range(1u, 100000u));
  verb.add_option("--turns,-t", a.spec.strategy_options.turns, "Of one sample; default: 8")
      ->check(CLI::Range(1u, 10000u));
  verb.add_option("--patience", a.spec.strategy_options.patience,
                  "refine: turns without progress until it starts anew; default: 3")
      ->check(CLI::Range(1u, 10000u));
  verb.add_option("--islands", a.spec.strategy_options.islands, "evolve: default: 2")->check(CLI::Range(1u, 1000u));
  verb.add_option("--example", a.examples, "Show this problem's starter; of the same problem: the run is `aided`")
      ->delimiter(',');
  verb.add_flag("--no-hardware", a.no_hardware, "Without the text about the MI300X");
  verb.add_option("--no-feedback", a.no_feedback,
                  "Leave out: reason, compile, mismatch, sanitizer, times, roofs, profile")
      ->delimiter(',');
  verb.add_option("--feedback-tokens", a.spec.feedback.most_tokens, "Of one part; default: 2000")
      ->check(CLI::Range(50u, 1u << 20));
  verb.add_option("--prompts", a.spec.prompts_folder, "A folder whose files replace those of agents/prompts");
  verb.add_option("--seed", a.seed, "From which the judge's inputs and evolve's choices follow; default: drawn");
}

}  // namespace

void add_generate_verb(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("generate", "A language model writes candidates and learns from the judge");
  auto arguments = std::make_shared<GenerateArguments>();
  arguments->spec.strategy_options.turns = 8;
  add_strategy_options(*verb, *arguments);
  add_provider_options(*verb, *arguments);
  add_run_options(*verb, *arguments);
  verb->footer(
      "Examples:\n  hipbench generate -p fp8_gemm --url http://localhost:8000/v1 -m qwen --strategy refine --turns 8\n"
      "  hipbench generate -p fp8_gemm,moe --provider anthropic -m claude-sonnet-4-20250514 -k 4 --budget-usd 5\n"
      "  hipbench generate --resume monday\n  hipbench generate --rerun monday\n\ndocs/agents.md explains all of it.");
  verb->callback([&action, arguments] { action = [arguments] { return generate(*arguments); }; });
}

}  // namespace hipbench::cli
