#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "common/result.hpp"

namespace hipbench {

// How a trusted helper program ended. Candidates and compilers do not run through this but through sandbox/.
struct ProcessResult {
  int exit_code = 0;  // 128 + signal when a signal ended it
  bool timed_out = false;
  bool output_exceeded = false;  // ended because it wrote more than the limit to one of the two
  std::string output;  // standard output
  std::string errors;  // standard error
};

// Runs argv[0] (looked up in PATH) to its end with no standard input. An Error only if it could not be started.
Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds timeout = std::chrono::minutes(10),
                                  size_t output_limit = size_t{1} << 30);

}  // namespace hipbench
