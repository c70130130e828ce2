#pragma once
// Compilers see a candidate under a name inside the sandbox; people shall see the one they gave.

#include <string>

#include "evaluator/evaluation.hpp"

namespace hipbench {

// The candidate's base name, for the compiler's messages; made safe to be a file name inside the sandbox.
std::string safe_name(const std::string& file);

// Names the user's file in reasons, evidence and warnings.
void name_users_file(Evaluation& evaluation);

}  // namespace hipbench
