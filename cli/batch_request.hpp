#pragma once
// One line of `hipbench eval --jsonl`'s input; docs/batches.md describes it.

#include <string>
#include <string_view>
#include <variant>

#include "cli/evaluate_options.hpp"
#include "common/json.hpp"
#include "evaluator/batch.hpp"

namespace hipbench::cli {

// An id as it was given, which is how it is given back: a string or an integer. As text it is compared.
using RequestId = Json;

struct CandidateRequest {
  RequestId id;
  BatchJob job;        // its id is the request's as text
  std::string sha256;  // of everything that was asked for
};
struct CancelRequest {
  std::string id;
};
struct InvalidRequest {
  RequestId id;  // null where there is none
  std::string reason;
};
using BatchRequest = std::variant<CandidateRequest, CancelRequest, InvalidRequest>;

// What a line leaves open is as the command line says.
BatchRequest parse_batch_request(std::string_view line, const EvaluateArguments& defaults);

}  // namespace hipbench::cli
