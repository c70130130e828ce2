// problem: fp8_gemm
// track: kernel
// expect: wrong_result
// fault: no barrier between filling the LDS tiles and reading them
// Each of the four waves fills a quarter of the tiles and reads all of them.

/* hipbench-plan 1
problem = "fp8_gemm"
[[step]]
kernel = "gemm"
grid = ["n / 64", "m / 16"]
block = [256]
args = ["@args"]
*/

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

#include "hipbench/fp8_gemm.h"

constexpr int kTileM = 16, kTileN = 64, kTileK = 128, kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads) gemm(hb_fp8_gemm args) {
  __shared__ float a_tile[kTileK][kTileM];
  __shared__ float b_tile[kTileK / 2][kTileN];
  const int thread = threadIdx.x;
  const int first_i = blockIdx.y * kTileM, first_j = blockIdx.x * kTileN;
  const int ti = thread / 64, tj = thread % 64;
  const auto *a = hb_view<__hip_fp8_e4m3_fnuz>(args.a);
  const auto *b = hb_view<__hip_fp8_e4m3_fnuz>(args.b);
  const int scale_columns = (args.n + 127) / 128;

  float sum[4] = {};
  for (int kb = 0; kb < args.k / kTileK; ++kb) {
    float block_sum[4] = {};
    for (int x = thread; x < kTileK * kTileM; x += kThreads) {
      a_tile[x / kTileM][x % kTileM] = static_cast<float>(a[(kb * kTileK + x / kTileM) * args.m + first_i + x % kTileM]);
    }
    for (int half = 0; half < 2; ++half) {
      const int first_kk = kb * kTileK + half * kTileK / 2;
      for (int x = thread; x < kTileK / 2 * kTileN; x += kThreads) {
        b_tile[x / kTileN][x % kTileN] = static_cast<float>(b[(first_kk + x / kTileN) * args.n + first_j + x % kTileN]);
      }
      // __syncthreads() is missing here.
      for (int kk = 0; kk < kTileK / 2; ++kk) {
        for (int r = 0; r < 4; ++r) block_sum[r] += a_tile[half * kTileK / 2 + kk][ti * 4 + r] * b_tile[kk][tj];
      }
      __syncthreads();
    }
    const float b_scale = args.b_scale[kb * scale_columns + first_j / 128];
    for (int r = 0; r < 4; ++r) sum[r] += block_sum[r] * args.a_scale[kb * args.m + first_i + ti * 4 + r] * b_scale;
  }
  for (int r = 0; r < 4; ++r) {
    hb_view<__hip_bfloat16>(args.c)[(first_i + ti * 4 + r) * args.n + first_j + tj] = __float2bfloat16(sum[r]);
  }
}
