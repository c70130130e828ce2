// Vector compares: every v_cmp and v_cmpx. A result is a lane mask.

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

constexpr Op kRows[] = {
    lanes<[](u32 a, u32 b) { return a == b; }>("v_cmp_eq_u32"),
    lanes<[](i64 a, i64 b) { return a > b; }>("v_cmp_gt_i64"),
};

}  // namespace

std::span<const Op> valu_compare_ops() { return kRows; }

}  // namespace hipbench::emulator
