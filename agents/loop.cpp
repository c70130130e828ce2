#include "agents/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>

#include "agents/extract.hpp"
#include "agents/similarity.hpp"
#include "common/files.hpp"
#include "evaluator/evaluate.hpp"
#include "problems/registry.hpp"

namespace hipbench::agents {

namespace {

// Machines recover from a full memory or process table within a second or two.
constexpr int kAttempts = 3;

struct LoopProblem {
  const Problem* problem = nullptr;
  PromptOptions prompts;
  std::string shape_set;
};

uint64_t sample_seed(uint64_t seed, const std::string& problem, size_t sample) {
  const std::string hex = sha256_hex(fmt::format("{} {} {}", seed, problem, sample));
  return std::stoull(hex.substr(0, 16), nullptr, 16);
}

// The one place that touches the database; its lock is also the progress display's.
class Journal {
 public:
  explicit Journal(results::RunStore& store) : store_(store) {}
  template <typename Body>
  auto with(Body&& body) -> decltype(body(std::declval<results::RunStore&>())) {
    const std::lock_guard lock(mutex_);
    return body(store_);
  }

 private:
  std::mutex mutex_;
  results::RunStore& store_;
};

class TurnLog : public ExchangeLog {
 public:
  TurnLog(Journal& journal, results::SamplePlace place, int64_t turn, std::optional<int64_t> recording)
      : journal_(journal), place_(std::move(place)), from_(place_), turn_(turn), is_rerun_(recording.has_value()) {
    if (recording) from_.run = *recording;
  }

  Result<std::optional<Exchange>> find(int ordinal) override {
    const auto stored =
        TRY(journal_.with([&](results::RunStore& store) { return store.find_exchange(from_, turn_, ordinal); }));
    if (!stored) return std::optional<Exchange>();
    const std::optional<AnswerKind> kind = answer_kind_from(stored->kind);
    if (!kind) return Error{"an exchange in the database cannot be read; it was changed by hand"};
    return std::optional(Exchange{stored->request_sha256,
                                  *kind,
                                  stored->reply,
                                  {stored->prompt_tokens, stored->answer_tokens, stored->reported},
                                  stored->nano_usd,
                                  stored->seconds});
  }
  Result<void> keep(int ordinal, const Exchange& e) override {
    return journal_.with([&](results::RunStore& store) {
      return store.keep_exchange(place_, turn_, ordinal,
                                 {e.request_sha256, std::string(to_string(e.kind)), e.reply, e.usage.prompt_tokens,
                                  e.usage.answer_tokens, e.usage.reported, e.nano_usd, e.seconds});
    });
  }
  Result<void> keep_failure(const std::string& what, const Amount& cost) override {
    return journal_.with(
        [&](results::RunStore& store) { return store.keep_failure(place_, turn_, what, cost.nano_usd, cost.tokens); });
  }
  bool may_ask() const override { return !is_rerun_; }

 private:
  Journal& journal_;
  const results::SamplePlace place_;
  results::SamplePlace from_;
  const int64_t turn_;
  const bool is_rerun_;
};

class Loop {
 public:
  Loop(const RunSpec& spec, int64_t run, const LoopOptions& options, results::RunStore& store, ChatClient& client,
       Budget& budget, const std::function<void(const LoopProgress&)>& progress, std::stop_token stop)
      : spec_(spec),
        run_(run),
        options_(options),
        journal_(store),
        client_(client),
        budget_(budget),
        progress_(progress),
        stop_(std::move(stop)),
        evaluation_slots_(std::max(1u, options.evaluations_at_once)) {}

  Result<LoopResult> run() {
    TRY(prepare());
    const size_t tasks = problems_.size() * (spec_.samples + 1);
    {
      std::vector<std::jthread> threads;
      const size_t count = std::min<size_t>(std::max(1u, options_.samples_at_once), tasks);
      for (size_t i = 0; i < count; ++i)
        threads.emplace_back([&] {
          for (size_t task; (task = next_task_++) < tasks;) perform(task);
        });
    }
    if (failed_) return *failed_;
    LoopResult result;
    result.unfinished = samples_ - samples_done_;
    result.reasons.assign(reasons_.begin(), reasons_.end());
    result.out_of_budget = out_of_budget_ && reasons_.size() == 1;
    result.best = best_;
    return result;
  }

 private:
  Result<void> prepare() {
    strategy_ = TRY(make_strategy(spec_.strategy, spec_.strategy_options));
    prompts_.emplace(TRY(PromptSet::load(spec_.prompts_folder)));
    if (prompts_->sha256() != spec_.prompts_sha256)
      return Error{"the prompts have changed since the run began; begin a new run, or restore them"};
    std::vector<const Problem*> examples;
    for (const std::string& id : spec_.examples) examples.push_back(TRY(find_problem(id)));
    for (const SpecProblem& wanted : spec_.problems) {
      LoopProblem made;
      made.problem = TRY(find_problem(wanted.id));
      made.shape_set = wanted.shape_set;
      made.prompts = {spec_.track, {}, examples, spec_.hardware};
      for (const std::string& label : wanted.shapes)
        made.prompts.shapes.push_back(TRY(made.problem->parse_shape(label)));
      problems_.push_back(std::move(made));
    }
    samples_ = problems_.size() * spec_.samples;
    return {};
  }

