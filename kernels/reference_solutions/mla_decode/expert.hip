// mla_decode, kernel track, expert: absorbed weights, flash decoding over the latent cache with bf16 matrix
// instructions, RoPE on the way into LDS, all keys cut evenly over the compute units; products with the weights as
// tiles in LDS.
//
// Idea. project_down, project_up: q, and the new row of the cache. absorb: q_nope by the key half of wkv_up, per head,
// so that a score is a product of 576 with a row of the cache; the query's rope part is turned there, too. attend:
// scores, softmax and the mean of the latents; a batch's 128 heads share each row that is read, so that the cache is
// read once. combine: the parts of a batch. project_value: the value half of wkv_up on the means. project_out.
//
// attend. 304 workgroups of eight waves, one a compute unit. All batches' tiles of 16 keys lie end to end and each
// workgroup has an even share (stream-K): parts of two batches at most, of which it stores mean, reference and sum.
// A wave has 16 heads: scores transposed (keys by heads), because their layout is the one that the second product
// takes as its right factor, so that weights never leave their registers. The values are the same tile read the other
// way: 4 neighbouring latents of 4 keys a lane, turned into 4 left factors by 8 v_perm_b32; no second copy.
// The reference of the softmax moves only when a score is 2^8 above it: one branch a tile, rescaling is rare.
//   LDS: two tiles of 16 keys x 1152 bytes, one being read while the next arrives from registers: 36 KiB. Pieces of 16
//   bytes change places with the row (xor): reads of keys (16 bytes), of values (8) and the writes meet in no bank; the
//   rope part is written 2 bytes a lane, without conflicts but at a quarter of the rate.
//   Registers: 256: 72 of the query, 128 sums, 11 of the tile on its way, 7 addresses; nothing is spilled in the loop
//   (9 registers outside).
// Weights. Tiles of 128 batches (32 where there are no more) by 64 columns by 64 k, 24 KiB of LDS, two workgroups a
// compute unit; a step is fetched two ahead. What kernels here hand on to the next lies in slabs of 64 k, for rows 32
// KiB apart would all be in one channel of the L2. project_down and project_out split k; their parts are added in f32
// in a fixed order by kernels of their own.
//
// Bottleneck: 16 keys take attend 2870 clocks from memory at 4.1 TB/s, 2176 on the matrix units and 2350 in LDS (a wave
// of 16 heads reads all of a tile twice). It needs about 3800: the waves of a SIMD wait for LDS at the same time and do
// softmax at the same time. Roofs, at 128 batches with 2048 / 4096 / 6144 keys: bytes 680 / 982 / 1280 MB at 4.1 TB/s
// are 166 / 240 / 313 us; matrix instructions at 1307 TFLOPS 92 / 148 / 204 us.
//
// Modelled (mi300x-1.7012c48a), 128 batches:
//   2048 keys 318 us, 4096 keys 412 us, 6144 keys 506 us (launches and sums included). Of the nearer roof (bytes): 52
//   %, 58 % and 62 %. At 4096 the matrix units are busy 36 % of the time, no LDS bank conflicts are left, and 1414 MB
//   come from behind the L2 where 982 have to: weights that several XCDs want, and the parts of attend.
// At 2048: attend 140 us (matrix units 40 % busy, LDS 43 %, 447 MB from behind the L2 where cache, queries and parts
// are 376), project_out 61 (wo alone: 39 at the Infinity Cache's 6 TB/s), project_up 26, absorb 16, project_down 16,
// combine 14, project_value 10, the two sums 10, launches 25.
//
// Tried, and did not help (attend at 2048; or all):
// * products with weights straight from memory into operands (ladder: scattered_loads): 457 us in all instead of 318;
// * all workgroups of project_out at 16 different k: the L2 loses the left slabs, 81 us instead of 61 with two;
// * four waves of 32 heads with all registers (half the LDS traffic): the compiler keeps every result of a matrix
//   instruction in the upper 256 registers, which the sums fill: 700 spills;
// * scores by 16 heads, values by 32 heads and half of the latents, weights through LDS a tile behind (a fifth less LDS
//   traffic, three tiles in LDS, softmax off the critical path): 152 us instead of 140, and 165 with the two waves of a
//   SIMD in opposite order. The freed time goes into hand-over and into reads that lost their look-ahead;
// * values' first rows read before the softmax, addresses computed anew to pay for it (no spills at all): 146 us.

