// Inputs of fp8_gemm: as the challenge draws them, and three structured families. In all of them an output is of the
// size that it has with normal inputs, so that f32 sums pass with a wide margin.

#include <cmath>
#include <cstring>

#include "problems/fp8_gemm/layout.hpp"
#include "problems/number_formats.hpp"
#include "problems/symmetry.hpp"

namespace hipbench::fp8_gemm {
namespace {

constexpr std::byte kNan{0x80};

RandomStream stream(const Shape& shape, const Draw& draw, std::string_view purpose) {
  std::string name = "fp8_gemm/";
  for (const std::string_view part : {std::string_view(shape.label), draw.family, purpose})
    name.append(part).append("/");
  return RandomStream(name, draw.seed, draw.case_index);
}

template <typename DrawOne>
std::vector<std::byte> floats(int64_t count, DrawOne draw_one) {
  std::vector<std::byte> data(static_cast<size_t>(count) * sizeof(float));
  for (size_t at = 0; at < data.size(); at += sizeof(float)) {
    const auto value = static_cast<float>(draw_one());
    std::memcpy(&data[at], &value, sizeof value);
  }
  return data;
}

std::byte negated(std::byte code) { return (code & std::byte{0x7f}) == std::byte{0} ? code : code ^ std::byte{0x80}; }

// As the challenge draws: everything standard normal (scales of both signs), values rounded to bf16 and then to
// e4m3fnuz.
Buffers normal_inputs(const Shape& shape, const Draw& draw) {
  const auto [m, n, k] = sizes_of(shape);
  Buffers inputs(5);
  inputs[kA].resize(static_cast<size_t>(m * k));
  inputs[kB].resize(static_cast<size_t>(n * k));
  RandomStream a = stream(shape, draw, "a"), b = stream(shape, draw, "b");
  e4m3fnuz_normal_sampler().fill(a, inputs[kA]);
  e4m3fnuz_normal_sampler().fill(b, inputs[kB]);
  RandomStream a_scale = stream(shape, draw, "a_scale"), b_scale = stream(shape, draw, "b_scale");
  inputs[kAScale] = floats(blocks(k) * m, [&] { return a_scale.normal(); });
  inputs[kBScale] = floats(blocks(k) * blocks(n), [&] { return b_scale.normal(); });
  return inputs;
}

// Magnitudes in [2^low, 2^high), both signs.
void draw_scales(const Shape& shape, const Draw& draw, double low, double high, Buffers& inputs) {
  for (const size_t field : {kAScale, kBScale}) {
    RandomStream random = stream(shape, draw, field == kAScale ? "a_scale" : "b_scale");
    inputs[field] = floats(static_cast<int64_t>(inputs[field].size() / sizeof(float)), [&] {
      const uint64_t bits = random.next();
      return std::exp2(low + (high - low) * static_cast<double>(bits >> 11) * 0x1p-53) * (bits & 1 ? -1 : 1);
    });
  }
}

// Even rows of A have one value other than zero, odd rows one in each 128-block: an element of C is then one product,
// or one a block, and a wrong index of kk, row, column or scale shows as a wrong value.
Buffers one_hot_inputs(const Shape& shape, const Draw& draw) {
  const auto [m, n, k] = sizes_of(shape);
  Buffers inputs = normal_inputs(shape, draw);
  draw_scales(shape, draw, -1, 1, inputs);
  RandomStream random = stream(shape, draw, "places");
  const Permutation places = random_permutation(random, k);
  std::vector<std::byte> a(inputs[kA].size());
  const auto put = [&](int64_t row, int64_t kk) {
    std::byte value = inputs[kA][static_cast<size_t>(kk * m + row)];
    if (value == std::byte{0}) value = std::byte{double_to_e4m3fnuz(1)};
    a[static_cast<size_t>(kk * m + row)] = value;
  };
  for (int64_t row = 0; row < m; ++row) {
    if (row % 2 == 0) {
      put(row, places[static_cast<size_t>(row % k)]);
      continue;
    }
    for (int64_t first = 0; first < k; first += kScaleBlock)
      put(row, first + static_cast<int64_t>(random.below(static_cast<uint64_t>(std::min(kScaleBlock, k - first)))));
  }
  inputs[kA] = std::move(a);
  return inputs;
}

// Every code of e4m3fnuz equally often, subnormals and +-240 included, and scales over six binary orders. The mean
// square of a value is about 2900, so the scales begin at 2^-12 in all.
Buffers dynamic_range_inputs(const Shape& shape, const Draw& draw) {
  Buffers inputs = normal_inputs(shape, draw);
  draw_scales(shape, draw, -11, -5, inputs);
  for (const size_t field : {kA, kB}) {
    RandomStream random = stream(shape, draw, field == kA ? "a" : "b");
    for (std::byte& code : inputs[field]) {
      do code = static_cast<std::byte>(random.next() >> 56);
      while (code == kNan);
    }
  }
  return inputs;
}

// The second half of k undoes the first: the same A, scales and B with the other sign. Only one secret kk of each pair
// of blocks is left over, so partial sums are large and the result is small. (With a single block its halves undo each
// other.)
Buffers cancelling_inputs(const Shape& shape, const Draw& draw) {
  const auto [m, n, k] = sizes_of(shape);
  Buffers inputs = normal_inputs(shape, draw);
  draw_scales(shape, draw, -1, 1, inputs);
  RandomStream random = stream(shape, draw, "left over");
  const int64_t piece = k < 2 * kScaleBlock ? k / 2 : kScaleBlock, pairs = k / piece / 2;
  const auto copy = [&](size_t field, int64_t width, int64_t from, int64_t to, int64_t count) {
    std::memcpy(&inputs[field][static_cast<size_t>(to * width)], &inputs[field][static_cast<size_t>(from * width)],
                static_cast<size_t>(count * width));
  };
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t from = pair * piece, to = from + pairs * piece,
                  left_over = static_cast<int64_t>(random.below(static_cast<uint64_t>(piece)));
    copy(kA, m, from, to, piece);
    for (int64_t kk = 0; kk < piece; ++kk) {
      if (kk == left_over) continue;
      for (int64_t j = 0; j < n; ++j)
        inputs[kB][static_cast<size_t>((to + kk) * n + j)] =
            negated(inputs[kB][static_cast<size_t>((from + kk) * n + j)]);
    }
    if (piece != kScaleBlock) continue;
    copy(kAScale, m * 4, pair, pair + pairs, 1);
    copy(kBScale, blocks(n) * 4, pair, pair + pairs, 1);
  }
  for (size_t at = static_cast<size_t>(2 * pairs * piece * n); at < inputs[kB].size(); ++at)
    inputs[kB][at] = std::byte{0};  // an odd block
  return inputs;
}

}  // namespace

Buffers draw_inputs(const Shape& shape, const Draw& draw) {
  if (draw.family == kNormalInputs) return normal_inputs(shape, draw);
  if (draw.family == kFamilies[0]) return one_hot_inputs(shape, draw);
  if (draw.family == kFamilies[1]) return dynamic_range_inputs(shape, draw);
  CHECK(draw.family == kFamilies[2], "a family of input_families()");
  return cancelling_inputs(shape, draw);
}

}  // namespace hipbench::fp8_gemm
