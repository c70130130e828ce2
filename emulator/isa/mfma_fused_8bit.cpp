// The matrix instructions on fp8 and bf8 operands.

#include "emulator/isa/mfma_fused_rows.hpp"
#include "emulator/isa/mfma_instructions.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

template <typename A, typename B>
MfmaFunction pick(int m, bool sparse) {
  if (m == 32) return sparse ? fused_sparse<A, B, 32, 32> : fused_dense<A, B, 32, 16, 1>;
  if (m == 16) return sparse ? fused_sparse<A, B, 16, 64> : fused_dense<A, B, 16, 32, 1>;
  return nullptr;
}

}  // namespace

MfmaFunction fused_8bit(InputType a, InputType b, int m, bool sparse) {
  if (a == InputType::Fp8) {
    return b == InputType::Fp8 ? pick<FormatFp8, FormatFp8>(m, sparse) : pick<FormatFp8, FormatBf8>(m, sparse);
  }
  return b == InputType::Fp8 ? pick<FormatBf8, FormatFp8>(m, sparse) : pick<FormatBf8, FormatBf8>(m, sparse);
}

}  // namespace hipbench::emulator::mfma_detail
