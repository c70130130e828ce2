// fp8_gemm, kernel track: the expert.
//
// Idea. C = A . B^T in tiles of 128x128, a scale block (128 of k) at a time, with v_mfma_f32_32x32x16_fp8_fp8. The
// sum of a block is scaled and added in f32 by plain FMAs that hide behind the matrix instructions of the next part.
// What a matrix unit waits for is arranged so that it never has to:
//   * Two bodies share a SIMD. With many tiles they are two workgroups of four waves on a CU; with short k there are
//     576 in all, which take one tile after the other. With few tiles they are two groups of four waves in one
//     workgroup; group g has every second scale block, half a turn behind the other, and the two sums meet in LDS at
//     the end. Either way one body multiplies while the other waits at a barrier, reads or stores.
//   * Memory has neighbours in i (j), the matrix instruction wants neighbours in k. A thread loads 16 bytes of 8 rows
//     of k, turns the 16x8 bytes with 64 v_perm_b32 and stores 16 rows of 8 bytes to LDS. Loads run one block ahead
//     of the turning, turning one block ahead of the use: the permutes sit in the shadow of the matrix instructions,
//     too.
//   * The loop is written out in the order in which it should issue, 32 steps of one matrix instruction and what
//     hides behind it, each closed by a sched_barrier. LDS reads come 4 to 8 steps before their use, global loads and
//     LDS stores one every second step: eight at once would fill the queues and hold up the matrix instructions
//     behind them.
//   * The second operand of the matrix instruction is A, so a lane holds one row of C: one a_scale a lane, not 16.
//   * Few tiles: k is split (m=1024,n=576,k=7168 has 40 tiles for 304 CUs); f32 partial sums go to the workspace,
//     `reduce` adds them in a fixed order. As many splits as fill 288 CUs: dispatch is in order over the four shader
//     engines of an XCD, of which two have 9 CUs, so that the 37th workgroup of an XCD waits for one of the first 36.
//   * Workgroup i runs on XCD i % 8. Each XCD gets neighbouring tiles of one split, in panels of eight tiles of m, so
//     that its L2 serves about 80 % of the loads.
// LDS: 128 rows of 128 bytes each for A and B, without padding: 16-byte chunk c of row r lies at c ^ (r & 3 | r >> 1
// & 4) ^ r >> 4 & 7. Then no phase of a b64 store (16 lanes: eight rows 16 apart, two halves of a chunk), of a b128
// read (lanes 0-3 and 20-23, ...) or of turning C round meets a bank twice. No bank conflicts anywhere.
// Row 8g + 4h + q of a matrix instruction is row 16(g/2) + 8h + 4(g%2) + q of the strip of 32, for A and B alike: so
// a lane holds eight neighbours of a row of C, and a store through LDS writes whole lines of 128 bytes.
// Budget. LDS 32 KiB a body, 64 KiB a CU. 240 to 254 VGPRs, none spilled, no AGPRs: 64 totals, 32 sums of the block, 48
// operands, 32 loaded, 32 turned. Both allow just two waves a SIMD.
// Bottleneck. Steady state: the matrix units, 1220 to 1300 clocks for the 1024 that a block of a tile needs at the
// least (LDS ports come next, 830 of them). Short shapes: the launch (4.2 us), the instruction cache (4.7 KiB of code
// are 37 lines of 213 clocks, 3.7 us, before the first tile is done), writing C and, where k is split, the partial
// sums.
// Sizes. Offsets have 32 bits: A, B and C below 2 GiB each.
//
// Modelled, microseconds (timing model mi300x-1; `hipbench profile` gives the causes); floor as `hipbench problems show
// fp8_gemm` has it:
//   1024,1536,7168   32.1 (  8.6)   1024,3072,1536   18.7 (  3.7)    1024,576,7168   25.2 (  3.2)
//    1024,7168,256   14.2 (  1.4)   1024,7168,2048   31.2 ( 11.5)   1024,4608,7168   44.2 ( 25.9)
//   1024,7168,2304   33.7 ( 12.9)    1024,512,7168   23.6 (  2.9)    1024,4096,512   15.4 (  1.6)
//   6144,1536,7168   80.7 ( 51.7)   6144,3072,1536   45.1 ( 22.2)    6144,576,7168   44.3 ( 19.4)
//    6144,7168,256   38.2 (  8.6)   6144,7168,2048  118.3 ( 69.0)   6144,4608,7168  279.9 (155.2)
//   6144,7168,2304  130.3 ( 77.6)    6144,512,7168   43.7 ( 17.2)    6144,4096,512   41.7 (  9.9)
//   geometric mean of the 18 shapes 42.2
// Of the nearer roof: 12 to 27 % where the launch, the code and `reduce` are the time (m=1024 with small n or k; 24 %
// at 6144,4096,512), 37 to 64 % on the larger shapes, with the matrix units busy as long. What comes from behind the L2
// is 1.1 to 4 times the least bytes, most where k is split; no clock of the LDS banks goes into conflicts. (Counted by
// the profile; docs/reference-solutions.md has the table of all shapes.)
//
// Tried, and what came of it (kernel time at m=1024,n=1536,k=7168 unless said otherwise):
//   * Two barriers a block with store and turning between them, matrix instructions in the compiler's order, additions
//     at the end: 24 us instead of 20. Turning in the shadow, but stores still between the barriers: no better, since
//     both groups then met at the LDS ports. Stores in the shadow as well: 19 % less.
//   * All 16 LDS reads, and all eight loads, at once: 1523 clocks a block instead of 1220. The queues (8 and 16
//     entries) fill and the wave stands still in front of them.
//   * A branch around the multiplication for the group that has no block left: the compiler moved the loads behind it,
//     and nothing was in flight any more (28 us). Hence the factor of 0.
//   * v_pk_fma_f32, which the compiler prefers: halves the additions, but does not overlap with matrix instructions.
//     The empty asm after each addition keeps it away.
//   * The last part's additions carried into the next block: 4 % less a block, 0.1 us more a launch. Left out.
//   * Nine splits for m=1024,n=512,k=7168 instead of seven: 0.4 us slower; two for n=3072,k=1536: 5 us slower.
//   * Four splits' loads in flight in `reduce`: no change, it is bound by the Infinity Cache.
//   * Panels of eight tiles of m at m=1024,n=4096: 1.7 us slower than tiles in the order of n, see `crowded`; at m=6144
//     the other way round, and 9 us.
// What is left: 40 lines of code at 213 clocks each, once a CU; `reduce` costs 7.5 us where k is split (a sum by
// whoever comes last would save the launch); 448 tiles (n=7168) are three for every two CUs, so that a third of the
// time half of the matrix units have nothing to do.

