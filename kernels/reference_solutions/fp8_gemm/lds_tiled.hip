// fp8_gemm, kernel track, ladder: tiles of A and B in LDS, 4x4 elements of C a thread in registers, plain FMAs. What a
// good kernel looked like before there were matrix units.
//
// Idea. A workgroup of two waves has 32x64 of C. A step of k is a scale block: both tiles come into LDS as they are in
// memory (rows of k), each thread reads 4 bytes of a row of each, converts them and does 16 FMAs. So a byte of LDS
// serves four products, and one of memory 32 or 64.
// Tiling. 32 x 64 x 128; a thread 4x4.
// Budget. LDS 12 KiB, 82 registers.
// Bottleneck. The vector units: f32 FMAs do at most 256 FLOPs a clock and CU, FP8 matrix instructions 4096, and part of
// the instructions convert. No arrangement of tiles changes that; the matrix units stay idle.
// Roofs. `hipbench problems show fp8_gemm`; but f32 FMAs have one of their own: 163 TFLOP/s, a 16th of FP8's. Modelled
// (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 42.4 (0.7 % of the nearer roof, memory)
//   m=64, n=256, k=2048: 146 (0.1 % of the nearer roof, memory)
// Tried. Nothing further; the next rung is another instruction, not another tile.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "tiled_gemm"
grid = ["n / 64", "m / 32"]
block = [128]
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

constexpr int kTileM = 32, kTileN = 64, kTileK = 128;  // a step of k is one scale block
constexpr int kThreads = 128;                          // each has a 4x4 piece of C

using float2v = float __attribute__((ext_vector_type(2)));

// Four neighbouring e4m3fnuz values to f32, two at a time by the hardware's conversion.
__device__ inline void to_float(uint32_t packed, float (&out)[4]) {
  const float2v low = __builtin_amdgcn_cvt_pk_f32_fp8(packed, false);
  const float2v high = __builtin_amdgcn_cvt_pk_f32_fp8(packed, true);
  out[0] = low.x, out[1] = low.y, out[2] = high.x, out[3] = high.y;
}

extern "C" __global__ void __launch_bounds__(kThreads) tiled_gemm(hb_fp8_gemm args) {
  __shared__ uint32_t a_tile[kTileK][kTileM / 4];  // as in memory: rows of k, four values a word
  __shared__ uint32_t b_tile[kTileK][kTileN / 4];
  const int thread = threadIdx.x;
  const int first_i = blockIdx.y * kTileM, first_j = blockIdx.x * kTileN;
  const int ti = thread / 16, tj = thread % 16;  // which 4x4 piece
  const int scale_columns = (args.n + 127) / 128;

  float sum[4][4] = {};
  for (int kb = 0; kb < args.k / kTileK; ++kb) {
    __syncthreads();  // the last step's readers are done
    for (int word = thread; word < kTileK * kTileM / 4; word += kThreads) {
      const int kk = word / (kTileM / 4), column = word % (kTileM / 4);
      const uint8_t *row = args.a + size_t(kb * kTileK + kk) * args.m + first_i;
      a_tile[kk][column] = reinterpret_cast<const uint32_t *>(row)[column];
    }
    for (int word = thread; word < kTileK * kTileN / 4; word += kThreads) {
      const int kk = word / (kTileN / 4), column = word % (kTileN / 4);
      const uint8_t *row = args.b + size_t(kb * kTileK + kk) * args.n + first_j;
      b_tile[kk][column] = reinterpret_cast<const uint32_t *>(row)[column];
    }
    __syncthreads();

    float block_sum[4][4] = {};
#pragma unroll 4
    for (int kk = 0; kk < kTileK; ++kk) {
      float a[4], b[4];
      to_float(a_tile[kk][ti], a);
      to_float(b_tile[kk][tj], b);
      for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 4; ++c) block_sum[r][c] += a[r] * b[c];
      }
    }
    // A tile of 64 columns lies within one block of 128, so one b_scale serves all.
    const float b_scale = args.b_scale[kb * scale_columns + first_j / 128];
    for (int r = 0; r < 4; ++r) {
      const float scale = args.a_scale[kb * args.m + first_i + ti * 4 + r] * b_scale;
      for (int c = 0; c < 4; ++c) sum[r][c] += block_sum[r][c] * scale;
    }
  }
  for (int r = 0; r < 4; ++r) {
    uint16_t *row = args.c + size_t(first_i + ti * 4 + r) * args.n + first_j + tj * 4;
    for (int c = 0; c < 4; ++c) row[c] = to_bf16(sum[r][c]);
  }
}
