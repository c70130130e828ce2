#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> lds_ops() { return {}; }

}  // namespace hipbench::emulator
