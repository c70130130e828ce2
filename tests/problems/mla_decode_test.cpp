#include "problems/mla_decode/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "problems/registry.hpp"
#include "tests/problems/mla_decode_plain.hpp"

namespace hipbench::mla_decode {
namespace {

constexpr std::byte kPoison{0xff};
constexpr unsigned kThreads = 2;

const Problem& mla_decode() { return **find_problem("mla_decode"); }

// Sizes that no candidate sees: the generator, the oracle and the symmetries take any.
Shape small(Sizes s) {
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  return {"small", {i32(s.bs), i32(s.dim), i32(s.dq), i32(s.n_heads), i32(s.prefill), i32(s.max_seq)}};
}

Buffers oracle(const Shape& shape, const Buffers& inputs) { return mla_decode().expected(shape, inputs, {}, kThreads); }

Comparison compare(const Shape& shape, const Buffers& expected, const Buffers& got) {
  return mla_decode().compare(shape, expected, got, {}, kPoison);
}

std::vector<std::string_view> families() {
  std::vector<std::string_view> names = {kNormalInputs};
  names.insert(names.end(), std::begin(kFamilies), std::end(kFamilies));
  return names;
}

TEST(MlaDecode, HasTheOfficialShapes) {
  const auto labels = [](ShapeSet set) {
    std::vector<std::string> result;
    for (const ListedShape& listed : mla_decode().shapes(set)) result.push_back(listed.shape.label);
    return result;
  };
  EXPECT_THAT(labels(ShapeSet::Tests), testing::ElementsAre("bs=128,prefill=128", "bs=128,prefill=512",
                                                            "bs=128,prefill=1024", "bs=128,prefill=2048"));
  EXPECT_THAT(labels(ShapeSet::Benchmarks), testing::ElementsAre("bs=128,prefill=4096", "bs=128,prefill=6144"));
  EXPECT_EQ(mla_decode().challenge_sol_us(*mla_decode().parse_shape("bs=128,prefill=6144")), 280.87);
  EXPECT_EQ(mla_decode().tolerance().relative, 2e-2);
  EXPECT_EQ(mla_decode().tolerance().absolute, 8e-3);
  EXPECT_FALSE(mla_decode().parse_shape("bs=129,prefill=0").has_value());
  EXPECT_FALSE(mla_decode().parse_shape("bs=1,prefill=8192").has_value());
}

TEST(MlaDecode, FloorsAreTheBytesThatMustMove) {
  const auto floor_us = [](const char* shape) { return mla_decode().roofs(*mla_decode().parse_shape(shape)).floor_us; };
  // The published figures are 54.62 and 280.87: one below the floor, one above.
  EXPECT_NEAR(floor_us("bs=128,prefill=512"), 85, 0.5);
  EXPECT_NEAR(floor_us("bs=128,prefill=6144"), 242, 0.5);
  // With nothing to choose from, queries need not be computed.
  EXPECT_LT(floor_us("bs=128,prefill=0"), floor_us("bs=128,prefill=1") - 15);
}

TEST(MlaDecode, OnlyTheAppendedRowsOfTheCacheAreWritable) {
  const Shape shape = *mla_decode().parse_shape("bs=5,prefill=100");
  const StridedRange range = mla_decode().writable(shape, kKvCache);
  EXPECT_EQ(range.offset, 100u * 1152);
  EXPECT_EQ(range.row_bytes, 1152u);
  EXPECT_EQ(range.stride_bytes, 8192u * 1152);
  EXPECT_EQ(range.rows, 5u);
  EXPECT_EQ(mla_decode().writable(shape, kY).total_bytes(), 5u * 7168 * 2);
}

TEST(MlaDecode, RopeRoundsAsTheReferenceDoes) {
  EXPECT_EQ(rope_thetas()[0], 1);
  EXPECT_EQ(rope_thetas()[16], bf16(std::pow(9984.0, -0.5)));
  const Rotation start(0);
  EXPECT_THAT(start.cosine, testing::Each(1));
  EXPECT_THAT(start.sine, testing::Each(0));
  // Positions beyond 256 have 8 significant bits.
  EXPECT_EQ(Rotation(4100).cosine, Rotation(4096).cosine);
  EXPECT_EQ(Rotation(4100).sine[0], bf16(std::sin(4096.0)));
}

TEST(MlaDecode, OracleAgreesWithTheExpandedDefinition) {
  for (const std::string_view family : families()) {
    SCOPED_TRACE(family);
    for (const Sizes sizes : {Sizes{3, 96, 40, 3, 21, 30}, Sizes{1, 64, 24, 2, 0, 1}, Sizes{2, 48, 33, 1, 63, 64}}) {
      const Shape shape = small(sizes);
      const Buffers inputs = draw_inputs(shape, {3, 0, family, kThreads});
      const Comparison comparison = compare(shape, oracle(shape, inputs), Plain(shape, inputs).run({}));
      EXPECT_LE(comparison.worst_ratio, 0.3) << comparison.sentence();  // a bf16 step is 2^-8, the tolerance 2e-2
    }
  }
}

// Inputs of the reference outputs: a hash of (seed, tensor, index), as float in [-scale, scale).
uint16_t formula_input(uint64_t seed, uint64_t tensor, uint64_t index, double scale) {
  uint64_t x = seed * 0x9E3779B97F4A7C15 + tensor * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  x ^= x >> 31;
  return double_to_bf16(static_cast<float>((static_cast<double>(x >> 40) / 0x1p24 * 2 - 1) * scale));
}

Buffers formula_inputs(const Sizes& s, uint64_t seed) {
  Buffers inputs(kFieldCount);
  for (size_t field = kX; field <= kKvCache; ++field) {
    const auto [rows, columns] = extents(s, field);
    const bool is_weight = field != kX && field != kKvCache;
    const double scale = std::sqrt(3.0) / (is_weight ? std::sqrt(static_cast<double>(columns)) : 1);
    inputs[field].resize(static_cast<size_t>(rows * columns * 2));
    for (int64_t row = 0; row < rows; ++row) {
      // The formula knows the cache as [bs][prefill][576].
      const bool is_cache = field == kKvCache;
      if (is_cache && row % s.max_seq >= s.prefill) continue;
      const int64_t first = (is_cache ? row / s.max_seq * s.prefill + row % s.max_seq : row) * columns;
      for (int64_t column = 0; column < columns; ++column) {
        const uint16_t bits = formula_input(seed, field, static_cast<uint64_t>(first + column), scale);
        std::memcpy(&inputs[field][static_cast<size_t>((row * columns + column) * 2)], &bits, 2);
      }
    }
  }
  return inputs;
}

// One line of the file of reference elements.
struct ReferenceLine {
  Sizes sizes{};
  uint64_t seed = 0;
  std::string field;
  int64_t batch = 0, step = 1;
  std::string hex;
};

std::vector<ReferenceLine> reference_lines() {
  std::ifstream file(std::string(HIPBENCH_SOURCE_DIR) + "/tests/data/problems/mla_decode_reference_rows.txt");
  if (const char* other = std::getenv("HIPBENCH_REFERENCE_ROWS")) file = std::ifstream(other);
  EXPECT_TRUE(file.good());
  std::vector<ReferenceLine> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with("#")) continue;
    ReferenceLine& line = lines.emplace_back();
    std::istringstream words(text);
    Sizes& s = line.sizes;
    words >> s.bs >> s.dim >> s.dq >> s.prefill >> line.seed >> line.field >> line.batch >> line.step >> line.hex;
    s.n_heads = 128;
    s.max_seq = s.prefill + 1;
  }
  return lines;
}

