#include "evaluator/check.hpp"

#include <fmt/format.h>

#include <random>

#include "evaluator/device_buffers.hpp"
#include "evaluator/provenance.hpp"

namespace hipbench {

namespace {

// A call with more wave instructions than this (about a second of emulation) is made once: one is enough to say right or wrong,
// and the others look for luck and for state. The smaller shapes of every set are well below it.
constexpr uint64_t kRepeatBelowInstructions = 50'000'000;

// The rows compared with the oracle: all, or a secret ascending sample.
std::vector<int64_t> rows_to_check(const Problem& problem, const Shape& shape, uint64_t seed) {
  const int64_t wanted = problem.emulated_check_rows(shape), all = problem.row_count(shape);
  if (wanted <= 0 || wanted >= all) return {};
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(wanted));
  std::mt19937_64 random(seed ^ 0x726f7773);
  // Selection sampling: each subset is equally likely, and the rows come out ascending.
  for (int64_t row = 0; row < all && static_cast<int64_t>(rows.size()) < wanted; ++row) {
    const auto needed = wanted - static_cast<int64_t>(rows.size());
    if (static_cast<int64_t>(random() % static_cast<uint64_t>(all - row)) < needed) rows.push_back(row);
  }
  return rows;
}

// What the device's log says of one call.
struct CallRecord {
  std::optional<Verdict> ended;        // by a fault or a refused launch
  std::optional<Verdict> broken_rule;  // about where the results came from
  std::vector<LaunchRecord> launches;
  uint64_t wave_instructions = 0;
  double host_seconds = 0;
};

Verdict ours(const Error& error) { return {VerdictKind::Infrastructure, error.message, {}}; }

class ShapeCheck {
 public:
  ShapeCheck(const Problem& problem, const Shape& shape, Candidate& candidate, emulator::DeviceServer& server, const CheckOptions& options)
      : problem_(problem), candidate_(candidate), server_(server), options_(options), rows_(rows_to_check(problem, shape, options.seed)) {
    result_.shape = shape;
    result_.row_count = problem.row_count(shape);
    result_.checked_rows = rows_.empty() ? result_.row_count : static_cast<int64_t>(rows_.size());
  }

  ShapeResult run() {
    result_.verdict = check();
    candidate_.end();
    if (!result_.verdict.passed() && !server_.trusted().connected())
      result_.verdict = {VerdictKind::Infrastructure, "the emulated device ended unexpectedly", result_.verdict.reason};
    return std::move(result_);
  }

 private:
  enum class Last { No, Yes };  // of its session

  // First one call of a fresh candidate, as it is timed. Then two calls in one session of another fresh candidate: a counter, a
  // cache keyed by address, or one keyed by a sample of the contents makes the second of them wrong.
  Verdict check() {
    Verdict verdict = check_first_call();
    if (!verdict.passed() || result_.wave_instructions > kRepeatBelowInstructions) return verdict;
    return check_later_call();
  }

  Verdict check_first_call() {
    drawn_ = draw_case(kNormalInputs);
    const Case& one = drawn_;
    Verdict verdict = session({&one}, true);
    if (verdict.kind != VerdictKind::WrongResult || result_.wave_instructions > kRepeatBelowInstructions) return verdict;
    // Once more on the same inputs: if it is right now, it was luck or a race.
    const Comparison first = result_.comparison;
    const Verdict again = session({&one}, false);
    result_.comparison = first;
    return again.passed() ? nondeterministic(verdict) : verdict;
  }

  Verdict check_later_call() {
    const Case second = problem_.transform(result_.shape, std::move(drawn_), Extent::Whole, options_.seed, options_.oracle_threads);
    const Case third = problem_.transform(result_.shape, second, Extent::Slight, options_.seed, options_.oracle_threads);
    Verdict verdict = session({&second, &third}, false);
    if (verdict.kind != VerdictKind::WrongResult) return verdict;
    const Comparison first = result_.comparison;
    const int wrong_call = calls_in_session_;
    const Case& wrong_case = wrong_call == 1 ? second : third;
    const Verdict alone = session({&wrong_case}, false);
    const Verdict again = alone.passed() && wrong_call == 2 ? session({&second, &third}, false) : Verdict::pass();
    result_.comparison = first;
    if (!alone.passed()) return verdict;
    if (again.passed()) return nondeterministic(verdict);
    verdict.evidence = verdict.reason;
    verdict.reason = "right on the first call, wrong on the second: the candidate relies on what an earlier call left behind";
    return verdict;
  }

  static Verdict nondeterministic(const Verdict& wrong) {
    return {VerdictKind::Nondeterministic, "the same inputs gave a right and a wrong result: a race or uninitialised memory", wrong.reason};
  }

  Case draw_case(std::string_view family) const {
    Case one;
    one.inputs = problem_.generate(result_.shape, {options_.seed, 0, family, options_.oracle_threads});
    one.rows = rows_;
    one.expected = problem_.expected(result_.shape, one.inputs, one.rows, options_.oracle_threads);
    return one;
  }

  // Calls of one fresh candidate one after the other, up to the first that does not pass.
  Verdict session(std::initializer_list<const Case*> cases, bool record) {
    calls_in_session_ = 0;
    Result<DeviceBuffers> buffers = DeviceBuffers::create(server_.trusted(), problem_, result_.shape);
    if (!buffers) return ours(buffers.error());
    const CallLimits limits{problem_.limits(result_.shape).wave_instructions, options_.check};
    if (std::optional<Verdict> failed = candidate_.begin(result_.shape, limits)) return std::move(*failed);
    for (const Case* one : cases) {
      ++calls_in_session_;
      ++result_.rounds;
      Verdict verdict = call(*one, *buffers, one == *(cases.end() - 1) ? Last::Yes : Last::No, record);
      if (!verdict.passed()) {
        candidate_.end();
        return verdict;
      }
    }
    return Verdict::pass();
  }

