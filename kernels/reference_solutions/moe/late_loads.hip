// moe, kernel track, ladder: the expert but for two words to the compiler. It shows that a prefetch in the source need
// not be one in the machine code.
//
// Idea and tiling. As in expert.hip: 128 x 256 tiles, the next tile's loads stand before the multiplication of this
// one. But nothing keeps the compiler from moving them down to where their values are stored, nor reads of LDS from
// just before their use (the expert has __builtin_amdgcn_sched_barrier and sched_group_barrier there). Look at the
// code: `hipbench profile` names the lines, which wait for memory_latency and lds_latency.
// Budget. LDS 32 KiB, combine 42, route<1> 36, route<2> 52, gate_up<128> 196, gate_up<64> 122, down<128> 196, down<64>
// 122 registers, none spilled: two workgroups a CU.
// Bottleneck. Latency: as many instructions as the expert, in an order that waits.
// Roofs. `hipbench problems show moe`. Modelled (mi300x-1.7012c48a), microseconds:
//   n_experts=8, bs=2, seq=4: 338 (31.8 % of the nearer roof, memory; matrix units 12 % busy)
//   n_experts=4, bs=1, seq=256: 392; the expert 298
// Tried. The expert is what came of it.

/* hipbench-plan 1
problem = "moe"
options = ["-O3"]
[let]
slots = "tokens * top_k"                       # a slot is one visit of a token to a routed expert
visits = "slots + tokens"                      # then come the visits to the shared expert
large = "tokens * top_k / n_experts > 64"
rows = "large ? 128 : 64"                      # of a tile
tiles = "min(ceil_div(slots, rows) + n_experts, n_experts * ceil_div(tokens, rows)) + ceil_div(tokens, rows)"  # at most
[workspace]
count = "n_experts * 4"
list = "n_experts * tokens * 4"                # an expert's slots
weight = "slots * 4"
rows_of_x = "tokens * (d_hidden + 128) * 2"    # a copy whose rows are not all in the same channels of the L2
hidden = "visits * (d_expert + 128) * 2"       # likewise
part = "visits * d_hidden * 2"
[[step]]
memset = "count"
[[step]]
when = "n_experts <= 16"
kernel = "route<1>"
grid = ["ceil_div(tokens, 16)"]
block = [256]
args = ["@args", "count", "list", "weight", "rows_of_x"]
[[step]]
when = "n_experts > 16"
kernel = "route<2>"
grid = ["ceil_div(tokens, 16)"]
block = [256]
args = ["@args", "count", "list", "weight", "rows_of_x"]
[[step]]
when = "large"
kernel = "gate_up<128>"
grid = ["align_up(tiles * (d_expert / 128), 8)"]
block = [256]
args = ["@args", "count", "list", "rows_of_x", "hidden"]
[[step]]
when = "!large"
kernel = "gate_up<64>"
grid = ["align_up(tiles * (d_expert / 128), 8)"]
block = [256]
args = ["@args", "count", "list", "rows_of_x", "hidden"]
[[step]]
when = "large"
kernel = "down<128>"
grid = ["align_up(tiles * (d_hidden / 256), 8)"]
block = [256]
args = ["@args", "count", "list", "weight", "hidden", "part"]
[[step]]
when = "!large"
kernel = "down<64>"
grid = ["align_up(tiles * (d_hidden / 256), 8)"]
block = [256]
args = ["@args", "count", "list", "weight", "hidden", "part"]
[[step]]
kernel = "combine"
grid = ["ceil_div(tokens * d_hidden, 2048)"]
block = [256]
args = ["@args", "part"]
*/

#include <cmath>

#include <hip/hip_runtime.h>

#include "hipbench/moe.h"

using half2v = _Float16 __attribute__((ext_vector_type(2)));
using half4v = _Float16 __attribute__((ext_vector_type(4)));
using half8v = _Float16 __attribute__((ext_vector_type(8)));
using float4v = float __attribute__((ext_vector_type(4)));
using float16v = float __attribute__((ext_vector_type(16)));
using uint2v = uint32_t __attribute__((ext_vector_type(2)));
using uint4v = uint32_t __attribute__((ext_vector_type(4)));