TEST(MlaDecode, OracleAgreesWithTheChallengesReference) {
  Buffers expected;
  int64_t elements = 0;
  ReferenceLine last;
  double worst_ratio = 0, worst_error = 0;
  for (const ReferenceLine& line : reference_lines()) {
    const Shape shape = small(line.sizes);
    if (std::tie(line.sizes.prefill, line.seed) != std::tie(last.sizes.prefill, last.seed))
      expected = oracle(shape, formula_inputs(line.sizes, line.seed));
    last = line;
    const size_t field = line.field == "y" ? kY : kKvCache;
    const int64_t columns = extents(line.sizes, field).columns;
    ASSERT_EQ(static_cast<int64_t>(line.hex.size()), (columns + line.step - 1) / line.step * 4);
    for (int64_t i = 0; i * line.step < columns; ++i) {
      const auto byte = [&](int64_t k) {
        return static_cast<std::byte>(std::stoi(line.hex.substr(static_cast<size_t>(4 * i + 2 * k), 2), nullptr, 16));
      };
      const std::byte bytes[] = {byte(0), byte(1)};
      const double reference = load_element(ElementType::Bf16, bytes, 0);
      const double ours = load_element(ElementType::Bf16, expected[field].data(), line.batch * columns + i * line.step);
      const double error = std::abs(reference - ours);
      worst_ratio = std::max(worst_ratio, error / (8e-3 + 2e-2 * std::abs(ours)));
      if (field == kY) worst_error = std::max(worst_error, error);
      ++elements;
    }
  }
  EXPECT_GT(elements, 600);
  EXPECT_LE(worst_ratio, 0.5);
  RecordProperty("worst_error_over_tolerance", std::to_string(worst_ratio));
  std::cout << elements << " elements, worst at " << worst_ratio << " of the tolerance; largest error of y "
            << worst_error << '\n';
}