  Verdict call(const Case& one, DeviceBuffers& buffers, Last last, bool record_launches) {
    // From before the inputs are there to after the call, so that work at any other moment is seen as well.
    if (auto log = server_.trusted().drain_log(); !log) return ours(log.error());
    if (Result<void> ready = buffers.prepare(one.inputs); !ready) return ours(ready.error());
    const std::optional<Verdict> failed = candidate_.call(buffers.addresses());
    // From here on nothing can change the outputs any more; earlier calls of a session are only a first look.
    if (last == Last::Yes) candidate_.end();
    Result<CallRecord> record = read_log(buffers);
    if (!record) return ours(record.error());
    if (record_launches) {
      result_.launches = std::move(record->launches);
      result_.wave_instructions = record->wave_instructions;
      result_.emulation_seconds = record->host_seconds;
    }
    // A process that was stopped by its sandbox did something worse than what the device saw of it. Otherwise the device says
    // more than what the candidate's process reports.
    if (failed && failed->kind == VerdictKind::SandboxViolation) return *failed;
    if (record->ended) return std::move(*record->ended);
    if (failed) return *failed;
    if (record->broken_rule) return std::move(*record->broken_rule);
    return judge(one, buffers);
  }

  // Only the bytes in the outputs count.
  Verdict judge(const Case& one, const DeviceBuffers& buffers) {
    Result<DeviceBuffers::Contents> contents = buffers.read_back(one.inputs);
    if (!contents) return ours(contents.error());
    if (!contents->changed_input.empty())
      return {VerdictKind::WrongResult, fmt::format("the candidate changed its input '{}', which it may only read", contents->changed_input), {}};
    result_.comparison = problem_.compare(result_.shape, one.expected, contents->outputs, one.rows, kPoison);
    if (result_.comparison.passed) return Verdict::pass();
    return {VerdictKind::WrongResult, result_.comparison.sentence(), {}};
  }

  Result<CallRecord> read_log(const DeviceBuffers& buffers) {
    const emulator::OperationLog log = TRY(server_.trusted().drain_log());
    CallRecord record;
    if (log.dropped != 0) {
      record.ended = Verdict{VerdictKind::Rejected,
                             fmt::format("rule `operations`: one call made {} device operations, more than are recorded",
                                         log.operations.size() + log.dropped), {}};
      return record;
    }
    for (const emulator::Operation& operation : log.operations) {
      if (operation.kind != emulator::OperationKind::Launch) continue;
      if (!operation.refused.empty()) {
        if (!record.ended) record.ended = Verdict{VerdictKind::Crashed, "a kernel launch was refused: " + operation.refused, {}};
        continue;
      }
      record.launches.push_back({operation.kernel, operation.grid, operation.block, operation.dynamic_lds, operation.result.counters,
                                 operation.result.host_seconds});
      record.wave_instructions += operation.result.counters.instructions;
      record.host_seconds += operation.result.host_seconds;
      if (!operation.result.completed() && !record.ended) record.ended = verdict_of_fault(operation.result.fault);
    }
    record.broken_rule = check_provenance(log.operations, problem_, result_.shape, buffers.addresses());
    return record;
  }

  const Problem& problem_;
  Candidate& candidate_;
  emulator::DeviceServer& server_;
  const CheckOptions& options_;
  const std::vector<int64_t> rows_;  // empty = all
  ShapeResult result_;
  Case drawn_;  // the first call's
  int calls_in_session_ = 0;
};

}  // namespace

ShapeResult check_shape(const Problem& problem, const Shape& shape, Candidate& candidate, emulator::DeviceServer& server,
                        const CheckOptions& options) {
  return ShapeCheck(problem, shape, candidate, server, options).run();
}

Verdict verdict_of_fault(const emulator::FaultReport& fault) {
  using emulator::FaultKind;
  const std::string sentence = fmt::format("{}: {}", emulator::fault_name(fault.kind), fault.message);
  switch (fault.kind) {
    case FaultKind::InstructionLimit:
      return {VerdictKind::TimedOut, sentence + "; many times what a simple correct kernel needs, so it is stopped: look for a loop that does not end",
              fault.to_string()};
    case FaultKind::Deadlock:
      return {VerdictKind::TimedOut, sentence, fault.to_string()};
    case FaultKind::OutOfMemory:
      return {VerdictKind::OutOfMemory, sentence, fault.to_string()};
    case FaultKind::UnknownInstruction:  // a gap of the emulator, not the candidate's doing
      return {VerdictKind::Infrastructure, sentence, fault.to_string()};
    case FaultKind::Race:
    case FaultKind::UninitialisedRead:
    case FaultKind::DivergentBarrier:
      return {VerdictKind::WrongResult, sentence, fault.to_string()};
    default:
      return {VerdictKind::Crashed, sentence, fault.to_string()};
  }
}

bool is_gap_of_the_emulator(const Verdict& verdict) {
  return verdict.kind == VerdictKind::Infrastructure && verdict.reason.starts_with(emulator::fault_name(emulator::FaultKind::UnknownInstruction));
}

}  // namespace hipbench
