#pragma once
// hipbench compare A B: two runs, or two evaluations.

#include <filesystem>
#include <string>

namespace hipbench::cli {

struct CompareOptions {
  std::string database, a, b, problem;
  bool json = false;
};
// Returns the exit status.
int compare(const CompareOptions& options);

}  // namespace hipbench::cli
