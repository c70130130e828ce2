#include "evaluator/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "evaluator/device_buffers.hpp"

namespace hipbench {

namespace {

// A launch that took longer than this on the emulated device is not repeated: one is enough to say right or wrong, and the
// repeats look for luck. Small shapes of every set are well below it.
constexpr double kRepeatBelowSeconds = 1.0;
constexpr int kRounds = 2;

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

// The inputs of one case and the right answer for them.
struct Case {
  uint64_t index = 0;
  Buffers inputs;
  Buffers expected;
};

// What the device's log says of one call.
struct CallRecord {
  std::optional<Verdict> fault;
  std::vector<LaunchRecord> launches;
  uint64_t wave_instructions = 0;
  double host_seconds = 0;
};

class ShapeCheck {
 public:
  ShapeCheck(const Problem& problem, const Shape& shape, Candidate& candidate, emulator::DeviceServer& server, const CheckOptions& options)
      : problem_(problem), candidate_(candidate), server_(server), options_(options), rows_(rows_to_check(problem, shape, options.seed)) {
    result_.shape = shape;
    result_.row_count = problem.row_count(shape);
    result_.checked_rows = rows_.empty() ? result_.row_count : static_cast<int64_t>(rows_.size());
  }

  ShapeResult run() {
    const CallLimits limits{problem_.limits(result_.shape).wave_instructions, options_.check};
    if (std::optional<Verdict> failed = candidate_.load(result_.shape, limits)) {
      result_.verdict = std::move(*failed);
    } else {
      result_.verdict = run_rounds();
    }
    candidate_.unload();
    return std::move(result_);
  }

 private:
  Verdict run_rounds() {
    for (uint64_t round = 0; round < kRounds; ++round) {
      const Case one = make_case(round);
      Verdict verdict = run_once(one, round == 0);
      ++result_.rounds;
      if (verdict.kind == VerdictKind::WrongResult) return wrong_or_nondeterministic(one, std::move(verdict));
      if (!verdict.passed()) return verdict;
      if (result_.emulation_seconds > kRepeatBelowSeconds) break;
      // The first case once more, when the candidate has seen another: the same inputs must pass again.
      if (round + 1 == kRounds) {
        verdict = run_once(make_case(0), false);
        ++result_.rounds;
        if (verdict.kind == VerdictKind::WrongResult) verdict.kind = VerdictKind::Nondeterministic;
        if (!verdict.passed()) return verdict;
      }
    }
    return Verdict::pass();
  }

  // A wrong result is tried again on the same inputs: if it is right now, it was luck or a race.
  Verdict wrong_or_nondeterministic(const Case& one, Verdict wrong) {
    if (result_.emulation_seconds > kRepeatBelowSeconds) return wrong;
    const Comparison first = result_.comparison;
    const Verdict again = run_once(one, false);
    result_.comparison = first;
    if (again.passed())
      return {VerdictKind::Nondeterministic, "the same inputs gave a right and a wrong result: a race or uninitialised memory", wrong.reason};
    return wrong;
  }

  Case make_case(uint64_t index) const {
    Case one;
    one.index = index;
    one.inputs = problem_.generate(result_.shape, options_.seed, index);
    one.expected = problem_.expected(result_.shape, one.inputs, rows_, options_.oracle_threads);
    return one;
  }

  Verdict run_once(const Case& one, bool record_launches) {
    emulator::Client& device = server_.trusted();
    Result<DeviceBuffers> buffers = DeviceBuffers::create(device, problem_, result_.shape, one.inputs);
    if (!buffers) return {VerdictKind::Infrastructure, buffers.error().message, {}};
    // From here to the drain below the log holds the candidate's work only.
    if (auto log = device.drain_log(); !log) return {VerdictKind::Infrastructure, log.error().message, {}};
    const std::optional<Verdict> failed = candidate_.call(buffers->addresses());
    Result<CallRecord> record = read_log();
    if (!record) return {VerdictKind::Infrastructure, record.error().message, {}};
    if (record_launches) {
      result_.launches = std::move(record->launches);
      result_.wave_instructions = record->wave_instructions;
      result_.emulation_seconds = record->host_seconds;
    }
    // What the device saw says more than what the candidate's process reports of it.
    if (record->fault) return std::move(*record->fault);
    if (failed) return *failed;
    return judge(one, *buffers);
  }

  // From here on the candidate's call is over; only the bytes in its outputs count.
  Verdict judge(const Case& one, const DeviceBuffers& buffers) {
    Result<DeviceBuffers::Contents> contents = buffers.read_back();
    if (!contents) return {VerdictKind::Infrastructure, contents.error().message, {}};
    if (!contents->changed_input.empty())
      return {VerdictKind::WrongResult, fmt::format("the candidate changed its input '{}', which it may only read", contents->changed_input), {}};
    result_.comparison = problem_.compare(result_.shape, one.expected, contents->outputs, rows_, kPoison);
    if (result_.comparison.passed) return Verdict::pass();
    return {VerdictKind::WrongResult, result_.comparison.sentence(), {}};
  }

  Result<CallRecord> read_log() {
    const emulator::OperationLog log = TRY(server_.trusted().drain_log());
    if (log.dropped != 0) return Error{fmt::format("the device's log overflowed by {} operations", log.dropped)};
    CallRecord record;
    for (const emulator::Operation& operation : log.operations) {
      if (operation.kind != emulator::OperationKind::Launch) continue;
      if (!operation.refused.empty()) {
        if (!record.fault) record.fault = Verdict{VerdictKind::Crashed, "a kernel launch was refused: " + operation.refused, {}};
        continue;
      }
      record.launches.push_back({operation.kernel, operation.grid, operation.block, operation.dynamic_lds, operation.result.counters,
                                 operation.result.host_seconds});
      record.wave_instructions += operation.result.counters.instructions;
      record.host_seconds += operation.result.host_seconds;
      if (!operation.result.completed() && !record.fault) record.fault = verdict_of_fault(operation.result.fault);
    }
    return record;
  }

  const Problem& problem_;
  Candidate& candidate_;
  emulator::DeviceServer& server_;
  const CheckOptions& options_;
  const std::vector<int64_t> rows_;  // empty = all
  ShapeResult result_;
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

}  // namespace hipbench
