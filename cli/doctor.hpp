#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench {

// One part of the machine or of the build, as `hipbench doctor` found it.
struct Finding {
  enum class State {
    Fine,
    Limited,  // works without it: slower, or a choice less
    Broken,   // evaluations will fail
  };
  std::string part;  // "bubblewrap"
  State state = State::Fine;
  std::string detail;  // what was found
  std::string remedy;  // the command or step that mends it; empty when fine
};

// Everything doctor looks at. Runs small programs (clang, bwrap); changes nothing.
std::vector<Finding> examine_machine();

// Pure readers of what the kernel reports, apart for tests.
std::string_view x86_64_level(std::string_view cpu_flags);  // "x86-64-v1" … "x86-64-v4"

// `hipbench doctor [--json]`: 0 when nothing is broken, 3 otherwise.
int doctor_main(std::span<const std::string> args);

}  // namespace hipbench
