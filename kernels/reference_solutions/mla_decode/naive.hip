// mla_decode, kernel track: the naive kernels. A wave an element of each weight product, a workgroup a head of a batch
// in attention; weights are absorbed. Read it first: six steps, one after the other.
//
// Idea. linear: a wave adds up one element, its lanes take every 64th pair of neighbours. attend: the query goes into
// the cache's space (512 latents by the key half of wkv_up, and 64 rotated), then scores against every row of the
// cache, softmax, the mean of the rows, and the value half of wkv_up on it: the cache is never expanded to keys and
// values of 128 heads.
// Tiling. None. All scores of a head stay in LDS (8192 of them), which bounds the length of the cache.
// Budget. LDS 36.25 KiB in attend: one workgroup of four waves a CU; linear 28, find_angles 19, attend 45 registers.
// Bottleneck. Loads. Weights are read once a batch and cache rows once a head, although 128 heads want the same row; at
// 128 batches both are read 128 times. With few batches it is faster than the baseline: it fills the chip (a workgroup
// a head, not a batch), which the baseline without a split of keys does not.
// Roofs. `hipbench problems show mla_decode`. Modelled (mi300x-1.7012c48a), microseconds:
//   bs=3, prefill=517: 495 (18.5 % of the nearer roof, memory)
// Tried. Nothing: it is to be read.

