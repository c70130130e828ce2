#pragma once
// What eval, check and replay share: evaluate, store, print.

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/exit_status.hpp"
#include "evaluator/evaluate.hpp"

namespace hipbench::cli {

struct Job {
  const Problem* problem = nullptr;
  std::string file;
  std::string source;
  EvaluateOptions options;
  int64_t reverifies = 0;     // the evaluation that is timed again; 0: none
  std::string reason = {};    // what asked for that
};

struct OutputOptions {
  bool json = false;
  bool with_baseline = false;                     // evaluate a problem's baseline where its times are missing
  std::optional<std::filesystem::path> database;  // none: not stored
};

// Runs the jobs, `at_once` of them (0: as the machine allows), and returns the exit status of them all. Results are
// stored as they come and shown in the order of the jobs. `finished` sees each once it is shown. Ctrl-C ends what runs.
int evaluate_jobs(std::span<const Job> jobs, unsigned at_once, const OutputOptions& output,
                  const std::function<void(const Evaluation&)>& finished = {});

// Evaluates one job with progress on a terminal and an estimate where it takes long.
Evaluation evaluate_job(const Job& job);

ExitStatus status_of(const Verdict& verdict);
// The worse of two: environment, then candidate.
ExitStatus worse(ExitStatus a, ExitStatus b);

// Quoted for a POSIX shell where that is needed.
std::string shell_word(std::string_view word);

inline constexpr const char* kDefaultDatabase = "hipbench.db";

}  // namespace hipbench::cli