// Rows of x and of `hidden` are a multiple of 2 or 4 KiB long, so that all of them at one k would be in one or two of
// the 16 channels of the L2, 256 bytes each. Their copies are 256 bytes longer.
constexpr int kPitchX = 7168 + 128, kPitchHidden = 2048 + 128;
constexpr int kHidden = 7168, kExpert = 2048, kTopK = 4, kThreads = 256, kXcds = 8;

template <typename T>
__device__ inline T at(const void *base, uint32_t offset) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + offset);
}

// ---- routing: 16 tokens a workgroup, 16 * kBlocks experts; the four waves share the sum over d_hidden

template <int kBlocks>
struct Logits {
  float part[4][16][kBlocks * 16 + 1];
  float whole[16][kBlocks * 16 + 1];
  int count[32], base[32];
};

template <int kBlocks>
__device__ inline void find_logits(const hb_moe &args, Logits<kBlocks> &logits, uint16_t *rows_of_x) {
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, row = lane % 16, piece = lane / 16 * 8 + wave * 64;
  const bool is_token = int(blockIdx.x) * 16 + row < args.tokens;  // else the last one again
  const size_t token = min(int(blockIdx.x) * 16 + row, args.tokens - 1);
  const uint16_t *x = args.x + token * kHidden + piece;
  uint16_t *copy = rows_of_x + token * kPitchX + piece;
  const uint16_t *router[kBlocks];
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) router[i] = args.router + min(i * 16 + row, args.n_experts - 1) * kHidden + piece;
  float4v sum[kBlocks] = {};
#pragma unroll 4
  for (int k = 0; k < kHidden; k += 256) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const half8v values = *reinterpret_cast<const half8v *>(x + k + half * 32);
      if (is_token) *reinterpret_cast<half8v *>(copy + k + half * 32) = values;
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        const half8v expert = *reinterpret_cast<const half8v *>(router[i] + k + half * 32);
        sum[i] = __builtin_amdgcn_mfma_f32_16x16x16f16(expert.lo, values.lo, sum[i], 0, 0, 0);
        sum[i] = __builtin_amdgcn_mfma_f32_16x16x16f16(expert.hi, values.hi, sum[i], 0, 0, 0);
      }
    }
  }
  // Lane l has token l % 16 and experts 4 * (l / 16) to + 3 of each block.
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
    for (int r = 0; r < 4; ++r) logits.part[wave][row][i * 16 + lane / 16 * 4 + r] = sum[i][r];
  }
}

// Softmax over all experts, the top_k of them into the lists of their experts: one global atomic an expert, not one a
// token.
template <int kBlocks>
__global__ void __launch_bounds__(kThreads)
    route(hb_moe args, int *count, int *list, float *weight, uint16_t *rows_of_x) {
  __shared__ Logits<kBlocks> logits;
  find_logits<kBlocks>(args, logits, rows_of_x);
  if (threadIdx.x < 32) logits.count[threadIdx.x] = 0;
  __syncthreads();
  const int row = threadIdx.x / 16, token = blockIdx.x * 16 + row;
  float mine[kBlocks], largest = -INFINITY, total = 0;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
    const int e = i * 16 + threadIdx.x % 16;
    mine[i] = logits.part[0][row][e] + logits.part[1][row][e] + logits.part[2][row][e] + logits.part[3][row][e];
    if (e >= args.n_experts) mine[i] = -INFINITY;
    logits.whole[row][e] = mine[i];
    largest = fmaxf(largest, mine[i]);
  }
  for (int step = 8; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor(largest, step));
  for (int i = 0; i < kBlocks; ++i) total += __expf(mine[i] - largest);
  for (int step = 8; step > 0; step /= 2) total += __shfl_xor(total, step);
  __syncthreads();

  int rank[kBlocks] = {}, place[kBlocks];
  for (int other = 0; other < args.n_experts; ++other) {
    const float value = logits.whole[row][other];
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      rank[i] += value > mine[i] || (value == mine[i] && other < i * 16 + int(threadIdx.x % 16));
    }
  }
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
    const int e = i * 16 + threadIdx.x % 16;
    if (token >= args.tokens || e >= args.n_experts) rank[i] = kTopK;
    if (rank[i] < kTopK) place[i] = atomicAdd(&logits.count[e], 1);
  }
  __syncthreads();
  if (int(threadIdx.x) < args.n_experts) {
    const int found = logits.count[threadIdx.x];
    logits.base[threadIdx.x] = found != 0 ? atomicAdd(&count[threadIdx.x], found) : 0;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
    if (rank[i] >= kTopK) continue;
    const int e = i * 16 + threadIdx.x % 16, slot = token * kTopK + rank[i];
    list[e * args.tokens + logits.base[e] + place[i]] = slot;
    weight[slot] = __expf(mine[i] - largest) / total;
  }
}