TEST(MlaDecode, RowOracleAgreesWithTheWhole) {
  const Shape shape = small({7, 96, 40, 3, 21, 30});
  const Buffers inputs = draw_inputs(shape, {4});
  const Buffers whole = oracle(shape, inputs);
  EXPECT_EQ(whole, mla_decode().expected(shape, inputs, {}, 1));
  const std::vector<int64_t> rows = {1, 2, 6};
  const Comparison comparison =
      mla_decode().compare(shape, mla_decode().expected(shape, inputs, rows, 1), whole, rows, kPoison);
  EXPECT_LE(comparison.worst_ratio, 0.3) << comparison.sentence();
}

TEST(MlaDecode, InputsFollowFromSeedCaseAndFamily) {
  const Shape shape = small({2, 96, 40, 3, 21, 30});
  for (const std::string_view family : families()) {
    const Buffers inputs = draw_inputs(shape, {1, 0, family, 1});
    EXPECT_EQ(inputs, draw_inputs(shape, {1, 0, family, 3})) << "threads change nothing";
    const Buffers other_case = draw_inputs(shape, {1, 1, family, 1}),
                  other_seed = draw_inputs(shape, {2, 0, family, 1});
    for (size_t field = kX; field <= kKvCache; ++field) {
      EXPECT_EQ(inputs[field].size(), mla_decode().byte_count(shape, field));
      EXPECT_NE(inputs[field], other_case[field]) << family << ' ' << field;
      EXPECT_NE(inputs[field], other_seed[field]) << family << ' ' << field;
    }
    EXPECT_TRUE(inputs[kY].empty());
  }
}

TEST(MlaDecode, LaterRowsOfTheCacheAreFinite) {
  const Shape shape = small({2, 48, 24, 1, 5, 40});
  for (const std::string_view family : families()) {
    const Buffers inputs = draw_inputs(shape, {9, 0, family, 1});
    for (int64_t i = 0; i < 2 * 40 * kCacheRow; ++i) {
      ASSERT_TRUE(std::isfinite(load_element(ElementType::Bf16, inputs[kKvCache].data(), i)));
    }
  }
}

Case draw(const Shape& shape, std::string_view family, std::vector<int64_t> rows) {
  Case drawn;
  drawn.inputs = draw_inputs(shape, {11, 0, family, kThreads});
  drawn.expected = mla_decode().expected(shape, drawn.inputs, rows, kThreads);
  drawn.rows = std::move(rows);
  return drawn;
}

// The packed outputs with all rows, as a candidate would leave them; those that the case does not hold are zero.
Buffers all_rows(const Shape& shape, const Case& held) {
  if (held.rows.empty()) return held.expected;
  Buffers all(kFieldCount);
  for (const size_t field : {kKvCache, kY}) {
    const size_t row_bytes = held.expected[field].size() / held.rows.size();
    all[field].resize(static_cast<size_t>(mla_decode().row_count(shape)) * row_bytes);
    for (size_t k = 0; k < held.rows.size(); ++k) {
      std::memcpy(&all[field][static_cast<size_t>(held.rows[k]) * row_bytes], &held.expected[field][k * row_bytes],
                  row_bytes);
    }
  }
  return all;
}

void expect_oracle_agrees(const Shape& shape, const Case& moved) {
  const Buffers again = mla_decode().expected(shape, moved.inputs, moved.rows, kThreads);
  const Comparison comparison = mla_decode().compare(shape, again, all_rows(shape, moved), moved.rows, kPoison);
  EXPECT_LE(comparison.worst_ratio, 0.3) << comparison.sentence();
}

TEST(MlaDecode, TransformedAnswerIsTheOraclesForTransformedInputs) {
  const Shape shape = small({5, 128, 56, 4, 37, 41});
  for (const std::string_view family : families()) {
    SCOPED_TRACE(family);
    for (const std::vector<int64_t>& rows : {std::vector<int64_t>{}, std::vector<int64_t>{0, 3}}) {
      Case moved = draw(shape, family, rows);
      for (uint64_t seed = 0; seed < 6; ++seed) {  // a chain: each from the one before
        Case next =
            mla_decode().transform(shape, moved, seed % 3 == 2 ? Extent::Slight : Extent::Whole, seed, kThreads);
        for (size_t field = kX; field <= kKvCache; ++field) EXPECT_NE(next.inputs[field], moved.inputs[field]) << field;
        EXPECT_FALSE(mla_decode().compare(shape, next.expected, all_rows(shape, moved), next.rows, kPoison).passed)
            << "the previous answer must not pass";
        expect_oracle_agrees(shape, next);
        moved = std::move(next);
      }
    }
  }
}

