// Inputs of moe: as the challenge draws them, and five structured families. In all of them gates and outputs are of the
// size that they have with normal inputs, so that an honest f16 kernel passes with a margin.
//
// Each token and each piece of a tensor has a random stream of its own, so that threads can share the work.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "common/result.hpp"
#include "problems/moe/layout.hpp"
#include "problems/moe/oracle.hpp"
#include "problems/number_formats.hpp"
#include "problems/parallel.hpp"
#include "problems/symmetry.hpp"

namespace hipbench::moe {
namespace {

constexpr uint16_t kSignBit = 0x8000, kOne = 0x3c00;

// code * 2^exponent, rounded to nearest even.
uint16_t scaled(uint16_t code, int exponent) {
  const int old_exponent = code >> 10 & 31, new_exponent = old_exponent + exponent;
  if (old_exponent > 0 && old_exponent < 31 && new_exponent > 0 && new_exponent < 31) {
    return static_cast<uint16_t>(code + exponent * (1 << 10));
  }
  return double_to_f16(std::ldexp(f16_to_double(code), exponent));
}

// The three matrices of an expert or of the shared expert.
struct Expert {
  uint16_t *gate, *up, *down;
  int64_t width;
};

// What a family asks of a token's choice beside the gap.
struct Wish {
  int32_t chosen = -1, not_chosen = -1;
};

class Drawing {
 public:
  Drawing(const Shape& shape, const Draw& draw)
      : s_(sizes_of(shape)),
        draw_(draw),
        name_("moe/" + shape.label + "/" + std::string(draw.family) + "/"),
        inputs_(kFieldCount) {
    for (size_t field = 0; field < kY; ++field)
      inputs_[field].resize(static_cast<size_t>(field_elements(s_, field)) * 2);
  }

  // As the challenge draws: normal numbers, weights over the root of a dimension.
  void draw_weights() {
    const auto hidden = static_cast<double>(s_.d_hidden), width = static_cast<double>(s_.d_expert);
    const auto shared = static_cast<double>(s_.d_shared);
    fill(kRouter, "router", 1 / std::sqrt(hidden));
    fill(kGate, "w_gate", 1 / std::sqrt(width));
    fill(kUp, "w_up", 1 / std::sqrt(width));
    fill(kDown, "w_down", 1 / std::sqrt(hidden));
    fill(kSharedGate, "s_gate", 1 / std::sqrt(shared));
    fill(kSharedUp, "s_up", 1 / std::sqrt(shared));
    fill(kSharedDown, "s_down", 1 / std::sqrt(hidden));
  }

  // Changes each token's row as `change(token, row, random)` says; the stream is the token's.
  template <typename Change>
  void draw_tokens(Change change, const std::vector<Wish>& wishes = {}) {
    const NormalSampler sampler(ElementType::F16, 1);
    std::vector<int64_t> tokens(static_cast<size_t>(s_.tokens));
    std::iota(tokens.begin(), tokens.end(), int64_t{0});
    constexpr int kMostAttempts = 1000;  // one in twenty tokens is drawn again, and again with the same chance
    for (int attempt = 0; !tokens.empty(); ++attempt) {
      CHECK(attempt < kMostAttempts, "tokens with a clear choice exist");
      parallel_for(draw_.threads, static_cast<int64_t>(tokens.size()), [&](int64_t i) {
        const int64_t token = tokens[static_cast<size_t>(i)];
        RandomStream random = stream("x/" + std::to_string(token) + "/" + std::to_string(attempt));
        uint16_t* row = codes(inputs_[kX]) + token * s_.d_hidden;
        sampler.fill(random, {row, static_cast<size_t>(s_.d_hidden)});
        change(token, row, random);
      });
      remove_clear(tokens, wishes);
    }
  }