/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[let]
tiles_m = "ceil_div(m, 128)"
tiles_n = "ceil_div(n, 128)"
tiles   = "tiles_m * tiles_n"
blocks  = "k / 128"
height  = "crowded ? 1 : tiles_m % 8 == 0 ? 8 : tiles_m % 4 == 0 ? 4 : tiles_m % 2 == 0 ? 2 : 1"  # of a panel of tiles
crowded = "n % 4096 == 0 && tiles <= 288"  # a tile of B lies in one channel of the L2: spread them
shift   = "height == 8 ? 3 : height == 4 ? 2 : height == 2 ? 1 : 0"
panel   = "height * tiles_n"
per_tiles = "2147483648 / tiles + 1"  # x / tiles is the upper word of 2 * x * per_tiles: no workgroup divides
per_panel = "2147483648 / panel + 1"
pairs   = "tiles > 288 || blocks < 8"     # many tiles: two workgroups a CU; else one with two groups of waves
wanted  = "pairs ? 1 : max(1, min(288 / tiles, blocks / 4))"
share   = "min(blocks, align_up(ceil_div(blocks, wanted), 2))"  # scale blocks of a split
splits  = "pairs ? 1 : ceil_div(blocks, share)"
resident = "blocks > 18 ? tiles : min(tiles, 576)"  # as many as run at once take every 72nd tile of their XCD
[workspace]
partial = "splits > 1 ? splits * tiles * 65536 : 256"
[[step]]
when = "pairs"
kernel = "gemm<1, false>"
grid = ["resident"]
block = [256]
args = ["@args", "partial", "i32:tiles", "i32:panel", "i32:shift", "u32:per_tiles", "u32:per_panel", "i32:blocks"]
[[step]]
when = "!pairs && splits == 1"
kernel = "gemm<2, false>"
grid = ["tiles"]
block = [512]
args = ["@args", "partial", "i32:tiles", "i32:panel", "i32:shift", "u32:per_tiles", "u32:per_panel", "i32:blocks"]
[[step]]
when = "splits > 1"
kernel = "gemm<2, true>"
grid = ["tiles * splits"]
block = [512]
args = ["@args", "partial", "i32:tiles", "i32:panel", "i32:shift", "u32:per_tiles", "u32:per_panel", "i32:share"]
[[step]]
when = "splits > 1"
kernel = "reduce"
grid = ["tiles * 8"]
block = [256]
args = ["@args", "partial", "i32:tiles", "i32:panel", "i32:shift", "u32:per_panel", "i32:splits"]
*/

