// Why fp8_gemm's tolerance is what it is: the error of kernels with honest and with too narrow arithmetic, against the
// oracle. Prints the table of problems/fp8_gemm/README.md: build/tests/problems_test --gtest_filter='Fp8GemmTolerance*'

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "problems/fp8_gemm/layout.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using namespace fp8_gemm;

float bf16(float value) { return bf16_to_float(double_to_bf16(value)); }
float f16(float value) { return static_cast<float>(f16_to_double(double_to_f16(value))); }
float e4m3(float value) { return static_cast<float>(e4m3fnuz_to_double(double_to_e4m3fnuz(value))); }

// One block of one element of C: 128 values of A and of B, and their scales.
struct Block {
  std::array<float, kScaleBlock> a, b;
  float a_scale, b_scale;
};

float block_sum(const Block& x) {
  float sum = 0;
  for (size_t kk = 0; kk < kScaleBlock; ++kk) sum += x.a[kk] * x.b[kk];
  return sum;
}

// How a kernel adds one block to what it has.
struct Arithmetic {
  const char* name;
  float (*add)(float sum, const Block& block);
};

constexpr Arithmetic kArithmetics[] = {
    {"honest: f32 sums", [](float sum, const Block& x) { return sum + block_sum(x) * x.a_scale * x.b_scale; }},
    {"bf16 sum of blocks", [](float sum, const Block& x) { return bf16(sum + block_sum(x) * x.a_scale * x.b_scale); }},
    {"f16 sum of blocks", [](float sum, const Block& x) { return f16(sum + block_sum(x) * x.a_scale * x.b_scale); }},
    {"bf16 sum of all", [](float sum, const Block& x) {
       for (size_t kk = 0; kk < kScaleBlock; ++kk) sum = bf16(sum + x.a[kk] * x.b[kk] * (x.a_scale * x.b_scale));
       return sum;
     }},
    {"scaled, fp8 again", [](float sum, const Block& x) {
       for (size_t kk = 0; kk < kScaleBlock; ++kk) sum += e4m3(x.a[kk] * x.a_scale) * e4m3(x.b[kk] * x.b_scale);
       return sum;
     }},
};

Block block_at(const Shape& shape, const Buffers& x, int64_t i, int64_t j, int64_t block) {
  const auto [m, n, k] = sizes_of(shape);
  Block result;
  const auto value = [&](size_t field, int64_t index) {
    return static_cast<float>(
        load_element(field == kA || field == kB ? ElementType::E4m3Fnuz : ElementType::F32, x[field].data(), index));
  };
  for (int64_t kk = 0; kk < kScaleBlock; ++kk) {
    result.a[static_cast<size_t>(kk)] = value(kA, (block * kScaleBlock + kk) * m + i);
    result.b[static_cast<size_t>(kk)] = value(kB, (block * kScaleBlock + kk) * n + j);
  }
  result.a_scale = value(kAScale, block * m + i);
  result.b_scale = value(kBScale, block * blocks(n) + j / kScaleBlock);
  return result;
}

constexpr int64_t kTriedRows[] = {0, 3, 7, 12, 18, 23, 29, 31};  // narrow types are slow to imitate

// One output an arithmetic.
std::vector<Buffers> outputs(const Shape& shape, const Buffers& inputs) {
  const auto [m, n, k] = sizes_of(shape);
  std::vector<Buffers> got(std::size(kArithmetics), Buffers(5));
  for (Buffers& one : got) one[kC].resize(static_cast<size_t>(2 * m * n));
  for (int64_t at = 0; at < std::ssize(kTriedRows) * n; ++at) {
    const int64_t element = kTriedRows[at / n] * n + at % n;
    std::array<float, std::size(kArithmetics)> sums{};
    for (int64_t block = 0; block < blocks(k); ++block) {
      const Block values = block_at(shape, inputs, element / n, element % n, block);
      for (size_t kind = 0; kind < sums.size(); ++kind) sums[kind] = kArithmetics[kind].add(sums[kind], values);
    }
    for (size_t kind = 0; kind < sums.size(); ++kind) {
      const uint16_t bits = double_to_bf16(sums[kind]);
      std::memcpy(&got[kind][kC][static_cast<size_t>(2 * element)], &bits, sizeof bits);
    }
  }
  return got;
}

TEST(Fp8GemmTolerance, HonestSumsPassWithAMarginAndNarrowOnesFail) {
  const Problem& problem = **find_problem("fp8_gemm");
  const Shape shape = *problem.parse_shape("m=32,n=64,k=7168");
  std::vector<std::string_view> families = {kNormalInputs};
  families.insert(families.end(), std::begin(kFamilies), std::end(kFamilies));
  fmt::print("{:20}{:>16}{:>24}{:>14}\n", "arithmetic", "inputs", "worst error/allowed", "out of it");
  for (const std::string_view family : families) {
    const Buffers inputs = problem.generate(shape, {.seed = 4, .family = family});
    const Buffers expected = problem.expected(shape, inputs, kTriedRows, 1);
    const std::vector<Buffers> got = outputs(shape, inputs);
    for (size_t kind = 0; kind < got.size(); ++kind) {
      const Comparison comparison = problem.compare(shape, expected, got[kind], kTriedRows, std::byte{0xff});
      fmt::print("{:20}{:>16}{:>24.2f}{:>12.1f} %\n", kArithmetics[kind].name, family, comparison.worst_ratio,
                 100.0 * static_cast<double>(comparison.mismatches) / static_cast<double>(comparison.elements));
      if (kind == 0)
        EXPECT_LE(comparison.worst_ratio, 0.6) << family;  // half a step of bf16 is 0.2 of the relative tolerance
      if (kind != 0 && family == kNormalInputs) EXPECT_FALSE(comparison.passed) << kArithmetics[kind].name;
    }
  }
}

}  // namespace
}  // namespace hipbench