/* hipbench-plan 1
problem = "mla_decode"
options = ["-O3"]
[let]
keys = "prefill + 1"
few = "bs <= 32"
down_splits = "14"                             # of the 112 steps of 64 along dim
wo_splits = "5"                                # of the 256 steps of 64 along n_heads * 128
groups = "304"                                 # workgroups of attend: one a compute unit
[workspace]                                    # bytes
down = "down_splits * bs * 2112 * 4"
q_latent = "bs * dq * 2"
q = "bs * n_heads * 192 * 2"
query = "bs * n_heads * 576 * 2"               # absorbed, rotated
angles = "align_up(keys, 16) * 128"                        # cos and sin of every position, bf16
partial = "groups * 2 * n_heads * 512 * 2"     # two segments a workgroup
statistics = "groups * 2 * n_heads * 2 * 4"    # reference and sum of a segment
mean = "bs * n_heads * 512 * 2"
value = "bs * n_heads * 128 * 2"
out = "wo_splits * bs * dim * 4"
[[step]]
when = "few"
kernel = "project_down<2>"
grid = ["33", "down_splits"]
block = [256]
args = ["@args", "down", "i32:down_splits"]
[[step]]
when = "!few"
kernel = "project_down<8>"
grid = ["33", "down_splits"]
block = [256]
args = ["@args", "down", "i32:down_splits"]
[[step]]
kernel = "finish_down"
grid = ["ceil_div(bs * 528, 256) + align_up(keys, 16) / 8"]
block = [256]
args = ["@args", "down", "q_latent", "angles", "i32:down_splits"]
[[step]]
when = "few"
kernel = "project_up<2>"
grid = ["n_heads * 192 / 64"]
block = [256]
args = ["@args", "q_latent", "q"]
[[step]]
when = "!few"
kernel = "project_up<8>"
grid = ["n_heads * 192 / 64"]
block = [256]
args = ["@args", "q_latent", "q"]
[[step]]
when = "few"
kernel = "absorb<2>"
grid = ["3", "n_heads"]
block = [256]
args = ["@args", "q", "angles", "query"]
[[step]]
when = "!few"
kernel = "absorb<4>"
grid = ["3", "n_heads", "ceil_div(bs, 64)"]
block = [256]
args = ["@args", "q", "angles", "query"]
[[step]]
kernel = "attend"
grid = ["groups"]
block = [512]
args = ["@args", "query", "angles", "partial", "statistics"]
[[step]]
kernel = "combine"
grid = ["n_heads / 4", "bs"]
block = [256]
args = ["@args", "partial", "statistics", "mean"]
[[step]]
when = "few"
kernel = "project_value<2>"
grid = ["2 * n_heads"]
block = [256]
args = ["@args", "mean", "value"]
[[step]]
when = "!few"
kernel = "project_value<8>"
grid = ["2 * n_heads"]
block = [256]
args = ["@args", "mean", "value"]
[[step]]
when = "few"
kernel = "project_out<2>"
grid = ["dim / 64", "wo_splits"]
block = [256]
args = ["@args", "value", "out", "i32:wo_splits"]
[[step]]
when = "!few"
kernel = "project_out<8>"
grid = ["dim / 64", "wo_splits"]
block = [256]
args = ["@args", "value", "out", "i32:wo_splits"]
[[step]]
kernel = "finish_out"
grid = ["bs * dim / 1024"]
block = [256]
args = ["@args", "out", "i32:wo_splits"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/mla_decode.h"

using short4v = short __attribute__((ext_vector_type(4)));
using short8v = short __attribute__((ext_vector_type(8)));
using float4v = float __attribute__((ext_vector_type(4)));
using uint2v = uint32_t __attribute__((ext_vector_type(2)));
using uint4v = uint32_t __attribute__((ext_vector_type(4)));

constexpr int kDim = 7168, kDq = 1536, kHeads = 128, kMaxSeq = 8192;

__device__ inline float to_float(uint32_t bits) { return __uint_as_float(bits << 16); }

// To nearest even, as the upper half of 32 bits whose lower half is garbage. No NaN comes here.
__device__ inline uint32_t round_up(float value) {
  const uint32_t bits = __float_as_uint(value);
  return bits + 0x7fff + (bits >> 16 & 1);
}
__device__ inline uint16_t to_bf16(float value) { return round_up(value) >> 16; }
__device__ inline float rounded(float value) { return __uint_as_float(round_up(value) & 0xffff0000); }
// The upper halves of two words as one word.
__device__ inline uint32_t upper_halves(uint32_t first, uint32_t second) {
  return __builtin_amdgcn_perm(second, first, 0x07060302);
}
__device__ inline uint32_t lower_halves(uint32_t first, uint32_t second) {
  return __builtin_amdgcn_perm(second, first, 0x05040100);
}
__device__ inline uint32_t pack(float first, float second) { return upper_halves(round_up(first), round_up(second)); }

__device__ inline float4v multiply_add(short4v a, short4v b, float4v c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
}

// Four rows of four values, rows in k, become the operands of four matrix instructions: in each, k lies together.
__device__ inline void transpose(const uint2v (&rows)[4], short4v (&columns)[4]) {
  for (int half = 0; half < 2; ++half) {
    const uint2v even = {lower_halves(rows[0][half], rows[1][half]), lower_halves(rows[2][half], rows[3][half])};
    const uint2v odd = {upper_halves(rows[0][half], rows[1][half]), upper_halves(rows[2][half], rows[3][half])};
    columns[2 * half] = __builtin_bit_cast(short4v, even);
    columns[2 * half + 1] = __builtin_bit_cast(short4v, odd);
  }
}

// ---- products of the batch with a weight matrix, row by row: out(b, n) = sum over k of a(b, k) w(n, k)

constexpr int kStep = 64, kStepBytes = 128;  // k of a step: a row of a tile is a line of memory, and all 32 banks
constexpr int kColumns = 64;                 // of a workgroup

template <typename T>
__device__ inline T at(const void *base, uint32_t offset) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + offset);
}

// Where the left matrix lies. x has rows of dim; what kernels here hand on to others lies in slabs of 64 k, so that a
// step is contiguous: rows a multiple of 4 KiB apart would all be in one of the 16 channels of the L2.
struct Left {
  const uint16_t *data;
  int row_pitch, step_pitch;  // elements
};

// 16 * kRows batches by 64 columns.
template <int kRows>
struct Tiles {
  __attribute__((aligned(128))) char a[16 * kRows * kStepBytes];
  __attribute__((aligned(128))) char w[kColumns * kStepBytes];
};

// Pieces of 16 bytes of the next step, a thread: eight threads a row.
template <int kRows>
struct Pieces {
  uint4v a[kRows / 2], w[2];
};

template <int kRows>
struct Sources {
  uint32_t a[kRows / 2], w[2];  // bytes
};

template <int kRows>
__device__ inline void fetch(const Left &left, const uint16_t *w, int step, const Sources<kRows> &from,
                             Pieces<kRows> &to) {
  const uint16_t *a_step = left.data + size_t(step) * left.step_pitch, *w_step = w + step * kStep;
#pragma unroll
  for (int p = 0; p < 2; ++p) to.w[p] = at<uint4v>(w_step, from.w[p]);
#pragma unroll
  for (int p = 0; p < kRows / 2; ++p) to.a[p] = at<uint4v>(a_step, from.a[p]);
}

// Pieces change places within their row, against bank conflicts.
template <int kRows>
__device__ inline void keep(Tiles<kRows> &tiles, const Pieces<kRows> &from) {
  const uint32_t row = threadIdx.x / 8, place = row * kStepBytes + (threadIdx.x % 8 ^ row % 8) * 16;
#pragma unroll
  for (int p = 0; p < kRows / 2; ++p) *reinterpret_cast<uint4v *>(tiles.a + place + p * 32 * kStepBytes) = from.a[p];
#pragma unroll
  for (int p = 0; p < 2; ++p) *reinterpret_cast<uint4v *>(tiles.w + place + p * 32 * kStepBytes) = from.w[p];
}

// A wave has half of the rows and half of the columns. Lane l reads 8 k of row l % 16, of which an instruction takes
// four: which k meet in it does not matter as long as both sides agree.
template <int kRows>
__device__ inline void multiply(const Tiles<kRows> &tiles, float4v (&sum)[kRows / 2][2]) {
  const uint32_t lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const uint32_t place = lane % 16 * kStepBytes + (lane / 16 ^ lane % 8) * 16;
  const char *a = tiles.a + wave / 2 * (kRows / 2) * 16 * kStepBytes, *w = tiles.w + wave % 2 * 32 * kStepBytes;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    short8v right[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) right[j] = at<short8v>(w + j * 16 * kStepBytes, place ^ half * 64);
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      const short8v left = at<short8v>(a + i * 16 * kStepBytes, place ^ half * 64);
#pragma unroll
      for (int j = 0; j < 2; ++j) sum[i][j] = multiply_add(right[j].lo, left.lo, sum[i][j]);
#pragma unroll
      for (int j = 0; j < 2; ++j) sum[i][j] = multiply_add(right[j].hi, left.hi, sum[i][j]);
    }
  }
}

// Over `steps` steps; two are on their way while one is multiplied. Workgroups begin at different steps (`shift`), for
// the rows of w are a multiple of 4 KiB apart, or nearly so. store(b, column, sums of four neighbouring columns).
template <int kRows, typename Store>
__device__ inline void product(const Left &left, const uint16_t *w, int w_pitch, int bs, int steps, int shift,
                               Store store) {
  __shared__ Tiles<kRows> tiles;
  Sources<kRows> from;
  const int row = threadIdx.x / 8, piece = threadIdx.x % 8 * 16;
#pragma unroll
  for (int p = 0; p < kRows / 2; ++p) from.a[p] = min(row + 32 * p, bs - 1) * left.row_pitch * 2 + piece;
#pragma unroll
  for (int p = 0; p < 2; ++p) from.w[p] = (row + 32 * p) * w_pitch * 2 + piece;
  const auto turned = [&](int step) {
    const int place = min(step, steps - 1) + shift;
    return place < steps ? place : place - steps;
  };
  float4v sum[kRows / 2][2] = {};
  Pieces<kRows> one, two;
  fetch(left, w, turned(0), from, one);
  fetch(left, w, turned(1), from, two);
  for (int step = 0; step < steps; step += 2) {
    __syncthreads();  // the last step's readers are done
    keep(tiles, one);
    __syncthreads();
    fetch(left, w, turned(step + 2), from, one);
    __builtin_amdgcn_sched_barrier(0);  // the compiler would rather ask for them when they are needed
    multiply(tiles, sum);
    if (step + 1 == steps) break;
    __syncthreads();
    keep(tiles, two);
    __syncthreads();
    fetch(left, w, turned(step + 3), from, two);
    __builtin_amdgcn_sched_barrier(0);
    multiply(tiles, sum);
  }
  // Lane l has batch l % 16 and columns 4 * (l / 16) to + 3 of a block of 16 by 16.
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
#pragma unroll
  for (int i = 0; i < kRows / 2; ++i) {
    const int b = (wave / 2 * (kRows / 2) + i) * 16 + lane % 16;
    if (b >= bs) continue;
#pragma unroll
    for (int j = 0; j < 2; ++j) store(b, wave % 2 * 32 + j * 16 + lane / 16 * 4, sum[i][j]);
  }
}

// Element k of batch b in slabs of 64 k.
__device__ inline size_t in_slabs(int k, int b, int bs) { return (size_t(k / kStep) * bs + b) * kStep + k % kStep; }

__device__ inline void store_bf16(uint16_t *to, float4v value) {
  const uint2v bits = {pack(value[0], value[1]), pack(value[2], value[3])};
  *reinterpret_cast<uint2v *>(to) = bits;
}

// x by wq_down (24 tiles of columns) and wkv_down (9), in f32, a part of dim each.
template <int kRows>
__global__ void __launch_bounds__(256, 2) project_down(hb_mla_decode args, float *down, int splits) {
  const int tile = blockIdx.x, steps = kDim / kStep / splits, first = blockIdx.y * steps * kStep;
  const uint16_t *w = tile < 24 ? args.wq_down + tile * 64 * kDim : args.wkv_down + (tile - 24) * 64 * kDim;
  float *to = down + size_t(blockIdx.y) * args.bs * 2112 + tile * 64;
  const Left x = {args.x + first, kDim, kStep};
  product<kRows>(x, w + first, kDim, args.bs, steps, tile / 8 * 4 % steps, [&](int b, int column, float4v value) {
    *reinterpret_cast<float4v *>(to + size_t(b) * 2112 + column) = value;
  });
}

// Adds up the parts; the last workgroups make the table of angles: 32 times cos, 32 times sin a position.
extern "C" __global__ void __launch_bounds__(256)
    finish_down(hb_mla_decode args, const float *down, uint16_t *q_latent, uint32_t *angles, int splits) {
  const int quads = args.bs * 528, groups = (quads + 255) / 256;
  if (int(blockIdx.x) >= groups) {
    const int t = (blockIdx.x - groups) * 8 + threadIdx.x / 32, j = threadIdx.x % 32;
    const float theta = rounded(powf(9984.0f, -j / 32.0f));
    const float angle = rounded(rounded(float(t)) * theta);
    angles[t * 32 + j] = pack(cosf(angle), sinf(angle));
    return;
  }
  const int quad = blockIdx.x * 256 + threadIdx.x;
  if (quad >= quads) return;
  float4v sum = {};
#pragma unroll 7
  for (int s = 0; s < splits; ++s) sum += reinterpret_cast<const float4v *>(down)[size_t(s) * quads + quad];
  const int b = quad / 528, column = quad % 528 * 4;
  uint16_t *to = column < kDq ? q_latent + in_slabs(column, b, args.bs)
                              : args.kv_cache + (size_t(b) * kMaxSeq + args.prefill) * 576 + column - kDq;
  store_bf16(to, sum);
}

template <int kRows>
__global__ void __launch_bounds__(256, 2) project_up(hb_mla_decode args, const uint16_t *q_latent, uint16_t *q) {
  const int column = blockIdx.x * kColumns;
  const Left left = {q_latent, kStep, args.bs * kStep};
  product<kRows>(left, args.wq_up + size_t(column) * kDq, kDq, args.bs, kDq / kStep, blockIdx.x / 8 * 2 % 24,
                 [&](int b, int c, float4v value) { store_bf16(q + size_t(b) * kHeads * 192 + column + c, value); });
}

__device__ inline float cosine(uint32_t angle) { return __uint_as_float(angle << 16); }
__device__ inline float sine(uint32_t angle) { return __uint_as_float(angle & 0xffff0000); }

// Element j of 64: x is its value, other that of element j + 32 or j - 32, turned with its sign.
__device__ inline float rotated(float x, float other, float cosine, float sine) {
  return rounded(x * cosine) + rounded(other * sine);
}

// query(b, h, 0..511) = q_nope(b, h) by the key half of wkv_up: 64 columns a wave; workgroup 2 turns the rope part.
template <int kRows>
__global__ void __launch_bounds__(256, 2)
    absorb(hb_mla_decode args, const uint16_t *q, const uint32_t *angles, uint16_t *query) {
  const int head = blockIdx.y, first_batch = blockIdx.z * kRows * 16;
  if (blockIdx.x == 2) {
    for (int k = threadIdx.x; k < kRows * 16 * 32; k += 256) {
      const int b = first_batch + k / 32, j = k % 32;
      if (b >= args.bs) break;
      const uint16_t *rope = q + (size_t(b) * kHeads + head) * 192 + 128 + j;
      const float low = to_float(rope[0]), high = to_float(rope[32]);
      const float c = cosine(angles[args.prefill * 32 + j]), s = sine(angles[args.prefill * 32 + j]);
      uint16_t *to = query + (size_t(b) * kHeads + head) * 576 + 512 + j;
      to[0] = to_bf16(rotated(low, -high, c, s));
      to[32] = to_bf16(rotated(high, low, c, s));
    }
    return;
  }
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, first = (blockIdx.x * 4 + wave) * 64;
  const uint16_t *w = args.wkv_up + (size_t(head) * 256 + lane / 16 * 8) * 512 + first + lane % 16 * 4;
  const uint16_t *a = q + size_t(head) * 192 + lane / 16 * 8;
  float4v sum[kRows][4] = {};
#pragma unroll
  for (int k = 0; k < 128; k += 32) {
    short4v columns[2][4];
    short8v left[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      left[i] = *reinterpret_cast<const short8v *>(
          a + size_t(min(first_batch + i * 16 + lane % 16, args.bs - 1)) * kHeads * 192 + k);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint2v rows[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) rows[r] = *reinterpret_cast<const uint2v *>(w + size_t(k + half * 4 + r) * 512);
      transpose(rows, columns[half]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum[i][j] = multiply_add(columns[0][j], left[i].lo, sum[i][j]);
        sum[i][j] = multiply_add(columns[1][j], left[i].hi, sum[i][j]);
      }
    }
  }
  // Lane l has batch l % 16 and of block j the columns 16 * (l / 16) + 4 * r + j: 16 neighbours in all.
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int b = first_batch + i * 16 + lane % 16;
    if (b >= args.bs) continue;
    uint32_t bits[8];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      bits[2 * r] = pack(sum[i][0][r], sum[i][1][r]);
      bits[2 * r + 1] = pack(sum[i][2][r], sum[i][3][r]);
    }
    uint4v *to = reinterpret_cast<uint4v *>(query + (size_t(b) * kHeads + head) * 576 + first + lane / 16 * 16);
    to[0] = uint4v{bits[0], bits[1], bits[2], bits[3]};
    to[1] = uint4v{bits[4], bits[5], bits[6], bits[7]};
  }
}

// ---- attention: 16 heads a wave, 16 keys a step

constexpr int kTileKeys = 16, kRowBytes = 1152, kSlotBytes = kTileKeys * kRowBytes;
constexpr float kScale = 0.07216878f * 1.44269504f;  // 1/sqrt(192), and powers of two instead of e
constexpr float kSlack = 8;                          // weights may reach 2^8 before sums are rescaled

// The tiles of all batches, one after the other, are cut into as many ranges as there are workgroups.
struct Range {
  int begin, end;
};
constexpr uint32_t kGroups = 304;  // compute units
__device__ inline Range range_of(uint32_t group, uint32_t tiles) {
  return {int(tiles * group / kGroups), int(tiles * (group + 1) / kGroups)};
}

// A tile on its way from memory to LDS: 8 latents of two keys, and a pair of the rope part, a thread.
struct Incoming {
  uint4v latent[2];  // keys `wave` and wave + 8
  uint16_t low, high;
  uint32_t angle;  // cos, then sin
};

// Byte offsets of this thread: in a tile in memory and in the table of angles, and in a slot of LDS. Pieces of 16 bytes
// lie in their row of LDS in an order that depends on the row: rows are 9 * 128 bytes long, so that the same piece of
// all of them would be in the same banks.
struct Places {
  uint32_t latent, rope, angle;     // to fetch
  uint32_t keep_latent, keep_rope;  // to write
  uint32_t key, value;              // to read: the first piece of row lane % 16; rows 4 * (lane / 16) to + 3
};
__device__ inline Places find_places() {
  const uint32_t thread = threadIdx.x, lane = thread % 64, wave = thread / 64, j = thread % 32;
  // Neighbouring halves of a wave have keys that differ by 4, which puts them in different banks.
  const uint32_t key = thread / 32 % 2 * 4 + wave % 4 + wave / 4 * 8;
  Places places;
  places.latent = wave * kRowBytes + lane * 16;
  places.rope = key * kRowBytes + 1024 + j * 2;
  places.angle = (key * 32 + j) * 4;
  places.keep_latent = wave * kRowBytes + (lane ^ wave) * 16;
  places.keep_rope = key * kRowBytes + 1024 + (j / 8 ^ key % 8) * 16 + j % 8 * 2;
  places.key = lane % 16 * kRowBytes + (lane / 16 ^ lane % 8) * 16;
  places.value = lane / 16 * 4 * kRowBytes + (lane % 16 / 2 ^ lane / 16 % 2 * 4) * 16 + lane % 2 * 8;
  return places;
}

// Rows beyond the last key are read, too, and finite; their weights will be zero.
__device__ inline void fetch(const uint16_t *cache, const uint32_t *angles, int tile, const Places &places,
                             Incoming &in) {
  const uint16_t *rows = cache + tile * kTileKeys * 576;
  in.latent[0] = at<uint4v>(rows, places.latent);
  in.latent[1] = at<uint4v>(rows + 8 * 576, places.latent);
  in.low = at<uint16_t>(rows, places.rope);
  in.high = at<uint16_t>(rows, places.rope + 64);
  in.angle = at<uint32_t>(angles + tile * kTileKeys * 32, places.angle);
}

__device__ inline void keep(char *lds, uint32_t slot, const Places &places, const Incoming &in) {
  char *latent = lds + slot + places.keep_latent;
  *reinterpret_cast<uint4v *>(latent) = in.latent[0];
  *reinterpret_cast<uint4v *>(latent + 8 * kRowBytes) = in.latent[1];
  const float x = to_float(in.low), y = to_float(in.high), c = cosine(in.angle), s = sine(in.angle);
  const uint32_t rope = slot + places.keep_rope;
  *reinterpret_cast<uint16_t *>(lds + rope) = to_bf16(rotated(x, -y, c, s));
  *reinterpret_cast<uint16_t *>(lds + (rope ^ 64)) = to_bf16(rotated(y, x, c, s));
}

struct State {
  short8v q[18];
  float4v sum[32];  // by latents: block 4 * g + j has the columns 64 * g + 4 * row + j
  float reference, total;
};

// Transposed scores, keys by heads: lane l has head l % 16 and keys 4 * (l / 16) to + 3, just what the second product
// takes as its right factor.
__device__ inline float4v find_scores(const char *lds, uint32_t place, const State &state) {
  float4v score[2] = {};
#pragma unroll
  for (int s = 0; s < 18; ++s) {
    const short8v key = at<short8v>(lds + s / 2 * 128, s % 2 == 0 ? place : place ^ 64);
    score[0] = multiply_add(key.lo, state.q[s].lo, score[0]);
    score[1] = multiply_add(key.hi, state.q[s].hi, score[1]);
  }
  // Three reads ahead of the matrix instructions.
  __builtin_amdgcn_sched_group_barrier(0x100, 3, 0);
#pragma unroll
  for (int s = 0; s < 15; ++s) {
    __builtin_amdgcn_sched_group_barrier(0x008, 2, 0);
    __builtin_amdgcn_sched_group_barrier(0x100, 1, 0);
  }
  __builtin_amdgcn_sched_group_barrier(0x008, 6, 0);
  return score[0] + score[1];
}

// Hides what lies beyond the last key and moves the reference when a score is far above it.
__device__ inline void rescale(State &state, float4v &score, int keys) {
  const int quad = threadIdx.x % 64 / 16 * 4;
  float highest = -INFINITY;
  for (int r = 0; r < 4; ++r) {
    if (quad + r >= keys) score[r] = -INFINITY;
    highest = fmaxf(highest, score[r]);
  }
  highest = fmaxf(highest, __shfl_xor(highest, 16));
  highest = fmaxf(highest, __shfl_xor(highest, 32));
  const float now = fmaxf(state.reference, highest * kScale);
  const float factor = __builtin_amdgcn_exp2f(state.reference - now);
  state.reference = now;
  state.total *= factor;
#pragma unroll
  for (int i = 0; i < 32; ++i) state.sum[i] *= factor;
}

__device__ inline void add_values(const char *lds, uint32_t place, State &state, short4v weights) {
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    uint2v rows[4];
    short4v latents[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) rows[r] = at<uint2v>(lds + r * kRowBytes + g * 128, place ^ r * 16);
    transpose(rows, latents);
#pragma unroll
    for (int j = 0; j < 4; ++j) state.sum[g * 4 + j] = multiply_add(latents[j], weights, state.sum[g * 4 + j]);
  }
}

__device__ inline void visit_tile(const char *lds, uint32_t slot, const Places &places, State &state, int keys) {
  float4v score = find_scores(lds, slot + places.key, state);
  const float highest = fmaxf(fmaxf(score[0], score[1]), fmaxf(score[2], score[3]));
  if (keys < kTileKeys || __any(highest * kScale > state.reference + kSlack)) rescale(state, score, keys);
  uint32_t bits[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const float weight = __builtin_amdgcn_exp2f(score[r] * kScale - state.reference);
    state.total += weight;
    bits[r] = __float_as_uint(weight) + 0x8000;
  }
  const uint2v weights = {upper_halves(bits[0], bits[1]), upper_halves(bits[2], bits[3])};
  add_values(lds, slot + places.value, state, __builtin_bit_cast(short4v, weights));
}

__device__ inline void store_segment(const State &state, int head, uint16_t *partial, float *statistics) {
  const int lane = threadIdx.x % 64;
  float total = state.total;
  total += __shfl_xor(total, 16);
  total += __shfl_xor(total, 32);
  const float scale = 1 / total;
  uint4v *to = reinterpret_cast<uint4v *>(partial + head * 512 + lane / 16 * 16);
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    const float4v *sum = &state.sum[g * 4];
    uint32_t bits[8];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      bits[2 * r] = pack(sum[0][r] * scale, sum[1][r] * scale);
      bits[2 * r + 1] = pack(sum[2][r] * scale, sum[3][r] * scale);
    }
    to[g * 8] = uint4v{bits[0], bits[1], bits[2], bits[3]};
    to[g * 8 + 1] = uint4v{bits[4], bits[5], bits[6], bits[7]};
  }
  if (lane < 16) statistics[head * 2] = state.reference, statistics[head * 2 + 1] = total;
}

extern "C" __global__ void __launch_bounds__(512)
    attend(hb_mla_decode args, const uint16_t *query, const uint32_t *angles, uint16_t *partial, float *statistics) {
  __shared__ __attribute__((aligned(128))) char slots[2 * kSlotBytes];
  const int keys = args.prefill + 1, tiles = (keys + kTileKeys - 1) / kTileKeys;
  const int lane = threadIdx.x % 64, head = threadIdx.x / 64 * 16 + lane % 16;
  const Places places = find_places();
  const Range range = range_of(blockIdx.x, tiles * args.bs);
  int segment = blockIdx.x * 2;
  for (int unit = range.begin; unit < range.end; ++segment) {
    const int b = unit / tiles, first = unit - b * tiles, end = min(tiles, first + range.end - unit);
    unit += end - first;
    const uint16_t *cache = args.kv_cache + size_t(b) * kMaxSeq * 576;
    State state = {};
    const uint16_t *from = query + (size_t(b) * kHeads + head) * 576 + lane / 16 * 8;
#pragma unroll
    for (int s = 0; s < 18; ++s) state.q[s] = *reinterpret_cast<const short8v *>(from + s * 32);
    state.reference = -INFINITY;
    Incoming in;
    fetch(cache, angles, first, places, in);
    keep(slots, 0, places, in);
    fetch(cache, angles, min(first + 1, end - 1), places, in);
    __syncthreads();
    uint32_t slot = 0;
    for (int tile = first; tile < end; ++tile) {
      keep(slots, kSlotBytes - slot, places, in);
      fetch(cache, angles, min(tile + 2, end - 1), places, in);
      visit_tile(slots, slot, places, state, keys - tile * kTileKeys);
      slot = kSlotBytes - slot;
      __syncthreads();
    }
    store_segment(state, head, partial + size_t(segment) * kHeads * 512, statistics + segment * kHeads * 2);
    __syncthreads();
  }
}

// The mean over all segments of a batch; a wave has a head, 8 latents a lane. Its place: see project_value.
extern "C" __global__ void __launch_bounds__(256)
    combine(hb_mla_decode args, const uint16_t *partial, const float *statistics, uint16_t *mean) {
  const int tiles = (args.prefill + kTileKeys) / kTileKeys, b = blockIdx.y;
  const uint32_t all = tiles * args.bs;
  const int head = __builtin_amdgcn_readfirstlane(blockIdx.x * 4 + threadIdx.x / 64), lane = threadIdx.x % 64;
  // Group g has unit u when all * g / groups <= u < all * (g + 1) / groups, rounded down.
  const int first = ((b * tiles + 1) * kGroups - 1) / all, last = ((b + 1) * tiles * kGroups - 1) / all;
  const auto place_of = [&](int group) {
    return size_t(group * 2 + (range_of(group, all).begin < b * tiles ? 1 : 0)) * kHeads + head;
  };
  const auto is_empty = [&](int group) {
    const Range range = range_of(group, all);
    return range.begin == range.end;
  };
  float reference = -INFINITY, total = 0, sum[8] = {};
  for (int group = first; group <= last; ++group) {
    if (!is_empty(group)) reference = fmaxf(reference, statistics[place_of(group) * 2]);
  }
#pragma unroll 4
  for (int group = first; group <= last; ++group) {
    const bool empty = is_empty(group);
    const size_t place = place_of(empty ? first : group);
    const uint4v values = reinterpret_cast<const uint4v *>(partial + place * 512)[lane];
    const float weight = __builtin_amdgcn_exp2f(statistics[place * 2] - reference) * statistics[place * 2 + 1];
    const float factor = empty ? 0 : weight;
    total += factor;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint32_t bits = i % 2 == 0 ? values[i / 2] << 16 : values[i / 2] & 0xffff0000;
      sum[i] += factor * __uint_as_float(bits);
    }
  }
  const float scale = 1 / total;
  uint4v bits;
#pragma unroll
  for (int i = 0; i < 4; ++i) bits[i] = pack(sum[2 * i] * scale, sum[2 * i + 1] * scale);
  *reinterpret_cast<uint4v *>(mean + size_t(head) * args.bs * 512 + in_slabs(lane * 8, b, args.bs)) = bits;
}

// ---- back to dim

// value(b, h, d) = mean(b, h) by the value half of wkv_up. The two workgroups of a head are neighbours on the same die
// (XCD), whose L2 gives them the head's means.
template <int kRows>
__global__ void __launch_bounds__(256, 2) project_value(hb_mla_decode args, const uint16_t *mean, uint16_t *value) {
  const int head = blockIdx.x / 16 * 8 + blockIdx.x % 8, column = blockIdx.x / 8 % 2 * kColumns;
  const uint16_t *w = args.wkv_up + (size_t(head) * 256 + 128 + column) * 512;
  uint16_t *to = value + in_slabs(head * 128 + column, 0, args.bs);
  const Left left = {mean + size_t(head) * args.bs * 512, kStep, args.bs * kStep};
  product<kRows>(left, w, 512, args.bs, 8, head / 8 * 2 % 8,
                 [&](int b, int c, float4v sums) { store_bf16(to + b * kStep + c, sums); });
}

template <int kRows>
__global__ void __launch_bounds__(256, 2)
    project_out(hb_mla_decode args, const uint16_t *value, float *out, int splits) {
  constexpr int kDepth = kHeads * 128, kSteps = kDepth / kStep;
  const int column = blockIdx.x * kColumns;
  const int first = kSteps * blockIdx.y / splits, end = kSteps * (blockIdx.y + 1) / splits;
  float *to = out + size_t(blockIdx.y) * args.bs * kDim + column;
  const Left left = {value + size_t(first) * args.bs * kStep, kStep, args.bs * kStep};
  product<kRows>(left, args.wo + size_t(column) * kDepth + first * kStep, kDepth, args.bs, end - first,
                 blockIdx.x / 8 % 2 * 2,
                 [&](int b, int c, float4v sums) { *reinterpret_cast<float4v *>(to + size_t(b) * kDim + c) = sums; });
}

extern "C" __global__ void __launch_bounds__(256) finish_out(hb_mla_decode args, const float *out, int splits) {
  const size_t quad = size_t(blockIdx.x) * 256 + threadIdx.x, quads = size_t(args.bs) * kDim / 4;
  float4v sum = {};
#pragma unroll 5
  for (int s = 0; s < splits; ++s) sum += reinterpret_cast<const float4v *>(out)[s * quads + quad];
  store_bf16(args.y + quad * 4, sum);
}
