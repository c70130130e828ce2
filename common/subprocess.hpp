#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
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

// A program that runs beside us, in a process group of its own, with no signal blocked, nothing on its standard input
// and no descriptor of ours but 1, 2 and those named.
struct ChildProgram {
  struct Descriptor {
    int ours, theirs;
  };
  std::vector<std::string> argv;         // argv[0] is looked up in PATH
  std::vector<std::string> environment;  // NAME=value
  std::vector<Descriptor> descriptors;
};
Result<pid_t> spawn(const ChildProgram& program);

// Our own environment, but for what begins with `without` (empty: nothing).
std::vector<std::string> inherited_environment(std::string_view without = {});

// Runs argv[0] (looked up in PATH) to its end with no standard input. An Error only if it could not be started.
Result<ProcessResult> run_process(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds timeout = std::chrono::minutes(10),
                                  size_t output_limit = size_t{1} << 30);

}  // namespace hipbench
