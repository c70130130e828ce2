// Inputs of mla_decode: as the challenge draws them, and structured families. In all of them the scores are of a size
// that an honest kernel, which rounds intermediate results to bf16, gets right with a margin.

#include <algorithm>
#include <cmath>

#include "problems/mla_decode/symmetry.hpp"
#include "problems/number_formats.hpp"
#include "problems/parallel.hpp"

namespace hipbench::mla_decode {
namespace {

constexpr std::string_view kNames[] = {"x", "wq_down", "wkv_down", "wq_up", "wkv_up", "wo", "kv_cache"};

class Inputs {
 public:
  Inputs(const Shape& shape, const Draw& draw)
      : s_(sizes_of(shape)), draw_(draw), label_(shape.label), buffers_(kFieldCount) {}

  // Weights scaled by the square root of the length that they are summed over.
  Buffers normal() {
    for (size_t field = kX; field <= kKvCache; ++field) {
      const bool is_weight = field != kX && field != kKvCache;
      fill(field, is_weight ? 1 / std::sqrt(static_cast<double>(columns(field))) : 1);
    }
    return std::move(buffers_);
  }

  // One value of each x and of the latent part of each cache row: an intermediate result is one weight, and a wrong
  // index shows.
  Buffers one_hot() {
    buffers_ = normal();
    RandomStream random = stream("places");
    for (int64_t batch = 0; batch < s_.bs; ++batch) keep_one(random, row(kX, batch), s_.dim);
    for (int64_t i = 0; i < s_.bs * s_.max_seq; ++i) keep_one(random, row(kKvCache, i), kLatent);
    return std::move(buffers_);
  }

  // Terms of one sum differ by 2^9; besides, powers of two up to 2^14 are moved between the factors of every product,
  // which f16 cannot hold, and up to 2^3 where they show in the appended row.
  Buffers dynamic_range() {
    buffers_ = normal();
    parallel_for(draw_.threads, s_.bs, [&](int64_t batch) {
      RandomStream random = stream("magnitudes/" + std::to_string(batch));
      shrink(random, row(kX, batch), s_.dim);
      for (int64_t t = 0; t < s_.max_seq; ++t) shrink(random, row(kKvCache, batch * s_.max_seq + t), kLatent);
    });
    RandomStream random = stream("factors");
    Symmetry x(s_);
    const auto spread = [&](Axis& axis, int64_t first, int64_t end, uint64_t most) {
      for (int64_t i = first; i < end; ++i) {
        axis.exponent[at(i)] =
            static_cast<int8_t>(static_cast<int>(random.below(2 * most + 1)) - static_cast<int>(most));
      }
    };
    for (Axis* axis : {&x.dim, &x.dq, &x.nope, &x.value}) spread(*axis, 0, axis->size(), 14);
    spread(x.cache, 0, kLatent + kPairs, 3);
    for (size_t j = kLatent; j < kLatent + kPairs; ++j) x.cache.exponent[j + kPairs] = x.cache.exponent[j];
    move_inputs(s_, buffers_, x, draw_.threads);
    return std::move(buffers_);
  }

  // Half of the indices of dim come in pairs: x 16 times as large and the same in both, weights opposite. The pairs add
  // nothing, but partial sums are large.
  Buffers cancelling() {
    buffers_ = normal();
    RandomStream random = stream("pairs");
    const Permutation places = random_permutation(random, s_.dim);
    for (int64_t pair = 0; pair < s_.dim / 4; ++pair) {
      const int64_t one = places[at(2 * pair)], other = places[at(2 * pair + 1)];
      for (int64_t batch = 0; batch < s_.bs; ++batch) {
        uint16_t* x = row(kX, batch);
        x[one] = x[other] = scaled_bits(ElementType::Bf16, x[one], 4, false);
      }
    }
    for (const size_t field : {kWqDown, kWkvDown}) {
      for (int64_t i = 0; i < extents(s_, field).rows; ++i) {
        uint16_t* w = row(field, i);
        for (int64_t pair = 0; pair < s_.dim / 4; ++pair)
          w[places[at(2 * pair + 1)]] = w[places[at(2 * pair)]] ^ 0x8000;
      }
    }
    return std::move(buffers_);
  }

  // One key of each batch has a score 74 above the others of every head, so y shows its value alone: in half of the
  // batches one of the last quarter of the cache, in the others any, or in one case of four the appended one
  // everywhere. Without this, y is a mean over thousands of keys and small beside the tolerance.
  //
  // Values are half as large as normal: nothing is averaged, and an honest kernel should pass with the margin that it
  // has elsewhere.
  //
  // One latent entry is zero but in that key. One query entry of every head is 8, whatever x is, and meets that latent
  // entry only.
  Buffers late_key() {
    buffers_ = normal();
    RandomStream random = stream("keys");
    const int64_t latent = below(random, kLatent), d = below(random, kNope), dim = below(random, s_.dim),
                  dq = below(random, s_.dq);
    const bool appended = s_.prefill == 0 || random.below(4) == 0;
    for (int64_t batch = 0; batch < s_.bs; ++batch) {
      row(kX, batch)[dim] = bits(1);
      const int64_t last_quarter = (s_.prefill + 3) / 4;
      const int64_t candidates = random.below(2) == 0 ? last_quarter : s_.prefill;
      const int64_t key = appended ? -1 : s_.prefill - 1 - below(random, candidates);
      for (int64_t t = 0; t < s_.max_seq; ++t)
        row(kKvCache, batch * s_.max_seq + t)[latent] = t == key ? bits(16) : bits(0);
      for (int64_t t = s_.prefill + 1; t < s_.max_seq; ++t) row(kKvCache, batch * s_.max_seq + t)[latent] = bits(0.5);
    }
    set_row(kWqDown, dq, dim, 8);
    set_row(kWkvDown, latent, dim, appended ? 16 : 0);
    for (int64_t head = 0; head < s_.n_heads; ++head) {
      set_row(kWqUp, head * kQueryHead + d, dq, 1);
      set_row(kWkvUp, head * kKeyHead + d, latent, 8);
      uint16_t* values = row(kWkvUp, head * kKeyHead + kNope);
      for (int64_t i = 0; i < kValue * kLatent; ++i) values[i] = scaled_bits(ElementType::Bf16, values[i], -1, false);
    }
    return std::move(buffers_);
  }

