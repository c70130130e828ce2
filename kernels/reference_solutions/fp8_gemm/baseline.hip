// fp8_gemm, kernel track: the baseline that speed-ups are taken over. FP8 matrix instructions on tiles in LDS, and
// nothing more: no load is in flight while a tile is multiplied, k is not split, a store writes what a lane happens to
// hold.
//
// Idea. A workgroup of four waves has 128x128 of C. For each scale block (128 of k) it brings a tile of A and one of B
// into LDS, transposed on the way, and each wave multiplies its 64x64 with 32x32x16 matrix instructions. The block's
// sums are scaled in f32 and added to the totals.
// Layouts. Memory has neighbours in i (or j), the matrix instruction wants eight neighbours in k a lane. A thread reads
// 16 bytes of eight rows of k and turns them round with byte permutes: 16 rows of eight bytes each for LDS.
// Budget. LDS 2 x 128 x 136 bytes = 34 KiB: one workgroup a CU, one wave a SIMD. The pitch of 136 spreads the rows of a
// read over all banks; the stores, whose rows are 16 apart, still meet (mfma_bank_conflicts.hip: without the 8). 208
// registers, none spilled.
// Bottleneck. Latency: loads, transposition, matrix instructions and scaling follow each other, a barrier between them,
// and one wave a SIMD hides nothing; shapes with few tiles leave most of the 304 CUs idle.
//
// Roofs: `hipbench problems show fp8_gemm`. Modelled (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 25.6 (1.2 % of the nearer roof, memory; matrix units 1 % busy; 70 % of LDS time in conflicts)
//   m=1024, n=4096, k=512: 27.1 (6.8 % of the nearer roof, memory; matrix units 6 % busy; 70 % of LDS time in
//     conflicts)
//   m=1024, n=7168, k=256: 30.0 (9.3 % of the nearer roof, memory; matrix units 5 % busy; 70 % of LDS time in
//     conflicts)
//   m=1024, n=3072, k=1536: 50.5 (7.3 % of the nearer roof, matrix; matrix units 7 % busy; 70 % of LDS time in
//     conflicts)
//   m=64, n=256, k=2048: 55.9 (0.2 % of the nearer roof, memory; 70 % of LDS time in conflicts)
//   m=1024, n=7168, k=2048: 112 (10.3 % of the nearer roof, matrix; matrix units 10 % busy; 70 % of LDS time in
//     conflicts)
//   m=1024, n=7168, k=2304: 124 (10.5 % of the nearer roof, matrix; matrix units 10 % busy; 70 % of LDS time in
//     conflicts)
//   m=1024, n=512, k=7168: 168 (1.7 % of the nearer roof, matrix; matrix units 2 % busy; 70 % of LDS time in conflicts)
//   m=1024, n=576, k=7168: 173 (1.9 % of the nearer roof, matrix; matrix units 2 % busy; 70 % of LDS time in conflicts)
//   m=1024, n=1536, k=7168: 175 (4.9 % of the nearer roof, matrix; matrix units 5 % busy; 70 % of LDS time in
//     conflicts)
//   m=1024, n=4608, k=7168: 181 (14.3 % of the nearer roof, matrix; matrix units 14 % busy; 70 % of LDS time in
//     conflicts)
// Tried. The register prefetch of mfma_prefetch.hip, which takes 13 to 20 % off on small grids, and is left to it.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "mfma_gemm"
grid = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block = [256]
args = ["@args"]
*/

#include <hip/hip_runtime.h>

#include "hipbench/fp8_gemm.h"

constexpr int kTile = 128;          // of m and of n
constexpr int kTileK = 128;         // a step of k is one scale block
constexpr int kPitch = kTileK + 8;  // bytes a row of LDS

using float16v = float __attribute__((ext_vector_type(16)));
using uint4v = uint32_t __attribute__((ext_vector_type(4)));
using uint2v = uint32_t __attribute__((ext_vector_type(2)));