  // Baselines first, then the first sample of every problem, and so on.
  void perform(size_t task) {
    const LoopProblem& problem = problems_[task % problems_.size()];
    const size_t round = task / problems_.size();
    const Result<void> done = round == 0 ? make_baseline(problem) : run_sample(problem, round - 1);
    if (done) return;
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = done.error();
    stopped_.request_stop();
  }

  bool stopping() const { return stop_.stop_requested() || stopped_.stop_requested(); }

  EvaluateOptions evaluate_options(const LoopProblem& problem, uint64_t seed) const {
    EvaluateOptions options;
    options.shapes = problem.prompts.shapes;
    options.shape_set = problem.shape_set;
    options.seed = seed;
    options.track = spec_.track;
    options.unsafe_no_sandbox = options_.unsafe_no_sandbox;
    options.threads = options_.threads;
    options.attempts = kAttempts;
    options.stop = stop_;
    return options;
  }

  Evaluation evaluate_one(const LoopProblem& problem, const std::string& file, const std::string& source,
                          const EvaluateOptions& options) {
    evaluation_slots_.acquire();
    Evaluation evaluation = evaluate(*problem.problem, file, source, options);
    evaluation_slots_.release();
    return evaluation;
  }

  Result<void> make_baseline(const LoopProblem& problem) {
    if (!options_.baselines || stopping()) return {};
    const std::string& id = problem.problem->id();
    if (TRY(journal_.with([&](results::RunStore& store) { return store.find_baseline(run_, id); }))) return {};
    // What all speed-ups are over (docs/results.md).
    const ReferenceSolution* baseline = problem.problem->reference(ReferenceRole::Baseline);
    if (baseline == nullptr) return {};
    EvaluateOptions options = evaluate_options(problem, sample_seed(spec_.seed, id, SIZE_MAX));
    options.track = std::nullopt;
    const Evaluation evaluation = evaluate_one(problem, baseline->path, std::string(baseline->source), options);
    // One that fails here (a machine without its toolchain) shows in the samples too; there are no speedups then.
    const Score score = score_of(evaluation);
    if (evaluation.cancelled || !score.passed()) return {};
    return journal_.with([&](results::RunStore& store) {
      return store.record_baseline(run_, id, evaluation, {score.time_us, score.wave_instructions});
    });
  }

  Result<void> run_sample(const LoopProblem& problem, size_t sample) {
    const results::SamplePlace place{run_, problem.problem->id(), static_cast<int64_t>(sample)};
    const uint64_t seed = sample_seed(spec_.seed, place.problem, sample);
    std::vector<Turn> turns;
    for (const results::StoredTurn& stored :
         TRY(journal_.with([&](results::RunStore& store) { return store.turns(place); })))
      turns.push_back(TRY(from_stored(stored)));
    for (const Turn& turn : turns) note_turn(place, turn, nullptr, turns.size());
    while (const std::optional<Step> step = strategy_->next(turns, seed)) {
      if (stopping()) return {};
      const std::optional<Turn> turn = TRY(run_turn(problem, place, turns, *step, seed));
      if (!turn) return {};
      turns.push_back(*turn);
      note_turn(place, turns.back(), &turns.back(), turns.size());
    }
    const std::lock_guard lock(mutex_);
    ++samples_done_;
    return {};
  }

  // Nothing: the sample cannot go on now; note_unfinished() said why.
  Result<std::optional<Turn>> run_turn(const LoopProblem& problem, const results::SamplePlace& place,
                                       const std::vector<Turn>& turns, const Step& step, uint64_t seed) {
    ChatRequest request = make_chat_request(*prompts_, *problem.problem, problem.prompts, turns, step);
    request.model = spec_.model;
    request.most_tokens = spec_.most_tokens;
    request.temperature = spec_.temperature;
    const auto number = static_cast<int64_t>(turns.size());
    TurnLog log(journal_, place, number, options_.recording);
    const ChatAnswer answer = TRY(client_.ask(request, log, stop_));
    if (!is_final(answer.kind)) {
      note_unfinished(answer.kind, answer.detail);
      return std::optional<Turn>();
    }
    Turn turn;
    turn.step = step;
    turn.answer = answer.kind;
    turn.detail = answer.detail;
    const Extraction found = extract_candidate(answer.text, step.parent ? turns.at(*step.parent).source : "");
    turn.source = found.source;
    if (turn.detail.empty()) turn.detail = found.note;
    std::optional<Evaluation> evaluation;
    if (!turn.source.empty()) {
      turn.similar_to = nearly_shipped(*problem.problem, turn.source);
      evaluation = judge(problem, place, number, mix_seed(seed, turns.size()), turn);
      if (!evaluation) return std::optional<Turn>();
    }
    results::StoredTurn stored = to_stored(turn);
    stored.how = found.how;
    stored.aided = is_aided(*problem.problem, problem.prompts);
    stored.prompt_tokens = answer.usage.prompt_tokens;
    stored.answer_tokens = answer.usage.answer_tokens;
    stored.nano_usd = answer.nano_usd;
    stored.messages.emplace_back("system", request.system);
    for (const ChatMessage& message : request.messages)
      stored.messages.emplace_back(message.role == Role::User ? "user" : "model", message.text);
    stored.messages.emplace_back("model", answer.text);
    turn.evaluation = TRY(journal_.with([&](results::RunStore& store) {
      return store.record_turn(place, number, stored, evaluation ? &*evaluation : nullptr);
    }));
    return std::optional(std::move(turn));
  }

