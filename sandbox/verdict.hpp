#pragma once
// From what init saw to an Outcome's status, reason and evidence, in words for the candidate's author.

#include <cstdint>
#include <string>

#include "sandbox/init/wire.hpp"
#include "sandbox/outcome.hpp"
#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

// Status, reason and evidence; the rest of the Outcome is left empty.
Outcome outcome_from_report(const wire::Report& report, const Limits& limits);

std::string memory_reason(const Limits& limits);

// "socket (address family 2)": the call with the argument that says what was wanted.
std::string describe_call(const std::string& name, const unsigned long long* arguments);

}  // namespace hipbench::sandbox
