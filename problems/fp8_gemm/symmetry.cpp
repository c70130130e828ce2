// Exact symmetries of fp8_gemm. Rows, columns and the contraction index are permuted: columns and kk only such that
// each keeps company with those that share its scales. A sign that is put on a row of a_scale or on a column of B comes
// out at C; one that is put on two factors cancels, as a power of two does that moves from a_scale to b_scale.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "problems/fp8_gemm/layout.hpp"
#include "problems/parallel.hpp"
#include "problems/symmetry.hpp"

namespace hipbench::fp8_gemm {
namespace {

struct Symmetry {
  Permutation rows, columns, depth;                         // m, n, k
  std::vector<uint8_t> row_sign, column_sign, depth_sign;   // m (at C), n (at C), k (cancels)
  std::vector<uint8_t> a_sign, b_sign;                      // [k/128][m], [k/128][n/128]: value and scale, cancels
  std::vector<int> row_exponent, block_exponent;            // m (at C), k/128 (cancels)

  explicit Symmetry(Sizes s)
      : rows(identity_permutation(s.m)), columns(identity_permutation(s.n)), depth(identity_permutation(s.k)),
        row_sign(static_cast<size_t>(s.m)), column_sign(static_cast<size_t>(s.n)), depth_sign(static_cast<size_t>(s.k)),
        a_sign(static_cast<size_t>(blocks(s.k) * s.m)), b_sign(static_cast<size_t>(blocks(s.k) * blocks(s.n))),
        row_exponent(static_cast<size_t>(s.m)), block_exponent(static_cast<size_t>(blocks(s.k))) {}
};

std::vector<int> random_exponents(RandomStream& random, size_t count) {
  std::vector<int> exponents(count);
  for (int& exponent : exponents) exponent = static_cast<int>(random.below(3)) - 1;
  return exponents;
}

Symmetry whole(Sizes s, RandomStream& random) {
  Symmetry x(s);
  x.rows = random_permutation(random, s.m);
  x.columns = random_block_permutation(random, s.n, kScaleBlock);
  x.depth = random_block_permutation(random, s.k, kScaleBlock);
  for (std::vector<uint8_t>* signs : {&x.row_sign, &x.column_sign, &x.depth_sign, &x.a_sign, &x.b_sign})
    *signs = random_bits(random, static_cast<int64_t>(signs->size()));
  x.row_exponent = random_exponents(random, x.row_exponent.size());
  for (int& exponent : x.block_exponent) exponent = random.below(2) == 0 ? -1 : 1;  // a lone scale changes too
  return x;
}

// Two rows change places, two columns of one scale block, and one block of B gives its sign to its scale.
Symmetry slight(Sizes s, std::span<const int64_t> held_rows, RandomStream& random) {
  Symmetry x(s);
  const int64_t one = held_rows.empty() ? static_cast<int64_t>(random.below(static_cast<uint64_t>(s.m)))
                                        : held_rows[random.below(held_rows.size())];
  const int64_t other =
      s.m == 1 ? one : (one + 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(s.m - 1)))) % s.m;
  std::swap(x.rows[static_cast<size_t>(one)], x.rows[static_cast<size_t>(other)]);
  const int64_t first = kScaleBlock * static_cast<int64_t>(random.below(static_cast<uint64_t>(blocks(s.n))));
  const Permutation columns = random_exchange(random, std::min(kScaleBlock, s.n - first));
  for (size_t j = 0; j < columns.size(); ++j) x.columns[static_cast<size_t>(first) + j] = first + columns[j];
  x.b_sign[random.below(x.b_sign.size())] = 1;
  return x;
}

using Codes = std::vector<std::byte>;

// A [depth][across] matrix of codes, its places permuted and its signs flipped; `block_signs` is [depth/128][across].
Codes move_codes(const Codes& from, const Permutation& depth, const Permutation& across,
                 std::span<const uint8_t> block_signs, std::span<const uint8_t> depth_signs, unsigned threads) {
  const size_t width = across.size();
  Codes to(from.size());
  parallel_for(threads, blocks(static_cast<int64_t>(depth.size())), [&](int64_t block) {
    const uint8_t* signs = &block_signs[static_cast<size_t>(block) * width];
    const size_t first = static_cast<size_t>(block * kScaleBlock), end = std::min(depth.size(), first + kScaleBlock);
    for (size_t kk = first; kk < end; ++kk) {
      const std::byte* in = &from[kk * width];
      std::byte* out = &to[static_cast<size_t>(depth[kk]) * width];
      for (size_t i = 0; i < width; ++i) {
        const auto code = static_cast<uint8_t>(in[i]);
        const bool flip = (signs[i] ^ depth_signs[kk]) != 0 && (code & 0x7f) != 0;  // 0x80 is NaN, zero has no sign
        out[across[i]] = static_cast<std::byte>(code ^ (flip ? 0x80 : 0));
      }
    }
  });
  return to;
}

