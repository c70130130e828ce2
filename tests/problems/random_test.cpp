#include "problems/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "problems/number_formats.hpp"

namespace hipbench {
namespace {

TEST(RandomStream, FollowsFromPurposeSeedAndCaseAlone) {
  const uint64_t first = RandomStream("a", 1, 2).next();
  EXPECT_EQ(RandomStream("a", 1, 2).next(), first);
  const std::set<uint64_t> firsts = {first, RandomStream("b", 1, 2).next(), RandomStream("a", 2, 2).next(),
                                     RandomStream("a", 1, 3).next(), RandomStream("a", 12, 2).next()};
  EXPECT_EQ(firsts.size(), 5u);
}

TEST(RandomStream, NormalHasTheRightMoments) {
  RandomStream random("test", 1, 0);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.015);
  EXPECT_NEAR(fourth / kDraws, 3, 0.1);
}

TEST(RandomStream, BelowStaysBelow) {
  RandomStream random("test", 1, 0);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(E4m3FnuzNormalSampler, DrawsEachCodeAsOftenAsRoundingANormalDoes) {
  constexpr size_t kDraws = 4'000'000;
  std::vector<std::byte> codes(kDraws);
  RandomStream random("test", 5, 0);
  e4m3fnuz_normal_sampler().fill(random, codes);
  std::array<double, 256> counts{};
  for (const std::byte code : codes) counts[std::to_integer<size_t>(code)] += 1;

  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  for (unsigned code = 0; code < 256; ++code) {
    if (code == 0x80) {
      EXPECT_EQ(counts[code], 0) << "NaN is never drawn";
      continue;
    }
    // Interval of reals that round to the code, by the midpoints; rounding to bf16 first moves them a little.
    const double magnitude = std::abs(e4m3fnuz_to_double(static_cast<uint8_t>(code)));
    const unsigned low_code = code & 0x7f;
    const double below = low_code == 0 ? -0x1p-10 : e4m3fnuz_to_double(static_cast<uint8_t>(low_code - 1));
    const double above = low_code == 0x7f ? 256 : e4m3fnuz_to_double(static_cast<uint8_t>(low_code + 1));
    const double probability = normal_cdf((magnitude + above) / 2) - normal_cdf((magnitude + below) / 2);
    const double mean = probability * kDraws;
    // Five standard deviations, and the half bf16 step (2^-9 of the bounds, 6 % of an interval's width at most).
    EXPECT_NEAR(counts[code], mean, 5 * std::sqrt(mean) + 0.07 * mean + 1) << "code " << code;
  }
}

TEST(NormalSampler, DrawsEachCodeAsOftenAsRoundingANormalDoes) {
  constexpr size_t kDraws = 2'000'000;
  for (const ElementType type : {ElementType::F16, ElementType::Bf16}) {
    for (const double deviation : {1.0, 1 / std::sqrt(7168.0)}) {
      std::vector<uint16_t> codes(kDraws + 1);
      RandomStream random("test", 6, 0);
      NormalSampler(type, deviation).fill(random, codes);
      std::vector<int> counts(1 << 16);
      for (const uint16_t code : codes) ++counts[code];

      const auto value_of = [&](uint32_t bits) {
        const auto code = static_cast<uint16_t>(bits);
        return load_element(type, reinterpret_cast<const std::byte*>(&code), 0);
      };
      const auto upper_tail = [&](double x) { return 0.5 * std::erfc(x / deviation / std::numbers::sqrt2); };
      const uint32_t last = type == ElementType::F16 ? 0x7bff : 0x7f7f;
      int wrong = 0;
      int64_t seen = 0;
      for (uint32_t bits = 0; bits < last; ++bits) {
        const double low = bits == 0 ? 0 : (value_of(bits - 1) + value_of(bits)) / 2;
        const double high = (value_of(bits) + value_of(bits + 1)) / 2;
        const double mean = (upper_tail(low) - upper_tail(high)) * (kDraws + 1);
        for (const int count : {counts[bits], counts[bits | 0x8000]}) {
          wrong += std::abs(count - mean) > 6 * std::sqrt(mean) + 2;
          seen += count;
        }
      }
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(seen, static_cast<int64_t>(codes.size())) << "no infinity, no NaN";
    }
  }
}

}  // namespace
}  // namespace hipbench
