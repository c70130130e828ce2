#pragma once
// One turn of one sample: what was asked, what came back, how it did. Plain data; strategies choose by it, the database
// holds it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/chat.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench::agents {

// How far a candidate came.
struct Score {
  enum class Rung { NoCandidate, NotCompiled, NotRunnable, Wrong, Passed };
  Rung rung = Rung::NoCandidate;
  double right = 0;              // of the shapes that were run: passed ones, and the right elements of the last
  double time_us = 0;            // geometric mean over the shapes; 0 = no time
  double wave_instructions = 0;  // geometric mean over the shapes

  bool passed() const { return rung == Rung::Passed; }
};
std::string_view to_string(Score::Rung rung);  // "no_candidate", …, "passed"

Score score_of(const Evaluation& evaluation);
// Correctness first. Among candidates that passed the judge's time, where both have one; else the wave instructions of
// the timed call, which say nothing of memory or occupancy.
bool is_better(const Score& a, const Score& b);
// How many times `score` is cheaper than `base`, by the same rule; 0 where one did not pass.
double speedup(const Score& score, const Score& base);

// What a part of the feedback is about; each can be switched off.
enum class FeedbackPart { Reason, Compile, Mismatch, Sanitizer, Times, Roofs, Profile };
inline constexpr size_t kFeedbackParts = 7;
std::string_view to_string(FeedbackPart part);  // "reason", "compile", …
std::optional<FeedbackPart> feedback_part_from(std::string_view name);

struct FeedbackItem {
  FeedbackPart part = FeedbackPart::Reason;
  std::string text;
};
using Feedback = std::vector<FeedbackItem>;

// What the model is asked to do in a turn.
enum class StepKind {
  Write,    // a candidate from nothing
  Repair,   // one that does not pass
  Improve,  // one that passes
  Combine,  // two into one
};
std::string_view to_string(StepKind kind);  // "write", …
std::optional<StepKind> step_kind_from(std::string_view name);

struct Step {
  StepKind kind = StepKind::Write;
  std::optional<size_t> parent, partner = {};  // turns of the sample
  unsigned island = 0;
};

struct Turn {
  Step step;
  AnswerKind answer = AnswerKind::Empty;
  std::string detail;  // why there is no candidate
  std::string source;  // empty: no candidate
  std::optional<int64_t> evaluation;
  VerdictKind verdict = VerdictKind::Infrastructure;  // of the evaluation
  Score score;
  Feedback feedback;
  std::string similar_to;  // a shipped kernel that it nearly is
};

// The best turn that has a candidate.
std::optional<size_t> best_turn(const std::vector<Turn>& turns);

}  // namespace hipbench::agents