struct ScaleChange {
  int exponent;
  bool negate;
};

template <typename Change>
Codes move_scales(const Codes& from, const Permutation& blocks_to, const Permutation& across, Change change) {
  Codes to(from.size());
  for (size_t block = 0; block < blocks_to.size(); ++block) {
    for (size_t i = 0; i < across.size(); ++i) {
      float scale;
      std::memcpy(&scale, &from[(block * across.size() + i) * sizeof scale], sizeof scale);
      const ScaleChange by = change(block, i);
      scale = std::ldexp(by.negate ? -scale : scale, by.exponent);
      std::memcpy(
          &to[(static_cast<size_t>(blocks_to[block]) * across.size() + static_cast<size_t>(across[i])) * sizeof scale],
          &scale, sizeof scale);
    }
  }
  return to;
}

// Where the whole blocks of a block permutation go.
Permutation block_targets(const Permutation& to) {
  Permutation targets;
  for (size_t first = 0; first < to.size(); first += kScaleBlock) targets.push_back(to[first] / kScaleBlock);
  return targets;
}

Codes move_outputs(const Codes& from, const Symmetry& x, std::span<const int64_t> held, const MovedRows& moved,
                   unsigned threads) {
  const size_t width = x.columns.size(), row_bytes = 2 * width;
  Codes to(from.size());
  parallel_for(threads, static_cast<int64_t>(moved.order.size()), [&](int64_t packed) {
    const auto source = static_cast<size_t>(moved.order[static_cast<size_t>(packed)]);
    const auto row = held.empty() ? source : static_cast<size_t>(held[source]);
    const std::byte* in = &from[source * row_bytes];
    std::byte* out = &to[static_cast<size_t>(packed) * row_bytes];
    for (size_t j = 0; j < width; ++j) {
      uint16_t bits;
      std::memcpy(&bits, in + 2 * j, sizeof bits);
      bits = scaled_bits(ElementType::Bf16, bits, x.row_exponent[row], (x.row_sign[row] ^ x.column_sign[j]) != 0);
      std::memcpy(out + 2 * static_cast<size_t>(x.columns[j]), &bits, sizeof bits);
    }
  });
  return to;
}

void move_inputs(Buffers& inputs, const Symmetry& x, unsigned threads) {
  const size_t m = x.rows.size(), n = x.columns.size(), block_count = x.block_exponent.size();
  const Permutation depth_blocks = block_targets(x.depth), column_blocks = block_targets(x.columns);
  std::vector<uint8_t> b_signs(block_count * n);  // with the columns'
  for (size_t block = 0; block < block_count; ++block)
    for (size_t j = 0; j < n; ++j)
      b_signs[block * n + j] =
          x.b_sign[block * column_blocks.size() + j / static_cast<size_t>(kScaleBlock)] ^ x.column_sign[j];
  inputs[kA] = move_codes(inputs[kA], x.depth, x.rows, x.a_sign, x.depth_sign, threads);
  inputs[kB] = move_codes(inputs[kB], x.depth, x.columns, b_signs, x.depth_sign, threads);
  inputs[kAScale] = move_scales(inputs[kAScale], depth_blocks, x.rows, [&](size_t block, size_t row) {
    return ScaleChange{x.row_exponent[row] + x.block_exponent[block],
                       (x.row_sign[row] ^ x.a_sign[block * m + row]) != 0};
  });
  inputs[kBScale] = move_scales(inputs[kBScale], depth_blocks, column_blocks, [&](size_t block, size_t column) {
    return ScaleChange{-x.block_exponent[block], x.b_sign[block * column_blocks.size() + column] != 0};
  });
}

}  // namespace

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) {
  RandomStream random("fp8_gemm/" + shape.label + "/symmetry", seed, extent == Extent::Whole ? 0 : 1);
  const Sizes sizes = sizes_of(shape);
  const Symmetry symmetry = extent == Extent::Whole ? whole(sizes, random) : slight(sizes, drawn.rows, random);
  move_inputs(drawn.inputs, symmetry, threads);
  MovedRows moved = move_rows(drawn.rows, symmetry.rows);
  drawn.expected[kC] = move_outputs(drawn.expected[kC], symmetry, drawn.rows, moved, threads);
  drawn.rows = std::move(moved.rows);
  return drawn;
}

}  // namespace hipbench::fp8_gemm
