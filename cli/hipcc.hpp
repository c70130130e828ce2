#pragma once
#include <span>
#include <string>

namespace hipbench {

// `hipbench hipcc ARGS`: becomes clang with our recipe in front of the user's arguments (Toolchain::program_command).
// Returns only when it could not start, with the exit status.
int hipcc_main(std::span<const std::string> args);

}  // namespace hipbench
