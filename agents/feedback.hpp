#pragma once
// What a model is told about its candidate, as data: which parts, in which order, and how much of each.

#include <set>
#include <string>

#include "agents/turn.hpp"
#include "problems/problem.hpp"

namespace hipbench::agents {

struct FeedbackOptions {
  std::set<FeedbackPart> parts = all_parts();
  size_t most_tokens = 2000;  // of one part

  static std::set<FeedbackPart> all_parts();
};

// `checked`: the same candidate with the device's memory and race checks; null where it was not run.
Feedback make_feedback(const Problem& problem, const Evaluation& evaluation, const Evaluation* checked,
                       const FeedbackOptions& options);

// Whether the checks may say more than the verdict does.
bool wants_checks(const Evaluation& evaluation, const FeedbackOptions& options);

// The head and the tail, where a text has more than so many tokens (of four bytes); says what was left out.
std::string trimmed_middle(const std::string& text, size_t most_tokens);

}  // namespace hipbench::agents
