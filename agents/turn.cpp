#include "agents/turn.hpp"

#include <array>
#include <cmath>

namespace hipbench::agents {

namespace {

template <typename T, size_t N>
std::optional<T> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<T>(i);
  return std::nullopt;
}

constexpr std::array<std::string_view, 5> kRungs = {"no_candidate", "not_compiled", "not_runnable", "wrong", "passed"};
constexpr std::array<std::string_view, kFeedbackParts> kParts = {"reason", "compile", "mismatch", "sanitizer",
                                                                 "times",  "roofs",   "profile"};
constexpr std::array<std::string_view, 4> kSteps = {"write", "repair", "improve", "combine"};

Score::Rung rung_of(const Evaluation& evaluation) {
  if (evaluation.verdict.passed()) return Score::Rung::Passed;
  switch (evaluation.stage) {
    case Stage::Plan:
    case Stage::Compile:
      return Score::Rung::NotCompiled;
    case Stage::Inspect:
    case Stage::Load:
      return Score::Rung::NotRunnable;
    case Stage::Check:
    case Stage::Done:
      return Score::Rung::Wrong;
  }
  return Score::Rung::NotCompiled;
}

double right_share(const ShapeResult& shape) {
  if (shape.verdict.passed()) return 1;
  const Comparison& c = shape.comparison;
  return c.elements == 0 ? 0 : static_cast<double>(c.elements - c.mismatches) / static_cast<double>(c.elements) / 2;
}

}  // namespace

std::string_view to_string(Score::Rung rung) { return kRungs[static_cast<size_t>(rung)]; }
std::string_view to_string(FeedbackPart part) { return kParts[static_cast<size_t>(part)]; }
std::string_view to_string(StepKind kind) { return kSteps[static_cast<size_t>(kind)]; }
std::optional<FeedbackPart> feedback_part_from(std::string_view name) { return find_name<FeedbackPart>(kParts, name); }
std::optional<StepKind> step_kind_from(std::string_view name) { return find_name<StepKind>(kSteps, name); }

Score score_of(const Evaluation& evaluation) {
  Score score;
  score.rung = rung_of(evaluation);
  double times = 0, instructions = 0;
  bool has_time = !evaluation.shapes.empty();
  for (const ShapeResult& shape : evaluation.shapes) {
    score.right += right_share(shape);
    has_time &= shape.time_us > 0;
    if (shape.time_us > 0) times += std::log(shape.time_us);
    instructions += std::log(static_cast<double>(std::max<uint64_t>(shape.wave_instructions, 1)));
  }
  if (!score.passed()) return score;
  const double count = static_cast<double>(std::max<size_t>(evaluation.shapes.size(), 1));
  if (has_time) score.time_us = std::exp(times / count);
  score.wave_instructions = std::exp(instructions / count);
  return score;
}

bool is_better(const Score& a, const Score& b) {
  if (a.rung != b.rung) return a.rung > b.rung;
  if (!a.passed()) return a.right > b.right;
  return speedup(a, b) > 1;
}

double speedup(const Score& score, const Score& base) {
  if (!score.passed() || !base.passed()) return 0;
  if (score.time_us > 0 && base.time_us > 0) return base.time_us / score.time_us;
  return score.wave_instructions > 0 ? base.wave_instructions / score.wave_instructions : 0;
}

std::optional<size_t> best_turn(const std::vector<Turn>& turns) {
  std::optional<size_t> best;
  for (size_t i = 0; i < turns.size(); ++i)
    if (!turns[i].source.empty() && (!best || is_better(turns[i].score, turns[*best].score))) best = i;
  return best;
}

}  // namespace hipbench::agents
