#pragma once
// hipbench eval --jsonl: candidates in as JSON Lines, one result line each in order of completion. docs/batches.md is
// its contract.

#include <string>

#include "cli/evaluate_options.hpp"

namespace hipbench::cli {

struct JsonlArguments {
  std::string input;  // a file, or "-"; empty: no --jsonl
  std::string batch;  // empty: a new name
};

// Returns the exit status: the worst of all results.
int evaluate_jsonl(const EvaluateArguments& arguments, const JsonlArguments& jsonl);

}  // namespace hipbench::cli
