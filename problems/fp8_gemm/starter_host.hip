// A starting point for fp8_gemm, host track: correct, simple and slow. Try it:
//   hipbench eval THIS_FILE --problem fp8_gemm
//
// C(i,j) = sum over 128-blocks kb of a_scale(i,kb) * b_scale(j/128,kb) * (sum over the block of A(i,kk) * B(j,kk)).
// A and B lie "k-major": neighbours in memory are neighbours in i (or j), not in kk.

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

#include "hipbench/fp8_gemm.h"

__global__ void gemm(hb_fp8_gemm args) {
  const int j = blockIdx.x * 64 + threadIdx.x;
  const int i = blockIdx.y * 4 + threadIdx.y;
  const auto *a = hb_view<__hip_fp8_e4m3_fnuz>(args.a);
  const auto *b = hb_view<__hip_fp8_e4m3_fnuz>(args.b);
  const int scale_columns = (args.n + 127) / 128;  // not n / 128: n = 576 has 5

  float sum = 0;
  for (int kb = 0; kb < args.k / 128; ++kb) {
    float block_sum = 0;
    for (int kk = kb * 128; kk < kb * 128 + 128; ++kk) {
      block_sum += static_cast<float>(a[kk * args.m + i]) * static_cast<float>(b[kk * args.n + j]);
    }
    sum += block_sum * args.a_scale[kb * args.m + i] * args.b_scale[kb * scale_columns + j / 128];
  }
  hb_view<__hip_bfloat16>(args.c)[i * args.n + j] = __float2bfloat16(sum);
}

// Called once a launch with the struct in host memory. Enqueue the work on `stream` and return 0. Scratch memory comes from
// the optional `size_t hb_fp8_gemm_workspace(const hb_fp8_gemm *dims)`.
extern "C" int hb_fp8_gemm_run(const hb_fp8_gemm *args, void *workspace, size_t bytes, hipStream_t stream) {
  (void)workspace, (void)bytes;
  gemm<<<dim3(args->n / 64, args->m / 4), dim3(64, 4), 0, stream>>>(*args);
  return hipGetLastError();
}
