#pragma once
// What the device's log tells of one call: where its results came from, and whether its kernels kept to the rules that
// can only be seen while they run. Outputs must be computed by kernels: bytes that the candidate's host code sent to an
// output, or data that it fetched to compute with them, break the rules of the host track.

#include <optional>
#include <span>

#include "emulator/protocol/client.hpp"
#include "evaluator/verdict.hpp"
#include "problems/problem.hpp"

namespace hipbench {

// The bytes that host code may learn from the device in one call: enough for counts that decide the next launch's grid,
// far too little to compute the result with.
uint64_t host_may_read_bytes(const Problem& problem, const Shape& shape);

// `operations` are those of one call; the trusted connection's are passed over. `addresses`: one a pointer field.
std::optional<Verdict> check_provenance(std::span<const emulator::Operation> operations, const Problem& problem,
                                        const Shape& shape, std::span<const uint64_t> addresses);

// For ranked runs: ways out of a kernel that no right result needs (printf, the dispatch packet), seen when it took
// them.
std::optional<Verdict> check_ways_out(std::span<const emulator::Operation> operations);

// What was done while no call was in progress: no kernel may run then, so that a call's time holds all of its work.
std::optional<Verdict> check_between_calls(std::span<const emulator::Operation> operations);

}  // namespace hipbench
