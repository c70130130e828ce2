// fp8_gemm, kernel track, ladder: FP8 matrix instructions on small tiles that are transposed on their way into LDS. It
// shows that a grid must fill the chip before anything else matters.
//
// Idea. As the baseline, but a workgroup of two waves has 32x64 of C, each wave one accumulator of 32x32: eight times
// as many workgroups, which small shapes need for 304 CUs.
// Tiling. 32 x 64 x 128; pieces of 4x4 bytes are turned by shifts and masks (the compiler makes byte permutes of some).
// Budget. LDS 96 x 136 bytes = 13 KiB, 76 registers: several workgroups a CU hide each other's waits.
// Bottleneck. Loads: a byte of A serves 64 products and one of B 32, where the baseline's serve 128; with large grids
// the L2 and the address pipelines are busy with bytes that are hardly reused. Latency on small ones.
// Roofs. `hipbench problems show fp8_gemm`. Modelled (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 17.7 (1.7 % of the nearer roof, memory; matrix units 1 % busy; 50 % of LDS time in conflicts)
//   m=64, n=256, k=2048: 47.3 (0.2 % of the nearer roof, memory; 50 % of LDS time in conflicts)
// Tried. Nothing further: large tiles with k split over workgroups (the expert) fill the chip and reuse what they load.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "mfma_gemm"
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
constexpr int kThreads = 128;                          // two waves, each with 32x32 of C
constexpr int kPitch = kTileK + 8;                     // bytes a row of LDS; the 8 spread rows over the banks

using float16v = float __attribute__((ext_vector_type(16)));

// The matrix instruction wants eight neighbours in k a lane, memory has neighbours in i (or j). So a tile is transposed
// on its way into LDS, in pieces of 4x4 bytes: four words of four i each become four words of four k each.
template <int kRows>
__device__ inline void load_transposed(const uint8_t *source, int pitch, uint8_t (&tile)[kRows][kPitch]) {
  for (int piece = threadIdx.x; piece < kRows / 4 * (kTileK / 4); piece += kThreads) {
    const int i = piece % (kRows / 4) * 4, kk = piece / (kRows / 4) * 4;
    uint32_t in[4];
    for (int r = 0; r < 4; ++r) in[r] = *reinterpret_cast<const uint32_t *>(source + size_t(kk + r) * pitch + i);
    for (int r = 0; r < 4; ++r) {
      const int shift = 8 * r;
      const uint32_t out = (in[0] >> shift & 255) | (in[1] >> shift & 255) << 8 | (in[2] >> shift & 255) << 16 |
                           (in[3] >> shift & 255) << 24;
      *reinterpret_cast<uint32_t *>(&tile[i + r][kk]) = out;
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) mfma_gemm(hb_fp8_gemm args) {
  __shared__ __attribute__((aligned(16))) uint8_t a_tile[kTileM][kPitch];
  __shared__ __attribute__((aligned(16))) uint8_t b_tile[kTileN][kPitch];
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const int first_i = blockIdx.y * kTileM, first_j = blockIdx.x * kTileN;
  const int scale_columns = (args.n + 127) / 128;
  const int j = first_j + wave * 32 + lane % 32;

  float sum[16] = {};
  for (int kb = 0; kb < args.k / kTileK; ++kb) {
    __syncthreads();  // the last step's readers are done
    load_transposed(args.a + size_t(kb) * kTileK * args.m + first_i, args.m, a_tile);
    load_transposed(args.b + size_t(kb) * kTileK * args.n + first_j, args.n, b_tile);
    __syncthreads();

    // Lane l gives row l % 32 of A and column l % 32 of B, k values 8 * (l / 32) to + 7 of the 16.
    float16v block_sum = {};
    for (int kk = 0; kk < kTileK; kk += 16) {
      const long a = *reinterpret_cast<const long *>(&a_tile[lane % 32][kk + lane / 32 * 8]);
      const long b = *reinterpret_cast<const long *>(&b_tile[wave * 32 + lane % 32][kk + lane / 32 * 8]);
      block_sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, block_sum, 0, 0, 0);
    }
    const float b_scale = args.b_scale[kb * scale_columns + first_j / 128];
    for (int r = 0; r < 16; ++r) {
      const int i = first_i + r / 4 * 8 + lane / 32 * 4 + r % 4;  // the rows of C that the lane holds
      sum[r] += block_sum[r] * args.a_scale[kb * args.m + i] * b_scale;
    }
  }
  for (int r = 0; r < 16; ++r) {
    const int i = first_i + r / 4 * 8 + lane / 32 * 4 + r % 4;
    args.c[size_t(i) * args.n + j] = to_bf16(sum[r]);
  }
}
