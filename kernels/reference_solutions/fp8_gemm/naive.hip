// fp8_gemm, kernel track: the naive kernel. One thread an element of C, everything straight from memory. Read it first:
// it is the problem's definition in twenty lines, and what all other files here are measured by.
//
// Idea. Thread (i, j) goes along k, converts a byte of A and one of B to f32 and multiplies; every 128 products the
// block's sum is scaled and added to the total, as the definition says.
// Tiling. None. A workgroup has 64 columns and 4 rows, so that a wave reads 64 neighbouring bytes of B (half of a line
// of 128) and one byte of A for all its lanes.
// Budget. No LDS; 36 registers, so eight waves a SIMD hide latency, which is all that hides it.
// Bottleneck. Instructions and loads: two loads of a byte, two conversions and an addition for two FLOPs a lane, where
// a matrix instruction does 512 a lane. Each byte of A is asked for by n / 64 waves, each of B by m.
// Roofs. `hipbench problems show fp8_gemm`. Modelled (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 72.4 (0.4 % of the nearer roof, memory)
//   m=64, n=256, k=2048: 96.0 (0.1 % of the nearer roof, memory)
// Tried. Nothing: it is to be read. lds_tiled.hip keeps tiles in LDS, baseline.hip uses the matrix units.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "naive_gemm"
grid = ["n / 64", "m / 4"]
block = [64, 4]
args = ["@args"]
*/

#include <hip/hip_runtime.h>

#include "hipbench/fp8_gemm.h"

// f32 to bf16, to nearest even; a NaN stays one.
__device__ inline uint16_t to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0x7fc0;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// One thread an element; a workgroup has 64 columns and 4 rows of C, so a wave reads 64 neighbouring bytes of B.
extern "C" __global__ void __launch_bounds__(256) naive_gemm(hb_fp8_gemm args) {
  const unsigned j = blockIdx.x * 64 + threadIdx.x;
  const unsigned i = blockIdx.y * 4 + threadIdx.y;
  const int scale_columns = (args.n + 127) / 128;

  float sum = 0;
  for (int kb = 0; kb < args.k / 128; ++kb) {
    const uint8_t *a = args.a + size_t(kb) * 128 * args.m;
    const uint8_t *b = args.b + size_t(kb) * 128 * args.n;
    float block_sum = 0;
#pragma unroll 8
    for (int kk = 0; kk < 128; ++kk, a += args.m, b += args.n) {
      block_sum += __builtin_amdgcn_cvt_f32_fp8(a[i], 0) * __builtin_amdgcn_cvt_f32_fp8(b[j], 0);
    }
    sum += block_sum * args.a_scale[kb * args.m + i] * args.b_scale[kb * scale_columns + j / 128];
  }
  args.c[size_t(i) * args.n + j] = to_bf16(sum);
}
