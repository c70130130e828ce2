// moe, kernel track: the baseline that speed-ups are taken over. Visits are sorted by expert on the device, tiles of
// them go through f16 matrix instructions; nothing is pipelined, no workgroup knows of its XCD.
//
// Idea. route: a wave a token; its four experts' lists get the visit (an atomic each). gate_up: 128 visits of one
// expert by 64 columns of gate and the same 64 of up, so that SiLU(gate) * up happens in registers. down: 128 visits by
// 128 columns; each visit's row goes to memory in f32. combine: y is the weighted sum of a token's five rows, in a
// fixed order: no atomics on y, and the same bits each time. The host knows no counts: the plan has as many workgroups
// as there can be, and those beyond the last tile leave at once.
// Tiling. 128 rows (64 where there are few tokens) by 2 x 64 columns by 32 k; a wave has half of the rows and half of
// the columns: 4 accumulators of 32 x 32 f32. The right tiles are transposed on the way into LDS, 4x4 elements a
// thread.
// Budget. LDS (128 + 2 x 64) x 40 x 2 bytes and the list of rows: 20.5 KiB; route 43, combine 26, gate_up<2> 144,
// gate_up<1> 80, down<2> 136, down<1> 72 registers, none spilled: three workgroups a CU. Rows of 80 bytes instead of 64
// leave two lanes a bank in reads; the transposed stores, rows 320 bytes apart, still meet by eights.
// Bottleneck. Latency: a step of only 32 k waits for its loads, and between two barriers there are 16 matrix
// instructions a wave. Rows of x (14336 bytes) and of the hidden layer (4096) are multiples of 2 KiB apart, so all of a
// tile's rows at one k lie in one or two of the L2's 16 channels. The visits' f32 sums cost 40 bytes of traffic an
// element of y.
// Roofs. `hipbench problems show moe`. Modelled (mi300x-1.7012c48a), microseconds:
//   n_experts=8, bs=2, seq=4: 510 (21.1 % of the nearer roof, memory; matrix units 8 % busy; 79 % of LDS time in
//     conflicts)
//   n_experts=4, bs=1, seq=256: 960 (11.4 % of the nearer roof, memory; matrix units 9 % busy; 78 % of LDS time in
//     conflicts)
// Tried. Left to the ladder: larger tiles and prefetch (one_channel), padded copies (late_loads), the order of
// instructions (expert).

