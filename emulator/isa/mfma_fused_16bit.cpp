// The matrix instructions on f16, bf16 and xf32 operands.

#include "emulator/isa/mfma_fused_rows.hpp"
#include "emulator/isa/mfma_instructions.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

template <typename Format>
MfmaFunction pick(int m, int blocks, bool sparse) {
  if (m == 4) return fused_4x4<Format, 4>;
  if (m == 16) {
    if (sparse) return fused_sparse<Format, Format, 16, 32>;
    return blocks == 4 ? fused_dense<Format, Format, 16, 4, 4> : fused_dense<Format, Format, 16, 16, 1>;
  }
  if (sparse) return fused_sparse<Format, Format, 32, 16>;
  return blocks == 2 ? fused_dense<Format, Format, 32, 4, 2> : fused_dense<Format, Format, 32, 8, 1>;
}

}  // namespace

MfmaFunction fused_16bit(InputType type, int m, int blocks, bool sparse) {
  return type == InputType::F16 ? pick<FormatF16>(m, blocks, sparse) : pick<FormatBf16>(m, blocks, sparse);
}

MfmaFunction fused_xf32(int m) {
  return m == 32 ? fused_dense<FormatXf32, FormatXf32, 32, 4, 1> : fused_dense<FormatXf32, FormatXf32, 16, 8, 1>;
}

}  // namespace hipbench::emulator::mfma_detail
