#pragma once
// hipRTC's options as clang's.

#include <span>
#include <string>
#include <vector>

#include "common/result.hpp"

namespace hipbench::hip {

struct RtcOptions {
  std::vector<std::string> clang;  // all but the architecture; unknown ones as they came
  std::string architecture;        // "gfx942", or what the program asks for, target features included
  bool relocatable = false;        // -fgpu-rdc: bitcode to be linked later, no code
};

// An Error for options that would make clang produce something else or read a file as a source.
Result<RtcOptions> translate_rtc_options(std::span<const std::string> options);

}  // namespace hipbench::hip
