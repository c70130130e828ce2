// mla_decode, kernel track, baseline: bf16 matrix instructions, absorbed weights, tiles of the cache in LDS; nothing is
// pipelined and no sum is split. What speed-ups are taken over.
//
// Idea: with wkv_up absorbed, 128 heads share each row of the cache. A workgroup has a batch, a wave 16 heads; it walks
// over the keys 16 at a time: load, barrier, scores, softmax, mean of latents, barrier. Scores are computed transposed
// (keys by heads): that is the layout in which the second product takes its right factor, so weights stay in registers.
// Tiling: attention 16 keys by 576 in LDS and once more transposed (39 KiB), 72 registers of query and 128 of sums;
// products with weights: 32 columns a workgroup, operands straight from memory, the four waves share k.
// Budget. LDS 39 KiB in attend, 16.5 KiB in linear; registers linear 112, find_angles 19, absorb 168, rotate_query 9,
// attend 247, combine 10.
// Bottleneck: latency. Each step waits for its loads, a workgroup a batch leaves more than half of the compute units
// idle, the transposed writes meet in few banks, and the products with weights load 16 bytes from 32 lines at a time.
// With one to three batches one to three CUs do all of attention, and the naive kernels are faster: that is what the
// lack of a split costs, and it is on purpose (split_keys.hip has it).
// Roofs. `hipbench problems show mla_decode`. Modelled (mi300x-1.7012c48a), microseconds:
//   bs=3, prefill=517: 830 (11.1 % of the nearer roof, memory; matrix units 1 % busy; 48 % of LDS time in conflicts)
//   bs=128, prefill=4096: 3816 (6.3 % of the nearer roof, memory; matrix units 4 % busy; 55 % of LDS time in conflicts)
//   bs=64, prefill=512: 1877
// Tried. Left to the ladder: split keys (split_keys), an even share a CU and pipelining (scattered_loads), weights as
// tiles in LDS (expert).

