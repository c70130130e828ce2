#pragma once
// Internal: the matrix instructions as functions, for the table.

#include "emulator/isa/mfma.hpp"

namespace hipbench::emulator::mfma_detail {

enum class InputType : u8 { Fp8, Bf8, F16, Bf16, Xf32, F32, F64, I8 };

// Each returns null for a shape that the hardware does not have.
MfmaFunction fused_8bit(InputType a, InputType b, int m, bool sparse);
MfmaFunction fused_16bit(InputType type, int m, int blocks, bool sparse);
MfmaFunction fused_xf32(int m);
MfmaFunction plain_f32(int m, int blocks);
MfmaFunction plain_f64(int m);
MfmaFunction integer_i8(int m, int blocks, bool sparse);

}  // namespace hipbench::emulator::mfma_detail
