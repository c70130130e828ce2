// fp8_gemm, kernel track, ladder: the baseline with rows of LDS that are not padded, and nothing else changed. It shows
// what eight bytes are worth.
//
// Idea and tiling. As in baseline.hip: 128x128 of C a workgroup of four waves, a scale block a step, transposed on the
// way.
// Budget. LDS 2 x 128 x 128 bytes = 32 KiB, 208 registers, none spilled.
// Bottleneck. The LDS banks. LDS has 32 banks of 4 bytes; a row of 128 bytes is exactly one round of them, so all rows
// begin in bank 0. A read of 8 bytes a lane is served 16 lanes at a time, which want two neighbouring banks of 16
// different rows: 16 clocks instead of one. The stores, of rows 16 apart, meet likewise.
// Roofs. `hipbench problems show fp8_gemm`. Modelled (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 36.7 (0.8 % of the nearer roof, memory; matrix units 1 % busy; 92 % of LDS time in conflicts)
//   m=64, n=256, k=2048: 99.9 (0.1 % of the nearer roof, memory; 92 % of LDS time in conflicts)
// Tried. Padding by 8 bytes (baseline.hip) mends the reads; the expert's xor of 16-byte pieces with the row mends reads
// and stores and costs no LDS: 92 %, 70 % and 0 % of the banks' time lost to conflicts.

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
constexpr int kPitch = kTileK;      // bytes a row of LDS

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
