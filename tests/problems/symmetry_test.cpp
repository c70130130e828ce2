// Problem::transform of the problems with small inputs: the transformed answer is the oracle's answer for the
// transformed inputs.

#include <gtest/gtest.h>

#include "problems/registry.hpp"
#include "problems/symmetry.hpp"

namespace hipbench {
namespace {

constexpr std::byte kPoison{0xff};
constexpr unsigned kThreads = 2;

std::vector<std::string_view> families(const Problem& problem) {
  std::vector<std::string_view> names = {kNormalInputs};
  for (const std::string_view family : problem.input_families()) names.push_back(family);
  return names;
}

// The problems whose inputs are drawn in no time. The others are tested with small sizes of their own, in their own
// files.
std::vector<const Problem*> small_problems() {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  std::vector<const Problem*> result;
  for (const Problem* problem : all_problems()) {
    uint64_t bytes = 0;
    for (size_t field = 0; field < problem->pointer_fields().size(); ++field)
      bytes += problem->byte_count(problem->shapes(ShapeSet::Quick)[0].shape, field);
    if (bytes <= kMostBytes) result.push_back(problem);
  }
  return result;
}

Case draw(const Problem& problem, const Shape& shape, std::string_view family, std::vector<int64_t> rows) {
  Case one;
  one.inputs = problem.generate(shape, {11, 0, family, kThreads});
  one.rows = std::move(rows);
  one.expected = problem.expected(shape, one.inputs, one.rows, kThreads);
  return one;
}

void expect_oracle_agrees(const Problem& problem, const Shape& shape, const Case& moved) {
  const Buffers oracle = problem.expected(shape, moved.inputs, moved.rows, kThreads);
  const Comparison comparison = problem.compare(shape, oracle, problem.all_rows(shape, moved), moved.rows, kPoison);
  // Another order of summing in double can round the last bit of the output type the other way.
  EXPECT_LE(comparison.worst_ratio, 0.5) << comparison.sentence();
}

TEST(Transform, GivesTheOraclesAnswerForItsInputs) {
  for (const Problem* problem : small_problems()) {
    const Shape& shape = problem->shapes(ShapeSet::Quick)[0].shape;
    for (const std::string_view family : families(*problem)) {
      SCOPED_TRACE(problem->id() + ", " + std::string(family));
      const Case drawn = draw(*problem, shape, family, {});
      const Case whole = problem->transform(shape, drawn, Extent::Whole, 5, kThreads);
      expect_oracle_agrees(*problem, shape, whole);
      expect_oracle_agrees(*problem, shape, problem->transform(shape, whole, Extent::Slight, 6, kThreads));
    }
  }
}

TEST(Transform, MovesAPartOfTheRowsToo) {
  for (const Problem* problem : small_problems()) {
    SCOPED_TRACE(problem->id());
    const Shape& shape = problem->shapes(ShapeSet::Quick)[0].shape;
    if (problem->row_count(shape) < 3) continue;
    const Case drawn = draw(*problem, shape, kNormalInputs, {0, problem->row_count(shape) - 1});
    for (const Extent extent : {Extent::Whole, Extent::Slight}) {
      const Case moved = problem->transform(shape, drawn, extent, 5, kThreads);
      ASSERT_EQ(moved.rows.size(), drawn.rows.size());
      EXPECT_TRUE(std::is_sorted(moved.rows.begin(), moved.rows.end()));
      expect_oracle_agrees(*problem, shape, moved);
    }
  }
}

// What an answer that was kept from before is worth.
TEST(Transform, MakesAnEarlierAnswerWrong) {
  for (const Problem* problem : small_problems()) {
    for (const ListedShape& listed : problem->shapes(ShapeSet::Quick)) {
      const Shape& shape = listed.shape;
      SCOPED_TRACE(problem->id() + " " + shape.label);
      const Case drawn = draw(*problem, shape, kNormalInputs, {});
      for (const Extent extent : {Extent::Whole, Extent::Slight}) {
        const Case moved = problem->transform(shape, drawn, extent, 5, kThreads);
        EXPECT_FALSE(problem->compare(shape, moved.expected, drawn.expected, {}, kPoison).passed);
        for (size_t field = 0; field < moved.inputs.size(); ++field)
          if (!moved.inputs[field].empty())
            EXPECT_NE(moved.inputs[field], drawn.inputs[field]) << problem->pointer_fields()[field].name;
      }
    }
  }
}

TEST(Transform, FollowsFromItsSeedAlone) {
  for (const Problem* problem : small_problems()) {
    const Shape& shape = problem->shapes(ShapeSet::Quick)[0].shape;
    const Case drawn = draw(*problem, shape, kNormalInputs, {});
    const Buffers one = problem->transform(shape, drawn, Extent::Whole, 5, 1).inputs;
    EXPECT_EQ(one, problem->transform(shape, drawn, Extent::Whole, 5, 3).inputs);
    EXPECT_NE(one, problem->transform(shape, drawn, Extent::Whole, 6, 1).inputs);
  }
}

TEST(ScaledBits, AreTheProductsBits) {
  for (const ElementType type : {ElementType::Bf16, ElementType::F16}) {
    const auto value = [&](uint16_t bits) {
      return type == ElementType::Bf16 ? double{bf16_to_float(bits)} : f16_to_double(bits);
    };
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto code = static_cast<uint16_t>(bits);
      if (!std::isfinite(value(code)) || std::abs(value(code)) > 16384) continue;
      for (const int exponent : {-2, 0, 1}) {
        const double product = std::ldexp(value(code), exponent), got = value(scaled_bits(type, code, exponent, true));
        ASSERT_NEAR(got, -product, type == ElementType::Bf16 ? 0x1p-134 : 0x1p-25) << code;
        ASSERT_TRUE(std::signbit(got) != std::signbit(product));
      }
    }
  }
}

}  // namespace
}  // namespace hipbench
