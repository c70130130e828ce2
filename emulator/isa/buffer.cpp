#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> buffer_ops() { return {}; }

}  // namespace hipbench::emulator
