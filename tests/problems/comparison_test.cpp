#include "problems/comparison.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace hipbench {
namespace {

using ::testing::HasSubstr;

constexpr std::byte kPoison{0xff};

class ComparisonTest : public testing::Test {
 protected:
  static constexpr int64_t kRows = 128, kColumns = 256;

  ComparisonTest() {
    for (int64_t i = 0; i < kRows * kColumns; ++i) expected_.push_back(static_cast<float>((i * 7919) % 1013) - 506.25f);
    got_ = expected_;
  }

  Comparison compare(std::span<const int64_t> rows = {}) {
    return compare_output({"c", ElementType::F32, kRows, kColumns, rows, std::as_bytes(std::span(expected_)),
                           std::as_bytes(std::span(got_))},
                          {2e-2, 1e-3}, kPoison);
  }
  void spoil(const std::function<bool(int64_t, int64_t)>& where, float value = 1e6f) {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        if (where(i, j)) got_[static_cast<size_t>(i * kColumns + j)] = value;
      }
    }
  }
  std::string pattern_of(const std::function<bool(int64_t, int64_t)>& where) {
    got_ = expected_;
    spoil(where);
    return compare().pattern;
  }

  std::vector<float> expected_, got_;
};

TEST_F(ComparisonTest, EqualOutputsPass) {
  const Comparison result = compare();
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.elements, kRows * kColumns);
  EXPECT_EQ(result.worst_ratio, 0);
  EXPECT_EQ(result.pattern, "");
}

TEST_F(ComparisonTest, TheToleranceIsInclusiveAndRelative) {
  expected_[5] = 100;
  got_[5] = 101.99f;
  EXPECT_TRUE(compare().passed);
  got_[5] = 102.01f;
  const Comparison result = compare();
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.mismatches, 1);
  ASSERT_TRUE(result.worst.has_value());
  EXPECT_EQ(result.worst->row, 0);
  EXPECT_EQ(result.worst->column, 5);
  EXPECT_NEAR(result.worst->error, 2.01, 1e-4);
  EXPECT_THAT(result.sentence(), HasSubstr("worst at (0, 5): got 102.01, expected 100"));
}

TEST_F(ComparisonTest, NonFiniteValuesNeverPass) {
  got_[0] = std::nanf("");
  got_[1] = HUGE_VALF;
  expected_[2] = got_[2] = HUGE_VALF;  // not even when the oracle agrees
  const Comparison result = compare();
  EXPECT_EQ(result.mismatches, 3);
  EXPECT_EQ(result.non_finite, 3);
  EXPECT_THAT(result.sentence(), HasSubstr("(0, 0): got nan, expected -506.25;"));
}

TEST_F(ComparisonTest, NamesRegionsOfRowsAndColumns) {
  EXPECT_EQ(pattern_of([](int64_t i, int64_t) { return i >= 64; }), "every row >= 64 is wrong");
  EXPECT_EQ(pattern_of([](int64_t i, int64_t) { return i < 32; }), "every row < 32 is wrong");
  EXPECT_EQ(pattern_of([](int64_t, int64_t j) { return j >= 128 && j < 192; }), "every column in 128..191 is wrong");
  EXPECT_EQ(pattern_of([](int64_t i, int64_t) { return i == 17; }), "row 17 is wrong");
  EXPECT_EQ(pattern_of([](int64_t i, int64_t j) { return i < 64 && j >= 192; }),
            "every element with row < 64 and column >= 192 is wrong");
  EXPECT_EQ(pattern_of([](int64_t, int64_t) { return true; }), "every element is wrong");
  EXPECT_EQ(pattern_of([](int64_t i, int64_t j) { return i + j > 0; }), "nearly every element is wrong");
}

TEST_F(ComparisonTest, NamesPeriodicPatterns) {
  EXPECT_EQ(pattern_of([](int64_t, int64_t j) { return j % 2 == 1; }), "every column with an odd index is wrong");
  EXPECT_EQ(pattern_of([](int64_t i, int64_t) { return i % 32 >= 16; }),
            "every row with index % 32 in 16..31 is wrong");
  EXPECT_EQ(pattern_of([](int64_t, int64_t j) { return j % 16 == 15; }), "every column with index % 16 == 15 is wrong");
}

