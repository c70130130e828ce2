#pragma once
#include <span>
#include <string>

namespace hipbench {

// `hipbench emulate [OPTIONS] -- PROGRAM ARGS`: any HIP program on the emulated MI300X. Returns the program's exit
// status (128 + signal when one ended it), 2 for wrong usage, 3 when the device server does not start.
int emulate_main(std::span<const std::string> args);

}  // namespace hipbench
