#include "evaluator/verdict.hpp"

namespace hipbench {

namespace {

constexpr std::array<std::string_view, kVerdictKinds> kNames = {
    "passed",       "compile_error", "rejected",          "wrong_result", "nondeterministic", "crashed",
    "timed_out",    "out_of_memory", "sandbox_violation", "cheating",     "infrastructure",
};

}  // namespace

std::string_view to_string(VerdictKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<VerdictKind> verdict_kind_from(std::string_view name) {
  for (size_t index = 0; index < kNames.size(); ++index)
    if (kNames[index] == name) return static_cast<VerdictKind>(index);
  return std::nullopt;
}

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, 3> kFaults = {"none", "candidate", "infrastructure"};
  return kFaults[static_cast<size_t>(fault)];
}

}  // namespace hipbench
