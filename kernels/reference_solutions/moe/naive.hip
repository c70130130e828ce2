// moe, kernel track: the naive kernels. One thread an element of each product, everything straight from memory. Read it
// first: routing, two products, SiLU between them, a weighted sum.
//
// Idea. route: a wave a token adds up the logits, one lane takes the softmax over all experts and picks the four
// largest, whose weights are not renormalised. gate_up: one thread an element of SiLU(x . gate) * (x . up) for each of
// a token's five visits (four experts, then the shared one). down: one thread an element of y adds up the five visits.
// Tiling. None; 256 neighbouring columns a workgroup, so that waves read whole lines of the weights.
// Budget. 128 bytes of LDS (the logits), route 35, gate_up 31, down 24 registers.
// Bottleneck. Loads: an expert's weights are read once for every visit of a token, two bytes a lane, and one conversion
// and one FMA are done with them; the matrix units stay idle.
// Roofs. `hipbench problems show moe`. Modelled (mi300x-1.7012c48a), microseconds:
//   n_experts=8, bs=2, seq=4: 1331 (8.1 % of the nearer roof, memory)
// Tried. Nothing: it is to be read. baseline.hip sorts the visits by expert, so that a tile of them shares the weights.

/* hipbench-plan 1
problem = "moe"
options = ["-O3"]
[let]
visits = "tokens * (top_k + 1)"            # visit v is of token v / (top_k + 1); its last one is the shared expert's
[workspace]
expert = "visits * 4"                      # int; n_experts = the shared expert
weight = "visits * 4"                      # float
hidden = "visits * d_expert * 2"           # f16, SiLU(gate) * up
[[step]]
kernel = "route"                           # one wave a token
grid = ["tokens"]
block = [64]
args = ["@args", "expert", "weight"]
[[step]]
kernel = "gate_up"                         # one thread an element of `hidden`
grid = ["d_expert / 256", "visits"]
block = [256]
args = ["@args", "expert", "hidden"]
[[step]]
kernel = "down"                            # one thread an element of y
grid = ["d_hidden / 256", "tokens"]
block = [256]
args = ["@args", "expert", "weight", "hidden"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/moe.h"

extern "C" __global__ void __launch_bounds__(64) route(hb_moe args, int *expert, float *weight) {
  __shared__ float logit[32];
  const int token = blockIdx.x, lane = threadIdx.x;
  const _Float16 *x = hb_view<_Float16>(args.x) + size_t(token) * args.d_hidden;
  for (int e = 0; e < args.n_experts; ++e) {
    const _Float16 *router = hb_view<_Float16>(args.router) + size_t(e) * args.d_hidden;
    float sum = 0;
    for (int i = lane; i < args.d_hidden; i += 64) sum += float(x[i]) * float(router[i]);
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (lane == 0) logit[e] = sum;
  }
  if (lane != 0) return;
  float largest = logit[0], total = 0;
  for (int e = 1; e < args.n_experts; ++e) largest = fmaxf(largest, logit[e]);
  for (int e = 0; e < args.n_experts; ++e) total += expf(logit[e] - largest);  // over all experts: not renormalised
  const int first_visit = token * (args.top_k + 1);
  for (int k = 0; k < args.top_k; ++k) {
    int best = 0;
    for (int e = 1; e < args.n_experts; ++e) {
      if (logit[e] > logit[best]) best = e;
    }
    expert[first_visit + k] = best;
    weight[first_visit + k] = expf(logit[best] - largest) / total;
    logit[best] = -INFINITY;
  }
  expert[first_visit + args.top_k] = args.n_experts;
  weight[first_visit + args.top_k] = 1;
}

extern "C" __global__ void __launch_bounds__(256) gate_up(hb_moe args, const int *expert, _Float16 *hidden) {
  const int j = blockIdx.x * 256 + threadIdx.x, visit = blockIdx.y;
  const int e = expert[visit], token = visit / (args.top_k + 1);
  const size_t at = size_t(e) * args.d_hidden * args.d_expert;
  const _Float16 *gate = hb_view<_Float16>(e == args.n_experts ? args.s_gate : args.w_gate + at);
  const _Float16 *up = hb_view<_Float16>(e == args.n_experts ? args.s_up : args.w_up + at);
  const _Float16 *x = hb_view<_Float16>(args.x) + size_t(token) * args.d_hidden;
  float g = 0, u = 0;
#pragma unroll 8
  for (int i = 0; i < args.d_hidden; ++i) {
    g += float(x[i]) * float(gate[size_t(i) * args.d_expert + j]);
    u += float(x[i]) * float(up[size_t(i) * args.d_expert + j]);
  }
  hidden[size_t(visit) * args.d_expert + j] = _Float16(g / (1 + expf(-g)) * u);
}

extern "C" __global__ void __launch_bounds__(256) down(hb_moe args, const int *expert, const float *weight,
                                                       const _Float16 *hidden) {
  const int c = blockIdx.x * 256 + threadIdx.x, token = blockIdx.y;
  float y = 0;
  for (int visit = token * (args.top_k + 1); visit < (token + 1) * (args.top_k + 1); ++visit) {
    const int e = expert[visit];
    const size_t at = size_t(e) * args.d_hidden * args.d_expert;
    const _Float16 *matrix = hb_view<_Float16>(e == args.n_experts ? args.s_down : args.w_down + at);
    float sum = 0;
#pragma unroll 8
    for (int j = 0; j < args.d_expert; ++j) {
      sum += float(hidden[size_t(visit) * args.d_expert + j]) * float(matrix[size_t(j) * args.d_hidden + c]);
    }
    y += weight[visit] * sum;
  }
  hb_view<_Float16>(args.y)[size_t(token) * args.d_hidden + c] = _Float16(y);
}