/* hipbench-plan 1
problem = "moe"
options = ["-O3"]
[let]
slots = "tokens * top_k"                       # a slot is one visit of a token to a routed expert
visits = "slots + tokens"                      # then come the visits to the shared expert
large = "tokens > 64"
rows = "large ? 128 : 64"                      # of a tile
tiles = "min(ceil_div(slots, rows) + n_experts, n_experts * ceil_div(tokens, rows)) + ceil_div(tokens, rows)"  # at most
[workspace]
count = "n_experts * 4"
list = "n_experts * tokens * 4"                # an expert's slots
weight = "slots * 4"
hidden = "visits * d_expert * 2"
part = "visits * d_hidden * 4"
[[step]]
memset = "count"
[[step]]
kernel = "route"
grid = ["tokens"]
block = [64]
args = ["@args", "count", "list", "weight"]
[[step]]
when = "large"
kernel = "gate_up<2>"
grid = ["d_expert / 64", "tiles"]
block = [256]
args = ["@args", "count", "list", "hidden"]
[[step]]
when = "!large"
kernel = "gate_up<1>"
grid = ["d_expert / 64", "tiles"]
block = [256]
args = ["@args", "count", "list", "hidden"]
[[step]]
when = "large"
kernel = "down<2>"
grid = ["d_hidden / 128", "tiles"]
block = [256]
args = ["@args", "count", "list", "hidden", "part"]
[[step]]
when = "!large"
kernel = "down<1>"
grid = ["d_hidden / 128", "tiles"]
block = [256]
args = ["@args", "count", "list", "hidden", "part"]
[[step]]
kernel = "combine"
grid = ["tokens * d_hidden / 1024"]
block = [256]
args = ["@args", "weight", "part"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/moe.h"

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using half8 = _Float16 __attribute__((ext_vector_type(8)));
using float16v = float __attribute__((ext_vector_type(16)));

constexpr int kHidden = 7168, kExpert = 2048, kTopK = 4;

// One wave a token: logits, softmax over all experts, the top_k of them into the lists of their experts.
extern "C" __global__ void __launch_bounds__(64) route(hb_moe args, int *count, int *list, float *weight) {
  const int token = blockIdx.x, lane = threadIdx.x;
  const half8 *x = reinterpret_cast<const half8 *>(args.x + size_t(token) * kHidden);
  float mine = -INFINITY;  // lane e holds the logit of expert e
  for (int e = 0; e < args.n_experts; ++e) {
    const half8 *router = reinterpret_cast<const half8 *>(args.router + size_t(e) * kHidden);
    float sum = 0;
    for (int i = lane; i < kHidden / 8; i += 64) {
      const half8 a = x[i], b = router[i];
      for (int k = 0; k < 8; ++k) sum += float(a[k]) * float(b[k]);
    }
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (lane == e) mine = sum;
  }
  float largest = mine, total;
  for (int step = 32; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor(largest, step));
  const float part = __expf(mine - largest);
  total = part;
  for (int step = 32; step > 0; step /= 2) total += __shfl_xor(total, step);

  int rank = 0;
  for (int e = 0; e < args.n_experts; ++e) {
    const float other = __shfl(mine, e);
    rank += other > mine || (other == mine && e < lane);
  }
  if (lane < args.n_experts && rank < kTopK) {
    const int slot = token * kTopK + rank;
    list[lane * args.tokens + atomicAdd(&count[lane], 1)] = slot;
    weight[slot] = part / total;
  }
}

// Which visits a workgroup's tile holds; the shared expert comes after the routed ones.
struct Tile {
  int expert, first, end;  // places in the expert's list
  bool is_shared;
};

template <int kRows>
__device__ inline bool find_tile(const hb_moe &args, const int *count, int tile, Tile &found) {
  for (int e = 0; e <= args.n_experts; ++e) {
    const int visits = e < args.n_experts ? count[e] : args.tokens, tiles = (visits + kRows - 1) / kRows;
    if (tile < tiles) {
      found = {e, tile * kRows, min(visits, (tile + 1) * kRows), e == args.n_experts};
      return true;
    }
    tile -= tiles;
  }
  return false;
}

constexpr int kTileK = 32, kTileColumns = 64;
constexpr int kPitch = kTileK + 8;  // halfs a row of LDS; the 8 spread rows over the banks
constexpr int kThreads = 256;

template <int kRows>
struct Tiles {
  _Float16 a[kRows][kPitch];
  _Float16 b[2][kTileColumns][kPitch];  // transposed: the matrix instruction wants neighbours in k
  int row[kRows];                       // of the left matrix, for each row of the tile
};

// Four rows of k by four columns a thread: 128 threads for each of the two right tiles.
template <int kRows>
__device__ inline void load_b(Tiles<kRows> &tiles, const uint16_t *b0, const uint16_t *b1, int pitch, int k) {
  const int side = threadIdx.x / 128, piece = threadIdx.x % 128;
  const int column = piece % 16 * 4, kk = piece / 16 * 4;
  const uint16_t *source = (side == 0 ? b0 : b1) + size_t(k + kk) * pitch + column;
  half4 in[4];
  for (int r = 0; r < 4; ++r) in[r] = *reinterpret_cast<const half4 *>(source + size_t(r) * pitch);
  for (int c = 0; c < 4; ++c) {
    const half4 out = {in[0][c], in[1][c], in[2][c], in[3][c]};
    *reinterpret_cast<half4 *>(&tiles.b[side][column + c][kk]) = out;
  }
}

// sum[i][s] = 32 rows by 32 columns of the product of the tile's rows of `a` with right tile s. Four waves: the number
// says which half of the rows and which half of the columns of both right tiles are its own.
template <int kRowTiles>
__device__ inline void multiply(Tiles<64 * kRowTiles> &tiles, const uint16_t *a, int depth, const uint16_t *b0,
                                const uint16_t *b1, int b_pitch, float16v (&sum)[kRowTiles][2]) {
  constexpr int kRows = 64 * kRowTiles;
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  for (int k = 0; k < depth; k += kTileK) {
    __syncthreads();  // the last step's readers are done
    for (int piece = threadIdx.x; piece < kRows * (kTileK / 8); piece += kThreads) {
      const int row = piece / (kTileK / 8), kk = piece % (kTileK / 8) * 8;
      *reinterpret_cast<half8 *>(&tiles.a[row][kk]) =
          *reinterpret_cast<const half8 *>(a + size_t(tiles.row[row]) * depth + k + kk);
    }
    load_b<kRows>(tiles, b0, b1, b_pitch, k);
    __syncthreads();
    // Lane l gives row l % 32 of A and column l % 32 of B, k values 4 * (l / 32) to + 3 of the 8.
    for (int k8 = 0; k8 < kTileK; k8 += 8) {
      const int kk = k8 + lane / 32 * 4;
      half4 left[kRowTiles], right[2];
      for (int i = 0; i < kRowTiles; ++i) {
        left[i] = *reinterpret_cast<const half4 *>(&tiles.a[(wave / 2 * kRowTiles + i) * 32 + lane % 32][kk]);
      }
      for (int s = 0; s < 2; ++s) {
        right[s] = *reinterpret_cast<const half4 *>(&tiles.b[s][wave % 2 * 32 + lane % 32][kk]);
      }
      for (int i = 0; i < kRowTiles; ++i) {
        for (int s = 0; s < 2; ++s) {
          sum[i][s] = __builtin_amdgcn_mfma_f32_32x32x8f16(left[i], right[s], sum[i][s], 0, 0, 0);
        }
      }
    }
  }
}

// The row of the tile that element r of the wave's 32x32 result i lies in.
template <int kRowTiles>
__device__ inline int result_row(int i, int r) {
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  return (wave / 2 * kRowTiles + i) * 32 + r / 4 * 8 + lane / 32 * 4 + r % 4;
}

// A visit's row in `hidden` and `part`.
__device__ inline int visit_of(const hb_moe &args, const Tile &tile, const int *list, int place) {
  return tile.is_shared ? args.tokens * kTopK + place : list[tile.expert * args.tokens + place];
}

template <int kRowTiles>
__global__ void __launch_bounds__(kThreads) gate_up(hb_moe args, const int *count, const int *list, uint16_t *hidden) {
  constexpr int kRows = 64 * kRowTiles;
  __shared__ Tiles<kRows> tiles;
  Tile tile;
  if (!find_tile<kRows>(args, count, blockIdx.y, tile)) return;
  if (threadIdx.x < kRows) {  // rows beyond the end repeat the last one; what they give is thrown away
    const int place = min(tile.first + int(threadIdx.x), tile.end - 1);
    tiles.row[threadIdx.x] = tile.is_shared ? place : list[tile.expert * args.tokens + place] / kTopK;
  }
  const size_t first = size_t(tile.is_shared ? 0 : tile.expert) * kHidden * kExpert + blockIdx.x * kTileColumns;
  float16v sum[kRowTiles][2] = {};
  multiply<kRowTiles>(tiles, args.x, kHidden, (tile.is_shared ? args.s_gate : args.w_gate) + first,
                      (tile.is_shared ? args.s_up : args.w_up) + first, kExpert, sum);
  const int column = blockIdx.x * kTileColumns + threadIdx.x / 64 % 2 * 32 + threadIdx.x % 32;
  for (int i = 0; i < kRowTiles; ++i) {
    for (int r = 0; r < 16; ++r) {
      const int place = tile.first + result_row<kRowTiles>(i, r);
      if (place >= tile.end) continue;
      const float gate = sum[i][0][r], up = sum[i][1][r];
      const size_t visit = visit_of(args, tile, list, place);
      hb_view<_Float16>(hidden)[visit * kExpert + column] = _Float16(gate / (1 + __expf(-gate)) * up);
    }
  }
}

template <int kRowTiles>
__global__ void __launch_bounds__(kThreads) down(hb_moe args, const int *count, const int *list, const uint16_t *hidden,
                                                         float *part) {
  constexpr int kRows = 64 * kRowTiles;
  __shared__ Tiles<kRows> tiles;
  Tile tile;
  if (!find_tile<kRows>(args, count, blockIdx.y, tile)) return;
  if (threadIdx.x < kRows) {
    tiles.row[threadIdx.x] = visit_of(args, tile, list, min(tile.first + int(threadIdx.x), tile.end - 1));
  }
  const uint16_t *matrix = (tile.is_shared ? args.s_down : args.w_down + size_t(tile.expert) * kHidden * kExpert) +
                           blockIdx.x * 2 * kTileColumns;
  float16v sum[kRowTiles][2] = {};
  multiply<kRowTiles>(tiles, hidden, kExpert, matrix, matrix + kTileColumns, kHidden, sum);
  for (int i = 0; i < kRowTiles; ++i) {
    for (int r = 0; r < 16; ++r) {
      const int place = tile.first + result_row<kRowTiles>(i, r);
      if (place >= tile.end) continue;
      const size_t visit = visit_of(args, tile, list, place);
      for (int s = 0; s < 2; ++s) {
        const int column = (blockIdx.x * 2 + s) * kTileColumns + threadIdx.x / 64 % 2 * 32 + threadIdx.x % 32;
        part[visit * kHidden + column] = sum[i][s][r];
      }
    }
  }
}

// Four elements of y a thread.
extern "C" __global__ void __launch_bounds__(kThreads) combine(hb_moe args, const float *weight, const float *part) {
  const size_t at = (size_t(blockIdx.x) * kThreads + threadIdx.x) * 4;
  const size_t token = at / kHidden, column = at % kHidden;
  const auto load = [&](size_t visit) { return *reinterpret_cast<const float4 *>(part + visit * kHidden + column); };
  float4 sum = load(size_t(args.tokens) * kTopK + token);
  for (int k = 0; k < kTopK; ++k) {
    const float w = weight[token * kTopK + k];
    const float4 routed = load(token * kTopK + k);
    sum.x += w * routed.x, sum.y += w * routed.y, sum.z += w * routed.z, sum.w += w * routed.w;
  }
  const half4 y = {_Float16(sum.x), _Float16(sum.y), _Float16(sum.z), _Float16(sum.w)};
  *reinterpret_cast<half4 *>(args.y + at) = y;
}