TEST_F(ComparisonTest, ToleratesElementsThatAreRightByChance) {
  EXPECT_EQ(pattern_of([](int64_t i, int64_t j) { return i >= 96 && (i * 31 + j * 17) % 10 != 0; }),
            "nearly every row >= 96 is wrong");
}

TEST_F(ComparisonTest, ScatteredErrorsAreCalledThat) {
  EXPECT_EQ(pattern_of([](int64_t i, int64_t j) { return (i * 131 + j * 17) % 997 == 0; }).substr(0, 35),
            "the wrong elements are spread over ");
}

TEST_F(ComparisonTest, AMapShowsWhereTheyAre) {
  EXPECT_EQ(compare().map, "");
  spoil([](int64_t i, int64_t j) { return i >= 120 && (j >= 252 || i % 2 == 0); });
  const std::string map = compare().map;
  const std::string head = "each sign is 8 rows x 6 columns: . right, 1 to 9 tenths of it wrong, # all or nearly all\n";
  EXPECT_EQ(map.substr(0, head.size()), head);
  std::string lines;
  for (int row = 0; row < 120; row += 8) lines += fmt::format("row {:<3}  {}\n", row, std::string(43, '.'));
  EXPECT_EQ(map.substr(head.size()), lines + "row 120  " + std::string(42, '5') + "#\n");
}

TEST_F(ComparisonTest, SaysWhatTheWrongElementsHold) {
  const float poison = std::bit_cast<float>(0xffffffffu);
  spoil([](int64_t, int64_t) { return true; }, poison);
  EXPECT_EQ(compare().pattern, "all of the output is untouched (still poison)");
  EXPECT_EQ(compare().untouched, kRows * kColumns);

  got_ = expected_;
  spoil([](int64_t i, int64_t) { return i >= 120; }, poison);
  EXPECT_EQ(compare().pattern, "every row >= 120 is wrong; all of these are untouched (still poison)");

  got_ = expected_;
  spoil([](int64_t i, int64_t) { return i >= 120; }, 0);
  EXPECT_EQ(compare().pattern, "every row >= 120 is wrong; all of these are zero");

  got_ = expected_;
  spoil([](int64_t i, int64_t) { return i >= 120; }, std::nanf(""));
  EXPECT_EQ(compare().pattern, "every row >= 120 is wrong; all of these are NaN or infinite");
}

TEST_F(ComparisonTest, RecognisesATransposedOutput) {
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      got_[static_cast<size_t>(j * kRows + i)] = expected_[static_cast<size_t>(i * kColumns + j)];
    }
  }
  EXPECT_THAT(compare().pattern, HasSubstr("the output looks transposed"));
}

TEST_F(ComparisonTest, RecognisesAConstantFactor) {
  for (float& value : got_) value *= 2;
  EXPECT_THAT(compare().pattern, HasSubstr("the output is about 2 times what it should be"));
}

TEST_F(ComparisonTest, ChecksOnlyTheRowsAskedFor) {
  const std::vector<int64_t> rows = {3, 70, 71};
  std::vector<float> picked;
  for (const int64_t row : rows) {
    picked.insert(picked.end(), expected_.begin() + row * kColumns, expected_.begin() + (row + 1) * kColumns);
  }
  std::swap(expected_, picked);
  spoil([](int64_t i, int64_t) { return i == 5; });
  EXPECT_TRUE(compare(rows).passed);
  EXPECT_EQ(compare(rows).elements, 3 * kColumns);
  spoil([](int64_t i, int64_t) { return i >= 64; });
  const Comparison result = compare(rows);
  EXPECT_EQ(result.mismatches, 2 * kColumns);
  EXPECT_EQ(result.worst->row, 70);
  EXPECT_EQ(result.pattern, "every row >= 70 is wrong");
  EXPECT_THAT(result.map, HasSubstr("row 3   " + std::string(43, '.') + "\nrow 70  " + std::string(43, '#') + "\n"));
}

}  // namespace
}  // namespace hipbench
