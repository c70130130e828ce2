#include <fmt/format.h>

#include "emulator/device/device.hpp"

namespace hipbench::emulator {

std::string FaultReport::to_string() const {
  std::string text = fmt::format("{}: {}\n  kernel     {}\n", fault_name(kind), message, kernel);
  // A fault that belongs to no wave (a limit, say) has no place.
  if (pc != 0) {
    text += fmt::format("  where      workgroup ({}, {}, {}), wave {}", workgroup.x, workgroup.y, workgroup.z, wave);
    text += lane >= 0 ? fmt::format(", lane {}\n", lane) : "\n";
    text += fmt::format("  at         {:#x}{}{}\n", pc, instruction.empty() ? "" : "  ", instruction);
  }
  if (!source.empty()) text += fmt::format("  source     {}\n", source);
  return text;
}

}  // namespace hipbench::emulator
