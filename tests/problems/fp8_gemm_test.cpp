#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "problems/registry.hpp"

namespace hipbench {
namespace {

constexpr size_t kA = 0, kB = 1, kAScale = 2, kBScale = 3, kC = 4;

const Problem& fp8_gemm() { return **find_problem("fp8_gemm"); }

// The reference outputs were computed for these inputs: a hash of (seed, tensor, index), as float in [-scale, scale).
float formula_input(uint64_t seed, uint64_t tensor, uint64_t index, double scale) {
  uint64_t x = seed * 0x9E3779B97F4A7C15 + tensor * 0xD1B54A32D192ED03 + (index + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  x ^= x >> 31;
  return static_cast<float>((static_cast<double>(x >> 40) / 0x1p24 * 2 - 1) * scale);
}

Buffers formula_inputs(const Shape& shape, uint64_t seed) {
  Buffers inputs(5);
  for (const size_t tensor : {kA, kB, kAScale, kBScale}) {
    inputs[tensor].resize(fp8_gemm().byte_count(shape, tensor));
    for (uint64_t i = 0; i < fp8_gemm().element_count(shape, tensor); ++i) {
      const float value = formula_input(seed, tensor, i, tensor < kAScale ? 2.0 : 1.0);
      if (tensor < kAScale) {
        inputs[tensor][i] = std::byte{double_to_e4m3fnuz(value)};
      } else {
        std::memcpy(&inputs[tensor][i * 4], &value, 4);
      }
    }
  }
  return inputs;
}

// The definition, one element at a time.
double plain_element(const Shape& shape, const Buffers& x, int64_t i, int64_t j) {
  const int64_t m = shape.values[0], n = shape.values[1], k = shape.values[2];
  double sum = 0;
  for (int64_t kk = 0; kk < k; ++kk) {
    const int64_t block = kk / 128;
    sum += load_element(ElementType::E4m3Fnuz, x[kA].data(), kk * m + i) *
           load_element(ElementType::E4m3Fnuz, x[kB].data(), kk * n + j) *
           load_element(ElementType::F32, x[kAScale].data(), block * m + i) *
           load_element(ElementType::F32, x[kBScale].data(), block * ((n + 127) / 128) + j / 128);
  }
  return sum;
}

TEST(Fp8Gemm, HasTheOfficialShapes) {
  const auto labels = [](ShapeSet set) {
    std::vector<std::string> result;
    for (const ListedShape& listed : fp8_gemm().shapes(set)) result.push_back(listed.shape.label);
    return result;
  };
  EXPECT_THAT(
      labels(ShapeSet::Tests),
      testing::ElementsAre("m=64,n=64,k=128", "m=64,n=1536,k=7168", "m=64,n=3072,k=1536", "m=64,n=576,k=7168",
                           "m=96,n=7168,k=256", "m=96,n=7168,k=2048", "m=96,n=4608,k=7168", "m=128,n=7168,k=2304",
                           "m=128,n=512,k=7168", "m=512,n=4096,k=512", "m=512,n=1536,k=7168"));
  std::vector<std::string> benchmarks;
  for (const char* m : {"1024", "6144"}) {
    for (const char* nk : {"n=1536,k=7168", "n=3072,k=1536", "n=576,k=7168", "n=7168,k=256", "n=7168,k=2048",
                           "n=4608,k=7168", "n=7168,k=2304", "n=512,k=7168", "n=4096,k=512"}) {
      benchmarks.push_back(std::string("m=") + m + "," + nk);
    }
  }
  EXPECT_THAT(labels(ShapeSet::Benchmarks), testing::UnorderedElementsAreArray(benchmarks));
  EXPECT_EQ(fp8_gemm().challenge_sol_us(*fp8_gemm().parse_shape("m=1024,n=4608,k=7168")), 25.89);
  EXPECT_EQ(fp8_gemm().tolerance().relative, 2e-2);
  EXPECT_EQ(fp8_gemm().tolerance().absolute, 1e-3);
}

TEST(Fp8Gemm, OracleAgreesWithTheChallengesReference) {
  std::ifstream file(std::string(HIPBENCH_SOURCE_DIR) + "/tests/data/problems/fp8_gemm_reference_rows.txt");
  if (const char* other = std::getenv("HIPBENCH_REFERENCE_ROWS")) file = std::ifstream(other);
  ASSERT_TRUE(file.good());
  int64_t elements = 0, different = 0;
  double worst_ratio = 0;
  std::string line, cached_label;
  Buffers inputs;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    int64_t m, n, k, row;
    uint64_t seed;
    std::string hex;
    words >> m >> n >> k >> seed >> row >> hex;
    std::ostringstream label;
    label << "m=" << m << ",n=" << n << ",k=" << k;
    const Shape shape = *fp8_gemm().parse_shape(label.str());
    if (label.str() != cached_label) inputs = formula_inputs(shape, seed), cached_label = label.str();

    Buffers reference(5);  // the whole output with only this row filled
    reference[kC].resize(fp8_gemm().byte_count(shape, kC));
    ASSERT_EQ(hex.size(), static_cast<size_t>(n) * 4);
    for (size_t i = 0; i < hex.size() / 2; ++i) {
      const int byte = std::stoi(hex.substr(2 * i, 2), nullptr, 16);
      reference[kC][static_cast<size_t>(row * n) * 2 + i] = static_cast<std::byte>(byte);
    }
    const std::vector<int64_t> rows = {row};
    const Buffers expected = fp8_gemm().expected(shape, inputs, rows, 1);
    const Comparison comparison = fp8_gemm().compare(shape, expected, reference, rows, std::byte{0xff});
    EXPECT_TRUE(comparison.passed) << label.str() << " row " << row << ": " << comparison.sentence();
    worst_ratio = std::max(worst_ratio, comparison.worst_ratio);
    for (int64_t j = 0; j < n; ++j) {
      ++elements;
      different += load_element(ElementType::Bf16, expected[kC].data(), j) !=
                   load_element(ElementType::Bf16, reference[kC].data(), row * n + j);
    }
  }
  EXPECT_GT(elements, 4000);
  // The reference rounds a * a_scale to f32 first, so a few sums fall on the other side of a bf16 step.
  EXPECT_LE(different, elements / 500);
  std::cout << elements << " elements, " << different << " differ by a bf16 step, worst at " << worst_ratio
            << " of the tolerance\n";
}

TEST(Fp8Gemm, OracleIsTheDefinitionForEveryElement) {
  const Shape shape = *fp8_gemm().parse_shape("m=32,n=576,k=256");  // edges of tiles, a part of a scale block
  const Buffers inputs = fp8_gemm().generate(shape, {3, 0});
  const Buffers expected = fp8_gemm().expected(shape, inputs, {}, 2);
  ASSERT_EQ(expected[kC].size(), 32u * 576 * 2);
  for (int64_t i = 0; i < 32; ++i) {
    for (int64_t j = 0; j < 576; ++j) {
      const double exact = plain_element(shape, inputs, i, j);
      const double got = load_element(ElementType::Bf16, expected[kC].data(), i * 576 + j);
      ASSERT_NEAR(got, exact, std::abs(exact) * 0x1p-8 + 1e-12) << i << ", " << j;
    }
  }
}

// "hipbench oracle" on tensors of any size: odd edges, a short last block of k.
TEST(Fp8Gemm, OracleTakesAnySizes) {
  const Shape large = *fp8_gemm().parse_shape("m=32,n=192,k=256");
  const Buffers drawn = fp8_gemm().generate(large, {3, 0});
  for (const char* sizes : {"m=5,n=131,k=130", "m=1,n=1,k=1", "m=32,n=3,k=127"}) {
    const Shape shape = *fp8_gemm().parse_oracle_shape(sizes);
    Buffers inputs = drawn;
    for (const size_t pointer : {kA, kB, kAScale, kBScale})
      inputs[pointer].resize(fp8_gemm().byte_count(shape, pointer));
    const Buffers expected = fp8_gemm().expected(shape, inputs, {}, 2);
    const int64_t m = shape.values[0], n = shape.values[1];
    ASSERT_EQ(expected[kC].size(), static_cast<size_t>(m * n * 2));
    for (int64_t at = 0; at < m * n; ++at) {
      const double exact = plain_element(shape, inputs, at / n, at % n);
      ASSERT_NEAR(load_element(ElementType::Bf16, expected[kC].data(), at), exact, std::abs(exact) * 0x1p-8 + 1e-12);
    }
  }
}

TEST(Fp8Gemm, RowOracleGivesTheSameBitsAsTheWhole) {
  const Shape shape = *fp8_gemm().parse_shape("m=288,n=192,k=384");
  const Buffers inputs = fp8_gemm().generate(shape, {4, 0});
  const Buffers whole = fp8_gemm().expected(shape, inputs, {}, 1);
  EXPECT_EQ(whole, fp8_gemm().expected(shape, inputs, {}, 3)) << "the number of threads changes nothing";
  const std::vector<int64_t> rows = {0, 1, 63, 100, 255, 256, 287};
  const Buffers some = fp8_gemm().expected(shape, inputs, rows, 1);
  for (size_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(0, std::memcmp(&some[kC][r * 192 * 2], &whole[kC][static_cast<size_t>(rows[r]) * 192 * 2], 192 * 2));
  }
}

TEST(Fp8Gemm, InputsFollowFromSeedAndCase) {
  const Shape shape = *fp8_gemm().parse_shape("m=64,n=64,k=128");
  const Buffers inputs = fp8_gemm().generate(shape, {1, 0});
  EXPECT_EQ(inputs, fp8_gemm().generate(shape, {1, 0}));
  const Buffers other_case = fp8_gemm().generate(shape, {1, 1}), other_seed = fp8_gemm().generate(shape, {2, 0});
  for (const size_t pointer : {kA, kB, kAScale, kBScale}) {
    EXPECT_EQ(inputs[pointer].size(), fp8_gemm().byte_count(shape, pointer));
    EXPECT_NE(inputs[pointer], other_case[pointer]);
    EXPECT_NE(inputs[pointer], other_seed[pointer]);
  }
  EXPECT_TRUE(inputs[kC].empty());
}

TEST(Fp8Gemm, FloorAndRoofsFollowFromTheShape) {
  const auto roofs = [](const char* shape) { return fp8_gemm().roofs(*fp8_gemm().parse_shape(shape)); };
  const Roofs matrix = roofs("m=1024,n=1536,k=7168");  // bound by its FLOPs, as the published 8.63 is
  EXPECT_NEAR(matrix.floor_us, 8.62, 0.01);
  EXPECT_NEAR(matrix.matrix_roof_us, 2.0 * 1024 * 1536 * 7168 / 1273e6, 0.01);
  EXPECT_EQ(matrix.input_bytes, (1024u + 1536u) * 7168 + 4 * 56 * (1024u + 12));
  // Bound by its output: the published 3.17 sends that to HBM, which a launch need not wait for.
  const Roofs memory = roofs("m=1024,n=7168,k=256");
  EXPECT_EQ(memory.output_bytes, 1024u * 7168 * 2);
  EXPECT_NEAR((static_cast<double>(memory.input_bytes + memory.output_bytes)) / 5.3e6, 3.17, 0.02);
  EXPECT_NEAR(memory.floor_us, 2.0 * 1024 * 7168 * 256 / 2614.9e6, 0.01);
  EXPECT_LT(memory.floor_us, memory.memory_roof_us);
}

TEST(Fp8Gemm, LimitsGrowWithTheWork) {
  const Limits small = fp8_gemm().limits(*fp8_gemm().parse_shape("m=64,n=64,k=128"));
  const Limits large = fp8_gemm().limits(*fp8_gemm().parse_shape("m=64,n=1536,k=7168"));
  EXPECT_LT(small.wave_instructions, 30'000'000u);
  EXPECT_GT(large.wave_instructions, 1'000'000'000u);
}

}  // namespace
}  // namespace hipbench
