// Statistics on literal samples. The ranks and coverages are sums of binomial coefficients over powers of two, worked
// out exactly in integers (Python's math.comb); the quantiles are those of R's quantile(x, type = 7).

#include "evaluator/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace hipbench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Statistics, TheMediansIntervalHasTheRanksOfTheBinomialDistribution) {
  struct Known {
    size_t count, low, high;
    double coverage;
  };
  for (const Known& known : {Known{6, 1, 6, 0.96875}, Known{8, 1, 8, 0.9921875}, Known{9, 2, 8, 0.9609375},
                             Known{10, 2, 9, 0.978515625}, Known{20, 6, 15, 0.9586105346679688},
                             Known{30, 10, 21, 0.9572260547429323}, Known{50, 18, 33, 0.9671608624357315},
                             Known{100, 40, 61, 0.9647997997822952}, Known{1000, 469, 532, 0.9537088026395019}}) {
    const auto ranks = median_ranks(known.count, 0.95);
    ASSERT_TRUE(ranks) << known.count;
    EXPECT_EQ(ranks->low, known.low) << known.count;
    EXPECT_EQ(ranks->high, known.high) << known.count;
    EXPECT_NEAR(ranks->coverage, known.coverage, 1e-9) << known.count;
  }
}

TEST(Statistics, FiveSamplesAreTooFewForNineteenTwentieths) {
  for (size_t count = 0; count < 6; ++count) EXPECT_FALSE(median_ranks(count, 0.95)) << count;
  EXPECT_TRUE(median_ranks(5, 0.9));  // 1 - 2/32
}

TEST(Statistics, VeryManySamplesAreNoProblem) {
  const auto ranks = median_ranks(100'000, 0.95);  // 2^-100000 is no double
  ASSERT_TRUE(ranks);
  EXPECT_NEAR(ranks->coverage, 0.95, 0.003);
  EXPECT_NEAR(static_cast<double>(ranks->low), 50'000 - 1.96 * std::sqrt(25'000), 3);
}

TEST(Statistics, ASummaryOfLiteralSamples) {
  const double samples[] = {12, 10, 11, 19, 10.5, 11.5, 10.2, 13, 10.8, 11.2};
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.count, 10u);
  EXPECT_DOUBLE_EQ(summary.lowest, 10);
  EXPECT_DOUBLE_EQ(summary.highest, 19);
  EXPECT_DOUBLE_EQ(summary.median, 11.1);
  EXPECT_THAT(summary.lower_quartile, DoubleNear(10.575, 1e-12));
  EXPECT_THAT(summary.upper_quartile, DoubleNear(11.875, 1e-12));
  EXPECT_DOUBLE_EQ(summary.median_low, 10.2);  // the second and the ninth
  EXPECT_DOUBLE_EQ(summary.median_high, 13);
  EXPECT_NEAR(summary.coverage, 0.978515625, 1e-9);
}

TEST(Statistics, FewSamplesHaveAnIntervalWithoutConfidence) {
  const double samples[] = {3, 1, 2};
  const Summary summary = summarise(samples);
  EXPECT_DOUBLE_EQ(summary.median, 2);
  EXPECT_DOUBLE_EQ(summary.median_low, 1);
  EXPECT_DOUBLE_EQ(summary.median_high, 3);
  EXPECT_EQ(summary.coverage, 0);
}

TEST(Statistics, AMissingSampleCountsAsSlowerThanAllOthers) {
  const double samples[] = {kInfinity, 1, 2, 3, 4, 5};
  const Summary summary = summarise(samples);
  EXPECT_DOUBLE_EQ(summary.median, 3.5);
  EXPECT_DOUBLE_EQ(summary.median_low, 1);
  EXPECT_EQ(summary.median_high, kInfinity);
  const double more_missing[] = {kInfinity, 1, kInfinity, 3, kInfinity};
  EXPECT_EQ(summarise(more_missing).median, kInfinity);
  const double none[] = {kInfinity, kInfinity};
  EXPECT_EQ(summarise(none).upper_quartile, kInfinity) << "not a number would pass every comparison";
}

TEST(Statistics, QuantilesOfEverySizeLieWithinTheSamples) {
  for (size_t count = 1; count < 40; ++count) {
    std::vector<double> ordered(count);
    std::iota(ordered.begin(), ordered.end(), 0.0);
    for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0})
      EXPECT_NEAR(quantile(ordered, fraction), fraction * static_cast<double>(count - 1), 1e-12);
  }
}

// A large sample from a distribution whose median is known: the interval holds it about as often as it says.
TEST(Statistics, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  uint64_t state = 1;
  const auto uniform = [&] {  // Numerical Recipes' linear congruential generator
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  int held = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(30);
    for (double& sample : samples) sample = -std::log(1 - uniform());  // exponential: skewed, as times are
    const Summary summary = summarise(samples);
    held += summary.median_low <= std::log(2.0) && std::log(2.0) < summary.median_high;
  }
  EXPECT_NEAR(static_cast<double>(held) / kTrials, 0.9572, 0.012);  // 3.7 standard deviations
}

TEST(Statistics, RatiosPairUpAndNeverFavourAMissingDenominator) {
  const double baseline[] = {10, kInfinity, 30, 40}, candidate[] = {5, 5, kInfinity, 10};
  EXPECT_THAT(ratios(baseline, candidate), ElementsAre(2, 0, 4));
}

}  // namespace
}  // namespace hipbench
