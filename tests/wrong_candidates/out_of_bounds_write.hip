// problem: fp8_gemm
// track: kernel
// expect: crashed
// fault: a workgroup too many writes 4 rows past the end of C
// The buffers have no slack: those rows lie in no allocation, so that the device raises a memory fault, and the evidence
// names the kernel, the address and the source line. (A GPU's pages are coarser than an allocation, so that the same
// write may go unnoticed there; the emulated device sees every byte.)

/* hipbench-plan 1
problem = "fp8_gemm"
[[step]]
kernel = "gemm"
grid = ["n / 64", "m / 4 + 1"]
block = [64, 4]
args = ["@args"]
*/

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

#include "hipbench/fp8_gemm.h"

extern "C" __global__ void gemm(hb_fp8_gemm args) {
  const int j = blockIdx.x * 64 + threadIdx.x;
  const int row = blockIdx.y * 4 + threadIdx.y;
  const int i = min(row, args.m - 1);  // what is read is guarded, what is written is not
  const auto *a = hb_view<__hip_fp8_e4m3_fnuz>(args.a);
  const auto *b = hb_view<__hip_fp8_e4m3_fnuz>(args.b);
  const int scale_columns = (args.n + 127) / 128;

  float sum = 0;
  for (int kb = 0; kb < args.k / 128; ++kb) {
    float block_sum = 0;
    for (int kk = kb * 128; kk < kb * 128 + 128; ++kk) {
      block_sum += static_cast<float>(a[kk * args.m + i]) * static_cast<float>(b[kk * args.n + j]);
    }
    sum += block_sum * args.a_scale[kb * args.m + i] * args.b_scale[kb * scale_columns + j / 128];
  }
  hb_view<__hip_bfloat16>(args.c)[row * args.n + j] = __float2bfloat16(sum);
}
