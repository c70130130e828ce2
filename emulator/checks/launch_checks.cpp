#include "emulator/checks/launch_checks.hpp"

#include <fmt/format.h>

namespace hipbench::emulator {

std::string LaunchChecks::at_source(u64 offset) const {
  if (offset == 0) return "";
  const std::string line = source_of_ ? source_of_(offset) : "";
  return line.empty() ? fmt::format(" at code address {:#x}", offset) : fmt::format(" at {}", line);
}

}  // namespace hipbench::emulator
