#include "problems/mla_decode/symmetry.hpp"

#include <algorithm>

#include "problems/parallel.hpp"

namespace hipbench::mla_decode {
namespace {

// Puts an axis with `width` entries a head into one with `period` entries a head, `offset` entries after each head's
// first.
void put(Axis& whole, int64_t period, int64_t offset, const Axis& part, int64_t width) {
  for (int64_t i = 0; i < part.size(); ++i) {
    const int64_t target = part.to[at(i)], entry = i / width * period + offset + i % width;
    whole.to[at(entry)] = target / width * period + offset + target % width;
    whole.exponent[at(entry)] = part.exponent[at(i)];
    whole.negate[at(entry)] = part.negate[at(i)];
  }
}

Axis query_rows(const Sizes& s, const Symmetry& x) {
  Axis rows(s.n_heads * kQueryHead);
  put(rows, kQueryHead, 0, x.nope, kNope);
  Axis rope(s.n_heads * kRope);
  for (int64_t i = 0; i < rope.size(); ++i) {
    const size_t partner = at(kLatent + i % kRope);
    rope.to[at(i)] = x.heads[at(i / kRope)] * kRope + i % kRope;
    rope.exponent[at(i)] = static_cast<int8_t>(-x.cache.exponent[partner]);
    rope.negate[at(i)] = x.cache.negate[partner];
  }
  put(rows, kQueryHead, kNope, rope, kRope);
  return rows;
}

Axis key_rows(const Sizes& s, const Symmetry& x) {
  Axis rows(s.n_heads * kKeyHead);
  put(rows, kKeyHead, 0, x.nope.inverse_scale(), kNope);
  put(rows, kKeyHead, kNope, x.value, kValue);
  return rows;
}

Axis latent_columns(const Symmetry& x) {
  Axis columns(kLatent);
  for (size_t l = 0; l < kLatent; ++l) {
    columns.to[l] = x.cache.to[l];
    columns.exponent[l] = static_cast<int8_t>(-x.cache.exponent[l]);
    columns.negate[l] = x.cache.negate[l];
  }
  return columns;
}

Axis cache_rows(const Sizes& s, const Symmetry& x) {
  Axis rows(s.bs * s.max_seq);
  for (int64_t i = 0; i < rows.size(); ++i) {
    rows.to[at(i)] = x.batches.to[at(i / s.max_seq)] * s.max_seq + i % s.max_seq;
    rows.negate[at(i)] = x.batches.negate[at(i / s.max_seq)];
  }
  return rows;
}

}  // namespace

Axis::Axis(int64_t size) : to(identity_permutation(size)), exponent(at(size)), negate(at(size)) {}

Axis Axis::inverse_scale() const {
  Axis other = *this;
  for (int8_t& e : other.exponent) e = static_cast<int8_t>(-e);
  return other;
}

Symmetry::Symmetry(const Sizes& s)
    : heads(identity_permutation(s.n_heads)),
      batches(s.bs),
      dim(s.dim),
      dq(s.dq),
      nope(s.n_heads * kNope),
      value(s.n_heads * kValue),
      cache(kCacheRow),
      out(s.dim) {}

std::vector<std::byte> move_matrix(std::span<const std::byte> from, const Axis& rows, const Axis& columns,
                                   unsigned threads) {
  constexpr int64_t kPiece = 64;  // rows
  std::vector<std::byte> to(from.size());
  const auto* in_all = reinterpret_cast<const uint16_t*>(from.data());
  auto* out_all = reinterpret_cast<uint16_t*>(to.data());
  std::vector<uint32_t> targets(columns.to.begin(), columns.to.end());
  parallel_for(threads, (rows.size() + kPiece - 1) / kPiece, [&](int64_t piece) {
    bool inexact = false;
    for (int64_t row = piece * kPiece; row < std::min(rows.size(), (piece + 1) * kPiece); ++row) {
      const uint16_t* in = in_all + row * columns.size();
      uint16_t* out = out_all + rows.to[at(row)] * columns.size();
      const int row_exponent = rows.exponent[at(row)];
      const unsigned row_negate = rows.negate[at(row)];
      for (size_t c = 0; c < targets.size(); ++c) {
        const int exponent = row_exponent + columns.exponent[c], magnitude = in[c] & 0x7fff;
        const int scaled = magnitude == 0 ? 0 : magnitude + exponent * 128;
        // Subnormals and what would become one are not simply scaled by their exponent.
        inexact |= magnitude != 0 && exponent != 0 && (magnitude < 128 || scaled < 128 || scaled >= 0x7f80);
        const unsigned sign = (in[c] & 0x8000u) ^ ((row_negate ^ columns.negate[c]) << 15);
        out[targets[c]] = static_cast<uint16_t>(static_cast<unsigned>(scaled) | sign);
      }
    }
    CHECK(!inexact, "a power of two neither over- nor underflows");
  });
  return to;
}

void move_inputs(const Sizes& s, Buffers& inputs, const Symmetry& x, unsigned threads) {
  const auto move = [&](size_t field, const Axis& rows, const Axis& columns) {
    inputs[field] = move_matrix(inputs[field], rows, columns, threads);
  };
  move(kX, x.batches, x.dim);
  move(kWqDown, x.dq, x.dim.inverse_scale());
  move(kWkvDown, x.cache, x.dim.inverse_scale());
  move(kWqUp, query_rows(s, x), x.dq.inverse_scale());
  move(kWkvUp, key_rows(s, x), latent_columns(x));
  move(kWo, x.out, x.value.inverse_scale());
  move(kKvCache, cache_rows(s, x), x.cache);
}

}  // namespace hipbench::mla_decode
