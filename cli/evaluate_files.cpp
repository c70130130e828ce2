#include "cli/evaluate_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/baselines.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/stop_signals.hpp"
#include "cli/work_estimate.hpp"
#include "evaluator/batch.hpp"
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

Stored store_evaluation(std::optional<results::Store>& store, const Evaluation& evaluation, const Job& job) {
  if (!store) return {};
  const Result<int64_t> id = job.reverifies != 0 ? store->record_reverified(evaluation, job.reverifies, job.reason)
                                                 : store->record(evaluation);
  if (!id) return {std::nullopt, id.error()};
  return {*id, std::nullopt};
}

// One document for one file, a list of them for several.
void print_documents(std::vector<Json> documents) {
  if (documents.size() == 1) return print_json(documents.front());
  print_json({{"schema", "hipbench.evaluations/1"}, {"evaluations", std::move(documents)}});
}

}  // namespace

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
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(word.begin(), word.end(), is_control)) {  // a terminal must not take them for commands
    std::string escaped = "$'";
    for (const char c : word)
      escaped += is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c))
                 : c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return escaped + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

namespace {

void print_estimate(const Job& job, size_t jobs) {
  if (job.options.device != DeviceKind::Emulated) return;
  const std::string estimate = estimate_text(*job.problem, job.options.shapes, job.options.threads);
  if (!estimate.empty())
    fmt::print(stderr, "{}\n", Painter::for_stderr()(Color::Dim, jobs > 1 ? "each candidate: " + estimate : estimate));
}

// On a terminal only. `name` tells several candidates apart.
std::function<void(const std::string&)> progress_printer(const std::string& name) {
  if (!is_terminal(STDERR_FILENO)) return {};
  return [paint = Painter::for_stderr(), prefix = name.empty() ? "" : name + ": "](const std::string& line) {
    fmt::print(stderr, "{}\n", paint(Color::Dim, "… " + printable_line(prefix + line)));
  };
}

// Takes results as they come, stores them at once, and shows them in the order of the jobs.
class Presenter {
 public:
  Presenter(std::span<const Job> jobs, const OutputOptions& output, std::optional<results::Store> store,
            const std::function<void(const Evaluation&)>& finished)
      : jobs_(jobs),
        output_(output),
        store_(std::move(store)),
        finished_(finished),
        results_(jobs.size()),
        baselines_(output.with_baseline) {}

  // `options`: as the evaluation was made.
  void take(size_t job, Evaluation evaluation, const EvaluateOptions& options) {
    status_ = worse(status_, status_of(evaluation.verdict));
    Stored stored = store_evaluation(store_, evaluation, jobs_[job]);
    results::Speedups speedups =
        baselines_.speedups(*jobs_[job].problem, evaluation, options, store_ ? &*store_ : nullptr);
    results_[job].emplace(Finished{std::move(evaluation), std::move(stored), std::move(speedups)});
    for (; next_ < results_.size() && results_[next_]; ++next_) show(*results_[next_]);
  }

  ExitStatus finish() {
    if (output_.json) print_documents(std::move(documents_));
    return status_;
  }

 private:
  struct Finished {
    Evaluation evaluation;
    Stored stored;
    results::Speedups speedups;
  };

  void show(Finished& result) {
    const auto& [evaluation, stored, speedups] = result;
    if (output_.json) {
      documents_.push_back(evaluation_json(evaluation, stored.id, &speedups));
    } else {
      if (results_.size() > 1) fmt::print("{}{}:\n", next_ == 0 ? "" : "\n", printable_line(evaluation.file));
      fmt::print("{}", evaluation_text(evaluation, replay_command(evaluation, stored.id, output_),
                                       Painter::for_stdout(), &speedups));
    }
    if (stored.error)
      status_ = static_cast<ExitStatus>(fail(kEnvironmentFailed, "not stored: " + stored.error->message));
    std::fflush(stdout);
    if (finished_) finished_(evaluation);
    result = {};
  }

  const std::span<const Job> jobs_;
  const OutputOptions& output_;
  std::optional<results::Store> store_;
  const std::function<void(const Evaluation&)>& finished_;
  std::vector<std::optional<Finished>> results_;
  size_t next_ = 0;  // that is to be shown
  std::vector<Json> documents_;
  Baselines baselines_;
  ExitStatus status_ = kAllPassed;
};

}  // namespace

Evaluation evaluate_job(const Job& job) {
  print_estimate(job, 1);
  EvaluateOptions options = job.options;
  options.progress = progress_printer("");
  return evaluate(*job.problem, job.file, job.source, options);
}

int evaluate_jobs(std::span<const Job> jobs, unsigned at_once, const OutputOptions& output,
                  const std::function<void(const Evaluation&)>& finished) {
  std::optional<results::Store> store;
  if (output.database) {
    // Before the work: a database that cannot be used should not cost an evaluation.
    Result<results::Store> opened = results::Store::open(*output.database);
    if (!opened) return fail(kEnvironmentFailed, opened.error().message + " (--no-db evaluates without storing)");
    store.emplace(std::move(*opened));
  }
  Presenter presenter(jobs, output, std::move(store), finished);
  if (!jobs.empty()) print_estimate(jobs.front(), jobs.size());
  const unsigned wanted =
      at_once != 0 ? at_once : default_jobs(jobs.empty() ? DeviceKind::Emulated : jobs.front().options.device);
  Batch batch(
      {.jobs = std::min(wanted, static_cast<unsigned>(std::max<size_t>(1, jobs.size()))), .waiting = jobs.size()},
      [&](const BatchJob& job, Evaluation evaluation) {
        presenter.take(std::stoul(job.id), std::move(evaluation), job.options);
      });
  const StopSignals signals([&batch] { batch.stop(); });
  for (size_t k = 0; k < jobs.size(); ++k) {
    BatchJob job{std::to_string(k), jobs[k].problem, jobs[k].file, jobs[k].source, jobs[k].options};
    job.options.progress = progress_printer(jobs.size() > 1 ? jobs[k].file : "");
    if (!batch.submit(std::move(job))) break;
  }
  batch.drain();
  if (const int signal = signals.received(); signal != 0) {
    fmt::print(stderr, "stopped; what had finished is {}\n", output.database ? "stored" : "shown");
    return kSignalReceived + signal;
  }
  return presenter.finish();
}

}  // namespace hipbench::cli
