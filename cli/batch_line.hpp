#pragma once
// The lines that `hipbench eval --jsonl` prints: hipbench.result/1, described in docs/batches.md.

#include <optional>
#include <string>

#include "cli/batch_request.hpp"
#include "results/speedups.hpp"

namespace hipbench::cli {

// `waited_seconds`: from reading the request to the start of the evaluation.
// `speedups`: one a shape of the evaluation.
std::string result_line(const RequestId& id, const Evaluation& evaluation, std::optional<int64_t> stored,
                        double waited_seconds, const results::Speedups& speedups);
std::string invalid_line(const InvalidRequest& request, size_t line_number);

}  // namespace hipbench::cli
