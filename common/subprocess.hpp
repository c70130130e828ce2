#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "common/result.hpp"

namespace hipbench {

// How a trusted helper program ended. Candidates and compilers do not run through this but through sandbox/.
struct ProcessResult {
  int exit_code = 0;  // 128 + signal when a signal ended it
  bool timed_out = false;
  std::string output;  // standard output
  std::string errors;  // standard error
};

// Runs argv[0] (looked up in PATH) to its end with no standard input. An Error only if it could not be started.
Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds timeout = std::chrono::minutes(10));

}  // namespace hipbench