TEST(MlaDecode, SlightTransformChangesFewElements) {
  const Shape shape = small({4, 256, 96, 4, 37, 41});
  const Case drawn = draw(shape, kNormalInputs, {1, 2});
  const Case moved = mla_decode().transform(shape, drawn, Extent::Slight, 7, kThreads);
  for (size_t field = kX; field <= kKvCache; ++field) {
    size_t changed = 0;
    for (size_t i = 0; i < drawn.inputs[field].size(); ++i) changed += drawn.inputs[field][i] != moved.inputs[field][i];
    EXPECT_GT(changed, 0u) << field;
    EXPECT_LT(changed, drawn.inputs[field].size() / 40) << field;
  }
}

TEST(MlaDecode, LongChainsOfTransformsStayInRange) {
  const Shape shape = small({2, 64, 24, 2, 9, 10});
  Case moved = draw(shape, kNormalInputs, {});
  for (uint64_t seed = 0; seed < 300; ++seed)
    moved = mla_decode().transform(shape, std::move(moved), Extent::Whole, seed, 1);
  expect_oracle_agrees(shape, moved);
  for (size_t field = kX; field < kKvCache; ++field) {
    double largest = 0;
    for (size_t i = 0; i < moved.inputs[field].size() / 2; ++i) {
      largest = std::max(
          largest, std::abs(load_element(ElementType::Bf16, moved.inputs[field].data(), static_cast<int64_t>(i))));
    }
    EXPECT_LT(largest, 64) << field;
  }
}

TEST(MlaDecode, TrivialCandidatesFailOnEveryFamily) {
  const Shape shape = small({2, 128, 56, 4, 200, 210});
  for (const std::string_view family : families()) {
    SCOPED_TRACE(family);
    const Buffers inputs = draw_inputs(shape, {1, 0, family, kThreads});
    const Buffers expected = oracle(shape, inputs),
                  previous = oracle(shape, draw_inputs(shape, {1, 1, family, kThreads}));
    EXPECT_TRUE(compare(shape, expected, expected).passed);
    // Each output alone must give it away.
    for (const size_t field : {kKvCache, kY}) {
      Buffers got = expected;
      got[field] = previous[field];
      EXPECT_FALSE(compare(shape, expected, got).passed) << "the previous answer";
      for (const std::byte fill : {std::byte{0}, kPoison, std::byte{0x3f}}) {
        got[field].assign(expected[field].size(), fill);
        EXPECT_FALSE(compare(shape, expected, got).passed);
      }
      std::memcpy(got[field].data(), inputs[field == kY ? kX : kKvCache].data(), got[field].size());
      EXPECT_FALSE(compare(shape, expected, got).passed) << "a copy of an input";
    }
  }
}

// The more keys, the smaller is y beside the tolerance: every number of keys that is listed, with small weights.
TEST(MlaDecode, TrivialCandidatesFailAtEveryLength) {
  std::set<int64_t> lengths;
  for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
    for (const ListedShape& listed : mla_decode().shapes(set)) lengths.insert(sizes_of(listed.shape).prefill);
  }
  for (const int64_t prefill : lengths) {
    SCOPED_TRACE(prefill);
    const Shape shape = small({1, 128, 56, 4, prefill, prefill + 1});
    Buffers inputs = draw_inputs(shape, {1, 0, kNormalInputs, kThreads});
    const Buffers expected = oracle(shape, inputs),
                  previous = oracle(shape, draw_inputs(shape, {2, 0, kNormalInputs, kThreads}));
    Buffers got = expected;
    got[kY] = previous[kY];
    EXPECT_FALSE(compare(shape, expected, got).passed) << "the previous answer";
    got[kY].assign(expected[kY].size(), std::byte{0});
    EXPECT_FALSE(compare(shape, expected, got).passed) << "zeros";
    if (prefill == 0) continue;  // one key has all the weight in any case
    std::fill(inputs[kWqUp].begin(), inputs[kWqUp].end(), std::byte{0});
    got[kY] = oracle(shape, inputs)[kY];
    EXPECT_FALSE(compare(shape, expected, got).passed) << "the mean of all values";
  }
}

}  // namespace
}  // namespace hipbench::mla_decode
