#pragma once
// Host floating-point state for a guest MODE other than the default. x86's MXCSR has the same four rounding modes and
// separate flush controls for inputs (DAZ) and outputs (FTZ), so the guest's mode maps onto it one to one.

#include <xmmintrin.h>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

enum class FloatWidth : u8 { Single, Double };  // Double stands for f16 too: MODE has one field for both

class FloatModeGuard {
 public:
  // Results of one width from inputs of another: the rounding and the output flush are the result's, the input flush is
  // the inputs'.
  FloatModeGuard(u32 mode, FloatWidth input, FloatWidth output) : saved_(_mm_getcsr()) {
    const u32 round = mode >> (output == FloatWidth::Single ? 0 : 2) & 3;
    const u32 denorm_in = mode >> (input == FloatWidth::Single ? 4 : 6) & 1;    // set: kept
    const u32 denorm_out = mode >> (output == FloatWidth::Single ? 5 : 7) & 1;  // set: kept
    // Guest: 0 nearest even, 1 +infinity, 2 -infinity, 3 zero. MXCSR: 0 nearest, 1 down, 2 up, 3 zero.
    constexpr u32 kHostRound[4] = {0, 2, 1, 3};
    u32 control = saved_ & ~u32{0xe040};
    control |= kHostRound[round] << 13;
    if (denorm_in == 0) control |= 1u << 6;    // DAZ
    if (denorm_out == 0) control |= 1u << 15;  // FTZ
    changed_ = control != saved_;
    if (changed_) _mm_setcsr(control);
  }
  FloatModeGuard(u32 mode, FloatWidth width) : FloatModeGuard(mode, width, width) {}
  ~FloatModeGuard() {
    if (changed_) _mm_setcsr(saved_);
  }
  FloatModeGuard(const FloatModeGuard&) = delete;
  FloatModeGuard& operator=(const FloatModeGuard&) = delete;

 private:
  u32 saved_;
  bool changed_ = false;
};

}  // namespace hipbench::emulator
