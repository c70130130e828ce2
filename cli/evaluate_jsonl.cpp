#include "cli/evaluate_jsonl.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "cli/baselines.hpp"
#include "cli/batch_line.hpp"
#include "cli/choices.hpp"
#include "cli/line_reader.hpp"
#include "cli/stop_signals.hpp"
#include "cli/text.hpp"
#include "common/json.hpp"
#include "evaluator/batch.hpp"
#include "results/store.hpp"

namespace hipbench::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestLine = size_t{16} << 20;
// Candidates read but not begun. Whoever writes the lines waits once they are that many.
constexpr size_t kWaiting = 64;
// Machines recover from a full memory or process table within a second or two.
constexpr int kAttempts = 3;

std::string new_batch_name() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}-{}", fmt::gmtime(now), ::getpid());
}

// What one run knows of its candidates, from their request to their answer. The reading thread and the batch's threads
// share it.
class JsonlRun {
 public:
  JsonlRun(const EvaluateArguments& arguments, const JsonlArguments& jsonl, unsigned jobs)
      : arguments_(arguments),
        batch_name_(jsonl.batch.empty() ? new_batch_name() : jsonl.batch),
        baselines_(arguments.with_baseline),
        batch_({.jobs = jobs, .waiting = kWaiting},
               [this](const BatchJob& job, Evaluation evaluation) { finished(job, evaluation); }) {}

  // The database is opened before anything is read, and this run's place in it found or made.
  Result<void> open_store() {
    if (arguments_.no_database) return {};
    store_.emplace(TRY(results::Store::open(arguments_.database)));
    batch_id_ = TRY(store_->open_batch(batch_name_));
    return {};
  }

  Result<void> read_all(LineReader& reader) {
    for (;;) {
      const std::optional<LineReader::Line> line = TRY(reader.next());
      if (!line) return {};
      take(*line);
    }
  }

  void drain() { batch_.drain(); }
  void stop() { batch_.stop(); }
  ExitStatus status() const { return status_; }
  bool output_failed() const { return output_failed_; }

  std::string summary() const {
    std::string text = fmt::format("{} candidates", answered_);
    for (const auto& [verdict, count] : verdicts_) text += fmt::format(", {} {}", count, verdict);
    if (repeated_ != 0) text += fmt::format("; {} of them answered by an earlier run", repeated_);
    return text;
  }
  const std::string& batch_name() const { return batch_name_; }

 private:
  struct Pending {
    RequestId id;
    std::string sha256;
    Clock::time_point read_at;
  };

  void take(const LineReader::Line& line) {
    if (line.too_long)
      return refuse({nullptr, fmt::format("the line is longer than {} MiB", kLongestLine >> 20)}, line.number);
    if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
    BatchRequest request = parse_batch_request(line.text, arguments_);
    if (const InvalidRequest* invalid = std::get_if<InvalidRequest>(&request)) return refuse(*invalid, line.number);
    if (const CancelRequest* cancel = std::get_if<CancelRequest>(&request)) {
      // One that has its answer already, or never came, is no mistake: the line and the end of the work may cross.
      if (!batch_.cancel(cancel->id))
        fmt::print(stderr, "note: nothing to cancel: {} neither waits nor runs\n", printable_line(cancel->id));
      return;
    }
    begin(std::move(std::get<CandidateRequest>(request)), line.number);
  }

  void begin(CandidateRequest request, size_t line_number) {
    if (!known_.insert(request.job.id).second)
      return refuse({request.id, "the id was given before: every candidate needs one of its own"}, line_number);
    if (answered_before(request, line_number)) return;
    {
      const std::lock_guard lock(mutex_);
      pending_[request.job.id] = {request.id, request.sha256, Clock::now()};
    }
    request.job.options.attempts = kAttempts;
    // False when this run is being stopped: a later one goes on here.
    batch_.submit(std::move(request.job));
  }

  // An earlier run's answer is given again, unless what failed then was ours.
  bool answered_before(const CandidateRequest& request, size_t line_number) {
    std::unique_lock lock(mutex_);
    if (!store_) return false;
    const Result<std::optional<results::BatchAnswer>> before = store_->find_answer(batch_id_, request.job.id);
    lock.unlock();
    if (!before) {
      complain(before.error());
      return false;
    }
    if (!*before || (*before)->fault == Fault::Infrastructure) return false;
    if ((*before)->request_sha256 != request.sha256) {
      refuse({request.id,
              fmt::format("batch {} has another candidate of this id; use a new id or another --batch", batch_name_)},
             line_number);
      return true;
    }
    lock.lock();
    ++repeated_;
    print((*before)->line);
    return true;
  }