#include <hip/hip_runtime.h>

#include "hipbench/fp8_gemm.h"

constexpr int kTile = 128;
constexpr int kTileK = 128;
constexpr int kXcds = 8;

using float4v = float __attribute__((ext_vector_type(4)));
using float16v = float __attribute__((ext_vector_type(16)));
using uint4v = uint32_t __attribute__((ext_vector_type(4)));
using uint2v = uint32_t __attribute__((ext_vector_type(2)));
using long2v = long __attribute__((ext_vector_type(2)));

// Two f32 to two bf16 in a word, to nearest. (A sum exactly between two, which is rare, goes away from 0 and not to
// even: less than half the code, and fetching code is what short launches wait for.)
__device__ inline uint32_t to_bf16_pair(float low, float high) {
  return __builtin_amdgcn_perm(__float_as_uint(high) + 0x8000, __float_as_uint(low) + 0x8000, 0x07060302);
}

// The row of a strip of 32 that lane `c` of 32 takes part in a matrix instruction with.
__device__ inline int row_of(int c) { return (c >> 4 & 1) * 16 + (c >> 2 & 1) * 8 + (c >> 3 & 1) * 4 + (c & 3); }
__device__ inline int row_swizzle(int row) { return (row & 3) | (row >> 3 & 1) << 2; }

// Where a workgroup works, from the plan, so that no workgroup divides.
struct Order {
  int tile, split, first_i, first_j;
  __device__ Order(int ordered, int tiles, int panel_tiles, int shift, uint32_t per_tiles, uint32_t per_panel) {
    split = __umulhi(2 * ordered, per_tiles);
    tile = ordered - split * tiles;
    const int panel = __umulhi(2 * tile, per_panel), in_panel = tile - panel * panel_tiles;
    first_i = ((panel << shift) + (in_panel & ((1 << shift) - 1))) * kTile;
    first_j = (in_panel >> shift) * kTile;
  }
};

// 16 rows of m (or n) by 8 of k, a thread: its share of a tile of A or of B, on its way from memory to LDS.
struct Piece {
  uint4v raw[8];       // as in memory: a row of k each
  uint2v turned[16];   // eight k of a row of m each

  // Four of the 64 byte permutes that turn the piece.
  __device__ void turn(int step) {
    const int w = step / 4, half = step / 2 % 2;
    if (step % 2 == 0) {
      const uint32_t a = raw[4 * half][w], b = raw[4 * half + 1][w], c = raw[4 * half + 2][w], d = raw[4 * half + 3][w];
      between[0] = __builtin_amdgcn_perm(b, a, 0x05010400), between[1] = __builtin_amdgcn_perm(b, a, 0x07030602);
      between[2] = __builtin_amdgcn_perm(d, c, 0x05010400), between[3] = __builtin_amdgcn_perm(d, c, 0x07030602);
    } else {
      turned[4 * w][half] = __builtin_amdgcn_perm(between[2], between[0], 0x05040100);
      turned[4 * w + 1][half] = __builtin_amdgcn_perm(between[2], between[0], 0x07060302);
      turned[4 * w + 2][half] = __builtin_amdgcn_perm(between[3], between[1], 0x05040100);
      turned[4 * w + 3][half] = __builtin_amdgcn_perm(between[3], between[1], 0x07060302);
    }
  }
  // `place`: of the piece's first row in LDS; `chunk`: which 16 bytes of a row, before swizzling by the row.
  // Two of the 16 rows, whose swizzle is the same: one instruction. `step` is 0 to 7.
  __device__ void store(uint8_t *place, int chunk, int step) const {
    const int row = step % 4 + step / 4 * 8;
    uint8_t *const to = place + row * kTileK + (chunk ^ row_swizzle(row)) * 16;
    *reinterpret_cast<uint2v *>(to) = turned[row];
    *reinterpret_cast<uint2v *>(to + 4 * kTileK) = turned[row + 4];
  }

