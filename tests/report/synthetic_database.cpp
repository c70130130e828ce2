#include "tests/report/synthetic_database.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "common/files.hpp"
#include "problems/registry.hpp"
#include "results/run_store.hpp"
#include "results/store.hpp"
#include "results/transfer.hpp"

namespace hipbench::report {

namespace {

constexpr size_t kTurns = 5;
constexpr const char* kProblems[] = {"fp8_gemm", "moe", "mla_decode"};
constexpr const char* kModels[] = {"small-model", "large-model", "hostile-model"};
constexpr size_t kRuns = std::size(kModels);

std::string reference_source(const std::string& problem, std::string_view what) {
  return fmt::format("// {} of {}\n", what, problem);
}

class Maker {
 public:
  Maker(results::RunStore& runs, size_t samples) : runs_(runs), samples_(samples) {}

  Result<void> make_run(size_t number) {
    const std::string model = number == 2 ? std::string(kModels[number]) + std::string(kHostile) : kModels[number];
    std::string problems;
    for (const char* id : kProblems)
      problems += fmt::format("{}{{\"id\":\"{}\",\"shape_set\":\"quick\"}}", problems.empty() ? "" : ",", id);
    const results::StoredRun run = TRY(runs_.begin_run(
        number == 2 ? "run" + std::string(kHostile) : fmt::format("run-{}", number),
        fmt::format("{{\"problems\":[{}],\"track\":\"kernel\",\"samples\":{}}}", problems, samples_), "refine", model));
    for (const char* id : kProblems)
      for (size_t sample = 0; sample < samples_; ++sample)
        TRY(make_sample({run.id, id, static_cast<int64_t>(sample)}, number));
    return number == 1 ? Result<void>() : runs_.finish_run(run.id);
  }

  Evaluation evaluation(const std::string& problem, std::string source, double speed, bool passes) {
    Evaluation e;
    e.problem = problem;
    e.file = problem + "/candidate.hip";
    e.source = std::move(source);
    e.source_sha256 = sha256_hex(e.source);
    e.shape_set = "quick";
    e.seed = random_();
    e.toolchain = "clang 19.1.7, HIP 6.4";
    e.started_at = "2026-01-02T03:04:05Z";
    e.stage = Stage::Done;
    e.verdict = passes ? Verdict::pass() : failure();
    e.kernels = {{.name = "kernel<64, 64>", .vgprs = 128, .agprs = 64, .sgprs = 40, .lds_bytes = 32768}};
    e.warnings = {std::string(kHostile)};
    for (const ListedShape& listed : (*find_problem(problem))->shapes(ShapeSet::Quick))
      e.shapes.push_back(shape(problem, listed.shape, speed, e.verdict));
    return e;
  }

 private:
  Verdict failure() {
    static constexpr VerdictKind kKinds[] = {VerdictKind::CompileError, VerdictKind::WrongResult, VerdictKind::Crashed,
                                             VerdictKind::TimedOut, VerdictKind::Cheating};
    return {kKinds[random_() % std::size(kKinds)], "it failed " + std::string(kHostile),
            fmt::format("line {}\n{}", random_() % 1000, kHostile)};
  }

  ShapeResult shape(const std::string& problem, const Shape& shape, double speed, const Verdict& verdict) {
    const Roofs roofs = (*find_problem(problem))->roofs(shape);
    ShapeResult s;
    s.shape = shape;
    s.verdict = verdict;
    s.comparison.output = "out";
    s.comparison.elements = 4096;
    s.comparison.passed = verdict.passed();
    s.comparison.mismatches = verdict.passed() ? 0 : 128;
    s.comparison.worst_ratio = verdict.passed() ? 0.25 : 25;
    s.comparison.pattern = verdict.passed() ? "" : "every 4th column";
    if (!verdict.passed())
      s.comparison.map =
          "each sign is 8 rows x 4 columns: . right, 1 to 9 tenths of it wrong, # all or nearly all\n"
          "row 0   ..37......\nrow 8   ####......\nrow 16  .........1\n";
    s.comparison.worst = WorstElement{3, 4, 1.5, 1.25, 0.25, 0.01};
    s.checked_rows = s.row_count = 64;
    s.rounds = 6;
    s.wave_instructions = 1'000'000 + random_() % 1'000'000;
    if (verdict.passed()) {
      s.time_us = 100 * std::max(roofs.matrix_roof_us, roofs.memory_roof_us) / speed * std::exp(noise_(random_) / 10);
      s.timing_model = "mi300x-1.synthetic";
      s.time_error = 0.02;
    }
    LaunchRecord launch;
    launch.kernel = "kernel<64, 64>";
    launch.grid = {16, 4, 1};
    launch.block = {256, 1, 1};
    launch.counters = {.instructions = s.wave_instructions,
                       .valu = s.wave_instructions / 2,
                       .salu = s.wave_instructions / 4,
                       .vmem = s.wave_instructions / 8,
                       .mfma = s.wave_instructions / 8,
                       .mfma_flops = 1'000'000,
                       .bytes_read = 4'000'000,
                       .bytes_written = 8192,
                       .workgroups = 64,
                       .waves = 256};
    launch.modelled_seconds = s.time_us * 1e-6;
    launch.time_breakdown.kernel_seconds = s.time_us * 8e-7;
    launch.time_breakdown.launch_seconds = s.time_us * 2e-7;
    launch.time_breakdown.shares = {0.25, 0.5, 0.125, 0, 0, 0.125, 0, 0, 0};
    launch.time_breakdown.lines = {{"candidate.hip:12", 0.5, emulator::TimeCause::Memory}};
    s.launches = {launch};
    return s;
  }

