// problem: fp8_gemm
// track: kernel
// expect: wrong_result
// fault: a_scale is read as [m][k/128], it lies as [k/128][m]
// With k = 128 the two are the same, so that shape is right.

/* hipbench-plan 1
problem = "fp8_gemm"
[[step]]
kernel = "gemm"
grid = ["n / 64", "m / 4"]
block = [64, 4]
args = ["@args"]
*/

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

#include "hipbench/fp8_gemm.h"

extern "C" __global__ void gemm(hb_fp8_gemm args) {
  const int j = blockIdx.x * 64 + threadIdx.x;
  const int i = blockIdx.y * 4 + threadIdx.y;
  const auto *a = hb_view<__hip_fp8_e4m3_fnuz>(args.a);
  const auto *b = hb_view<__hip_fp8_e4m3_fnuz>(args.b);
  const int scale_columns = (args.n + 127) / 128;

  float sum = 0;
  for (int kb = 0; kb < args.k / 128; ++kb) {
    float block_sum = 0;
    for (int kk = kb * 128; kk < kb * 128 + 128; ++kk) {
      block_sum += static_cast<float>(a[kk * args.m + i]) * static_cast<float>(b[kk * args.n + j]);
    }
    sum += block_sum * args.a_scale[i * (args.k / 128) + kb] * args.b_scale[kb * scale_columns + j / 128];
  }
  hb_view<__hip_bfloat16>(args.c)[i * args.n + j] = __float2bfloat16(sum);
}