 private:
  uint32_t between[4];
};

template <int kGroups, bool kSplit>
__global__ void __launch_bounds__(256 * kGroups, 2)
    gemm(hb_fp8_gemm args, float *partial, int tiles, int panel_tiles, int shift, uint32_t per_tiles,
         uint32_t per_panel, int split_blocks) {
  __shared__ __attribute__((aligned(16))) uint8_t lds[kGroups * 2 * kTile * kTileK];
  const int lane = threadIdx.x % 64, thread = threadIdx.x % 256;
  const int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64) % 4;
  const int group = kGroups == 1 ? 0 : __builtin_amdgcn_readfirstlane(threadIdx.x / 256);
  // The tiles of this XCD, of all splits: neighbours. A workgroup has every `step`th of them.
  const int all = kSplit ? gridDim.x : tiles, xcd = blockIdx.x % kXcds, step_tiles = (gridDim.x + kXcds - 1) / kXcds;
  const int xcd_end = (xcd + 1) * (all / kXcds) + min(xcd + 1, all % kXcds);
  int ordered = xcd * (all / kXcds) + min(xcd, all % kXcds) + blockIdx.x / kXcds;
  do {
    const Order order(ordered, tiles, panel_tiles, shift, per_tiles, per_panel);
    const int first_i = order.first_i, first_j = order.first_j;
    const int first_block = order.split * split_blocks + group;
    const int last_block = min((order.split + 1) * split_blocks, args.k / kTileK) - 1;
    const int rounds = (last_block + kGroups - order.split * split_blocks) / kGroups;

    // This thread's piece: waves 0 and 1 bring A, waves 2 and 3 bring B.
    const bool brings_b = wave >= 2;
    const int piece_m = lane % 8, piece_k = thread % 128 / 8;
    const int pitch = brings_b ? args.n : args.m, origin = brings_b ? first_j : first_i;
    const int piece_row = origin + piece_m * 16 < pitch ? piece_m * 16 : 0;  // what does not exist is read from row 0
    const uint32_t piece_offset = piece_k * 8 * pitch + piece_row;
    const __amdgpu_buffer_rsrc_t source = __builtin_amdgcn_make_buffer_rsrc(
        const_cast<uint8_t *>(brings_b ? args.b : args.a), 0, pitch * args.k, 0x00027000);
    uint8_t *const tile_a = lds + group * 2 * kTile * kTileK, *const tile_b = tile_a + kTile * kTileK;
    uint8_t *const piece_place = (brings_b ? tile_b : tile_a) + piece_m * 16 * kTileK + piece_k % 2 * 8;
    const int piece_chunk = piece_k / 2 ^ piece_m;

    // This wave's 64x64 of the tile.
    const int wave_i = wave / 2 * 64, wave_j = wave % 2 * 64;
    const int row = row_of(lane % 32), half = lane / 32;
    const int scale_columns = (args.n + 127) / 128;
    const int i0 = first_i + wave_i + row;
    const uint32_t scale_i[2] = {uint32_t(min(i0, args.m - 1)), uint32_t(min(i0 + 32, args.m - 1))};
    // This lane's chunks of the first strip of 32 rows; the second strip has them in another order.
    const uint8_t *from_a[4], *from_b[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int chunk = (2 * q + half) ^ row_swizzle(row) ^ row >> 4;
      from_a[q] = tile_a + (wave_i + row) * kTileK + (chunk ^ wave_i >> 4) * 16;
      from_b[q] = tile_b + (wave_j + row) * kTileK + (chunk ^ wave_j >> 4) * 16;
    }

    Piece piece;
    float a_scale[2], b_scale;
    const auto fetch = [&](int block, int r) {
      const int row_offset = (block * kTileK + r) * pitch + origin;
      piece.raw[r] = __builtin_amdgcn_raw_buffer_load_b128(source, piece_offset, row_offset, 0);
    };
    const auto fetch_scales = [&](int block) {
      const float *scales = args.a_scale + block * args.m;
      a_scale[0] = scales[scale_i[0]];
      a_scale[1] = scales[scale_i[1]];
      b_scale = args.b_scale[block * scale_columns + first_j / 128];
    };

    float sum[2][2][16] = {};
    int block = first_block;
    fetch_scales(min(block, last_block));
#pragma unroll
    for (int r = 0; r < 8; ++r) fetch(min(block, last_block), r);
#pragma unroll
    for (int step = 0; step < 16; ++step) piece.turn(step);
#pragma unroll
    for (int r = 0; r < 8; ++r) fetch(min(block + kGroups, last_block), r);
#pragma unroll
    for (int step = 0; step < 8; ++step) piece.store(piece_place, piece_chunk, step);
    if (kGroups == 2 && group == 1) __syncthreads();
    int round = 0;
    do {
      // A group without a block left multiplies its last one by 0.
      const float live = kGroups == 1 || block <= last_block ? b_scale : 0;
      const float scale[2] = {a_scale[0] * live, a_scale[1] * live};
      block += kGroups;
      __syncthreads();
      long2v a[2][4], b[2][4];
      const auto read_a = [&](int h, int q) {
        a[h][q] = *reinterpret_cast<const long2v *>(from_a[q ^ h] + h * 32 * kTileK);
      };
      const auto read_b = [&](int g, int q) {
        b[g][q] = *reinterpret_cast<const long2v *>(from_b[q ^ g] + g * 32 * kTileK);
      };
      read_a(0, 0), read_b(0, 0), read_a(0, 1), read_b(0, 1);
      __builtin_amdgcn_sched_barrier(0);

      // Four 32x32 parts, eight matrix instructions each. In the shadow of each instruction: four permutes of the next
      // piece, additions of the part before, a read of operands to come, a load of the piece after next, a store.
      float16v part[4] = {};
#pragma unroll
      for (int step = 0; step < 32; ++step) {
        const int p = step / 8, h = p / 2, g = p == 1 || p == 2, q = step % 8 / 2;
        part[p] = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(b[g][q][step % 2], a[h][q][step % 2], part[p], 0, 0, 0);
        if (step < 2) read_a(0, step + 2), read_b(0, step + 2);
        if (step >= 2 && step < 6) read_b(1, step - 2);
        if (step >= 6 && step < 10) read_a(1, step - 6);
        if (step < 16) piece.turn(step);
        if (p > 0 && step % 8 >= 4) {
          const int before = p - 1;
#pragma unroll
          for (int r = 0; r < 4; ++r) {
            float &to = sum[before / 2][before == 1 || before == 2][(step % 8 - 4) * 4 + r];
            to = __builtin_fmaf(part[before][(step % 8 - 4) * 4 + r], scale[before / 2], to);
            asm("" : "+v"(to));
          }
        }
        if (step == 15) {
          __syncthreads();  // all of LDS is read
          fetch_scales(min(block, last_block));
        }
        if (step >= 16 && step < 24) fetch(min(block + kGroups, last_block), step - 16);
        if (step >= 16 && step % 2 == 1) piece.store(piece_place, piece_chunk, step / 2 - 8);
        __builtin_amdgcn_sched_barrier(0);
      }
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        sum[1][0][r] = __builtin_fmaf(part[3][r], scale[1], sum[1][0][r]);
        asm("" : "+v"(sum[1][0][r]));
      }
    } while (++round < rounds);
    if (kGroups == 2 && group == 0) __syncthreads();
    __syncthreads();  // the last pieces are stored, though nobody wants them

    // Group 0 keeps the first 32 rows of each wave's part, group 1 the others.
    if (kGroups == 2) {
      float4v *const mine = reinterpret_cast<float4v *>(lds) + (group * 4 + wave) * 512 + lane;
      const float4v *const others = reinterpret_cast<const float4v *>(lds) + ((1 - group) * 4 + wave) * 512 + lane;
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          float4v give;
#pragma unroll
          for (int e = 0; e < 4; ++e) give[e] = group == 0 ? sum[1][g][4 * r + e] : sum[0][g][4 * r + e];
          mine[(g * 4 + r) * 64] = give;
        }
      __syncthreads();
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float4v got = others[(g * 4 + r) * 64];
#pragma unroll
          for (int e = 0; e < 4; ++e)
            sum[0][g][4 * r + e] = (group == 0 ? sum[0][g][4 * r + e] : sum[1][g][4 * r + e]) + got[e];
        }
      __syncthreads();
    }

    constexpr int kStrips = 2 / kGroups;  // of 32 rows, that this wave has to write
    if (kSplit) {
      const size_t first = (size_t(order.split) * tiles + order.tile) * (kTile * kTile / 4);
      float4v *place = reinterpret_cast<float4v *>(partial) + first + wave * 1024 + lane;
#pragma unroll
      for (int h = 0; h < kStrips; ++h)
#pragma unroll
        for (int g = 0; g < 2; ++g)
#pragma unroll
          for (int r = 0; r < 4; ++r) {
            float4v out;
#pragma unroll
            for (int e = 0; e < 4; ++e) out[e] = sum[h][g][4 * r + e];
            place[((h + group) * 2 + g) * 256 + r * 64] = out;
          }
      return;
    }

    // Each wave turns its part round in LDS so that a store writes whole lines.
    uint8_t *const stage = lds + (group * 4 + wave) * (kStrips * 32 * 128);