// ---- which part of the work a workgroup has

// Rows `first` to `end` of an expert's list, and which tile of columns; the shared expert comes after the routed ones.
struct Tile {
  int expert, first, end, column;
  bool is_shared;
};

// Workgroups go round the eight dies (XCDs). Each die gets a contiguous eighth of the tiles, of an expert first all
// rows of a column tile, then the next: neighbours in time want the same weights, which their L2 then has.
template <int kRows>
__device__ inline bool find_tile(const hb_moe &args, const int *count, int columns, Tile &found) {
  const auto visits_of = [&](int e) { return e < args.n_experts ? count[e] : args.tokens; };
  int all = 0;
  for (int e = 0; e <= args.n_experts; ++e) all += (visits_of(e) + kRows - 1) / kRows;
  all *= columns;
  const int share = (all + kXcds - 1) / kXcds, index = blockIdx.x / kXcds;
  int id = blockIdx.x % kXcds * share + index;
  if (index >= share || id >= all) return false;
  for (int e = 0;; ++e) {
    const int visits = visits_of(e), tiles = (visits + kRows - 1) / kRows;
    if (id < tiles * columns) {
      const int first = id % tiles * kRows;
      found = {e, first, min(visits, first + kRows), id / tiles, e == args.n_experts};
      return true;
    }
    id -= tiles * columns;
  }
}

// The visit in a row of the tile: its row in `hidden` and `part`. Rows beyond the end repeat the last one; what they
// give is thrown away.
__device__ inline int visit_of(const hb_moe &args, const Tile &tile, const int *list, int row) {
  const int place = min(tile.first + row, tile.end - 1);
  return tile.is_shared ? args.tokens * kTopK + place : list[tile.expert * args.tokens + place];
}

// ---- the product of a tile of rows with two tiles of 128 columns

constexpr int kStepA = 64, kStepB = 32;  // k of the left and of the right tile: rows of 128 bytes are whole lines
constexpr int kRowBytesA = kStepA * 2, kRowBytesB = 2 * 128 * 2;

template <int kBlocks>
struct Tiles {
  char a[64 * kBlocks * kRowBytesA];  // pieces of 16 bytes in the order piece ^ row % 8, against bank conflicts
  char b[kStepB * kRowBytesB];        // as in memory, both column tiles side by side
};

// What is on its way to LDS, and from where: byte offsets beside uniform addresses.
template <int kBlocks>
struct Incoming {
  uint32_t row[2 * kBlocks], place_b;
  uint4v a[2 * kBlocks], b[4];
};

