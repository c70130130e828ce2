#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> global_ops() { return {}; }

}  // namespace hipbench::emulator