#pragma unroll
    for (int h = 0; h < kStrips; ++h)
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          uint4v out;
#pragma unroll
          for (int e = 0; e < 4; ++e) out[e] = to_bf16_pair(sum[h][g][8 * r + 2 * e], sum[h][g][8 * r + 2 * e + 1]);
          const int octet = g * 4 + r * 2 + half;
          *reinterpret_cast<uint4v *>(stage + (32 * h + row) * 128 + (octet ^ row_swizzle(row)) * 16) = out;
        }
    // Rows beyond m lie beyond the buffer, and so does what is said of columns beyond n: such stores do nothing.
    const __amdgpu_buffer_rsrc_t c = __builtin_amdgcn_make_buffer_rsrc(args.c, 0, args.m * args.n * 2, 0x00027000);
    const int i = first_i + wave_i + group * 32 + lane / 8, j = first_j + wave_j + lane % 8 * 8;
    const uint32_t place = j < args.n ? (i * args.n + j) * 2 : 0x80000000;
#pragma unroll
    for (int t = 0; t < 4 * kStrips; ++t) {
      const int r = t * 8 + lane / 8;
      const uint4v out = *reinterpret_cast<const uint4v *>(stage + r * 128 + (lane % 8 ^ row_swizzle(r)) * 16);
      __builtin_amdgcn_raw_buffer_store_b128(out, c, place, t * 16 * args.n, 0);
    }
    if (kGroups == 2) return;
    ordered += step_tiles;
    __syncthreads();  // C is out of LDS
  } while (ordered < xcd_end);
}

