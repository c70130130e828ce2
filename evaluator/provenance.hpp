#pragma once
// Where the results of a call came from, as the device's log tells. Outputs must be computed by kernels: bytes that the
// candidate's host code sent to an output, or inputs that it fetched to compute with them, break the rules of the host track.

#include <optional>
#include <span>

#include "emulator/protocol/client.hpp"
#include "evaluator/verdict.hpp"
#include "problems/problem.hpp"

namespace hipbench {

// `operations` are those of one call; the trusted connection's are passed over. `addresses`: one a pointer field.
std::optional<Verdict> check_provenance(std::span<const emulator::Operation> operations, const Problem& problem, const Shape& shape,
                                        std::span<const uint64_t> addresses);

}  // namespace hipbench
