#include "evaluator/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/device_buffers.hpp"
#include "evaluator/inspect.hpp"
#include "evaluator/provenance.hpp"
#include "problems/random.hpp"

namespace hipbench {

namespace {

// A call with more wave instructions than this (about a second of emulation) is made only once with normal inputs and
// once with structured ones: the other calls look for luck and for state, and the smaller shapes of every set are well
// below it.
constexpr uint64_t kRepeatBelowInstructions = 50'000'000;

// Drawing, sending and comparing larger inputs takes seconds, so that only one structured family is tried.
constexpr uint64_t kAllFamiliesBelowBytes = uint64_t{64} << 20;

// Beyond this the oracle takes seconds, and a structured case is compared on a secret sample of its rows.
constexpr double kCompareAllRowsBelowFlops = 4e9;
// Rows of a transformed case that the oracle is asked for all the same.
constexpr int64_t kRecomputedRows = 2;

// The shape's place among those that the problem lists; unlisted ones are like the first.
size_t place_of(const Problem& problem, const Shape& shape) {
  size_t place = 0;
  for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
    for (const ListedShape& listed : problem.shapes(set)) {
      if (listed.shape.label == shape.label) return place;
      ++place;
    }
  }
  return 0;
}

// A secret ascending sample of `from`; each subset is equally likely.
std::vector<int64_t> sample_of(std::span<const int64_t> from, int64_t wanted, RandomStream random) {
  std::vector<int64_t> sample;
  for (size_t at = 0; at < from.size() && static_cast<int64_t>(sample.size()) < wanted; ++at) {
    const auto needed = static_cast<uint64_t>(wanted) - sample.size();
    if (random.below(from.size() - at) < needed) sample.push_back(from[at]);
  }
  return sample;
}

std::vector<int64_t> rows_below(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

// The rows compared with the oracle; empty = all.
std::vector<int64_t> rows_to_check(const Problem& problem, const Shape& shape, std::string_view family, uint64_t seed) {
  const int64_t all = problem.row_count(shape), listed = problem.emulated_check_rows(shape);
  int64_t wanted = listed <= 0 ? all : std::min(all, listed);
  if (family != kNormalInputs && problem.roofs(shape).flops >= kCompareAllRowsBelowFlops)
    wanted = std::min(wanted, std::max<int64_t>(16, all / 8));
  if (wanted == all) return {};
  return sample_of(rows_below(all), wanted, RandomStream("checked rows/" + std::string(family), seed, 0));
}

// The inputs of one call: how they are made from the seed.
struct Round {
  std::string_view family = kNormalInputs;
  bool transformed = false;
  Extent extent = Extent::Whole;
};

// Work between two calls is bounded by the limit of wave instructions; what is not ends here.
constexpr auto kLongestWork = std::chrono::hours(2);

// What the device's log says of one call.
struct CallRecord {
  std::optional<Verdict> ended;        // by a fault or a refused launch
  std::optional<Verdict> broken_rule;  // about where the results came from
  std::optional<Verdict> not_ranked;   // about what the kernels did besides; a wrong result says more
  std::vector<LaunchRecord> launches;
  uint64_t wave_instructions = 0;
  double host_seconds = 0;
  double modelled_seconds = 0;  // from the start of the first operation to the end of the last; 0 = not all have a time
  double modelled_error = 0;    // relative, from sampling
  std::string timing_model;
};

// Operations come one behind the other, so that all but the first save a part of what starting takes.
void add_times(std::span<const emulator::Operation> operations, CallRecord& record) {
  double seconds = 0, error_seconds = 0, saved = 0;
  // Where host code of the candidate's works, what comes over the trusted connection are our inputs and poison.
  const auto is_candidates = [](const emulator::Operation& operation) { return operation.client != 0; };
  const bool has_host_code = std::any_of(operations.begin(), operations.end(), is_candidates);
  for (const emulator::Operation& operation : operations) {
    if (operation.kind == emulator::OperationKind::Timestamp || operation.kind == emulator::OperationKind::LoadModule)
      continue;
    if (has_host_code && !is_candidates(operation)) continue;
    const emulator::LaunchResult& result = operation.result;
    if (!(result.modelled_seconds > 0)) return;
    seconds += result.modelled_seconds - saved;
    saved = result.modelled_saved_seconds;
    error_seconds += result.modelled_error * result.modelled_seconds;
    record.timing_model = result.timing_model;
  }
  record.modelled_seconds = seconds;
  record.modelled_error = seconds > 0 ? error_seconds / seconds : 0;
}

class ShapeCheck {
 public:
  ShapeCheck(const Problem& problem, const Shape& shape, Candidate& candidate, emulator::DeviceServer& server,
             const CheckOptions& options)
      : problem_(problem), candidate_(candidate), server_(server), options_(options) {
    result_.shape = shape;
    result_.row_count = problem.row_count(shape);
    const auto rows = static_cast<int64_t>(rows_to_check(problem, shape, kNormalInputs, options.seed).size());
    result_.checked_rows = rows == 0 || options.inputs != nullptr ? result_.row_count : rows;
  }

  ShapeResult run() {
    result_.verdict = check();
    candidate_.end();
    if (result_.verdict.passed()) result_.time_us = modelled_us_;
    if (!result_.verdict.passed() && !server_.trusted().connected())
      result_.verdict = {VerdictKind::Infrastructure, "the emulated device ended unexpectedly", result_.verdict.reason};
    return std::move(result_);
  }

 private:
  enum class Last { No, Yes };  // of its session

  // First one call of a fresh candidate, as it is timed. Then a session of several calls of another fresh candidate: a
  // counter, a cache keyed by address, or one keyed by a sample of the contents makes one of them wrong.
  Verdict check() {
    drawn_ = options_.inputs != nullptr ? users_case() : draw_case(kNormalInputs);
    std::vector<Round> rounds = {{}};
    Verdict verdict = check_rounds(rounds, true);
    if (!verdict.passed() || options_.inputs != nullptr) return verdict;
    rounds.clear();
    if (is_small()) rounds = {{.transformed = true}, {.transformed = true, .extent = Extent::Slight}};
    else drawn_ = {};  // the large ones are not held twice
    for (const std::string_view family : families_to_check(problem_, result_.shape, options_.seed, is_small()))
      rounds.push_back({family});
    return check_rounds(rounds, false);
  }

  bool is_small() const { return result_.wave_instructions <= kRepeatBelowInstructions; }

  // A session of calls. What is wrong is called again, to tell a wrong kernel from luck and from one that relies on
  // state.
  Verdict check_rounds(std::span<const Round> rounds, bool record) {
    Verdict verdict = session(rounds, record);
    if (verdict.kind != VerdictKind::WrongResult || !is_small()) return verdict;
    const Comparison first = result_.comparison;
    const size_t wrong = calls_in_session_ - 1;
    const Verdict alone = session(rounds.subspan(wrong, 1), false);
    const Verdict again = alone.passed() && wrong > 0 ? session(rounds.first(wrong + 1), false) : alone;
    result_.comparison = first;
    if (!alone.passed()) return about(rounds[wrong], std::move(verdict));
    if (again.passed())
      return {VerdictKind::Nondeterministic,
              "the same inputs gave a right and a wrong result: a race or uninitialised memory", verdict.reason};
    verdict.evidence = verdict.reason;
    verdict.reason =
        fmt::format("right on the first call, wrong on {}: the candidate relies on what an earlier call left behind",
                    wrong == 1 ? "the second" : "a later one");
    return verdict;
  }

  static Verdict about(const Round& round, Verdict verdict) {
    if (round.family != kNormalInputs)
      verdict.reason = fmt::format("with structured inputs ({}): {}", round.family, verdict.reason);
    return verdict;
  }

  uint64_t wave_instruction_limit() const {
    const uint64_t of_problem = problem_.limits(result_.shape).wave_instructions;
    return options_.wave_instructions == 0 ? of_problem : std::min(of_problem, options_.wave_instructions);
  }

  Case users_case() const {
    return {*options_.inputs, {}, problem_.expected(result_.shape, *options_.inputs, {}, options_.oracle_threads)};
  }

  Case draw_case(std::string_view family) const {
    return hipbench::draw_case(problem_, result_.shape, family, options_.seed, options_.oracle_threads);
  }

  // Valid until the next one is asked for.
  const Case& case_of(const Round& round) {
    if (!round.transformed && round.family == kNormalInputs) return drawn_;
    current_ = {};
    if (!round.transformed) return current_ = draw_case(round.family);
    const auto transform = [&](Case one, Extent extent) {
      return problem_.transform(result_.shape, std::move(one), extent, options_.seed, options_.oracle_threads);
    };
    current_ = transform(drawn_, Extent::Whole);
    if (round.extent == Extent::Slight) current_ = transform(std::move(current_), Extent::Slight);
    return current_;
  }

  // The oracle itself on a few secret rows of a transformed case. It must agree whatever the candidate does: else we
  // are wrong.
  std::optional<Verdict> check_symmetry(const Case& one) const {
    const std::vector<int64_t> held = one.rows.empty() ? rows_below(result_.row_count) : one.rows;
    const std::vector<int64_t> rows = sample_of(held, kRecomputedRows,
                                                RandomStream("recomputed rows", options_.seed, 0));
    const Buffers oracle = problem_.expected(result_.shape, one.inputs, rows, options_.oracle_threads);
    const Comparison comparison =
        problem_.compare(result_.shape, oracle, problem_.all_rows(result_.shape, one), rows, kPoison);
    // Summing in another order may round the last bit of the output type the other way.
    if (comparison.worst_ratio <= 0.5) return std::nullopt;
    return Verdict{
        VerdictKind::Infrastructure, "the oracle disagrees with the transformed answer: " + comparison.sentence(), {}};
  }

  // Calls of one fresh candidate one after the other, up to the first that does not pass.
  Verdict session(std::span<const Round> rounds, bool record) {
    calls_in_session_ = 0;
    Result<DeviceBuffers> buffers = DeviceBuffers::create(server_.trusted(), problem_, result_.shape);
    if (!buffers) return Verdict::our_fault(buffers.error());
    const CallLimits limits{.wave_instructions = wave_instruction_limit(),
                            .check = options_.check,
                            .time = record && options_.time && !options_.check,
                            .timing_secret = RandomStream("where the timing model looks", options_.seed, 0).next(),
                            .eight_bit_math = may_use_eight_bit_math(problem_)};
    if (std::optional<Verdict> failed = candidate_.begin(result_.shape, limits)) return std::move(*failed);
    for (const Round& round : rounds) {
      ++calls_in_session_;
      ++result_.rounds;
      const Case& one = case_of(round);
      std::optional<Verdict> broken = round.transformed ? check_symmetry(one) : std::nullopt;
      Verdict verdict =
          broken ? std::move(*broken) : call(one, *buffers, &round == &rounds.back() ? Last::Yes : Last::No, record);
      if (!verdict.passed()) {
        candidate_.end();
        return verdict;
      }
    }
    return Verdict::pass();
  }

  Verdict call(const Case& one, DeviceBuffers& buffers, Last last, bool record_launches) {
    // From before the inputs are there to after the call, so that work at any other moment is seen as well.
    const Result<bool> idle = server_.trusted().synchronize_all(kLongestWork);
    if (!idle) return Verdict::our_fault(idle.error());
    if (!*idle) return {VerdictKind::TimedOut, "work that was submitted outside a call does not end", {}};
    const Result<emulator::OperationLog> before = server_.trusted().drain_log();
    if (!before) return Verdict::our_fault(before.error());
    if (std::optional<Verdict> outside = check_between_calls(before->operations)) return std::move(*outside);
    if (Result<void> ready = buffers.prepare(one.inputs); !ready) return Verdict::our_fault(ready.error());
    const std::optional<Verdict> failed = candidate_.call(buffers.addresses());
    // From here on nothing can change the outputs any more; earlier calls of a session are only a first look.
    if (last == Last::Yes) candidate_.end();
    Result<CallRecord> record = read_log(buffers);
    if (!record) return Verdict::our_fault(record.error());
    if (record_launches) {
      result_.launches = std::move(record->launches);
      result_.wave_instructions = record->wave_instructions;
      result_.emulation_seconds = record->host_seconds;
      modelled_us_ = record->modelled_seconds * 1e6;
      result_.timing_model = record->timing_model;
      result_.time_error = record->modelled_error;
    }
    // A process that was stopped by its sandbox did something worse than what the device saw of it. Otherwise the
    // device says more than what the candidate's process reports.
    if (failed && failed->kind == VerdictKind::SandboxViolation) return *failed;
    if (record->ended) return std::move(*record->ended);
    if (failed) return *failed;
    if (record->broken_rule) return std::move(*record->broken_rule);
    Verdict verdict = judge(one, buffers);
    return verdict.passed() && record->not_ranked ? std::move(*record->not_ranked) : verdict;
  }

  // Only the bytes in the outputs count.
  Verdict judge(const Case& one, const DeviceBuffers& buffers) {
    Result<DeviceBuffers::Contents> contents = buffers.read_back(one.inputs);
    if (!contents) return Verdict::our_fault(contents.error());
    if (!contents->changed.empty())
      return {VerdictKind::WrongResult,
              contents->changed_beside_output
                  ? fmt::format("the candidate changed '{}' outside the part that it is to write", contents->changed)
                  : fmt::format("the candidate changed its input '{}', which it may only read", contents->changed), {}};
    if (options_.observe && !std::exchange(observed_, true)) options_.observe(result_.shape, one, contents->outputs);
    result_.comparison = problem_.compare(result_.shape, one.expected, contents->outputs, one.rows, kPoison);
    if (result_.comparison.passed) return Verdict::pass();
    return {VerdictKind::WrongResult, result_.comparison.sentence(), {}};
  }

  Result<CallRecord> read_log(const DeviceBuffers& buffers) {
    const emulator::OperationLog log = TRY(server_.trusted().drain_log());
    CallRecord record;
    if (log.dropped != 0) {
      record.ended =
          Verdict{VerdictKind::Rejected,
                  fmt::format("rule `operations`: one call made {} device operations, more than are recorded",
                              log.operations.size() + log.dropped),
                  {}};
      return record;
    }
    for (const emulator::Operation& operation : log.operations) {
      if (operation.kind != emulator::OperationKind::Launch) continue;
      if (!operation.refused.empty()) {
        if (!record.ended)
          record.ended = Verdict{VerdictKind::Crashed, "a kernel launch was refused: " + operation.refused, {}};
        continue;
      }
      record.launches.push_back({operation.kernel, operation.grid, operation.block, operation.dynamic_lds,
                                 operation.result.counters, operation.result.host_seconds,
                                 operation.result.class_seconds, operation.result.modelled_seconds,
                                 operation.result.time_breakdown});
      record.wave_instructions += operation.result.counters.instructions;
      record.host_seconds += operation.result.host_seconds;
      if (!operation.result.completed() && !record.ended) record.ended = verdict_of_fault(operation.result.fault);
    }
    if (!options_.check) record.not_ranked = check_ways_out(log.operations);
    add_times(log.operations, record);
    record.broken_rule = check_provenance(log.operations, problem_, result_.shape, buffers.addresses());
    return record;
  }

  const Problem& problem_;
  Candidate& candidate_;
  emulator::DeviceServer& server_;
  const CheckOptions& options_;
  bool observed_ = false;
  double modelled_us_ = 0;  // of the first call
  ShapeResult result_;
  Case drawn_;    // the oracle's one normal case, that the first call gets
  Case current_;  // what case_of() made last
  size_t calls_in_session_ = 0;
};

}  // namespace

Case draw_case(const Problem& problem, const Shape& shape, std::string_view family, uint64_t seed, unsigned threads) {
  Case one;
  one.inputs = problem.generate(shape, {seed, 0, family, threads});
  one.rows = rows_to_check(problem, shape, family, seed);
  one.expected = problem.expected(shape, one.inputs, one.rows, threads);
  return one;
}

std::vector<std::string_view> families_to_check(const Problem& problem, const Shape& shape, uint64_t seed,
                                                bool cheap_calls) {
  const auto all = problem.input_families();
  uint64_t bytes = 0;
  for (size_t field = 0; field < problem.pointer_fields().size(); ++field) bytes += problem.byte_count(shape, field);
  if ((cheap_calls && bytes <= kAllFamiliesBelowBytes) || all.empty()) return {all.begin(), all.end()};
  const uint64_t secret = RandomStream("family", seed, 0).below(all.size());
  return {all[(secret + place_of(problem, shape)) % all.size()]};
}

ShapeResult check_shape(const Problem& problem, const Shape& shape, Candidate& candidate,
                        emulator::DeviceServer& server, const CheckOptions& options) {
  return ShapeCheck(problem, shape, candidate, server, options).run();
}

Verdict verdict_of_fault(const emulator::FaultReport& fault) {
  using emulator::FaultKind;
  const std::string sentence = fmt::format("{}: {}", emulator::fault_name(fault.kind), fault.message);
  switch (fault.kind) {
    case FaultKind::InstructionLimit:
      return {
          VerdictKind::TimedOut,
          sentence +
              "; many times what a simple correct kernel needs, so it is stopped: look for a loop that does not end",
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
    case FaultKind::ForbiddenInstruction:  // the only ones that the judge forbids
      return {VerdictKind::Rejected,
              "rule `precision`: " + sentence + ": compute with the types that the problem states", fault.to_string()};
    default:
      return {VerdictKind::Crashed, sentence, fault.to_string()};
  }
}

bool is_gap_of_the_emulator(const Verdict& verdict) {
  return verdict.kind == VerdictKind::Infrastructure &&
         verdict.reason.starts_with(emulator::fault_name(emulator::FaultKind::UnknownInstruction));
}

}  // namespace hipbench
