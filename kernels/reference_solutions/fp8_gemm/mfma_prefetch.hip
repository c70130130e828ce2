// fp8_gemm, kernel track, ladder: FP8 matrix instructions on 128x128 tiles, the next tile in flight in registers while
// one is multiplied. It shows what prefetch alone does for a kernel with one workgroup a CU.
//
// Idea. Before a tile is multiplied, the loads of the next are issued; they arrive behind the matrix instructions and
// are transposed and stored to LDS after the next barrier. Four waves with 64x64 of C each: 32 matrix instructions a
// wave and step for 8 pieces to transpose and 32 LDS reads.
// Tiling. 128 x 128 x 128. A thread brings 4x4-byte pieces: four words of four rows each, turned by eight byte
// permutes.
// Budget. LDS 34 KiB (a pitch of 136 bytes spreads the rows over the banks), 292 registers (of 512 for one wave a
// SIMD), none spilled: 64 totals, 64 sums of the block, 32 on their way.
// Bottleneck. Barriers and the address pipeline: one wave a SIMD, so that nobody works while it transposes; loads of 4
// bytes a lane take four times the instructions of 16. k is not split: small grids leave most of the 304 CUs idle.
// Roofs. `hipbench problems show fp8_gemm`. Modelled (mi300x-1.7012c48a), microseconds:
//   m=512, n=1024, k=512: 22.2 (1.4 % of the nearer roof, memory; matrix units 1 % busy; 50 % of LDS time in conflicts)
//   m=64, n=256, k=2048: 43.7 (0.3 % of the nearer roof, memory; 50 % of LDS time in conflicts)
// Tried. Loads of 16 bytes without prefetch are the baseline; both at once, with the transposition in the shadow of the
// matrix instructions, is the expert.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "mfma_tiled_gemm"
grid = ["(n + 127) / 128", "(m + 127) / 128"]
block = [256]
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

constexpr int kTile = 128;            // of m and of n
constexpr int kTileK = 128;           // a step of k is one scale block
constexpr int kThreads = 256;
constexpr int kPitch = kTileK + 8;    // bytes a row of LDS; the 8 spread rows over the banks
constexpr int kPieces = kTile / 4 * (kTileK / 4) / kThreads;  // 4x4 bytes each, of A and as many of B, a thread

using float16v = float __attribute__((ext_vector_type(16)));

// The matrix instruction wants eight neighbours in k a lane, memory has neighbours in i (or j). So a tile is transposed
// on its way into LDS, in pieces of 4x4 bytes: four words of four i each become four words of four k each.
struct Pieces {
  uint32_t words[kPieces][4];

  // Where piece s of this thread lies in the tile. 16 lanes cover 64 neighbouring bytes of memory.
  __device__ static int row() { return (threadIdx.x / 64 % 2 * 16 + threadIdx.x % 16) * 4; }
  __device__ static int column(int s) { return (threadIdx.x / 128 * 4 + threadIdx.x / 16 % 4 + 8 * s) * 4; }

  // `source` is the tile's first byte; `rows` how many of its rows exist, a multiple of 4. What does not exist is read
  // from row 0.
  __device__ void load(const uint8_t *source, int pitch, int rows) {
    const int i = row() < rows ? row() : 0;
#pragma unroll
    for (int s = 0; s < kPieces; ++s)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        words[s][r] = *reinterpret_cast<const uint32_t *>(source + (column(s) + r) * pitch + i);
  }
  __device__ void store_transposed(uint8_t (&tile)[kTile][kPitch]) const {
#pragma unroll
    for (int s = 0; s < kPieces; ++s) {
      const uint32_t(&in)[4] = words[s];
      // Bytes 0 1 of both, then bytes 2 3 of both, interleaved.
      const uint32_t low01 = __builtin_amdgcn_perm(in[1], in[0], 0x05010400);
      const uint32_t high01 = __builtin_amdgcn_perm(in[1], in[0], 0x07030602);
      const uint32_t low23 = __builtin_amdgcn_perm(in[3], in[2], 0x05010400);
      const uint32_t high23 = __builtin_amdgcn_perm(in[3], in[2], 0x07030602);
      const uint32_t out[4] = {
          __builtin_amdgcn_perm(low23, low01, 0x05040100), __builtin_amdgcn_perm(low23, low01, 0x07060302),
          __builtin_amdgcn_perm(high23, high01, 0x05040100), __builtin_amdgcn_perm(high23, high01, 0x07060302)};
#pragma unroll
      for (int r = 0; r < 4; ++r) *reinterpret_cast<uint32_t *>(&tile[row() + r][column(s)]) = out[r];
    }
  }
};

extern "C" __global__ void __launch_bounds__(kThreads) mfma_tiled_gemm(hb_fp8_gemm args) {
  __shared__ __attribute__((aligned(16))) uint8_t a_tile[kTile][kPitch];
  __shared__ __attribute__((aligned(16))) uint8_t b_tile[kTile][kPitch];
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const int first_i = blockIdx.y * kTile, first_j = blockIdx.x * kTile;
  const int rows_a = min(args.m - first_i, kTile), rows_b = min(args.n - first_j, kTile);
  const int wave_i = wave / 2 * 64, wave_j = wave % 2 * 64;  // the wave's 64x64 in the tile
  const int scale_columns = (args.n + 127) / 128, steps = args.k / kTileK;

  Pieces next_a, next_b;
  next_a.load(args.a + first_i, args.m, rows_a);
  next_b.load(args.b + first_j, args.n, rows_b);
  float16v sum[2][2] = {};
  for (int kb = 0; kb < steps; ++kb) {
    __syncthreads();  // the last step's readers are done
    next_a.store_transposed(a_tile);
    next_b.store_transposed(b_tile);
    __syncthreads();
    const int following = min(kb + 1, steps - 1);  // the last step loads its own once more
    next_a.load(args.a + size_t(following) * kTileK * args.m + first_i, args.m, rows_a);
    next_b.load(args.b + size_t(following) * kTileK * args.n + first_j, args.n, rows_b);

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
      const int i = first_i + wave_i + 32 * h;
      if (i >= args.m) continue;
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const float scale = args.a_scale[kb * args.m + i + r / 4 * 8 + lane / 32 * 4 + r % 4] * b_scale;
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
        // The rows of C that the lane holds.
        const int i = first_i + wave_i + 32 * h + r / 4 * 8 + lane / 32 * 4 + r % 4;
        args.c[size_t(i) * args.n + j] = to_bf16(sum[h][g][r]);
      }
    }
}