  // Sources of one sample are alike, as refinements are, and those of different samples are not.
  std::string source(size_t turn) {
    std::string text = fmt::format("// {} turn {}\n", kHostile, turn);
    for (size_t line = 0; line < 120; ++line) {
      const uint64_t value = line % kTurns == turn ? random_() : lines_[line];
      lines_[line] = value;
      text += fmt::format("  float value_{} = input[(row + {}) * stride + {}];  // step {} of {}\n", value % 1000,
                          value / 1000 % 997, value / 7 % 101, line, value);
    }
    return text;
  }

  Result<void> make_sample(const results::SamplePlace& place, size_t run) {
    for (uint64_t& line : lines_) line = random_();
    for (size_t turn = 0; turn < kTurns; ++turn) {
      const bool passes = random_() % 100 < 30 + 15 * turn;
      const double speed = std::exp(0.3 * static_cast<double>(turn * (run + 1)) + noise_(random_) / 2);
      const Evaluation e = evaluation(place.problem, source(turn), speed, passes);
      results::StoredTurn stored;
      stored.step = turn == 0 ? "write" : "improve";
      if (turn > 0) stored.parent = static_cast<int64_t>(turn) - 1;
      stored.answer = "answer";
      stored.source = e.source;
      stored.verdict = to_string(e.verdict.kind);
      stored.rung = passes ? "passed" : "wrong";
      stored.prompt_tokens = 6000;
      stored.answer_tokens = 3000;
      stored.nano_usd = 10'000'000 * static_cast<int64_t>(run + 1);
      stored.messages = {{"user", "Write it."}, {"model", e.source}};
      results::StoredExchange exchange{.request_sha256 = "",
                                       .kind = "answer",
                                       .reply = "",
                                       .prompt_tokens = 6000,
                                       .answer_tokens = 3000,
                                       .reported = true,
                                       .nano_usd = stored.nano_usd,
                                       .seconds = 1};
      TRY(runs_.keep_exchange(place, static_cast<int64_t>(turn), 0, exchange));
      TRY(runs_.record_turn(place, static_cast<int64_t>(turn), stored, &e));
    }
    return {};
  }

  results::RunStore& runs_;
  size_t samples_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> noise_;
  std::array<uint64_t, 120> lines_ = {};
};

}  // namespace

Result<void> make_synthetic_database(const std::filesystem::path& file, size_t evaluations) {
  results::Store store = TRY(results::Store::open(file));
  results::RunStore runs = TRY(results::RunStore::open(file));
  Maker maker(runs, std::max<size_t>(1, evaluations / (kTurns * kRuns * std::size(kProblems))));
  for (const char* problem : kProblems) {
    TRY(store.record(maker.evaluation(problem, reference_source(problem, "baseline"), 1, true)));
    TRY(store.record(maker.evaluation(problem, reference_source(problem, "expert"), 10, true)));
  }
  for (size_t run = 0; run < kRuns; ++run) TRY(maker.make_run(run));
  TRY(results::import_published(file, {{"fp8_gemm", "m=64,n=64,k=128", "somebody" + std::string(kHostile), "MI300X",
                                        "https://example.org", 12.5}}));
  return {};
}

results::ReferenceHashes synthetic_references(const std::string& problem) {
  results::ReferenceHashes hashes;
  hashes.baseline = sha256_hex(reference_source(problem, "baseline"));
  hashes.expert = sha256_hex(reference_source(problem, "expert"));
  hashes.names = {{hashes.baseline, "baseline"}, {hashes.expert, "expert"}};
  return hashes;
}

}  // namespace hipbench::report
