#include "problems/linear_algebra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "problems/parallel.hpp"
#include "problems/random.hpp"

namespace hipbench {
namespace {

// Small integers: every sum is exact, so that the order of the additions does not matter.
std::vector<double> random_integers(RandomStream& random, int64_t count) {
  std::vector<double> result(static_cast<size_t>(count));
  for (double& value : result) value = static_cast<double>(random.below(15)) - 7;
  return result;
}

TEST(LinearAlgebra, ProductsOfBlocksAreExactForIntegers) {
  RandomStream random("linear_algebra_test", 1, 0);
  for (const auto& [rows, columns, depth] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {1, 200, 33}, {70, 1, 4}, {65, 131, 257}, {4, 97, 0}}) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        constexpr int64_t kSlack = 3;  // the blocks are parts of larger matrices
        const std::vector<double> a = random_integers(random, (rows + kSlack) * (depth + kSlack));
        const std::vector<double> b = random_integers(random, (columns + kSlack) * (depth + kSlack));
        const int64_t stride = columns + kSlack;
        const std::vector<double> before = random_integers(random, rows * stride);
        const ConstMatrix left = a_transposed ? ConstMatrix{a.data(), depth, rows, rows + kSlack}.transposed()
                                              : ConstMatrix{a.data(), rows, depth, depth + kSlack};
        const ConstMatrix right = b_transposed ? ConstMatrix{b.data(), columns, depth, depth + kSlack}.transposed()
                                               : ConstMatrix{b.data(), depth, columns, columns + kSlack};
        const auto at = [](const ConstMatrix& matrix, int64_t i, int64_t j) {
          return matrix.data[matrix.is_transposed ? j * matrix.stride + i : i * matrix.stride + j];
        };
        for (const double factor : {0.0, 1.0, -2.0}) {
          std::vector<double> wanted = before;
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              double& element = wanted[static_cast<size_t>(i * stride + j)];
              element *= factor;
              for (int64_t k = 0; k < depth; ++k) element += at(left, i, k) * at(right, k, j);
            }
          }
          for (const unsigned threads : {0u, 1u, 2u, 7u}) {
            std::vector<double> c = before;
            multiply(left, right, {c.data(), rows, columns, stride}, factor, threads);
            ASSERT_EQ(c, wanted) << rows << "x" << columns << "x" << depth << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

// Each caller has numbers of its own, so that a work buffer shared by mistake shows.
TEST(LinearAlgebra, CallsAtTheSameTimeDoNotDisturbEachOther) {
  constexpr int64_t kRows = 3, kColumns = 64, kDepth = 512, kCalls = 4000;
  std::array<int64_t, 8> wrong{};
  parallel_for(wrong.size(), wrong.size(), [&](int64_t caller) {
    RandomStream random("linear_algebra_test/callers", 1, static_cast<uint64_t>(caller));
    const std::vector<double> a = random_integers(random, kRows * kDepth),
                              b = random_integers(random, kDepth * kColumns);
    std::vector<double> wanted(kRows * kColumns);
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t k = 0; k < kDepth; ++k) {
        for (size_t j = 0; j < kColumns; ++j) wanted[i * kColumns + j] += a[i * kDepth + k] * b[k * kColumns + j];
      }
    }
    std::vector<double> c(kRows * kColumns);
    for (int64_t call = 0; call < kCalls; ++call) {
      multiply({a.data(), kRows, kDepth, kDepth}, {b.data(), kDepth, kColumns, kColumns},
               {c.data(), kRows, kColumns, kColumns}, 0, 1);
      wrong[static_cast<size_t>(caller)] += c != wanted;
    }
  });
  EXPECT_THAT(wrong, testing::Each(0));
}

}  // namespace
}  // namespace hipbench
