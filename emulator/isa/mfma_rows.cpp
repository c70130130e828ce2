#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

std::span<const Op> mfma_ops() { return {}; }

}  // namespace hipbench::emulator
