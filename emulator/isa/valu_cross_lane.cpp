#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> valu_cross_lane_ops() { return {}; }

}  // namespace hipbench::emulator