template <int kBlocks>
__device__ inline void fetch_a(const uint16_t *a, int k, Incoming<kBlocks> &in) {
#pragma unroll
  for (int p = 0; p < 2 * kBlocks; ++p) in.a[p] = at<uint4v>(a + k, in.row[p]);
}
template <int kBlocks>
__device__ inline void fetch_b(const uint16_t *b, int pitch, int k, Incoming<kBlocks> &in) {
#pragma unroll
  for (int p = 0; p < 4; ++p) in.b[p] = at<uint4v>(b + size_t(k + p * 8) * pitch, in.place_b);
}
template <int kBlocks>
__device__ inline void keep_a(Tiles<kBlocks> &tiles, const Incoming<kBlocks> &in) {
  const uint32_t row = threadIdx.x / 8, piece = threadIdx.x % 8;
#pragma unroll
  for (int p = 0; p < 2 * kBlocks; ++p) {
    *reinterpret_cast<uint4v *>(tiles.a + (row + 32 * p) * kRowBytesA + (piece ^ row % 8) * 16) = in.a[p];
  }
}
template <int kBlocks>
__device__ inline void keep_b(Tiles<kBlocks> &tiles, const Incoming<kBlocks> &in) {
  const uint32_t side = threadIdx.x / 128, row = threadIdx.x % 128 / 16, piece = threadIdx.x % 16;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    *reinterpret_cast<uint4v *>(tiles.b + (row + 8 * p) * kRowBytesB + side * 256 + piece * 16) = in.b[p];
  }
}

// Four rows in k of two neighbouring columns become the right factors of two matrix instructions.
__device__ inline void transpose(const uint32_t (&rows)[4], half4v (&columns)[2]) {
  const uint2v even = {__builtin_amdgcn_perm(rows[1], rows[0], 0x05040100),
                       __builtin_amdgcn_perm(rows[3], rows[2], 0x05040100)};
  const uint2v odd = {__builtin_amdgcn_perm(rows[1], rows[0], 0x07060302),
                      __builtin_amdgcn_perm(rows[3], rows[2], 0x07060302)};
  columns[0] = __builtin_bit_cast(half4v, even);
  columns[1] = __builtin_bit_cast(half4v, odd);
}

// sum[i][side][j]: 32 rows by 32 columns, every second one from j on of 64 columns of column tile `side`. Waves: two
// halves of the rows by two halves of both column tiles.
template <int kBlocks>
using Sums = float16v[kBlocks][2][2];

template <int kBlocks, int kHalf>
__device__ inline void multiply(const Tiles<kBlocks> &tiles, Sums<kBlocks> &sum) {
  const uint32_t lane = threadIdx.x % 64, wave = threadIdx.x / 64, row = lane % 32, upper = lane / 32;
  const uint32_t place_a = (wave / 2 * kBlocks * 32 + row) * kRowBytesA + (upper ^ row % 8) * 16;
  const uint32_t place_b = upper * 8 * kRowBytesB + wave % 2 * 128 + row * 4;
#pragma unroll
  for (int group = 0; group < kStepB / 16; ++group) {  // of 16 k: lanes 0 to 31 have the first 8, the others the rest
    half8v left[kBlocks];
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      left[i] = at<half8v>(tiles.a + i * 32 * kRowBytesA, place_a ^ (kHalf * 4 + group * 2) * 16);
    }
#pragma unroll
    for (int second = 0; second < 2; ++second) {
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        uint32_t rows[4];
        half4v right[2];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          rows[r] = at<uint32_t>(tiles.b + (group * 16 + second * 4 + r) * kRowBytesB + side * 256, place_b);
        }
        transpose(rows, right);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) {
          const half4v a = second == 0 ? left[i].lo : left[i].hi;
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            sum[i][side][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(a, right[j], sum[i][side][j], 0, 0, 0);
          }
        }
      }
    }
  }
}

// b: this half of the workgroup's column tile, its first row. While one step is multiplied the next is on its way.
template <int kBlocks>
__device__ inline void product(Tiles<kBlocks> &tiles, const uint16_t *a, int depth, const uint16_t *b, int pitch,
                               Incoming<kBlocks> &in, Sums<kBlocks> &sum) {
  fetch_a(a, 0, in);
  fetch_b(b, pitch, 0, in);
  for (int k = 0; k < depth; k += kStepA) {
    __syncthreads();  // the last step's readers are done
    keep_a(tiles, in);
    keep_b(tiles, in);
    __syncthreads();
    fetch_b(b, pitch, k + kStepB, in);
    fetch_a(a, min(k + kStepA, depth - kStepA), in);
    multiply<kBlocks, 0>(tiles, sum);
    __syncthreads();
    keep_b(tiles, in);
    __syncthreads();
    fetch_b(b, pitch, min(k + kStepA, depth - kStepB), in);
    multiply<kBlocks, 1>(tiles, sum);
  }
}

