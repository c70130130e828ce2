// A starting point for mla_decode, kernel track: correct, simple and slow. Try it:
//   hipbench eval THIS_FILE --problem mla_decode
//
// One thread an element in every step; intermediate results are float. The weights are absorbed: instead of expanding
// every cache row to all heads (keys and values), each head's query is brought into the latent space of the cache, and
// its output back out of it.

/* hipbench-plan 1
problem = "mla_decode"
options = ["-O3"]
[let]
keys = "prefill + 1"
[workspace]                             # bytes
q_latent = "bs * dq * 4"
q = "bs * n_heads * 192 * 4"
query = "bs * n_heads * 576 * 4"        # absorbed, rotated
rope = "bs * keys * 64 * 4"             # of the keys, rotated
weights = "bs * n_heads * keys * 4"     # scores, then attention weights
mean = "bs * n_heads * 512 * 4"
value = "bs * n_heads * 128 * 4"
[[step]]
kernel = "query_down"
grid = ["ceil_div(dq, 256)", "bs"]
block = [256]
args = ["@args", "q_latent"]
[[step]]
kernel = "append"
grid = ["576 / 64", "bs"]
block = [64]
args = ["@args"]
[[step]]
kernel = "query_up"
grid = ["n_heads * 192 / 256", "bs"]
block = [256]
args = ["@args", "q_latent", "q"]
[[step]]
kernel = "absorb"
grid = ["576 / 64", "n_heads", "bs"]
block = [64]
args = ["@args", "q", "query"]
[[step]]
kernel = "rotate_keys"
grid = ["keys", "bs"]
block = [64]
args = ["@args", "rope"]
[[step]]
kernel = "score"
grid = ["ceil_div(keys, 64)", "n_heads", "bs"]
block = [64]
args = ["@args", "query", "rope", "weights"]
[[step]]
kernel = "softmax"
grid = ["n_heads", "bs"]
block = [64]
args = ["@args", "weights"]
[[step]]
kernel = "mix"
grid = ["512 / 64", "n_heads", "bs"]
block = [64]
args = ["@args", "weights", "mean"]
[[step]]
kernel = "values"
grid = ["128 / 64", "n_heads", "bs"]
block = [64]
args = ["@args", "mean", "value"]
[[step]]
kernel = "output"
grid = ["dim / 256", "bs"]
block = [256]
args = ["@args", "value"]
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

// Element j of 64, rotated to a position: x is its value, other that of element j + 32 or j - 32. The problem's RoPE
// rounds to bf16 at every step; that is part of the answer.
__device__ inline float rotated(float x, float other, int j, int position) {
  const float theta = rounded(powf(9984.0f, -(j % 32) / 32.0f));
  const float angle = rounded(rounded(float(position)) * theta);
  return rounded(rounded(x * rounded(cosf(angle))) + rounded((j < 32 ? -other : other) * rounded(sinf(angle))));
}

extern "C" __global__ void query_down(hb_mla_decode args, float *q_latent) {
  const int i = blockIdx.x * 256 + threadIdx.x, b = blockIdx.y;
  if (i >= args.dq) return;
  const uint16_t *x = args.x + size_t(b) * args.dim, *w = args.wq_down + size_t(i) * args.dim;
  float sum = 0;
  for (int k = 0; k < args.dim; ++k) sum += to_float(x[k]) * to_float(w[k]);
  q_latent[size_t(b) * args.dq + i] = sum;
}

// The new token's row of the cache: latent and rope part, unrotated.
extern "C" __global__ void append(hb_mla_decode args) {
  const int i = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
  const uint16_t *x = args.x + size_t(b) * args.dim, *w = args.wkv_down + size_t(i) * args.dim;
  float sum = 0;
  for (int k = 0; k < args.dim; ++k) sum += to_float(x[k]) * to_float(w[k]);
  args.kv_cache[(size_t(b) * args.max_seq + args.prefill) * 576 + i] = to_bf16(sum);
}

extern "C" __global__ void query_up(hb_mla_decode args, const float *q_latent, float *q) {
  const int i = blockIdx.x * 256 + threadIdx.x, b = blockIdx.y;
  const uint16_t *w = args.wq_up + size_t(i) * args.dq;
  float sum = 0;
  for (int k = 0; k < args.dq; ++k) sum += q_latent[size_t(b) * args.dq + k] * to_float(w[k]);
  q[size_t(b) * args.n_heads * 192 + i] = sum;
}

// A head's query in the cache's space: 512 latent entries (through the key half of wkv_up), 64 rotated rope entries.
extern "C" __global__ void absorb(hb_mla_decode args, const float *q, float *query) {
  const int i = blockIdx.x * 64 + threadIdx.x, h = blockIdx.y, b = blockIdx.z;
  q += (size_t(b) * args.n_heads + h) * 192;
  float result = 0;
  if (i < 512) {
    const uint16_t *w = args.wkv_up + size_t(h) * 256 * 512 + i;
    for (int d = 0; d < 128; ++d) result += q[d] * to_float(w[d * 512]);
  } else {
    const int j = i - 512;
    result = rotated(rounded(q[128 + j]), rounded(q[128 + (j ^ 32)]), j, args.prefill);
  }
  query[(size_t(b) * args.n_heads + h) * 576 + i] = result;
}

// The rope part of every cache row, rotated to its position.
extern "C" __global__ void rotate_keys(hb_mla_decode args, float *rope) {
  const int j = threadIdx.x, t = blockIdx.x, b = blockIdx.y;
  const uint16_t *key = args.kv_cache + (size_t(b) * args.max_seq + t) * 576 + 512;
  rope[(size_t(b) * (args.prefill + 1) + t) * 64 + j] = rotated(to_float(key[j]), to_float(key[j ^ 32]), j, t);
}

extern "C" __global__ void score(hb_mla_decode args, const float *query, const float *rope, float *scores) {
  const int t = blockIdx.x * 64 + threadIdx.x, h = blockIdx.y, b = blockIdx.z, keys = args.prefill + 1;
  if (t >= keys) return;
  query += (size_t(b) * args.n_heads + h) * 576;
  const uint16_t *key = args.kv_cache + (size_t(b) * args.max_seq + t) * 576;
  float sum = 0;
  for (int l = 0; l < 512; ++l) sum += query[l] * to_float(key[l]);
  rope += (size_t(b) * keys + t) * 64;
  for (int j = 0; j < 64; ++j) sum += query[512 + j] * rope[j];
  scores[(size_t(b) * args.n_heads + h) * keys + t] = sum * 0.07216878f;  // 1/sqrt(192)
}

extern "C" __global__ void softmax(hb_mla_decode args, float *scores) {
  const int h = blockIdx.x, b = blockIdx.y, keys = args.prefill + 1;
  scores += (size_t(b) * args.n_heads + h) * keys;
  float largest = -INFINITY, sum = 0;
  for (int t = threadIdx.x; t < keys; t += 64) largest = fmaxf(largest, scores[t]);
  for (int step = 32; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor(largest, step));
  for (int t = threadIdx.x; t < keys; t += 64) sum += expf(scores[t] - largest);
  for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  for (int t = threadIdx.x; t < keys; t += 64) scores[t] = expf(scores[t] - largest) / sum;
}

// The mean of the latent rows under a head's weights.
extern "C" __global__ void mix(hb_mla_decode args, const float *weights, float *mean) {
  const int l = blockIdx.x * 64 + threadIdx.x, h = blockIdx.y, b = blockIdx.z, keys = args.prefill + 1;
  weights += (size_t(b) * args.n_heads + h) * keys;
  const uint16_t *latent = args.kv_cache + size_t(b) * args.max_seq * 576 + l;
  float sum = 0;
  for (int t = 0; t < keys; ++t) sum += weights[t] * to_float(latent[size_t(t) * 576]);
  mean[(size_t(b) * args.n_heads + h) * 512 + l] = sum;
}

// A head's output, through the value half of wkv_up.
extern "C" __global__ void values(hb_mla_decode args, const float *mean, float *value) {
  const int d = blockIdx.x * 64 + threadIdx.x, h = blockIdx.y, b = blockIdx.z;
  mean += (size_t(b) * args.n_heads + h) * 512;
  const uint16_t *w = args.wkv_up + (size_t(h) * 256 + 128 + d) * 512;
  float sum = 0;
  for (int l = 0; l < 512; ++l) sum += mean[l] * to_float(w[l]);
  value[(size_t(b) * args.n_heads + h) * 128 + d] = sum;
}

extern "C" __global__ void output(hb_mla_decode args, const float *value) {
  const int i = blockIdx.x * 256 + threadIdx.x, b = blockIdx.y, depth = args.n_heads * 128;
  const uint16_t *w = args.wo + size_t(i) * depth;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum += value[size_t(b) * depth + k] * to_float(w[k]);
  args.y[size_t(b) * args.dim + i] = to_bf16(sum);
}
