#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> valu_convert_ops() { return {}; }

}  // namespace hipbench::emulator