  // The rope parts of a batch's cache rows are all the same and large: keys differ by their rotation more than by
  // anything else, so a wrong angle gives other attention weights.
  Buffers positions() {
    buffers_ = normal();
    for (int64_t batch = 0; batch < s_.bs; ++batch) {
      const uint16_t* first = row(kKvCache, batch * s_.max_seq) + kLatent;
      uint16_t rope[kRope];
      for (size_t j = 0; j < kRope; ++j) rope[j] = double_to_bf16(3 * bf16_to_float(first[j]));
      for (int64_t t = 0; t < s_.max_seq; ++t)
        std::copy_n(rope, kRope, row(kKvCache, batch * s_.max_seq + t) + kLatent);
    }
    return std::move(buffers_);
  }

 private:
  static uint16_t bits(double value) { return double_to_bf16(value); }
  static int64_t below(RandomStream& random, int64_t bound) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
  }
  int64_t columns(size_t field) const { return extents(s_, field).columns; }
  uint16_t* row(size_t field, int64_t index) {
    return reinterpret_cast<uint16_t*>(buffers_[field].data()) + index * columns(field);
  }
  RandomStream stream(std::string_view purpose) const {
    std::string name = "mla_decode/";
    for (const std::string_view part : {std::string_view(label_), draw_.family, purpose}) name.append(part).append("/");
    return RandomStream(name, draw_.seed, draw_.case_index);
  }

  // Piece by piece, each from a stream of its own, so that it can be done in parallel.
  void fill(size_t field, double deviation) {
    constexpr int64_t kPiece = 1 << 16;
    const NormalSampler sampler(ElementType::Bf16, deviation);
    const int64_t count = extents(s_, field).rows * columns(field);
    buffers_[field].resize(at(2 * count));
    parallel_for(draw_.threads, (count + kPiece - 1) / kPiece, [&](int64_t piece) {
      RandomStream random = stream(std::string(kNames[field]) + "/" + std::to_string(piece));
      sampler.fill(random, std::span(row(field, 0) + piece * kPiece, at(std::min(kPiece, count - piece * kPiece))));
    });
  }

  // Times one of 2^-8 to 2^1.
  static void shrink(RandomStream& random, uint16_t* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = scaled_bits(ElementType::Bf16, values[i], 1 - static_cast<int>(random.below(10)), false);
    }
  }

  // Leaves one of `count` values, with a random sign and the length that all of them had.
  static void keep_one(RandomStream& random, uint16_t* values, int64_t count) {
    std::fill_n(values, count, uint16_t{0});
    const int64_t place = below(random, count);
    values[place] = bits(std::sqrt(static_cast<double>(count)) * (random.below(2) == 0 ? 1 : -1));
  }

  void set_row(size_t field, int64_t index, int64_t place, double value) {
    std::fill_n(row(field, index), columns(field), uint16_t{0});
    row(field, index)[place] = bits(value);
  }

  const Sizes s_;
  const Draw& draw_;
  std::string label_;
  Buffers buffers_;
};

Buffers draw_family(const Shape& shape, const Draw& draw) {
  Inputs inputs(shape, draw);
  if (draw.family == kNormalInputs) return inputs.normal();
  if (draw.family == kFamilies[0]) return inputs.one_hot();
  if (draw.family == kFamilies[1]) return inputs.dynamic_range();
  if (draw.family == kFamilies[2]) return inputs.cancelling();
  if (draw.family == kFamilies[3]) return inputs.late_key();
  CHECK(draw.family == kFamilies[4], "a family of input_families()");
  return inputs.positions();
}

// What is behind the new token is 64 times as large as what counts. A kernel that does not mask the rest of its last
// tile would otherwise pass at long prefill: a few of thousands of keys too many change nothing that the tolerance
// sees.
void enlarge_later_rows(const Sizes& s, std::vector<std::byte>& cache, unsigned threads) {
  constexpr int kExponent = 6;
  auto* values = reinterpret_cast<uint16_t*>(cache.data());
  parallel_for(threads, s.bs, [&](int64_t batch) {
    const int64_t first = (batch * s.max_seq + s.prefill + 1) * kCacheRow, end = (batch + 1) * s.max_seq * kCacheRow;
    for (int64_t i = first; i < end; ++i) values[i] = scaled_bits(ElementType::Bf16, values[i], kExponent, false);
  });
}

}  // namespace

Buffers draw_inputs(const Shape& shape, const Draw& draw) {
  Buffers inputs = draw_family(shape, draw);
  enlarge_later_rows(sizes_of(shape), inputs[kKvCache], draw.threads);
  return inputs;
}

}  // namespace hipbench::mla_decode
