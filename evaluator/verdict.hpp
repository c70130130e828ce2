#pragma once
// How a candidate did. Every evaluation ends in exactly one verdict, a value that is stored and shown; it is never an
// Error.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.hpp"

namespace hipbench {

enum class VerdictKind {
  Passed,
  CompileError,
  Rejected,           // a rule on the plan or the code object; the reason names the rule and the fix
  WrongResult,
  Nondeterministic,   // the same inputs gave results within and out of tolerance
  Crashed,            // a fault on the device or in the candidate's host code, or a non-zero return of hb_ID_run
  TimedOut,           // wave instructions or modelled time on the emulated device; wall time of host code
  OutOfMemory,
  SandboxViolation,
  Cheating,           // with the evidence
  Infrastructure,     // our fault: retried, never counted against the candidate
};

// The words used in databases, JSON and on the command line: "wrong_result".
std::string_view to_string(VerdictKind kind);
std::optional<VerdictKind> verdict_kind_from(std::string_view name);
inline constexpr size_t kVerdictKinds = 11;

// Whose fault it is that a candidate did not pass.
enum class Fault { None, Candidate, Infrastructure };
std::string_view to_string(Fault fault);  // "none", "candidate", "infrastructure"

struct Verdict {
  VerdictKind kind = VerdictKind::Infrastructure;
  std::string reason;    // one sentence; empty when passed
  std::string evidence;  // what shows it: clang's messages, a fault report, the comparison; may have many lines

  bool passed() const { return kind == VerdictKind::Passed; }
  Fault fault() const {
    return passed() ? Fault::None : kind == VerdictKind::Infrastructure ? Fault::Infrastructure : Fault::Candidate;
  }
  static Verdict pass() { return {VerdictKind::Passed, {}, {}}; }
  static Verdict our_fault(std::string reason) { return {VerdictKind::Infrastructure, std::move(reason), {}}; }
  static Verdict our_fault(const Error& error) { return our_fault(error.message); }
};

}  // namespace hipbench
