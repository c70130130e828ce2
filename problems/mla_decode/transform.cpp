// Chooses an exact symmetry, and applies it to a case.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "problems/mla_decode/symmetry.hpp"
#include "problems/parallel.hpp"

namespace hipbench::mla_decode {
namespace {

using Bytes = std::vector<std::byte>;

void permute(RandomStream& random, Axis& axis) { axis.to = random_permutation(random, axis.size()); }
void flip(RandomStream& random, Axis& axis) { axis.negate = random_bits(random, axis.size()); }

// The axis has `width` entries a head: heads go where `heads` says, entries anywhere within their head.
void permute_in_heads(RandomStream& random, Axis& axis, const Permutation& heads, int64_t width) {
  for (int64_t head = 0; head < static_cast<int64_t>(heads.size()); ++head) {
    const Permutation within = random_permutation(random, width);
    for (int64_t d = 0; d < width; ++d) axis.to[at(head * width + d)] = heads[at(head)] * width + within[at(d)];
  }
}

// For each column the exponent field of its largest element.
std::vector<int> column_levels(const Bytes& matrix, int64_t columns) {
  std::vector<uint16_t> largest(at(columns));
  const auto* bits = reinterpret_cast<const uint16_t*>(matrix.data());
  const auto rows = static_cast<int64_t>(matrix.size() / 2) / columns;
  for (int64_t row = 0; row < rows; ++row, bits += columns) {
    for (size_t c = 0; c < largest.size(); ++c) largest[c] = std::max<uint16_t>(largest[c], bits[c] & 0x7fff);
  }
  std::vector<int> levels;
  for (const uint16_t magnitude : largest) levels.push_back(magnitude >> 7);
  return levels;
}

// Moves a factor of two, one half or none from the entries to their partners, the columns of `field`. These stay within
// two powers of the size that they are drawn with, so that a chain of symmetries does not drift away; columns that are
// further off (of a structured family) are left as they are.
void scale(RandomStream& random, Axis& axis, const Buffers& inputs, size_t field) {
  constexpr int kReach = 2;
  const double typical = 4 / std::sqrt(static_cast<double>(axis.size()));  // the largest of some thousand normals
  const int typical_level = 127 + std::ilogb(typical);
  const std::vector<int> levels = column_levels(inputs[field], axis.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    const int exponent = static_cast<int>(random.below(3)) - 1, off = levels[i] - typical_level;
    if (std::abs(off) <= kReach && std::abs(off - exponent) <= kReach) axis.exponent[i] = static_cast<int8_t>(exponent);
  }
}

// Numbers near the ends of the range (a user's own, say) are not scaled at all.
bool far_from_the_ends(const Buffers& inputs, unsigned threads) {
  constexpr uint16_t kLow = 16 << 7, kHigh = 240 << 7;
  std::vector<uint8_t> fields(kFieldCount, 1);
  parallel_for(threads, kKvCache, [&](int64_t field) {
    const Bytes& bytes = inputs[at(field)];
    const std::span bits(reinterpret_cast<const uint16_t*>(bytes.data()), bytes.size() / 2);
    bool far = true;
    for (const uint16_t number : bits) {
      const int magnitude = number & 0x7fff;
      far &= magnitude == 0 || (magnitude >= kLow && magnitude < kHigh);
    }
    fields[at(field)] = far;
  });
  return std::all_of(fields.begin(), fields.end(), [](uint8_t far) { return far != 0; });
}

Symmetry whole(const Sizes& s, const Buffers& inputs, RandomStream& random, unsigned threads) {
  Symmetry x(s);
  x.heads = random_permutation(random, s.n_heads);
  for (Axis* axis : {&x.batches, &x.dim, &x.dq, &x.out}) permute(random, *axis);
  permute_in_heads(random, x.nope, x.heads, kNope);
  permute_in_heads(random, x.value, x.heads, kValue);
  const Permutation latent = random_permutation(random, kLatent);
  std::copy(latent.begin(), latent.end(), x.cache.to.begin());
  for (Axis* axis : {&x.batches, &x.dim, &x.dq, &x.nope, &x.value, &x.cache, &x.out}) flip(random, *axis);
  for (size_t j = kLatent; j < kLatent + kPairs; ++j) x.cache.negate[j + kPairs] = x.cache.negate[j];
  if (far_from_the_ends(inputs, threads)) {
    scale(random, x.dim, inputs, kWqDown);
    scale(random, x.dq, inputs, kWqUp);
    scale(random, x.value, inputs, kWo);
  }
  return x;
}

// The place of the largest of some elements of a packed output, drawn at random.
int64_t large_column(RandomStream& random, const Bytes& output, int64_t columns) {
  constexpr int kDraws = 256;
  uint64_t best = 0;
  int best_magnitude = -1;
  for (int draw = 0; draw < kDraws; ++draw) {
    const uint64_t place = random.below(output.size() / 2);
    uint16_t bits;
    std::memcpy(&bits, &output[place * 2], sizeof bits);
    if ((bits & 0x7fff) > best_magnitude) best = place, best_magnitude = bits & 0x7fff;
  }
  return static_cast<int64_t>(best) % columns;
}

// Signs of single entries. An output column and a latent entry whose values are large in a row that the case holds, so
// that its answer is another.
Symmetry slight(const Sizes& s, const Case& drawn, RandomStream& random) {
  Symmetry x(s);
  const int64_t row = drawn.rows.empty() ? static_cast<int64_t>(random.below(static_cast<uint64_t>(s.bs)))
                                         : drawn.rows[random.below(drawn.rows.size())];
  // x may be zero in most places (one-hot inputs).
  const auto* x_row = reinterpret_cast<const uint16_t*>(drawn.inputs[kX].data()) + row * s.dim;
  const uint64_t first = random.below(static_cast<uint64_t>(s.dim));
  for (uint64_t i = 0; i < static_cast<uint64_t>(s.dim); ++i) {
    const uint64_t place = (first + i) % static_cast<uint64_t>(s.dim);
    if ((x_row[place] & 0x7fff) == 0) continue;
    x.dim.negate[place] = 1;
    break;
  }
  for (Axis* axis : {&x.dq, &x.nope, &x.value}) axis->negate[random.below(axis->negate.size())] = 1;
  x.out.negate[at(large_column(random, drawn.expected[kY], s.dim))] = 1;
  const int64_t entry = large_column(random, drawn.expected[kKvCache], kCacheRow);
  x.cache.negate[at(entry)] = 1;
  if (entry >= kLatent) x.cache.negate[at(kLatent + (entry - kLatent + kPairs) % kRope)] = 1;
  return x;
}

// The held rows of a packed output, as an axis of their own.
Axis packed_rows(const Symmetry& x, std::span<const int64_t> held, const MovedRows& moved) {
  Axis rows(static_cast<int64_t>(moved.order.size()));
  for (size_t packed = 0; packed < moved.order.size(); ++packed) {
    const int64_t source = moved.order[packed];
    rows.to[at(source)] = static_cast<int64_t>(packed);
    rows.negate[at(source)] = x.batches.negate[at(held.empty() ? source : held[at(source)])];
  }
  return rows;
}

}  // namespace

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) {
  RandomStream random("mla_decode/" + shape.label + "/symmetry", seed, extent == Extent::Whole ? 0 : 1);
  const Sizes sizes = sizes_of(shape);
  const Symmetry symmetry =
      extent == Extent::Whole ? whole(sizes, drawn.inputs, random, threads) : slight(sizes, drawn, random);
  move_inputs(sizes, drawn.inputs, symmetry, threads);
  MovedRows rows = move_rows(drawn.rows, symmetry.batches.to);
  const Axis packed = packed_rows(symmetry, drawn.rows, rows);
  drawn.expected[kY] = move_matrix(drawn.expected[kY], packed, symmetry.out, threads);
  drawn.expected[kKvCache] = move_matrix(drawn.expected[kKvCache], packed, symmetry.cache, threads);
  drawn.rows = std::move(rows.rows);
  return drawn;
}

}  // namespace hipbench::mla_decode