// f32 to bf16, to nearest even; a NaN stays one.
__device__ inline uint16_t to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0x7fc0;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Four words of four rows each become four words of four k each: out[x] has byte x of a, b, c, d.
__device__ inline void transpose(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t (&out)[4]) {
  const uint32_t ab01 = __builtin_amdgcn_perm(b, a, 0x05010400), ab23 = __builtin_amdgcn_perm(b, a, 0x07030602);
  const uint32_t cd01 = __builtin_amdgcn_perm(d, c, 0x05010400), cd23 = __builtin_amdgcn_perm(d, c, 0x07030602);
  out[0] = __builtin_amdgcn_perm(cd01, ab01, 0x05040100), out[1] = __builtin_amdgcn_perm(cd01, ab01, 0x07060302);
  out[2] = __builtin_amdgcn_perm(cd23, ab23, 0x05040100), out[3] = __builtin_amdgcn_perm(cd23, ab23, 0x07060302);
}

// A thread's 16 rows by 8 of k. `source` is the tile's first byte, `rows` how many of its rows exist, a multiple of 16;
// what does not exist is read from row 0.
__device__ inline void bring(const uint8_t *source, int pitch, int rows, int piece, uint8_t (&tile)[kTile][kPitch]) {
  const int row = piece % 8 * 16, kk = piece / 8 * 8;
  uint4v in[8];
#pragma unroll
  for (int r = 0; r < 8; ++r)
    in[r] = *reinterpret_cast<const uint4v *>(source + size_t(kk + r) * pitch + (row < rows ? row : 0));
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    uint32_t low[4], high[4];
    transpose(in[0][w], in[1][w], in[2][w], in[3][w], low);
    transpose(in[4][w], in[5][w], in[6][w], in[7][w], high);
#pragma unroll
    for (int x = 0; x < 4; ++x) *reinterpret_cast<uint2v *>(&tile[row + 4 * w + x][kk]) = uint2v{low[x], high[x]};
  }
}

extern "C" __global__ void __launch_bounds__(256) mfma_gemm(hb_fp8_gemm args) {
  __shared__ __attribute__((aligned(16))) uint8_t a_tile[kTile][kPitch];
  __shared__ __attribute__((aligned(16))) uint8_t b_tile[kTile][kPitch];
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const int first_i = blockIdx.y * kTile, first_j = blockIdx.x * kTile;
  const int wave_i = wave / 2 * 64, wave_j = wave % 2 * 64;  // the wave's 64x64 in the tile
  const int scale_columns = (args.n + 127) / 128;

  float16v sum[2][2] = {};
  for (int kb = 0; kb < args.k / kTileK; ++kb) {
    __syncthreads();  // the last step's readers are done
    if (threadIdx.x < 128)
      bring(args.a + size_t(kb) * kTileK * args.m + first_i, args.m, args.m - first_i, threadIdx.x, a_tile);
    else
      bring(args.b + size_t(kb) * kTileK * args.n + first_j, args.n, args.n - first_j, threadIdx.x - 128, b_tile);
    __syncthreads();

    // Lane l gives row l % 32 of A and column l % 32 of B, k values 8 * (l / 32) to + 7 of the 16.
    float16v block[2][2] = {};
#pragma unroll
    for (int kk = 0; kk < kTileK; kk += 16) {
      long a[2], b[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        a[h] = *reinterpret_cast<const long *>(&a_tile[wave_i + 32 * h + lane % 32][kk + lane / 32 * 8]);
        b[h] = *reinterpret_cast<const long *>(&b_tile[wave_j + 32 * h + lane % 32][kk + lane / 32 * 8]);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int g = 0; g < 2; ++g)
          block[h][g] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[h], b[g], block[h][g], 0, 0, 0);
    }
    const float b_scale = args.b_scale[kb * scale_columns + first_j / 128];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = first_i + wave_i + 32 * h + lane / 32 * 4;
      if (first_i + wave_i + 32 * h >= args.m) continue;
#pragma unroll
      for (int r = 0; r < 16; ++r) {  // of the 32 rows, the lane holds r / 4 * 8 + lane / 32 * 4 + r % 4
        const float scale = args.a_scale[kb * args.m + i + r / 4 * 8 + r % 4] * b_scale;
        sum[h][0][r] += block[h][0][r] * scale;
        sum[h][1][r] += block[h][1][r] * scale;
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const int j = first_j + wave_j + 32 * g + lane % 32;
      if (first_i + wave_i + 32 * h >= args.m || j >= args.n) continue;
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const int i = first_i + wave_i + 32 * h + r / 4 * 8 + lane / 32 * 4 + r % 4;
        args.c[size_t(i) * args.n + j] = to_bf16(sum[h][g][r]);
      }
    }
}