/* hipbench-plan 1
problem = "mla_decode"
options = ["-O3"]
[let]
keys = "prefill + 1"
[workspace]                          # bytes
q_latent = "bs * dq * 2"
q = "bs * n_heads * 192 * 2"
angles = "keys * 64 * 4"
value = "bs * n_heads * 128 * 2"
[[step]]
kernel = "linear"
grid = ["dq / 4", "bs"]
block = [256]
args = ["x", "wq_down", "q_latent", "i32:dim", "i32:dq"]
[[step]]
kernel = "linear"                    # straight into the cache
grid = ["576 / 4", "bs"]
block = [256]
args = ["x", "wkv_down", "kv_cache + prefill * 1152", "i32:dim", "i32:max_seq * 576"]
[[step]]
kernel = "linear"
grid = ["n_heads * 192 / 4", "bs"]
block = [256]
args = ["q_latent", "wq_up", "q", "i32:dq", "i32:n_heads * 192"]
[[step]]
kernel = "find_angles"
grid = ["keys"]
block = [64]
args = ["angles"]
[[step]]
kernel = "attend"
grid = ["n_heads", "bs"]
block = [256]
args = ["@args", "q", "angles", "value"]
[[step]]
kernel = "linear"
grid = ["dim / 4", "bs"]
block = [256]
args = ["value", "wo", "y", "i32:n_heads * 128", "i32:dim"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/mla_decode.h"

__device__ inline float to_float(uint16_t bits) { return __uint_as_float(uint32_t(bits) << 16); }

// To nearest even; a NaN stays one.
__device__ inline uint16_t to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

__device__ inline float rounded(float value) { return to_float(to_bf16(value)); }

__device__ inline float sum_of_wave(float value) {
  for (int step = 32; step > 0; step /= 2) value += __shfl_xor(value, step);
  return value;
}

// out[b][i] = in[b] . w[i], one wave an element; each lane takes every 64th pair of neighbours.
extern "C" __global__ void linear(const uint16_t *in, const uint16_t *w, uint16_t *out, int depth, int out_stride) {
  const int i = blockIdx.x * 4 + threadIdx.x / 64, b = blockIdx.y;
  const auto *x = reinterpret_cast<const uint32_t *>(in + size_t(b) * depth);
  const auto *y = reinterpret_cast<const uint32_t *>(w + size_t(i) * depth);
  float sum = 0;
#pragma unroll 4
  for (int k = threadIdx.x % 64; k < depth / 2; k += 64) {
    sum += to_float(uint16_t(x[k])) * to_float(uint16_t(y[k])) + to_float(x[k] >> 16) * to_float(y[k] >> 16);
  }
  sum = sum_of_wave(sum);
  if (threadIdx.x % 64 == 0) out[size_t(b) * out_stride + i] = to_bf16(sum);
}

// angles[t][j] = cos, angles[t][32 + j] = sin, rounded to bf16 as the problem wants it.
extern "C" __global__ void find_angles(float *angles) {
  const int j = threadIdx.x % 32, t = blockIdx.x;
  const float theta = rounded(powf(9984.0f, -j / 32.0f));
  const float angle = rounded(rounded(float(t)) * theta);
  angles[t * 64 + threadIdx.x] = rounded(threadIdx.x < 32 ? cosf(angle) : sinf(angle));
}

// Element j of 64 bf16 numbers, rotated.
__device__ inline float rotated(const uint16_t *x, int j, const float *angles) {
  const float partner = j < 32 ? -to_float(x[j + 32]) : to_float(x[j - 32]);
  return rounded(rounded(to_float(x[j]) * angles[j % 32]) + rounded(partner * angles[32 + j % 32]));
}

// One head of one batch a workgroup: the query into the cache's space, scores, softmax, the mean of the latent rows,
// and its values. All scores stay in LDS.
extern "C" __global__ void __launch_bounds__(256) attend(hb_mla_decode args, const uint16_t *q, const float *angles,
                                                         uint16_t *value) {
  __shared__ float query[576], weights[8192], mean[512];
  const int head = blockIdx.x, b = blockIdx.y, keys = args.prefill + 1;
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  const uint16_t *cache = args.kv_cache + size_t(b) * args.max_seq * 576;
  const uint16_t *w = args.wkv_up + size_t(head) * 256 * 512;
  q += (size_t(b) * args.n_heads + head) * 192;

  for (int l = threadIdx.x; l < 512; l += 256) {
    float sum = 0;
    for (int d = 0; d < 128; ++d) sum += to_float(q[d]) * to_float(w[d * 512 + l]);
    query[l] = sum;
  }
  if (wave == 0) query[512 + lane] = rotated(q + 128, lane, angles + args.prefill * 64);
  __syncthreads();

  for (int t = wave; t < keys; t += 4) {
    const uint16_t *key = cache + size_t(t) * 576;
    float sum = query[512 + lane] * rotated(key + 512, lane, angles + t * 64);
    for (int l = lane; l < 512; l += 64) sum += query[l] * to_float(key[l]);
    sum = sum_of_wave(sum);
    if (lane == 0) weights[t] = sum * 0.07216878f;  // 1/sqrt(192)
  }
  __syncthreads();

  float largest = -INFINITY, total = 0;
  for (int t = lane; t < keys; t += 64) largest = fmaxf(largest, weights[t]);
  for (int step = 32; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor(largest, step));
  __syncthreads();  // every wave has read all scores
  for (int t = threadIdx.x; t < keys; t += 256) weights[t] = expf(weights[t] - largest);
  __syncthreads();
  for (int t = lane; t < keys; t += 64) total += weights[t];
  total = sum_of_wave(total);

  const auto *latents = reinterpret_cast<const uint32_t *>(cache) + threadIdx.x;  // two neighbours a thread
  float low = 0, high = 0;
  for (int t = 0; t < keys; ++t) {
    const uint32_t pair = latents[size_t(t) * 288];
    low += weights[t] * to_float(uint16_t(pair));
    high += weights[t] * to_float(pair >> 16);
  }
  mean[threadIdx.x * 2] = low / total;
  mean[threadIdx.x * 2 + 1] = high / total;
  __syncthreads();

  for (int d = wave; d < 128; d += 4) {
    float sum = 0;
    for (int l = lane; l < 512; l += 64) sum += mean[l] * to_float(w[(128 + d) * 512 + l]);
    sum = sum_of_wave(sum);
    if (lane == 0) value[(size_t(b) * args.n_heads + head) * 128 + d] = to_bf16(sum);
  }
}