// Calls store(row of the tile, column in the column tiles, element r) for what the lane has in sum[i][..][..][r].
template <int kBlocks, typename Store>
__device__ inline void for_each_result(Store store) {
  const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, column = wave % 2 * 64 + lane % 32 * 2;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
    for (int r = 0; r < 16; ++r) {
      store((wave / 2 * kBlocks + i) * 32 + r / 4 * 8 + lane / 32 * 4 + r % 4, column, i, r);
    }
  }
}

// What the results of the tile's rows need, in LDS that the tiles no longer do.
template <int kBlocks>
struct Rows {
  int visit[64 * kBlocks];
  float weight[64 * kBlocks];
};
template <int kBlocks>
__device__ inline Rows<kBlocks> &list_rows(const hb_moe &args, const Tile &tile, const int *list, Tiles<kBlocks> &tiles,
                                           const float *weight = nullptr) {
  Rows<kBlocks> &rows = reinterpret_cast<Rows<kBlocks> &>(tiles);
  __syncthreads();  // the last step's readers are done
  if (threadIdx.x < 64 * kBlocks) {
    const int visit = visit_of(args, tile, list, threadIdx.x);
    rows.visit[threadIdx.x] = visit;
    if (weight != nullptr) rows.weight[threadIdx.x] = tile.is_shared ? 1 : weight[visit];
  }
  __syncthreads();
  return rows;
}

template <int kBlocks>
__device__ inline void gate_up_tile(const hb_moe &args, const Tile &tile, const int *list, const uint16_t *rows_of_x,
                                    uint16_t *hidden, Tiles<kBlocks> &tiles) {
  Incoming<kBlocks> in;
#pragma unroll
  for (int p = 0; p < 2 * kBlocks; ++p) {
    const int visit = visit_of(args, tile, list, threadIdx.x / 8 + 32 * p);
    const uint32_t token = tile.is_shared ? visit - args.tokens * kTopK : visit / kTopK;
    in.row[p] = token * (kPitchX * 2) + threadIdx.x % 8 * 16;
  }
  in.place_b = (threadIdx.x % 128 / 16 * kExpert + threadIdx.x % 16 * 8) * 2;
  const bool is_up = __builtin_amdgcn_readfirstlane(threadIdx.x / 128) != 0;
  const uint16_t *gate = tile.is_shared ? args.s_gate : args.w_gate, *up = tile.is_shared ? args.s_up : args.w_up;
  const uint16_t *b =
      (is_up ? up : gate) + size_t(tile.is_shared ? 0 : tile.expert) * kHidden * kExpert + tile.column * 128;
  Sums<kBlocks> sum = {};
  product<kBlocks>(tiles, rows_of_x, kHidden, b, kExpert, in, sum);
  Rows<kBlocks> &rows = list_rows(args, tile, list, tiles);
  for_each_result<kBlocks>([&](int row, int column, int i, int r) {
    if (tile.first + row >= tile.end) return;
    half2v result;
    for (int j = 0; j < 2; ++j) {
      const float gate = sum[i][0][j][r];
      result[j] = _Float16(gate * __builtin_amdgcn_rcpf(1 + __expf(-gate)) * sum[i][1][j][r]);
    }
    *reinterpret_cast<half2v *>(hidden + size_t(rows.visit[row]) * kPitchHidden + tile.column * 128 + column) = result;
  });
}