  // The routed experts and the shared one, on several threads.
  template <typename Body>
  void for_each_expert(Body body) {
    parallel_for(draw_.threads, s_.n_experts + 1, [&](int64_t index) {
      if (index == s_.n_experts) {
        body(Expert{codes(inputs_[kSharedGate]), codes(inputs_[kSharedUp]), codes(inputs_[kSharedDown]), s_.d_shared});
        return;
      }
      const int64_t at = index * s_.d_hidden * s_.d_expert;
      body(Expert{codes(inputs_[kGate]) + at, codes(inputs_[kUp]) + at, codes(inputs_[kDown]) + at, s_.d_expert});
    });
  }

  RandomStream stream(const std::string& purpose) const {
    return RandomStream(name_ + purpose, draw_.seed, draw_.case_index);
  }
  uint16_t* router_row(int64_t expert) { return codes(inputs_[kRouter]) + expert * s_.d_hidden; }
  const Sizes& sizes() const { return s_; }
  Buffers take() { return std::move(inputs_); }

 private:
  void fill(size_t field, const std::string& name, double deviation) {
    constexpr int64_t kPiece = 1 << 18;
    const NormalSampler sampler(ElementType::F16, deviation);
    const int64_t count = field_elements(s_, field);
    parallel_for(draw_.threads, (count + kPiece - 1) / kPiece, [&](int64_t piece) {
      RandomStream random = stream(name + "/" + std::to_string(piece));
      const int64_t first = piece * kPiece;
      sampler.fill(random, {codes(inputs_[field]) + first, static_cast<size_t>(std::min(kPiece, count - first))});
    });
  }

  // Leaves only the tokens that must be drawn again.
  void remove_clear(std::vector<int64_t>& tokens, const std::vector<Wish>& wishes) const {
    const std::vector<double> all = logits(s_, codes(inputs_[kX]), codes(inputs_[kRouter]), tokens, draw_.threads);
    std::vector<int64_t> again;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto experts = static_cast<size_t>(s_.n_experts);
      const std::span<const double> row = std::span(all).subspan(i * experts, experts);
      const Wish wish = wishes.empty() ? Wish{} : wishes[static_cast<size_t>(tokens[i])];
      if (!is_clear(row, wish)) again.push_back(tokens[i]);
    }
    tokens = std::move(again);
  }

  bool is_clear(std::span<const double> row, const Wish& wish) const {
    if (s_.n_experts == s_.top_k) return true;
    std::vector<double> sorted(row.begin(), row.end());
    const auto edge = sorted.begin() + s_.top_k;
    std::nth_element(sorted.begin(), edge, sorted.end(), std::greater());
    if (*std::min_element(sorted.begin(), edge) - *edge < kSmallestLogitGap) return false;
    bool has_wanted = wish.chosen < 0;
    for (const Choice& choice : choose(row, s_.top_k)) {
      if (choice.expert == wish.not_chosen) return false;
      has_wanted |= choice.expert == wish.chosen;
    }
    return has_wanted;
  }

