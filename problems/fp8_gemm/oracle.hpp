#pragma once
// The right answer of fp8_gemm: exact sums within a 128-block, one double rounding a block, then bf16.

#include <cstdint>
#include <span>
#include <vector>

#include "problems/fp8_gemm/layout.hpp"

namespace hipbench::fp8_gemm {

struct Operands {
  const uint8_t* a;      // [k][m]
  const uint8_t* b;      // [k][n]
  const float* a_scale;  // [ceil(k/128)][m]
  const float* b_scale;  // [ceil(k/128)][ceil(n/128)]
  int64_t m, n, k;       // any sizes
};

// C's rows `rows` (ascending, all valid), packed: rows.size() * n values of bf16.
std::vector<uint16_t> multiply(const Operands& operands, std::span<const int64_t> rows, unsigned threads);

}  // namespace hipbench::fp8_gemm