// kRows 128: the last tile of an expert may have so few rows that half of one is enough.
template <int kRows>
__global__ void __launch_bounds__(kThreads, 2)
    gate_up(hb_moe args, const int *count, const int *list, const uint16_t *rows_of_x, uint16_t *hidden) {
  __shared__ __attribute__((aligned(128))) Tiles<kRows / 64> tiles;
  Tile tile;
  if (!find_tile<kRows>(args, count, kExpert / 128, tile)) return;
  if constexpr (kRows > 64) {
    if (tile.end - tile.first > 64) return gate_up_tile<2>(args, tile, list, rows_of_x, hidden, tiles);
  }
  gate_up_tile<1>(args, tile, list, rows_of_x, hidden, reinterpret_cast<Tiles<1> &>(tiles));
}

template <int kBlocks>
__device__ inline void down_tile(const hb_moe &args, const Tile &tile, const int *list, const float *weight,
                                 const uint16_t *hidden, uint16_t *part, Tiles<kBlocks> &tiles) {
  Incoming<kBlocks> in;
#pragma unroll
  for (int p = 0; p < 2 * kBlocks; ++p) {
    in.row[p] =
        uint32_t(visit_of(args, tile, list, threadIdx.x / 8 + 32 * p)) * (kPitchHidden * 2) + threadIdx.x % 8 * 16;
  }
  in.place_b = (threadIdx.x % 128 / 16 * kHidden + threadIdx.x % 16 * 8) * 2;
  const int side = __builtin_amdgcn_readfirstlane(threadIdx.x / 128);
  const uint16_t *b = (tile.is_shared ? args.s_down : args.w_down + size_t(tile.expert) * kHidden * kExpert) +
                      tile.column * 256 + side * 128;
  Sums<kBlocks> sum = {};
  product<kBlocks>(tiles, hidden, kExpert, b, kHidden, in, sum);
  Rows<kBlocks> &rows = list_rows(args, tile, list, tiles, weight);
  for_each_result<kBlocks>([&](int row, int column, int i, int r) {
    if (tile.first + row >= tile.end) return;
    const float factor = rows.weight[row];
    uint16_t *to = part + size_t(rows.visit[row]) * kHidden + tile.column * 256 + column;
    for (int s = 0; s < 2; ++s) {
      const half2v result = {_Float16(factor * sum[i][s][0][r]), _Float16(factor * sum[i][s][1][r])};
      *reinterpret_cast<half2v *>(to + s * 128) = result;
    }
  });
}

template <int kRows>
__global__ void __launch_bounds__(kThreads, 2)
    down(hb_moe args, const int *count, const int *list, const float *weight, const uint16_t *hidden, uint16_t *part) {
  __shared__ __attribute__((aligned(128))) Tiles<kRows / 64> tiles;
  Tile tile;
  if (!find_tile<kRows>(args, count, kHidden / 256, tile)) return;
  if constexpr (kRows > 64) {
    if (tile.end - tile.first > 64) return down_tile<2>(args, tile, list, weight, hidden, part, tiles);
  }
  down_tile<1>(args, tile, list, weight, hidden, part, reinterpret_cast<Tiles<1> &>(tiles));
}

// Eight elements of y a thread.
extern "C" __global__ void __launch_bounds__(kThreads) combine(hb_moe args, const uint16_t *part) {
  const size_t place = (size_t(blockIdx.x) * kThreads + threadIdx.x) * 8;
  const size_t token = place / kHidden, column = place % kHidden;
  if (int(token) >= args.tokens) return;
  const auto load = [&](size_t visit) { return *reinterpret_cast<const half8v *>(part + visit * kHidden + column); };
  const half8v shared = load(size_t(args.tokens) * kTopK + token);
  half8v routed[kTopK];
#pragma unroll
  for (int k = 0; k < kTopK; ++k) routed[k] = load(token * kTopK + k);
  half8v y;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float sum = float(shared[i]);
#pragma unroll
    for (int k = 0; k < kTopK; ++k) sum += float(routed[k][i]);
    y[i] = _Float16(sum);
  }
  *reinterpret_cast<half8v *>(args.y + place) = y;
}
