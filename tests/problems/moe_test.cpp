#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

#include "problems/moe/oracle.hpp"
#include "problems/registry.hpp"
#include "tests/problems/moe_simulation.hpp"

namespace hipbench::moe {
namespace {

using testing::ElementsAre;

constexpr std::byte kPoison{0xff};
constexpr unsigned kThreads = 2;

const Problem& problem() { return **find_problem("moe"); }

// {bs, seq, tokens, d_hidden, d_expert, d_shared, n_experts, top_k}
constexpr Sizes kOdd = {3, 3, 9, 37, 21, 42, 5, 2};
constexpr Sizes kSmall = {2, 3, 6, 256, 128, 128, 8, 4};
constexpr Sizes kManyExperts = {1, 10, 10, 128, 64, 64, 32, 4};
constexpr Sizes kAllChosen = {1, 5, 5, 64, 64, 64, 4, 4};
constexpr Sizes kOneToken = {1, 1, 1, 128, 64, 64, 8, 4};

std::vector<std::string_view> families() {
  std::vector<std::string_view> names = {kNormalInputs};
  for (const std::string_view family : problem().input_families()) names.push_back(family);
  return names;
}

Buffers draw(const Sizes& sizes, std::string_view family, uint64_t seed = 3) {
  return problem().generate(small_shape(sizes), {seed, 0, family, kThreads});
}

Buffers as_output(std::span<const double> y) {
  Buffers buffers(kFieldCount);
  buffers[kY].resize(y.size() * 2);
  for (size_t i = 0; i < y.size(); ++i) codes(buffers[kY])[i] = double_to_f16(y[i]);
  return buffers;
}

Comparison compare(const Sizes& sizes, const Buffers& expected, const Buffers& got,
                   std::span<const int64_t> rows = {}) {
  return problem().compare(small_shape(sizes), expected, got, rows, kPoison);
}

std::vector<double> all_logits(const Sizes& sizes, const Buffers& inputs) {
  std::vector<int64_t> tokens(static_cast<size_t>(sizes.tokens));
  std::iota(tokens.begin(), tokens.end(), int64_t{0});
  return logits(sizes, codes(inputs[kX]), codes(inputs[kRouter]), tokens, 1);
}

std::vector<Choice> choices_of(const Sizes& sizes, std::span<const double> all, int64_t token) {
  return choose(all.subspan(static_cast<size_t>(token * sizes.n_experts), static_cast<size_t>(sizes.n_experts)),
                sizes.top_k);
}

TEST(Moe, HasTheOfficialShapes) {
  const auto labels = [](ShapeSet set) {
    std::vector<std::string> result;
    for (const ListedShape& listed : problem().shapes(set)) result.push_back(listed.shape.label);
    return result;
  };
  EXPECT_THAT(labels(ShapeSet::Tests),
              ElementsAre("n_experts=4,bs=1,seq=512", "n_experts=8,bs=2,seq=512", "n_experts=8,bs=1,seq=8192"));
  EXPECT_THAT(labels(ShapeSet::Benchmarks), ElementsAre("n_experts=32,bs=1,seq=2048", "n_experts=32,bs=1,seq=8192"));
  EXPECT_THAT(problem().parse_shape("n_experts=8,bs=2,seq=512")->values,
              ElementsAre(2, 512, 1024, 7168, 2048, 2048, 8, 4));
  EXPECT_EQ(problem().tolerance().relative, 1e-2);
  EXPECT_EQ(problem().tolerance().absolute, 1e-2);
}

TEST(Moe, RefusesOtherShapesWithAReason) {
  const auto error_of = [](std::string_view text) { return problem().parse_shape(text).error().message; };
  EXPECT_THAT(error_of("n_experts=16,bs=1,seq=1"), testing::HasSubstr("n_experts=16 is not 4, 8 or 32"));
  EXPECT_THAT(error_of("n_experts=8,bs=0,seq=1"), testing::HasSubstr("bs=0"));
  EXPECT_THAT(error_of("n_experts=8,bs=65536,seq=65536"), testing::HasSubstr("more than 65536 tokens"));
}

TEST(Moe, RoofsCountEveryVisitAndEveryWeight) {
  const Roofs roofs = problem().roofs(*problem().parse_shape("n_experts=32,bs=1,seq=8192"));
  EXPECT_NEAR(roofs.flops, 8192.0 * 5 * 3 * 2 * 7168 * 2048, 0.002 * roofs.flops);  // the router is the rest
  EXPECT_EQ(roofs.input_bytes, 2u * (33ull * 3 * 7168 * 2048 + 32 * 7168 + 8192 * 7168));
  EXPECT_EQ(roofs.output_bytes, 2u * 8192 * 7168);
  const Roofs one_token = problem().roofs(*problem().parse_shape("n_experts=32,bs=1,seq=1"));
  EXPECT_EQ(one_token.input_bytes, 2u * (5ull * 3 * 7168 * 2048 + 32 * 7168 + 7168))
      << "only the chosen experts must be read";
}

TEST(Moe, OracleIsTheDefinition) {
  for (const Sizes& sizes : {kOdd, kSmall, kManyExperts, kAllChosen, kOneToken}) {
    const Buffers inputs = draw(sizes, kNormalInputs);
    const Buffers expected = problem().expected(small_shape(sizes), inputs, {}, kThreads);
    const std::vector<double> plain = simulate(sizes, inputs, {});
    ASSERT_EQ(expected[kY].size(), plain.size() * 2);
    for (size_t i = 0; i < plain.size(); ++i) {
      const double got = load_element(ElementType::F16, expected[kY].data(), static_cast<int64_t>(i));
      ASSERT_NEAR(got, plain[i], std::abs(plain[i]) * 0x1.01p-11 + 0x1p-25) << i;
    }
  }
}

TEST(Moe, ChoosesBySoftmaxValuesRoundedToF16AsTheReferenceDoes) {
  const auto chosen = [](const std::vector<double>& logits, int64_t top_k) {
    std::vector<int32_t> experts;
    for (const Choice& choice : choose(logits, top_k)) experts.push_back(choice.expert);
    return experts;
  };
  EXPECT_THAT(chosen({0.5, 1.5, -1, 1.0}, 2), ElementsAre(1, 3));
  // 1.0001 and 1.0004 are the same number in f16: the smaller index has it.
  EXPECT_THAT(chosen({-1, 2, 1.0001, 1.0004}, 2), ElementsAre(1, 2));
  // These differ in f16 (2 and 2 + 2^-9), but not their softmax values beside a much larger one.
  EXPECT_THAT(chosen({18, 2, 2 + 0x1p-9}, 2), ElementsAre(0, 1));
  EXPECT_THAT(chosen({-1, 2, 1.0, 1.01}, 2), ElementsAre(1, 3));
  const double weight = choose(std::vector<double>{-1, 2, 1.0001, 1.0004}, 2)[1].weight;
  EXPECT_NEAR(weight, std::exp(1.0001) / (std::exp(-1) + std::exp(2) + std::exp(1.0001) + std::exp(1.0004)), 1e-12);
}

// Also for many tokens, which the oracle takes in several batches.
TEST(Moe, RowOracleGivesTheSameAsTheWhole) {
  constexpr Sizes kBatches = {1, 2100, 2100, 24, 16, 16, 4, 2};
  for (const Sizes& sizes : {kSmall, kBatches}) {
    const Shape shape = small_shape(sizes);
    const Buffers inputs = draw(sizes, kNormalInputs);
    const Buffers whole = problem().expected(shape, inputs, {}, 1);
    const std::vector<int64_t> rows = {0, 1, sizes.tokens / 2, sizes.tokens - 1};
    const Comparison comparison = compare(sizes, problem().expected(shape, inputs, rows, kThreads), whole, rows);
    EXPECT_TRUE(comparison.passed) << comparison.sentence();
    EXPECT_LE(comparison.worst_ratio, 0.1) << "at most a step of f16 where the order of a sum differs";
  }
}

TEST(Moe, OracleTakesAnythingAUserMayGive) {
  const Shape shape = small_shape(kSmall);
  Buffers inputs = draw(kSmall, kNormalInputs);
  codes(inputs[kX])[0] = 0x7e00;                // NaN
  codes(inputs[kX])[kSmall.d_hidden] = 0x7c00;  // infinity
  codes(inputs[kRouter])[3] = 0xfc00;
  const Buffers expected = problem().expected(shape, inputs, {}, kThreads);
  EXPECT_TRUE(std::isnan(load_element(ElementType::F16, expected[kY].data(), 0)));
  EXPECT_FALSE(compare(kSmall, expected, expected).passed) << "what is not finite never passes";
}

// The reference outputs were computed for these inputs: a hash of (seed, tensor, index), as float in [-scale, scale).
uint16_t formula_input(uint64_t seed, uint64_t tensor, uint64_t index, double scale) {
  uint64_t x = seed * 0x9E3779B97F4A7C15 + tensor * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  x ^= x >> 31;
  return double_to_f16(static_cast<float>((static_cast<double>(x >> 40) / 0x1p24 * 2 - 1) * scale));
}

Buffers formula_inputs(const Sizes& s, uint64_t seed) {
  Buffers inputs(kFieldCount);
  for (size_t field = 0; field < kY; ++field) inputs[field].resize(static_cast<size_t>(field_elements(s, field)) * 2);
  const auto fill = [&](size_t field, int64_t first, int64_t count, uint64_t tensor, double divisor) {
    for (int64_t i = 0; i < count; ++i) {
      codes(inputs[field])[first + i] =
          formula_input(seed, tensor, static_cast<uint64_t>(i), std::sqrt(3.0) / std::sqrt(divisor));
    }
  };
  const auto hidden = static_cast<double>(s.d_hidden), width = static_cast<double>(s.d_expert),
             shared = static_cast<double>(s.d_shared);
  fill(kX, 0, s.tokens * s.d_hidden, 0, 1);
  fill(kRouter, 0, s.n_experts * s.d_hidden, 1, hidden);
  fill(kSharedGate, 0, s.d_hidden * s.d_shared, 2, shared);
  fill(kSharedUp, 0, s.d_hidden * s.d_shared, 3, shared);
  fill(kSharedDown, 0, s.d_hidden * s.d_shared, 4, hidden);
  for (int64_t e = 0; e < s.n_experts; ++e) {
    const int64_t matrix = s.d_hidden * s.d_expert, at = e * matrix;
    const auto tensor = static_cast<uint64_t>(10 + 3 * e);
    fill(kGate, at, matrix, tensor, width);
    fill(kUp, at, matrix, tensor + 1, width);
    fill(kDown, at, matrix, tensor + 2, hidden);
  }
  return inputs;
}

TEST(Moe, OracleAgreesWithTheChallengesReference) {
  std::ifstream file(std::string(HIPBENCH_SOURCE_DIR) + "/tests/data/problems/moe_reference_rows.txt");
  if (const char* other = std::getenv("HIPBENCH_MOE_REFERENCE_ROWS")) file = std::ifstream(other);
  ASSERT_TRUE(file.good());
  int64_t elements = 0;
  double worst_ratio = 0, worst_distance = 0;
  std::string line, cached;
  Buffers inputs;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    Sizes s{};
    uint64_t seed;
    int64_t token;
    std::string hex;
    words >> s.n_experts >> s.top_k >> s.d_hidden >> s.d_expert >> s.d_shared >> s.bs >> s.seq >> seed >> token >> hex;
    s.tokens = s.bs * s.seq;
    ASSERT_EQ(hex.size(), static_cast<size_t>(s.d_hidden) * 4);
    const std::string key = line.substr(0, line.rfind(' ', line.rfind(' ') - 1));
    if (key != cached) inputs = formula_inputs(s, seed), cached = key;

    Buffers reference(kFieldCount);  // the whole output with only this row filled
    reference[kY].resize(static_cast<size_t>(s.tokens * s.d_hidden) * 2);
    for (size_t i = 0; i < hex.size() / 2; ++i) {
      reference[kY][static_cast<size_t>(token * s.d_hidden) * 2 + i] =
          static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    }
    const std::vector<int64_t> rows = {token};
    const Buffers expected = problem().expected(small_shape(s), inputs, rows, 1);
    const Comparison comparison = compare(s, expected, reference, rows);
    EXPECT_TRUE(comparison.passed) << key << " token " << token << ": " << comparison.sentence();
    worst_ratio = std::max(worst_ratio, comparison.worst_ratio);
    for (int64_t i = 0; i < s.d_hidden; ++i, ++elements) {
      worst_distance = std::max(worst_distance,
                                std::abs(load_element(ElementType::F16, expected[kY].data(), i) -
                                         load_element(ElementType::F16, reference[kY].data(), token * s.d_hidden + i)));
    }
  }
  EXPECT_GT(elements, 2000);
  EXPECT_LT(worst_ratio, 0.25);
  std::cout << elements << " elements, largest distance " << worst_distance << ", " << worst_ratio
            << " of the tolerance\n";
}

TEST(MoeInputs, FollowFromSeedCaseAndFamily) {
  const Shape shape = small_shape(kSmall);
  std::vector<Buffers> drawn;
  for (const std::string_view family : families()) {
    drawn.push_back(problem().generate(shape, {1, 0, family, 1}));
    EXPECT_EQ(drawn.back(), problem().generate(shape, {1, 0, family, 3})) << "the number of threads changes nothing";
  }
  drawn.push_back(problem().generate(shape, {1, 1}));
  drawn.push_back(problem().generate(shape, {2, 0}));
  for (size_t a = 0; a < drawn.size(); ++a) {
    EXPECT_TRUE(drawn[a][kY].empty());
    for (size_t b = a + 1; b < drawn.size(); ++b) {
      for (size_t field = 0; field < kY; ++field)
        EXPECT_NE(drawn[a][field], drawn[b][field]) << a << ", " << b << ", field " << field;
    }
  }
}

TEST(MoeInputs, AreOfTheChallengesSize) {
  const Buffers inputs = draw(kSmall, kNormalInputs);
  const auto mean_square = [&](size_t field) {
    const int64_t count = field_elements(kSmall, field);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::pow(load_element(ElementType::F16, inputs[field].data(), i), 2);
    return sum / static_cast<double>(count);
  };
  EXPECT_NEAR(mean_square(kX), 1, 0.1);
  for (const size_t field : {kRouter, kDown, kSharedDown}) EXPECT_NEAR(mean_square(field) * 256, 1, 0.1);
  for (const size_t field : {kGate, kUp, kSharedGate, kSharedUp}) EXPECT_NEAR(mean_square(field) * 128, 1, 0.03);
}

TEST(MoeInputs, LeaveNoDoubtAboutTheChosenExperts) {
  constexpr Sizes kMany = {1, 400, 400, 64, 16, 16, 32, 4};
  for (const std::string_view family : families()) {
    const Buffers inputs = draw(kMany, family);
    const std::vector<double> all = all_logits(kMany, inputs);
    for (int64_t token = 0; token < kMany.tokens; ++token) {
      std::vector<double> row(all.begin() + token * 32, all.begin() + (token + 1) * 32);
      std::sort(row.begin(), row.end(), std::greater());
      EXPECT_GE(row[3] - row[4], kSmallestLogitGap) << family << ", token " << token;
    }
  }
}

TEST(MoeInputs, FamiliesAreWhatTheySay) {
  constexpr Sizes kMany = {1, 96, 96, 64, 16, 16, 8, 4};
  const auto visits = [&](const Buffers& inputs, int64_t first, int64_t end) {
    std::vector<int> counts(8);
    const std::vector<double> all = all_logits(kMany, inputs);
    for (int64_t token = first; token < end; ++token) {
      for (const Choice& choice : choices_of(kMany, all, token)) ++counts[static_cast<size_t>(choice.expert)];
    }
    return counts;
  };
  const std::vector<int> uneven = visits(draw(kMany, "uneven-experts"), 0, 96);
  EXPECT_EQ(std::count(uneven.begin(), uneven.end(), 96), 1);
  EXPECT_EQ(std::count(uneven.begin(), uneven.end(), 0), 1);

  const Buffers permuted = draw(kMany, "permuted-experts");
  for (int64_t block = 0; block < 8; ++block) {
    const std::vector<int> counts = visits(permuted, block * 12, (block + 1) * 12);
    EXPECT_GE(std::count(counts.begin(), counts.end(), 12), 1) << "all twelve neighbours visit one expert";
  }

  const Buffers one_hot = draw(kMany, "one-hot");
  for (int64_t token = 0; token < kMany.tokens; ++token) {
    const uint16_t* row = codes(one_hot[kX]) + token * 64;
    EXPECT_EQ(std::count(row, row + 64, 0), 63);
  }
}

TEST(MoeInputs, AnHonestKernelPassesWithAMarginOnEveryFamily) {
  for (const Sizes& sizes : {kSmall, kManyExperts}) {
    for (const std::string_view family : families()) {
      const Buffers inputs = draw(sizes, family);
      const Buffers expected = problem().expected(small_shape(sizes), inputs, {}, kThreads);
      const Comparison comparison =
          compare(sizes, expected, as_output(simulate(sizes, inputs, {.arithmetic = Arithmetic::F16})));
      EXPECT_LE(comparison.worst_ratio, 0.5) << family << ": " << comparison.sentence();
    }
  }
}

TEST(Moe, WrongKernelsFailOnEveryFamily) {
  for (const std::string_view family : families()) {
    const Buffers inputs = draw(kSmall, family);
    const Buffers expected = problem().expected(small_shape(kSmall), inputs, {}, kThreads);
    for (const Mistake mistake :
         {Mistake::Renormalised, Mistake::NoShared, Mistake::NextExpert, Mistake::ReversedWeights,
          Mistake::OneExpertLess, Mistake::SwappedGateAndUp, Mistake::UnweightedExperts}) {
      const Comparison comparison =
          compare(kSmall, expected, as_output(simulate(kSmall, inputs, {.mistake = mistake})));
      EXPECT_GT(comparison.worst_ratio, 4) << family << ", mistake " << static_cast<int>(mistake);
      EXPECT_GT(comparison.mismatches, comparison.elements / 10) << family << ", mistake " << static_cast<int>(mistake);
    }
  }
}

TEST(Moe, CoarserArithmeticFailsOnEveryFamily) {
  for (const std::string_view family : families()) {
    const Buffers inputs = draw(kSmall, family);
    const Buffers expected = problem().expected(small_shape(kSmall), inputs, {}, kThreads);
    for (const Arithmetic arithmetic : {Arithmetic::Bf16Sums, Arithmetic::Fp8Operands}) {
      const Comparison comparison =
          compare(kSmall, expected, as_output(simulate(kSmall, inputs, {.arithmetic = arithmetic})));
      EXPECT_FALSE(comparison.passed) << family << ", arithmetic " << static_cast<int>(arithmetic);
    }
  }
}

TEST(Moe, TrivialCandidatesFailOnEveryFamily) {
  for (const Sizes& sizes : {kSmall, kManyExperts, kAllChosen, kOneToken}) {
    for (const std::string_view family : families()) {
      const Buffers inputs = draw(sizes, family),
                    expected = problem().expected(small_shape(sizes), inputs, {}, kThreads);
      const Buffers other = draw(sizes, family, 4);
      const auto fails = [&](Buffers got) {
        return compare(sizes, expected, got).mismatches > compare(sizes, expected, got).elements / 2;
      };
      EXPECT_TRUE(fails(problem().expected(small_shape(sizes), other, {}, kThreads)))
          << "the previous answer, " << family;
      Buffers got(kFieldCount);
      got[kY] = inputs[kX];
      EXPECT_TRUE(fails(got)) << "a copy of x, " << family;
      for (const std::byte fill : {std::byte{0}, kPoison, std::byte{0x3f}}) {
        got[kY].assign(expected[kY].size(), fill);
        EXPECT_TRUE(fails(got)) << "a constant, " << family;
      }
      std::vector<double> mean(expected[kY].size() / 2);
      double sum = 0;
      for (size_t i = 0; i < mean.size(); ++i)
        sum += load_element(ElementType::F16, expected[kY].data(), static_cast<int64_t>(i));
      std::fill(mean.begin(), mean.end(), sum / static_cast<double>(mean.size()));
      EXPECT_TRUE(fails(as_output(mean))) << "the mean, " << family;
    }
  }
}

// The other way round it would be an oracle run for each launch.
TEST(MoeTransform, GivesTheOraclesAnswerForItsInputs) {
  for (const Sizes& sizes : {kOdd, kSmall, kManyExperts, kAllChosen, kOneToken}) {
    const Shape shape = small_shape(sizes);
    std::vector<std::vector<int64_t>> samples = {{}};
    if (sizes.tokens > 3) samples.push_back({0, 2, sizes.tokens - 1});
    for (const std::string_view family : families()) {
      for (const std::vector<int64_t>& rows : samples) {
        Case one{.inputs = draw(sizes, family), .rows = rows, .expected = {}};
        one.expected = problem().expected(shape, one.inputs, rows, kThreads);
        for (const Extent extent : {Extent::Whole, Extent::Slight}) {
          const Case before = one;
          one = problem().transform(shape, std::move(one), extent, 5, kThreads);
          EXPECT_TRUE(std::is_sorted(one.rows.begin(), one.rows.end()));
          const Buffers oracle = problem().expected(shape, one.inputs, one.rows, kThreads);
          Buffers got = problem().expected(shape, one.inputs, {}, kThreads);  // rows that the case does not hold
          std::vector<int64_t> held = one.rows;
          if (held.empty()) got = one.expected;
          for (size_t k = 0; k < held.size(); ++k) {
            std::copy_n(codes(one.expected[kY]) + static_cast<int64_t>(k) * sizes.d_hidden, sizes.d_hidden,
                        codes(got[kY]) + held[k] * sizes.d_hidden);
          }
          const Comparison comparison = compare(sizes, oracle, got, one.rows);
          EXPECT_LE(comparison.worst_ratio, 0.1) << family << ": " << comparison.sentence();
          for (size_t field = 0; field < kY; ++field)
            EXPECT_NE(one.inputs[field], before.inputs[field]) << family << ", field " << field;
          if (rows.empty())
            EXPECT_FALSE(compare(sizes, one.expected, before.expected).passed) << "the earlier answer, " << family;
        }
      }
    }
  }
}

TEST(MoeTransform, FollowsFromItsSeedAlone) {
  const Shape shape = small_shape(kSmall);
  Case one{.inputs = draw(kSmall, kNormalInputs), .rows = {}, .expected = {}};
  one.expected = problem().expected(shape, one.inputs, {}, kThreads);
  const Buffers moved = problem().transform(shape, one, Extent::Whole, 5, 1).inputs;
  EXPECT_EQ(moved, problem().transform(shape, one, Extent::Whole, 5, 3).inputs);
  EXPECT_NE(moved, problem().transform(shape, one, Extent::Whole, 6, 1).inputs);
}

}  // namespace
}  // namespace hipbench::moe
