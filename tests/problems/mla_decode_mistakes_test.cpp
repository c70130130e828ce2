// "Tolerance with a reason": what an honest kernel's rounding costs, and which mistakes the tolerance catches on which
// inputs.

#include <gtest/gtest.h>

#include <iostream>

#include "problems/registry.hpp"
#include "tests/problems/mla_decode_plain.hpp"

namespace hipbench::mla_decode {
namespace {

double fp8(double value) { return e4m3fnuz_to_double(double_to_e4m3fnuz(value)); }

// 48 keys as short as tests want, 1100 as long: positions beyond 256 are rounded, and y is small.
const Shape kShort = {"short", {2, 256, 96, 2, 48, 49}}, kLong = {"long", {1, 128, 64, 1, 1100, 1101}};

// The largest error over the allowed error; below 1 passes.
double ratio(const Shape& shape, std::string_view family, const Variant& variant, uint64_t case_index = 0) {
  const Problem& problem = **find_problem("mla_decode");
  const Buffers inputs = draw_inputs(shape, {5, case_index, family, 2});
  const Buffers expected = problem.expected(shape, inputs, {}, 2);
  return problem.compare(shape, expected, Plain(shape, inputs).run(variant), {}, std::byte{0xff}).worst_ratio;
}

double report(const char* variant, const Shape& shape, std::string_view family, double ratio) {
  std::cout << variant << ", " << shape.label << ", " << family << ": " << ratio << " of the tolerance\n";
  return ratio;
}

TEST(MlaDecodeTolerance, RoundingOfIntermediateResultsToBf16PassesWithAMargin) {
  const Variant honest{.store = bf16};
  EXPECT_LT(report("bf16 intermediates", kLong, kNormalInputs, ratio(kLong, kNormalInputs, honest)), 0.5);
  EXPECT_LT(report("bf16 intermediates", kShort, kNormalInputs, ratio(kShort, kNormalInputs, honest)), 0.5);
  for (const std::string_view family : kFamilies) {
    EXPECT_LT(report("bf16 intermediates", kShort, family, ratio(kShort, family, honest)), 0.6);
  }
  EXPECT_LT(report("bf16 intermediates", kLong, "positions", ratio(kLong, "positions", honest)), 0.6);
}

TEST(MlaDecodeTolerance, SumsInBf16Fail) {
  const Variant variant{.store = bf16, .accumulate = bf16};
  EXPECT_GT(report("bf16 sums", kShort, kNormalInputs, ratio(kShort, kNormalInputs, variant)), 1);
  EXPECT_GT(report("bf16 sums", kShort, "cancelling", ratio(kShort, "cancelling", variant)), 2);
}

// With normal inputs and many keys y is small beside the tolerance, so fp8 passes; hence the rule on arithmetic types,
// and the family whose y is the value of one key.
TEST(MlaDecodeTolerance, AnFp8CacheFailsOnLateKeysOnly) {
  const Variant variant{.cached = fp8};
  EXPECT_LT(report("fp8 cache", kLong, kNormalInputs, ratio(kLong, kNormalInputs, variant)), 1);
  double worst = 0;
  for (uint64_t i = 0; i < 4; ++i) worst = std::max(worst, ratio(kShort, "late-key", variant, i));
  EXPECT_GT(report("fp8 cache", kShort, "late-key", worst), 1.5);
}

TEST(MlaDecodeTolerance, WrongRopeFails) {
  const Variant exact_rope{.rope_step = exact, .theta = exact, .angle = exact, .base = 10000};
  const Variant exact_theta{.theta = exact}, exact_angle{.angle = exact}, next_position{.position_offset = 1};
  for (const std::string_view family : {kNormalInputs, std::string_view("positions")}) {
    EXPECT_GT(report("exact RoPE", kLong, family, ratio(kLong, family, exact_rope)), 1);
    EXPECT_GT(report("unrounded theta", kLong, family, ratio(kLong, family, exact_theta)), 1);
    EXPECT_GT(report("unrounded angle", kLong, family, ratio(kLong, family, exact_angle)), 1);
  }
  // Beyond 256 the next position is the same bf16 number more often than not.
  EXPECT_GT(report("query one position late", kShort, kNormalInputs, ratio(kShort, kNormalInputs, next_position)), 1);
  EXPECT_GT(report("query one position late", kShort, "positions", ratio(kShort, "positions", next_position)), 1);
}

// Only four thetas differ between 9984 and 10000, and little.
TEST(MlaDecodeTolerance, TheUnroundedBaseGoesUnnoticed) {
  const Variant variant{.base = 10000};
  EXPECT_LT(report("base 10000", kLong, kNormalInputs, ratio(kLong, kNormalInputs, variant)), 1);
  report("base 10000", kLong, "positions", ratio(kLong, "positions", variant));
}

TEST(MlaDecodeTolerance, AMissingAppendedKeyFails) {
  const Variant variant{.appended_key = false};
  EXPECT_GT(report("appended key left out", kShort, kNormalInputs, ratio(kShort, kNormalInputs, variant)), 1);
  double worst = 0;
  for (uint64_t i = 0; i < 12; ++i) worst = std::max(worst, ratio(kShort, "late-key", variant, i));
  EXPECT_GT(report("appended key left out", kShort, "late-key", worst), 10);
}

// A last tile of keys that is not masked. A head does not look at a key whose score is negative, so two of them. One
// key too many in thousands would not show in y, if it were like the others.
TEST(MlaDecodeTolerance, RowsBehindTheNewTokenShowOnEveryFamily) {
  const Variant variant{.later_keys = 2};
  const Shape shape = {"later", {2, 128, 64, 2, 200, 203}}, longer = {"longer", {1, 64, 32, 4, 1500, 1504}};
  EXPECT_GT(report("two keys too many", longer, kNormalInputs, ratio(longer, kNormalInputs, variant)), 2);
  EXPECT_GT(report("two keys too many", shape, kNormalInputs, ratio(shape, kNormalInputs, variant)), 2);
  for (const std::string_view family : kFamilies)
    EXPECT_GT(report("two keys too many", shape, family, ratio(shape, family, variant)), 2);
}

}  // namespace
}  // namespace hipbench::mla_decode
