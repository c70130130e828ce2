#pragma once
// Rules on the compiled code that need no execution, and the resources its kernels take.

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "emulator/device/device.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/plan.hpp"

namespace hipbench {

// The kernels' resources, or the Verdict Rejected with rule, evidence and fix.
std::variant<std::vector<KernelResources>, Verdict> inspect(const Compiled& compiled, Track track);

// The device code in a compiled candidate: the code object itself, or the section of the host track's library that
// holds it.
std::string_view device_code(const Compiled& compiled, Track track);

// Whether the problem is stated in 8-bit types.
bool may_use_eight_bit_math(const Problem& problem);

// Kinds of instruction that the stated precision of the problem rules out. The judge asks once the code is loaded,
// before anything is launched; what hides from a look at the code faults when it is executed
// (LaunchRequest::no_eight_bit_math).
std::optional<Verdict> check_instructions(const Problem& problem,
                                          std::span<const emulator::InstructionUse> instructions);

}  // namespace hipbench
