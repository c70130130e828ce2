#pragma once
// Rules on the compiled code that need no execution, and the resources its kernels take.

#include <variant>
#include <vector>

#include "evaluator/compile.hpp"
#include "evaluator/plan.hpp"

namespace hipbench {

// The kernels' resources, or the Verdict Rejected with rule, evidence and fix.
std::variant<std::vector<KernelResources>, Verdict> inspect(const Compiled& compiled, Track track);

}  // namespace hipbench
