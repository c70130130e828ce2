// Exact symmetries of moe. Tokens, experts, hidden features (where x is contracted), features of the output and, in
// each expert for itself, what it has inside are permuted. A sign that is put on a hidden feature of x and of the
// weights that take it cancels, as one that is put on a column of `up` and a row of `down` does; one that is put on a
// column of `down` comes out at y. No powers of two are moved: f16 weights are so small that some would be rounded.

#include <algorithm>

#include "problems/moe/layout.hpp"
#include "problems/parallel.hpp"
#include "problems/symmetry.hpp"

namespace hipbench::moe {
namespace {

constexpr uint16_t kSignBit = 0x8000;
using Signs = std::vector<uint8_t>;  // 1 = negate

// Of a matrix: element (i, j) goes to (rows.to[i], columns.to[j]), negated if exactly one of both signs is set.
struct Side {
  Permutation to;
  Signs signs;
};

Side leave(int64_t size) { return {identity_permutation(size), Signs(static_cast<size_t>(size))}; }
Side shuffle(RandomStream& random, int64_t size) {
  return {random_permutation(random, size), random_bits(random, size)};
}
// Two places are exchanged and one of them gets a sign.
Side exchange(RandomStream& random, int64_t size) {
  Side side{random_exchange(random, size), Signs(static_cast<size_t>(size))};
  for (size_t i = 0; i < side.to.size(); ++i) {
    if (side.to[i] > static_cast<int64_t>(i)) side.signs[i] = 1;
  }
  return side;
}
Side without_signs(const Side& side) { return {side.to, Signs(side.to.size())}; }

struct Symmetry {
  Side tokens, experts;      // never a sign
  Side features, outputs;    // d_hidden
  std::vector<Side> inside;  // one an expert (by its old number), the last is the shared expert's
};

Symmetry whole(const Sizes& s, RandomStream& random) {
  Symmetry x;
  x.tokens = without_signs(shuffle(random, s.tokens));
  x.experts = without_signs(shuffle(random, s.n_experts));
  x.features = shuffle(random, s.d_hidden);
  x.outputs = shuffle(random, s.d_hidden);
  for (int64_t expert = 0; expert < s.n_experts; ++expert) x.inside.push_back(shuffle(random, s.d_expert));
  x.inside.push_back(shuffle(random, s.d_shared));
  return x;
}

Symmetry slight(const Sizes& s, std::span<const int64_t> held_rows, RandomStream& random) {
  Symmetry x;
  x.tokens = leave(s.tokens);
  if (s.tokens > 1) {
    const auto all = static_cast<uint64_t>(s.tokens);
    const auto one =
        held_rows.empty() ? random.below(all) : static_cast<uint64_t>(held_rows[random.below(held_rows.size())]);
    const uint64_t other = (one + 1 + random.below(all - 1)) % all;
    std::swap(x.tokens.to[one], x.tokens.to[other]);
  }
  x.experts = leave(s.n_experts);
  x.features = exchange(random, s.d_hidden);
  x.outputs = exchange(random, s.d_hidden);
  for (int64_t expert = 0; expert < s.n_experts; ++expert) x.inside.push_back(exchange(random, s.d_expert));
  x.inside.push_back(exchange(random, s.d_shared));
  return x;
}

void move_row(const uint16_t* from, bool negate, const Side& columns, uint16_t* to) {
  const uint16_t row_sign = negate ? kSignBit : 0;
  for (size_t j = 0; j < columns.to.size(); ++j) {
    const auto sign = static_cast<uint16_t>(columns.signs[j] * kSignBit);
    to[columns.to[j]] = from[j] ^ row_sign ^ sign;
  }
}

// A row-major matrix of 16-bit codes that carry their sign in the highest bit.
void move_matrix(const uint16_t* from, const Side& rows, const Side& columns, uint16_t* to, unsigned threads) {
  const auto width = static_cast<int64_t>(columns.to.size());
  constexpr int64_t kPiece = 64;
  const auto count = static_cast<int64_t>(rows.to.size());
  parallel_for(threads, (count + kPiece - 1) / kPiece, [&](int64_t piece) {
    for (int64_t row = piece * kPiece; row < std::min(count, (piece + 1) * kPiece); ++row) {
      const auto r = static_cast<size_t>(row);
      move_row(from + row * width, rows.signs[r] != 0, columns, to + rows.to[r] * width);
    }
  });
}

// Replaces a buffer of one matrix.
void move_buffer(std::vector<std::byte>& buffer, const Side& rows, const Side& columns, unsigned threads) {
  std::vector<std::byte> moved(buffer.size());
  move_matrix(codes(buffer), rows, columns, codes(moved), threads);
  buffer = std::move(moved);
}

// Replaces a buffer of one matrix an expert, one buffer at a time so that the inputs are never there twice. `rows` and
// `columns` give the sides of an expert's matrix.
template <typename Rows, typename Columns>
void move_experts(std::vector<std::byte>& buffer, const Side& experts, Rows rows, Columns columns, unsigned threads) {
  std::vector<std::byte> moved(buffer.size());
  for (size_t expert = 0; expert < experts.to.size(); ++expert) {
    const Side &by_rows = rows(expert), &by_columns = columns(expert);
    const size_t matrix = by_rows.to.size() * by_columns.to.size();
    move_matrix(codes(buffer) + expert * matrix, by_rows, by_columns,
                codes(moved) + static_cast<size_t>(experts.to[expert]) * matrix, threads);
  }
  buffer = std::move(moved);
}

void move_inputs(Buffers& inputs, const Symmetry& x, unsigned threads) {
  move_buffer(inputs[kX], x.tokens, x.features, threads);
  move_buffer(inputs[kRouter], x.experts, x.features, threads);
  // SiLU is not odd: a sign inside goes to `up` alone.
  std::vector<Side> unsigned_inside;
  for (const Side& side : x.inside) unsigned_inside.push_back(without_signs(side));
  const auto features = [&](size_t) -> const Side& { return x.features; };
  const auto outputs = [&](size_t) -> const Side& { return x.outputs; };
  const auto inside = [&](size_t expert) -> const Side& { return x.inside[expert]; };
  const auto gate_inside = [&](size_t expert) -> const Side& { return unsigned_inside[expert]; };
  move_experts(inputs[kGate], x.experts, features, gate_inside, threads);
  move_experts(inputs[kUp], x.experts, features, inside, threads);
  move_experts(inputs[kDown], x.experts, inside, outputs, threads);
  move_buffer(inputs[kSharedGate], x.features, unsigned_inside.back(), threads);
  move_buffer(inputs[kSharedUp], x.features, x.inside.back(), threads);
  move_buffer(inputs[kSharedDown], x.inside.back(), x.outputs, threads);
}

}  // namespace

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) {
  RandomStream random("moe/" + shape.label + "/symmetry", seed, extent == Extent::Whole ? 0 : 1);
  const Sizes sizes = sizes_of(shape);
  const Symmetry symmetry = extent == Extent::Whole ? whole(sizes, random) : slight(sizes, drawn.rows, random);
  move_inputs(drawn.inputs, symmetry, threads);

  MovedRows moved = move_rows(drawn.rows, symmetry.tokens.to);
  Side packed_rows = leave(static_cast<int64_t>(moved.order.size()));
  for (size_t row = 0; row < moved.order.size(); ++row)
    packed_rows.to[static_cast<size_t>(moved.order[row])] = static_cast<int64_t>(row);
  move_buffer(drawn.expected[kY], packed_rows, symmetry.outputs, threads);
  drawn.rows = std::move(moved.rows);
  return drawn;
}

}  // namespace hipbench::moe
