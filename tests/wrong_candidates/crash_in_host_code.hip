// problem: fp8_gemm
// track: host
// expect: crashed
// fault: the host code writes through a null pointer before it launches

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

#include "hipbench/fp8_gemm.h"

__global__ void gemm(hb_fp8_gemm args) {
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
    sum += block_sum * args.a_scale[kb * args.m + i] * args.b_scale[kb * scale_columns + j / 128];
  }
  hb_view<__hip_bfloat16>(args.c)[i * args.n + j] = __float2bfloat16(sum);
}

extern "C" int hb_fp8_gemm_run(const hb_fp8_gemm *args, void *, size_t, hipStream_t stream) {
  volatile int *last_shape = nullptr;
  *last_shape = args->m;
  gemm<<<dim3(args->n / 64, args->m / 4), dim3(64, 4), 0, stream>>>(*args);
  return hipGetLastError();
}