  // Fills in verdict, score and feedback. Nothing: cancelled, or this machine failed.
  std::optional<Evaluation> judge(const LoopProblem& problem, const results::SamplePlace& place, int64_t number,
                                  uint64_t seed, Turn& turn) {
    const std::string file = fmt::format("sample{}-turn{}.hip", place.sample, number);
    EvaluateOptions options = evaluate_options(problem, seed);
    Evaluation evaluation = evaluate_one(problem, file, turn.source, options);
    if (evaluation.cancelled || stop_.stop_requested()) {
      note_unfinished(AnswerKind::Cancelled, "stopped");
      return std::nullopt;
    }
    // A gap of the emulator stays: the model is told, and may do without the instruction.
    if (evaluation.verdict.fault() == Fault::Infrastructure && !is_gap_of_the_emulator(evaluation.verdict)) {
      note_unfinished(AnswerKind::Unavailable, "a candidate could not be evaluated: " + evaluation.verdict.reason);
      return std::nullopt;
    }
    turn.verdict = evaluation.verdict.kind;
    turn.score = score_of(evaluation);
    std::optional<Evaluation> checked;
    if (wants_checks(evaluation, spec_.feedback)) {
      options.check = true;
      options.shapes = {evaluation.shapes.back().shape};
      checked = evaluate_one(problem, file, turn.source, options);
      if (checked->cancelled) {
        note_unfinished(AnswerKind::Cancelled, "stopped");
        return std::nullopt;
      }
    }
    turn.feedback = make_feedback(*problem.problem, evaluation, checked ? &*checked : nullptr, spec_.feedback);
    return evaluation;
  }

  void note_unfinished(AnswerKind kind, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (kind == AnswerKind::BudgetExhausted) out_of_budget_ = true;
    // Amounts differ from sample to sample; one line is enough.
    if (kind != AnswerKind::BudgetExhausted || reasons_.empty()) reasons_.insert(reason);
  }

  void note_turn(const results::SamplePlace& place, const Turn& turn, const Turn* shown, size_t number) {
    const std::lock_guard lock(mutex_);
    ++turns_done_;
    const auto known = best_.find(place.problem);
    if (!turn.source.empty() && (known == best_.end() || is_better(turn.score, known->second)))
      best_[place.problem] = turn.score;
    if (shown == nullptr || !progress_) return;
    progress_({place.problem, static_cast<size_t>(place.sample), number - 1, shown, turns_done_,
               samples_ * std::max(1u, spec_.strategy == "single" ? 1 : spec_.strategy_options.turns), samples_done_,
               samples_, best_, budget_.spent()});
  }

  const RunSpec& spec_;
  const int64_t run_;
  const LoopOptions& options_;
  Journal journal_;
  ChatClient& client_;
  Budget& budget_;
  const std::function<void(const LoopProgress&)>& progress_;
  const std::stop_token stop_;
  std::counting_semaphore<1 << 16> evaluation_slots_;
  std::unique_ptr<Strategy> strategy_;
  std::optional<PromptSet> prompts_;
  std::vector<LoopProblem> problems_;
  size_t samples_ = 0;
  std::atomic<size_t> next_task_ = 0;
  std::stop_source stopped_;  // by an error

  std::mutex mutex_;  // of all below
  std::optional<Error> failed_;
  std::set<std::string> reasons_;
  bool out_of_budget_ = false;
  size_t samples_done_ = 0, turns_done_ = 0;
  std::map<std::string, Score> best_;
};

}  // namespace

Result<LoopResult> run_loop(const RunSpec& spec, int64_t run, const LoopOptions& options, results::RunStore& store,
                            ChatClient& client, Budget& budget,
                            const std::function<void(const LoopProgress&)>& progress, std::stop_token stop) {
  return Loop(spec, run, options, store, client, budget, progress, std::move(stop)).run();
}

}  // namespace hipbench::agents