// Adds the splits' partial sums. A thread has eight neighbours of a row of C.
extern "C" __global__ void __launch_bounds__(256)
    reduce(hb_fp8_gemm args, const float *partial, int tiles, int panel_tiles, int shift, uint32_t per_panel,
           int splits) {
  const int tile = blockIdx.x / 8, panel = __umulhi(2 * tile, per_panel), in_panel = tile - panel * panel_tiles;
  const int first_i = ((panel << shift) + (in_panel & ((1 << shift) - 1))) * kTile;
  const int first_j = (in_panel >> shift) * kTile;

  const int i = blockIdx.x % 8 * 16 + threadIdx.x / 16, octet = threadIdx.x % 16;
  const int in_strip = i % 32;
  const int wave = i / 64 * 2 + octet / 8, h = i / 32 % 2, g = octet / 4 % 2, r = octet / 2 % 2 * 2, half = octet % 2;
  const float4v *place = reinterpret_cast<const float4v *>(partial) + size_t(tile) * (kTile * kTile / 4) + wave * 1024 +
                         (h * 2 + g) * 256 + r * 64 + half * 32 + row_of(in_strip);  // row_of is its own inverse
  float4v low = place[0], high = place[64];
  for (int split = 1; split < splits; ++split) {
    place += size_t(tiles) * (kTile * kTile / 4);
    low += place[0];
    high += place[64];
  }
  if (first_i + i >= args.m || first_j + octet * 8 >= args.n) return;
  const uint4v out = {to_bf16_pair(low[0], low[1]), to_bf16_pair(low[2], low[3]), to_bf16_pair(high[0], high[1]),
                      to_bf16_pair(high[2], high[3])};
  *reinterpret_cast<uint4v *>(args.c + size_t(first_i + i) * args.n + first_j + octet * 8) = out;
}