  // From a thread of the batch.
  void finished(const BatchJob& job, const Evaluation& evaluation) {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(job.id);
    CHECK(found != pending_.end());
    const Pending pending = std::move(found->second);
    pending_.erase(found);
    const double in_all = std::chrono::duration<double>(Clock::now() - pending.read_at).count();
    const double waited = std::max(0.0, in_all - evaluation.total_seconds);
    const results::Speedups speedups =
        baselines_.speedups(*job.problem, evaluation, job.options, store_ ? &*store_ : nullptr);
    const auto make_line = [&](std::optional<int64_t> id) {
      return result_line(pending.id, evaluation, id, waited, speedups);
    };
    if (!store_) return print(make_line(std::nullopt));
    // Stored before it is shown: what was shown is never evaluated again.
    const Result<std::string> stored =
        store_->record_answer(evaluation, {batch_id_, job.id, pending.sha256}, make_line);
    if (stored) return print(*stored);
    // Another program that runs the same batch may have been faster: then its answer is the one.
    const auto others = store_->find_answer(batch_id_, job.id);
    if (others && *others && (*others)->request_sha256 == pending.sha256 && (*others)->fault != Fault::Infrastructure)
      return print((*others)->line);
    complain(stored.error());
    print(make_line(std::nullopt));
  }

  void refuse(const InvalidRequest& invalid, size_t line_number) {
    const std::lock_guard lock(mutex_);
    print(invalid_line(invalid, line_number));
  }

  void complain(const Error& error) {
    status_ = worse(status_, static_cast<ExitStatus>(fail(kEnvironmentFailed, "not stored: " + error.message)));
  }

  // With the lock held. Whoever reads sees a line as soon as it is there.
  void print(const std::string& line) {
    count(line);
    if (output_failed_) return;
    if (std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return;
    output_failed_ = true;
    // Not from here: this may be a thread that the batch waits for.
    ::kill(::getpid(), SIGTERM);
  }

  void count(const std::string& line) {
    Json json = parse_json(line).value_or(Json());
    if (!json.is_object()) json = Json::object();  // a database that was changed by hand
    const std::string verdict = json.value("verdict", ""), fault = json.value("fault", "");
    ++answered_;
    ++verdicts_[verdict];
    status_ = worse(status_, verdict == "invalid_request" ? kWrongUsage
                             : fault == "none"            ? kAllPassed
                             : fault == "candidate"       ? kCandidateFailed
                                                          : kEnvironmentFailed);
  }

  const EvaluateArguments& arguments_;
  const std::string batch_name_;
  int64_t batch_id_ = 0;
  std::set<std::string> known_;  // ids of this run; the reading thread's alone
  std::mutex mutex_;             // of all below
  std::optional<results::Store> store_;
  Baselines baselines_;
  std::map<std::string, Pending> pending_;
  std::map<std::string, size_t> verdicts_;
  size_t answered_ = 0, repeated_ = 0;
  std::atomic<ExitStatus> status_ = kAllPassed;
  std::atomic<bool> output_failed_ = false;
  Batch batch_;  // last: its threads use all of the above
};

Result<UniqueFd> open_input(const std::string& input) {
  UniqueFd fd(input == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(input.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid())
    return Error{fmt::format("cannot read {}: {}", input == "-" ? "standard input" : printable_line(input),
                             std::strerror(errno))};
  return fd;
}

}  // namespace

int evaluate_jsonl(const EvaluateArguments& arguments, const JsonlArguments& jsonl) {
  const Result<UniqueFd> input = open_input(jsonl.input);
  if (!input) return fail(kWrongUsage, input.error().message);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone shows as a write that fails
  const Result<DeviceChoice> device = choose_device(arguments.device, look_for_gpu());
  if (!device) return fail(kEnvironmentFailed, device.error().message);
  JsonlRun run(arguments, jsonl, arguments.jobs != 0 ? arguments.jobs : default_jobs(device->device));
  if (const Result<void> opened = run.open_store(); !opened)
    return fail(kEnvironmentFailed, opened.error().message + " (--no-db evaluates without storing)");
  const StopSignals signals([&run] { run.stop(); });
  LineReader reader(input->get(), signals.fd(), kLongestLine);
  const Result<void> read = run.read_all(reader);
  run.drain();
  const std::string go_on =
      arguments.no_database ? ""
                            : fmt::format("; the same with --batch {} goes on from here", shell_word(run.batch_name()));
  if (!read) return fail(kEnvironmentFailed, read.error().message + go_on);
  if (run.output_failed()) return fail(kEnvironmentFailed, "nobody reads the result lines any more" + go_on);
  if (const int signal = signals.received(); signal != 0) {
    fmt::print(stderr, "stopped after {}{}\n", run.summary(), go_on);
    return kSignalReceived + signal;
  }
  fmt::print(stderr, "{}{}\n", run.summary(), arguments.no_database ? "" : "; batch " + run.batch_name());
  return run.status();
}

}  // namespace hipbench::cli
