#include "cli/evaluate_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/work_estimate.hpp"
#include "results/store.hpp"

namespace hipbench::cli {

namespace {

std::string replay_command(const Evaluation& evaluation, std::optional<int64_t> id, const OutputOptions& output) {
  if (id) {
    const std::string file = output.database->string();
    return fmt::format("hipbench replay {}{}", *id, file == kDefaultDatabase ? "" : " --db " + shell_word(file));
  }
  std::string command =
      fmt::format("hipbench {} {} --problem {} --track {} --seed {}", evaluation.check ? "check" : "eval",
                  shell_word(evaluation.file), evaluation.problem, to_string(evaluation.track), evaluation.seed);
  for (const ShapeResult& shape : evaluation.shapes) command += " --shapes " + shape.shape.label;
  return command;
}

struct Stored {
  std::optional<int64_t> id;
  std::optional<Error> error;
};

Stored store_evaluation(std::optional<results::Store>& store, const Evaluation& evaluation) {
  if (!store) return {};
  const Result<int64_t> id = store->record(evaluation);
  if (!id) return {std::nullopt, id.error()};
  return {*id, std::nullopt};
}

// One document for one file, a list of them for several.
void print_documents(std::vector<Json> documents) {
  if (documents.size() == 1) return print_json(documents.front());
  print_json({{"schema", "hipbench.evaluations/1"}, {"evaluations", std::move(documents)}});
}

}  // namespace

int fail(ExitStatus status, std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "{} {}\n", Painter::for_stderr()(Color::Red, "error:"), printable(message));
  return status;
}

ExitStatus status_of(const Verdict& verdict) {
  if (verdict.passed()) return kAllPassed;
  return verdict.kind == VerdictKind::Infrastructure ? kEnvironmentFailed : kCandidateFailed;
}

ExitStatus worse(ExitStatus a, ExitStatus b) { return std::max(a, b); }

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Evaluation evaluate_job(const Job& job) {
  const Painter paint = Painter::for_stderr();
  if (job.options.device == DeviceKind::Emulated) {
    const std::string estimate = estimate_text(*job.problem, job.options.shapes, job.options.threads);
    if (!estimate.empty()) fmt::print(stderr, "{}\n", paint(Color::Dim, estimate));
  }
  EvaluateOptions options = job.options;
  if (is_terminal(STDERR_FILENO)) {
    options.progress = [paint](const std::string& line) {
      fmt::print(stderr, "{}\n", paint(Color::Dim, "… " + printable_line(line)));
    };
  }
  Evaluation evaluation = evaluate(*job.problem, job.file, job.source, options);
  evaluation.check = options.check;
  return evaluation;
}

int evaluate_jobs(std::span<const Job> jobs, const OutputOptions& output,
                  const std::function<void(const Evaluation&)>& finished) {
  std::optional<results::Store> store;
  if (output.database) {
    // Before the work: a database that cannot be used should not cost an evaluation.
    Result<results::Store> opened = results::Store::open(*output.database);
    if (!opened) return fail(kEnvironmentFailed, opened.error().message + " (--no-db evaluates without storing)");
    store.emplace(std::move(*opened));
  }
  ExitStatus status = kAllPassed;
  std::vector<Json> documents;
  for (const Job& job : jobs) {
    const Evaluation evaluation = evaluate_job(job);
    status = worse(status, status_of(evaluation.verdict));
    const Stored stored = store_evaluation(store, evaluation);
    if (output.json) {
      documents.push_back(evaluation_json(evaluation, stored.id));
    } else {
      if (jobs.size() > 1) fmt::print("{}{}:\n", &job == jobs.data() ? "" : "\n", printable_line(job.file));
      fmt::print("{}",
                 evaluation_text(evaluation, replay_command(evaluation, stored.id, output), Painter::for_stdout()));
    }
    if (stored.error)
      status = static_cast<ExitStatus>(fail(kEnvironmentFailed, "not stored: " + stored.error->message));
    std::fflush(stdout);
    if (finished) finished(evaluation);
  }
  if (output.json) print_documents(std::move(documents));
  return status;
}

}  // namespace hipbench::cli
