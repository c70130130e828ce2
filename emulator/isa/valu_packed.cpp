#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> valu_packed_ops() { return {}; }

}  // namespace hipbench::emulator