/* hipbench-plan 1
problem = "mla_decode"
options = ["-O3"]
[let]
keys = "prefill + 1"
splits = "1"                                   # split_keys.hip has more
[workspace]                                    # bytes
q_latent = "bs * dq * 2"
q = "bs * n_heads * 192 * 2"
query = "bs * n_heads * 576 * 2"               # absorbed, rotated
angles = "keys * 64 * 4"                       # cos and sin of every position
partial = "splits * bs * n_heads * 512 * 4"
statistics = "splits * bs * n_heads * 2 * 4"   # largest score and sum of a split
mean = "bs * n_heads * 512 * 2"
value = "bs * n_heads * 128 * 2"
[[step]]
kernel = "linear"
grid = ["dq / 32"]
block = [256]
args = ["x", "wq_down", "q_latent", "i32:bs", "i32:dim", "i32:dim", "i32:dq", "i32:0", "i32:0", "i32:0"]
[[step]]
kernel = "linear"                              # straight into the cache
grid = ["576 / 32"]
block = [256]
args = ["x", "wkv_down", "kv_cache + prefill * 1152", "i32:bs", "i32:dim", "i32:dim", "i32:max_seq * 576",
        "i32:0", "i32:0", "i32:0"]
[[step]]
kernel = "linear"
grid = ["n_heads * 192 / 32"]
block = [256]
args = ["q_latent", "wq_up", "q", "i32:bs", "i32:dq", "i32:dq", "i32:n_heads * 192", "i32:0", "i32:0", "i32:0"]
[[step]]
kernel = "find_angles"
grid = ["keys"]
block = [64]
args = ["angles"]
[[step]]
kernel = "absorb"
grid = ["512 / 128", "n_heads"]
block = [256]
args = ["@args", "q", "query"]
[[step]]
kernel = "rotate_query"
grid = ["n_heads", "bs"]
block = [64]
args = ["@args", "q", "angles", "query"]
[[step]]
kernel = "attend"
grid = ["splits", "bs"]
block = [512]
args = ["@args", "query", "angles", "partial", "statistics"]
[[step]]
kernel = "combine"
grid = ["n_heads", "bs"]
block = [256]
args = ["partial", "statistics", "mean", "i32:splits"]
[[step]]
kernel = "linear"                              # per head: mean [bs][512] by the value half of wkv_up
grid = ["128 / 32", "n_heads"]
block = [256]
args = ["mean", "wkv_up + 128 * 512 * 2", "value", "i32:bs", "i32:512", "i32:n_heads * 512", "i32:n_heads * 128",
        "i32:512", "i32:256 * 512", "i32:128"]
[[step]]
kernel = "linear"
grid = ["dim / 32"]
block = [256]
args = ["value", "wo", "y", "i32:bs", "i32:n_heads * 128", "i32:n_heads * 128", "i32:dim", "i32:0", "i32:0", "i32:0"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/mla_decode.h"

using short4v = short __attribute__((ext_vector_type(4)));
using short8v = short __attribute__((ext_vector_type(8)));
using float4v = float __attribute__((ext_vector_type(4)));
using float16v = float __attribute__((ext_vector_type(16)));

__device__ inline float to_float(uint16_t bits) { return __uint_as_float(uint32_t(bits) << 16); }

// To nearest even; a NaN stays one.
__device__ inline uint16_t to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

__device__ inline float rounded(float value) { return to_float(to_bf16(value)); }

// ---- c = a . w^T for up to 128 rows of a, a tile of 32 columns a workgroup

// The four waves share the sum over `depth`. Lane l holds row l % 32 of a (and of w) and, of 16 neighbours in k, the
// first or the last 8; two instructions take 4 of them each. Which k meet in an instruction does not matter as long as
// a and w agree.
template <int kTiles>
__device__ inline void multiply(const uint16_t *a, const uint16_t *w, uint16_t *c, int bs, int depth, int a_stride,
                                size_t c_stride, float (&sums)[4][32][33]) {
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const int first = wave * (depth / 4) + lane / 32 * 8;
  const uint16_t *w_row = w + size_t(blockIdx.x * 32 + lane % 32) * depth + first;
  const uint16_t *a_row[kTiles];
  for (int tile = 0; tile < kTiles; ++tile) {
    a_row[tile] = a + size_t(min(tile * 32 + lane % 32, bs - 1)) * a_stride + first;
  }

  float16v sum[kTiles] = {};
  for (int k = 0; k < depth / 4; k += 16) {
    const short8v right = *reinterpret_cast<const short8v *>(w_row + k);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const short8v left = *reinterpret_cast<const short8v *>(a_row[tile] + k);
      sum[tile] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(left.lo, right.lo, sum[tile], 0, 0, 0);
      sum[tile] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(left.hi, right.hi, sum[tile], 0, 0, 0);
    }
  }

#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    __syncthreads();  // the last tile's readers are done
    for (int r = 0; r < 16; ++r) sums[wave][r / 4 * 8 + lane / 32 * 4 + r % 4][lane % 32] = sum[tile][r];
    __syncthreads();
    for (int row = threadIdx.x / 32; row < 32 && tile * 32 + row < bs; row += 8) {
      const int column = threadIdx.x % 32;
      const float total = sums[0][row][column] + sums[1][row][column] + sums[2][row][column] + sums[3][row][column];
      c[size_t(tile * 32 + row) * c_stride + blockIdx.x * 32 + column] = to_bf16(total);
    }
  }
}

// blockIdx.y is a head; *_head: elements from one head to the next.
extern "C" __global__ void __launch_bounds__(256) linear(const uint16_t *a, const uint16_t *w, uint16_t *c, int bs,
                                                         int depth, int a_stride, int c_stride, int a_head,
                                                         int w_head, int c_head) {
  __shared__ float sums[4][32][33];
  a += size_t(blockIdx.y) * a_head;
  w += size_t(blockIdx.y) * w_head;
  c += size_t(blockIdx.y) * c_head;
  if (bs <= 32) {
    multiply<1>(a, w, c, bs, depth, a_stride, c_stride, sums);
  } else {
    multiply<4>(a, w, c, bs, depth, a_stride, c_stride, sums);
  }
}

// ---- the query in the cache's space

// angles[t][j] = cos, angles[t][32 + j] = sin, rounded to bf16 as the problem wants it.
extern "C" __global__ void find_angles(float *angles) {
  const int j = threadIdx.x % 32, t = blockIdx.x;
  const float theta = rounded(powf(9984.0f, -j / 32.0f));
  const float angle = rounded(rounded(float(t)) * theta);
  angles[t * 64 + threadIdx.x] = rounded(threadIdx.x < 32 ? cosf(angle) : sinf(angle));
}

// One head, 32 latent columns a wave: q_nope [bs][128] by the key half of wkv_up, whose neighbours in memory are
// columns.
extern "C" __global__ void __launch_bounds__(256) absorb(hb_mla_decode args, const uint16_t *q, uint16_t *query) {
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, head = blockIdx.y;
  const int column = (blockIdx.x * 4 + wave) * 32 + lane % 32, quad = lane / 32 * 4;
  const uint16_t *w = args.wkv_up + size_t(head) * 256 * 512 + column;
  for (int tile = 0; tile * 32 < args.bs; ++tile) {
    const uint16_t *a = q + (size_t(min(tile * 32 + lane % 32, args.bs - 1)) * args.n_heads + head) * 192;
    float16v sum = {};
    for (int k = 0; k < 128; k += 8) {
      const short4v left = *reinterpret_cast<const short4v *>(a + k + quad);
      short4v right;
      for (int i = 0; i < 4; ++i) right[i] = w[(k + quad + i) * 512];
      sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(left, right, sum, 0, 0, 0);
    }
    for (int r = 0; r < 16; ++r) {
      const int b = tile * 32 + r / 4 * 8 + lane / 32 * 4 + r % 4;
      if (b < args.bs) query[(size_t(b) * args.n_heads + head) * 576 + column] = to_bf16(sum[r]);
    }
  }
}

// Element j of 64: x is its value, other that of element j + 32 or j - 32.
__device__ inline float rotated(float x, float other, int j, const float *angles) {
  return rounded(rounded(x * angles[j % 32]) + rounded((j < 32 ? -other : other) * angles[32 + j % 32]));
}

extern "C" __global__ void rotate_query(hb_mla_decode args, const uint16_t *q, const float *angles, uint16_t *query) {
  const int j = threadIdx.x;
  const size_t head = size_t(blockIdx.y) * args.n_heads + blockIdx.x;
  const uint16_t *rope = q + head * 192 + 128;
  angles += size_t(args.prefill) * 64;
  query[head * 576 + 512 + j] = to_bf16(rotated(to_float(rope[j]), to_float(rope[j ^ 32]), j, angles));
}

// ---- attention of one batch over a split of the keys: 16 heads a wave, 16 keys a step

constexpr int kKeyPitch = 576 + 8, kLatentPitch = 16 + 4;  // paddings against bank conflicts

struct KeyTile {
  __attribute__((aligned(16))) uint16_t keys[16][kKeyPitch];         // latent and rotated rope
  __attribute__((aligned(16))) uint16_t latents[512][kLatentPitch];  // the latent part transposed
};

__device__ inline void load_tile(const hb_mla_decode &args, const float *angles, int first, KeyTile &tile) {
  const uint16_t *cache = args.kv_cache + size_t(blockIdx.y) * args.max_seq * 576;
  // Two keys and 8 latent entries a thread. Keys beyond the last are the last again; their weights will be zero.
  const int pair = threadIdx.x / 64 * 2, entry = threadIdx.x % 64 * 8;
  short8v one = *reinterpret_cast<const short8v *>(cache + size_t(min(first + pair, args.prefill)) * 576 + entry);
  short8v two = *reinterpret_cast<const short8v *>(cache + size_t(min(first + pair + 1, args.prefill)) * 576 + entry);
  *reinterpret_cast<short8v *>(&tile.keys[pair][entry]) = one;
  *reinterpret_cast<short8v *>(&tile.keys[pair + 1][entry]) = two;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<uint32_t *>(&tile.latents[entry + i][pair]) = uint16_t(one[i]) | uint32_t(uint16_t(two[i])) << 16;
  }
  const int key = threadIdx.x / 32, j = threadIdx.x % 32, t = min(first + key, args.prefill);
  const uint16_t *rope = cache + size_t(t) * 576 + 512;
  const float low = to_float(rope[j]), high = to_float(rope[j + 32]);
  tile.keys[key][512 + j] = to_bf16(rotated(low, high, j, angles + size_t(t) * 64));
  tile.keys[key][544 + j] = to_bf16(rotated(high, low, j + 32, angles + size_t(t) * 64));
}

// Scores are computed transposed, keys by heads: then lane l holds head l % 16 and keys 4 * (l / 16) to + 3, which is
// just what the second product takes as its right factor, and rescaling sums is one factor a lane.
extern "C" __global__ void __launch_bounds__(512) attend(hb_mla_decode args, const uint16_t *query, const float *angles,
                                                         float *partial, float *statistics) {
  __shared__ KeyTile tile;
  const int lane = threadIdx.x % 64, quad = lane / 16 * 4, head = threadIdx.x / 64 * 16 + lane % 16;
  const int keys = args.prefill + 1, steps = (keys + 15) / 16, steps_a_split = (steps + gridDim.x - 1) / gridDim.x;
  const int begin = blockIdx.x * steps_a_split * 16, end = min(begin + steps_a_split * 16, keys);
  const size_t batch_head = size_t(blockIdx.y) * args.n_heads + head;
  constexpr float kScale = 0.07216878f * 1.44269504f;  // 1/sqrt(192), and powers of two instead of e

  short4v q[36];
#pragma unroll
  for (int i = 0; i < 36; ++i) q[i] = *reinterpret_cast<const short4v *>(query + batch_head * 576 + i * 16 + quad);
  float4v sum[32] = {};  // 512 latent entries of the head's mean, 4 of every 16 in this lane
  float largest = -INFINITY, total = 0;
  for (int first = begin; first < end; first += 16) {
    __syncthreads();  // the last step's readers are done
    load_tile(args, angles, first, tile);
    __syncthreads();
    float4v even = {}, odd = {};
#pragma unroll
    for (int i = 0; i < 36; i += 2) {
      const auto key = [&](int part) {
        return *reinterpret_cast<const short4v *>(&tile.keys[lane % 16][part * 16 + quad]);
      };
      even = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(key(i), q[i], even, 0, 0, 0);
      odd = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(key(i + 1), q[i + 1], odd, 0, 0, 0);
    }
    float score[4], highest = -INFINITY;
    for (int r = 0; r < 4; ++r) {
      score[r] = first + quad + r < end ? (even[r] + odd[r]) * kScale : -INFINITY;
      highest = fmaxf(highest, score[r]);
    }
    highest = fmaxf(highest, __shfl_xor(highest, 16));
    highest = fmaxf(highest, __shfl_xor(highest, 32));
    if (__any(highest > largest)) {
      const float now = fmaxf(largest, highest), factor = __builtin_amdgcn_exp2f(largest - now);
      total *= factor;
#pragma unroll
      for (int i = 0; i < 32; ++i) sum[i] *= factor;
      largest = now;
    }
    short4v weights;
    for (int r = 0; r < 4; ++r) {
      const float weight = __builtin_amdgcn_exp2f(score[r] - largest);
      total += weight;
      weights[r] = to_bf16(weight);
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const short4v latents = *reinterpret_cast<const short4v *>(&tile.latents[i * 16 + lane % 16][quad]);
      sum[i] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(latents, weights, sum[i], 0, 0, 0);
    }
  }
  total += __shfl_xor(total, 16);
  total += __shfl_xor(total, 32);
  const size_t place = size_t(blockIdx.x) * gridDim.y * args.n_heads + batch_head;
#pragma unroll
  for (int i = 0; i < 32; ++i) *reinterpret_cast<float4v *>(partial + place * 512 + i * 16 + quad) = sum[i];
  if (quad == 0) statistics[place * 2] = largest, statistics[place * 2 + 1] = total;
}

// The mean over all splits. A split without keys has largest = -infinity and weight 0.
extern "C" __global__ void __launch_bounds__(256) combine(const float *partial, const float *statistics, uint16_t *mean,
                                                          int splits) {
  const size_t head = size_t(blockIdx.y) * gridDim.x + blockIdx.x, heads = size_t(gridDim.x) * gridDim.y;
  float largest = -INFINITY, total = 0, sum[2] = {};
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, statistics[(s * heads + head) * 2]);
  for (int s = 0; s < splits; ++s) {
    const float weight = __builtin_amdgcn_exp2f(statistics[(s * heads + head) * 2] - largest);
    total += weight * statistics[(s * heads + head) * 2 + 1];
    for (int i = 0; i < 2; ++i) sum[i] += weight * partial[(s * heads + head) * 512 + i * 256 + threadIdx.x];
  }
  for (int i = 0; i < 2; ++i) mean[head * 512 + i * 256 + threadIdx.x] = to_bf16(sum[i] / total);
}