  const Sizes s_;
  const Draw& draw_;
  const std::string name_;
  Buffers inputs_;
};

void leave(int64_t, uint16_t*, RandomStream&) {}

// A token has one value other than zero, so that its gates are one row of the weights, and a wrong index shows as a
// wrong value.
void draw_one_hot(Drawing& d) {
  const int64_t hidden = d.sizes().d_hidden;
  d.draw_tokens([hidden](int64_t, uint16_t* row, RandomStream& random) {
    std::fill_n(row, hidden, uint16_t{0});
    const double magnitude =
        std::sqrt(static_cast<double>(hidden)) * (0.75 + static_cast<double>(random.below(512)) / 1024);
    const uint16_t sign = random.below(2) == 0 ? 0 : kSignBit;
    row[random.below(static_cast<uint64_t>(hidden))] = double_to_f16(magnitude) | sign;
  });
}

std::vector<int> random_exponents(RandomStream random, int64_t count, int largest) {
  std::vector<int> exponents(static_cast<size_t>(count));
  for (int& exponent : exponents)
    exponent = static_cast<int>(random.below(static_cast<uint64_t>(2 * largest + 1))) - largest;
  return exponents;
}

// Hidden features differ by up to 2^12 and what the experts have inside by up to 2^8; the weights that take them undo
// it. Some weights are subnormal f16.
void draw_dynamic_range(Drawing& d) {
  constexpr int kFeatureExponent = 6, kInsideExponent = 4;
  const Sizes& s = d.sizes();
  const std::vector<int> feature = random_exponents(d.stream("features"), s.d_hidden, kFeatureExponent);
  const std::vector<int> inside =
      random_exponents(d.stream("inside"), std::max(s.d_expert, s.d_shared), kInsideExponent);
  const auto scale_row = [](uint16_t* row, int64_t count, int row_exponent, const int* exponents) {
    for (int64_t i = 0; i < count; ++i)
      row[i] = scaled(row[i], row_exponent + (exponents != nullptr ? exponents[i] : 0));
  };
  d.for_each_expert([&](const Expert& expert) {
    for (int64_t i = 0; i < s.d_hidden; ++i) {
      const int exponent = -feature[static_cast<size_t>(i)];
      scale_row(expert.gate + i * expert.width, expert.width, exponent, nullptr);
      scale_row(expert.up + i * expert.width, expert.width, exponent, inside.data());
    }
    for (int64_t j = 0; j < expert.width; ++j) {
      scale_row(expert.down + j * s.d_hidden, s.d_hidden, -inside[static_cast<size_t>(j)], nullptr);
    }
  });
  std::vector<int> undone;
  for (const int exponent : feature) undone.push_back(-exponent);
  for (int64_t expert = 0; expert < s.n_experts; ++expert)
    scale_row(d.router_row(expert), s.d_hidden, 0, undone.data());
  d.draw_tokens([&](int64_t, uint16_t* row, RandomStream&) { scale_row(row, s.d_hidden, 0, feature.data()); });
}

// The second half of the features repeats the first, and three quarters of the weights undo it; so do the second halves
// inside the experts. What cancels is four times as large as what is left over, and that twice as large as usual.
void draw_cancelling(Drawing& d) {
  constexpr int kCancelsExponent = 3, kLeftOverExponent = 1;
  const Sizes& s = d.sizes();
  const auto draw_left_over = [&](const std::string& purpose, int64_t pairs) {
    RandomStream random = d.stream(purpose);
    std::vector<uint8_t> left_over(static_cast<size_t>(pairs));
    for (uint8_t& bit : left_over) bit = random.below(4) == 0;
    return left_over;
  };
  const int64_t pairs = s.d_hidden / 2;
  const std::vector<uint8_t> feature = draw_left_over("features", pairs);
  const std::vector<uint8_t> inside = draw_left_over("inside", std::max(s.d_expert, s.d_shared) / 2);
  const auto negate = [](const uint16_t* from, int64_t count, uint16_t* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ kSignBit;
  };
  const auto scale = [](uint16_t* row, int64_t count, int exponent) {
    for (int64_t i = 0; i < count; ++i) row[i] = scaled(row[i], exponent);
  };
  const auto is_set = [](const std::vector<uint8_t>& bits, int64_t index) {
    return bits[static_cast<size_t>(index)] != 0;
  };
  d.for_each_expert([&](const Expert& expert) {
    const int64_t width = expert.width, half = width / 2;
    for (uint16_t* matrix : {expert.gate, expert.up}) {
      for (int64_t i = 0; i < pairs; ++i) {
        if (!is_set(feature, i)) negate(matrix + i * width, width, matrix + (i + pairs) * width);
      }
      for (int64_t i = 0; i < s.d_hidden; ++i) std::copy_n(matrix + i * width, half, matrix + i * width + half);
    }
    for (int64_t j = 0; j < half; ++j) {
      uint16_t *first = expert.down + j * s.d_hidden, *second = first + half * s.d_hidden;
      const bool is_left_over = is_set(inside, j);
      scale(first, s.d_hidden, is_left_over ? kLeftOverExponent : kCancelsExponent);
      if (is_left_over) {
        scale(second, s.d_hidden, kLeftOverExponent);
      } else {
        negate(first, s.d_hidden, second);
      }
    }
  });
  for (int64_t expert = 0; expert < s.n_experts; ++expert) {
    uint16_t* row = d.router_row(expert);
    for (int64_t i = 0; i < pairs; ++i) {
      if (!is_set(feature, i)) row[i + pairs] = row[i] ^ kSignBit;
    }
  }
  d.draw_tokens([&](int64_t, uint16_t* row, RandomStream&) {
    for (int64_t i = 0; i < pairs; ++i) {
      row[i] = row[i + pairs] = scaled(row[i], is_set(feature, i) ? kLeftOverExponent : kCancelsExponent);
    }
  });
}

// Neighbouring tokens want the same expert; which one is a permutation.
void draw_permuted_experts(Drawing& d) {
  constexpr uint16_t kThree = 0x4200;
  const Sizes& s = d.sizes();
  RandomStream random = d.stream("experts");
  const Permutation expert_of_block = random_permutation(random, s.n_experts),
                    places = random_permutation(random, s.d_hidden);
  const auto place = [&](int64_t block) { return places[static_cast<size_t>(block % s.d_hidden)]; };
  for (int64_t block = 0; block < s.n_experts; ++block) {
    d.router_row(expert_of_block[static_cast<size_t>(block)])[place(block)] = kThree;
  }
  const auto block_of = [&](int64_t token) { return token * s.n_experts / s.tokens; };
  std::vector<Wish> wishes(static_cast<size_t>(s.tokens));
  for (int64_t token = 0; token < s.tokens; ++token) {
    wishes[static_cast<size_t>(token)].chosen =
        static_cast<int32_t>(expert_of_block[static_cast<size_t>(block_of(token))]);
  }
  d.draw_tokens(
      [&](int64_t token, uint16_t* row, RandomStream&) {
        for (int64_t block = 0; block < s.n_experts; ++block) row[place(block)] = 0;
        row[place(block_of(token))] = kOne;
      },
      wishes);
}

// One expert has all tokens, another one none.
void draw_uneven_experts(Drawing& d) {
  constexpr uint16_t kFour = 0x4400;
  const Sizes& s = d.sizes();
  RandomStream random = d.stream("experts");
  const Permutation order = random_permutation(random, s.n_experts);
  const auto place = static_cast<int64_t>(random.below(static_cast<uint64_t>(s.d_hidden)));
  Wish wish{.chosen = static_cast<int32_t>(order[0])};
  d.router_row(order[0])[place] = kFour;
  if (s.n_experts > 1) {
    wish.not_chosen = static_cast<int32_t>(order[1]);
    d.router_row(order[1])[place] = kFour | kSignBit;
  }
  d.draw_tokens([&](int64_t, uint16_t* row, RandomStream&) { row[place] = kOne; },
                std::vector<Wish>(static_cast<size_t>(s.tokens), wish));
}

}  // namespace

Buffers draw_inputs(const Shape& shape, const Draw& draw) {
  Drawing drawing(shape, draw);
  drawing.draw_weights();
  if (draw.family == kNormalInputs) {
    drawing.draw_tokens(leave);
  } else if (draw.family == kFamilies[0]) {
    draw_one_hot(drawing);
  } else if (draw.family == kFamilies[1]) {
    draw_dynamic_range(drawing);
  } else if (draw.family == kFamilies[2]) {
    draw_cancelling(drawing);
  } else if (draw.family == kFamilies[3]) {
    draw_permuted_experts(drawing);
  } else {
    CHECK(draw.family == kFamilies[4], "a family of input_families()");
    draw_uneven_experts(drawing);
  }
  return drawing.take();
}

}  // namespace hipbench::moe
