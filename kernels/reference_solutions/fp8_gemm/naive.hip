// fp8_gemm, kernel track: the naive kernel. One thread an element of C, everything straight from memory.
// Bottleneck: loads; each byte of A and B is fetched n and m times over, by single bytes.

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
