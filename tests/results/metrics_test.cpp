// Metrics on literal data worked out by hand, and against a second formulation on random data.
#include "results/metrics.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace hipbench::results {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Optional;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

ShapeOutcome timed(double baseline_us, double candidate_us, double floor_us = 0) {
  return {.passed = true, .candidate_us = candidate_us, .baseline_us = baseline_us, .floor_us = floor_us};
}
ShapeOutcome tested(bool passed) { return {.passed = passed, .is_timed = false}; }

auto near(double value) { return Optional(DoubleNear(value, 1e-12 * std::max(1.0, std::abs(value)))); }

// ---- Literal data ----

TEST(SampleSpeedup, IsTheGeometricMeanOverTheTimedShapes) {
  // 40/10 = 4, 10/10 = 1, 5/20 = 1/4, 90/10 = 9: the fourth root of 9.
  const std::vector<ShapeOutcome> shapes = {timed(40, 10), timed(10, 10), timed(5, 20), timed(90, 10), tested(true)};
  EXPECT_THAT(sample_speedup(shapes), near(std::pow(9.0, 0.25)));
}

TEST(SampleSpeedup, IsNotDefinedUnlessEveryTestAndBenchmarkShapePasses) {
  EXPECT_FALSE(sample_speedup(std::vector{timed(40, 10), tested(false)}));
  ShapeOutcome failed = timed(40, 10);
  failed.passed = false;
  EXPECT_FALSE(sample_speedup(std::vector{timed(40, 10), failed}));
  EXPECT_FALSE(sample_speedup(std::vector{tested(true)}));  // nothing was timed
  EXPECT_FALSE(sample_speedup({}));
}

TEST(SampleSpeedup, ATimeThatCannotBeOneIsNoTime) {
  for (const double bad : {0.0, -1.0, kInfinity, -kInfinity, kNan}) {
    EXPECT_FALSE(sample_speedup(std::vector{timed(40, 10), timed(40, bad)})) << bad;
    EXPECT_FALSE(sample_speedup(std::vector{timed(40, 10), timed(bad, 40)})) << bad;
  }
  EXPECT_FALSE(sample_speedup(std::vector{timed(40, 3.9, 4)}));  // below the floor
  EXPECT_THAT(sample_speedup(std::vector{timed(40, 4, 4)}), near(10));
}

TEST(GeometricMean, NeitherOverflowsNorUnderflows) {
  EXPECT_THAT(geometric_mean(std::vector{1e300, 1e300, 1e300}), Optional(DoubleNear(1e300, 1e288)));
  EXPECT_THAT(geometric_mean(std::vector{1e-300, 1e300}), near(1));
  EXPECT_FALSE(geometric_mean(std::vector{1.0, 0.0}));
  EXPECT_FALSE(geometric_mean({}));
}

// Five samples asked for: S = 0.5, 1, 2, one failed, one never came.
const std::vector<double> kSamples = {0.5, 1, 2, 0};
constexpr size_t kRequested = 5;

TEST(FastP, IsStrictAndDividesByTheSamplesRequested) {
  EXPECT_THAT(fast_p(kSamples, kRequested, 0), near(3.0 / 5));
  EXPECT_THAT(fast_p(kSamples, kRequested, 0.5), near(2.0 / 5));
  EXPECT_THAT(fast_p(kSamples, kRequested, 1), near(1.0 / 5));  // a tie with the baseline is not faster
  EXPECT_THAT(fast_p(kSamples, kRequested, 2), near(0));
  EXPECT_THAT(fast_p(kSamples, kRequested, -1), near(3.0 / 5));  // a failed sample is above nothing
}

TEST(FastP, NastyCases) {
  EXPECT_FALSE(fast_p({}, 0, 1));                                          // nothing was asked for
  EXPECT_THAT(fast_p({}, 3, 1), near(0));                                  // all are missing
  EXPECT_THAT(fast_p(std::vector{0.0, 0.0}, 2, 0), near(0));               // all failed
  EXPECT_THAT(fast_p(std::vector{1.5}, 1, 1), near(1));                    // one sample
  EXPECT_THAT(fast_p(std::vector{kNan, -3.0, 2.0}, 3, 1), near(1.0 / 3));  // what is no speed-up is none
  EXPECT_THAT(fast_p(std::vector{1e9, 0.1, 0.1, 0.1}, 4, 1), near(0.25));  // a single huge ratio counts once
  EXPECT_THAT(fast_p(std::vector{2.0, 2.0}, 1, 1), near(1));               // never more than all
}

TEST(FastP, TheCurveFallsAndHoldsTheWholeNumbersPeopleAskFor) {
  const std::vector<double> p = curve_thresholds();
  EXPECT_TRUE(std::is_sorted(p.begin(), p.end()));
  EXPECT_EQ(p.front(), 0);
  EXPECT_DOUBLE_EQ(p.back(), 10);
  EXPECT_EQ(std::count(p.begin(), p.end(), 1.0), 1);
  const std::vector<double> curve = fast_p_curve(kSamples, kRequested, p);
  EXPECT_TRUE(std::is_sorted(curve.rbegin(), curve.rend()));
  EXPECT_DOUBLE_EQ(curve.front(), 0.6);
}

TEST(FastPShape, CountsShapesOnTheirOwn) {
  ShapeOutcome failed = timed(40, 10);
  failed.passed = false;
  // Two shapes, three samples requested: 4x and failed; 1x and 2x; missing. Above 1: two of six.
  const std::vector<std::vector<ShapeOutcome>> samples = {{timed(40, 10), failed}, {timed(10, 10), timed(20, 10)}};
  EXPECT_THAT(fast_p_shape(samples, 3, 2, 1), near(2.0 / 6));
  EXPECT_THAT(fast_p_shape(samples, 3, 2, 0), near(3.0 / 6));
  EXPECT_FALSE(fast_p_shape({}, 0, 2, 1));
}

TEST(PassAtK, IsTheUnbiasedEstimator) {
  // n = 5, c = 2: k = 1: 2/5. k = 2: 1 - C(3,2)/C(5,2) = 1 - 3/10. k = 3: 1 - 1/10. k = 4: only 3 are bad.
  EXPECT_THAT(pass_at_k(5, 2, 1), near(0.4));
  EXPECT_THAT(pass_at_k(5, 2, 2), near(0.7));
  EXPECT_THAT(pass_at_k(5, 2, 3), near(0.9));
  EXPECT_THAT(pass_at_k(5, 2, 4), near(1));
  EXPECT_THAT(pass_at_k(5, 0, 5), near(0));
  EXPECT_FALSE(pass_at_k(5, 2, 6));
  EXPECT_FALSE(pass_at_k(5, 2, 0));
  EXPECT_FALSE(pass_at_k(5, 6, 2));
  EXPECT_FALSE(pass_at_k(0, 0, 1));
  EXPECT_THAT(fast_p_at_k(kSamples, kRequested, 0.5, 2), near(0.7));  // two of five are above
}

TEST(BestOfK, FallsBackToTheBaselineWhereNoSampleIsFaster) {
  // S = 4, 2 and one that failed. k = 1: the cube root of 4 * 2 * 1. k = 2: the pairs keep 4, 4 and 2.
  const std::vector<double> samples = {4, 0, 2};
  EXPECT_THAT(best_of_k_speedup(samples, 3, 1), near(2));
  EXPECT_THAT(best_of_k_speedup(samples, 3, 2), near(std::cbrt(32)));
  EXPECT_THAT(best_of_k_speedup(samples, 3, 3), near(4));
  EXPECT_THAT(best_of_k_speedup(std::vector{0.1, 0.0}, 2, 2), near(1));
  EXPECT_FALSE(best_of_k_speedup(samples, 3, 4));
  EXPECT_FALSE(best_of_k_speedup({}, 0, 1));
}

TEST(Bounds, PositionIsZeroAtTheBaselineAndOneAtTheExpert) {
  EXPECT_THAT(position(1, 16), near(0));
  EXPECT_THAT(position(4, 16), near(0.5));
  EXPECT_THAT(position(16, 16), near(1));
  EXPECT_THAT(position(0.25, 16), near(-0.5));
  for (const double bad : {0.0, -1.0, kInfinity, kNan}) EXPECT_FALSE(position(bad, 16)) << bad;
  for (const double bad : {1.0, 0.5, 0.0, kInfinity, kNan}) EXPECT_FALSE(position(4, bad)) << bad;
}

TEST(Bounds, SharesOfTheExpertAreStrictAndOverTheSamplesRequested) {
  // An expert 8x as fast as the baseline; fractions 0.25, 0.5, 1 and 1.25, one failed, three never came.
  const std::vector<double> samples = {2, 4, 8, 10, 0};
  EXPECT_THAT(expert_shares(samples, 8, 8), ElementsAre(3.0 / 8, 2.0 / 8, 2.0 / 8, 1.0 / 8));
  EXPECT_THAT(expert_fraction(4, 8), near(0.5));
  EXPECT_FALSE(expert_fraction(0, 8));
}

TEST(Bounds, RoofFractionAndSolScore) {
  EXPECT_THAT(roof_fraction(20, 5), near(0.25));
  EXPECT_THAT(roof_fraction(4, 5), near(1.25));
  EXPECT_FALSE(roof_fraction(0, 5));
  EXPECT_THAT(sol_score(100, 100, 20), near(0.5));
  EXPECT_THAT(sol_score(20, 100, 20), near(1));
  EXPECT_THAT(sol_score(10, 100, 20), near(1));  // clamped
  EXPECT_THAT(sol_score(60, 100, 20), near(80.0 / 120));
  EXPECT_THAT(sol_score(260, 100, 20), near(0.25));
  EXPECT_FALSE(sol_score(60, 20, 20));  // no gap to close
  EXPECT_FALSE(sol_score(kInfinity, 100, 20));
  EXPECT_THAT(utilisation(1e9, 10, 1e15), near(0.1));  // 1e9 in 10 us: 1e14 a second
  EXPECT_FALSE(utilisation(1e9, 0, 1e15));
}

TEST(CostToReach, CountsWhatFailedSamplesCost) {
  // Reached after 1 + 2; never, for 4; at once, for 8 (the turn behind it was not needed).
  const std::vector<std::vector<CostedTurn>> samples = {{{1, 0}, {2, 3}}, {{4, 1}}, {{8, 2}, {100, 5}}};
  EXPECT_THAT(cost_to_reach(samples, 1), near((1 + 2 + 4 + 8) / 2.0));
  EXPECT_THAT(cost_to_reach(samples, 4), near((1 + 2 + 4 + 8 + 100) / 1.0));
  EXPECT_FALSE(cost_to_reach(samples, 5));
  EXPECT_FALSE(cost_to_reach({}, 0));
}

// ---- Second formulations, on random data ----

// Speed-ups with ties, failures, not-a-numbers and a huge one now and then; sometimes fewer than were requested.
struct RandomSamples {
  std::vector<double> speedups;
  size_t requested = 0;
};
RandomSamples draw_samples(std::mt19937& random, size_t most) {
  RandomSamples samples;
  samples.requested = 1 + random() % most;
  const size_t given = samples.requested - random() % std::min<size_t>(samples.requested, 3);
  for (size_t i = 0; i < given; ++i) {
    const double values[] = {0, 0.5, 1, 1, 2, 1e12, kNan, std::ldexp(1.0 + random() % 100, -5)};
    samples.speedups.push_back(values[random() % std::size(values)]);
  }
  return samples;
}

// All choices of k of n values, as bit masks.
template <typename Visit>
void for_each_choice(size_t n, size_t k, Visit visit) {
  for (uint32_t mask = 0; mask < 1U << n; ++mask)
    if (static_cast<size_t>(__builtin_popcount(mask)) == k) visit(mask);
}

TEST(SecondFormulation, FastPByRanks) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const RandomSamples samples = draw_samples(random, 40);
    for (const double p : {0.0, 0.5, 1.0, 1.5, 1e12}) {
      std::vector<double> all = samples.speedups;
      for (double& s : all) s = s > 0 ? s : 0;
      all.resize(samples.requested, 0.0);
      std::sort(all.begin(), all.end());
      const auto above = all.end() - std::upper_bound(all.begin(), all.end(), p);
      EXPECT_THAT(fast_p(samples.speedups, samples.requested, p),
                  near(static_cast<double>(above) / static_cast<double>(all.size())));
    }
  }
}

TEST(SecondFormulation, AtKByLookingAtEveryChoice) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const RandomSamples samples = draw_samples(random, 10);
    std::vector<double> all = samples.speedups;
    for (double& s : all) s = s > 0 ? s : 0;
    all.resize(samples.requested, 0.0);
    const size_t k = 1 + random() % all.size();
    double choices = 0, good = 0, log_best = 0;
    for_each_choice(all.size(), k, [&](uint32_t mask) {
      double best = 0;
      for (size_t i = 0; i < all.size(); ++i)
        if (mask >> i & 1) best = std::max(best, all[i]);
      ++choices;
      good += best > 1;
      log_best += std::log(std::max(1.0, best));
    });
    EXPECT_THAT(fast_p_at_k(samples.speedups, samples.requested, 1, k), Optional(DoubleNear(good / choices, 1e-9)));
    const double best_of_k = std::exp(log_best / choices);
    EXPECT_THAT(best_of_k_speedup(samples.speedups, samples.requested, k),
                Optional(DoubleNear(best_of_k, 1e-9 * best_of_k)));
  }
}

TEST(SecondFormulation, SpeedupByRootsOfProducts) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<ShapeOutcome> shapes;
    double product = 1;
    const size_t count = 1 + random() % 6;
    for (size_t i = 0; i < count; ++i) {
      const double baseline = 1.0 + random() % 1000, candidate = 1.0 + random() % 1000;
      shapes.push_back(timed(baseline, candidate));
      product *= baseline / candidate;
      if (random() % 2) shapes.push_back(tested(true));
    }
    const double root = std::pow(product, 1.0 / static_cast<double>(count));
    EXPECT_THAT(sample_speedup(shapes), Optional(DoubleNear(root, 1e-9 * root)));
  }
}

// ---- How sure ----

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Bootstrap, IsTheSameForTheSameSeed) {
  const std::vector<std::vector<double>> problems = {{1, 0, 0, 1, 1, 0, 0, 1}, {0, 0, 1}};
  const auto first = bootstrap(problems, mean_of, 7), again = bootstrap(problems, mean_of, 7);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  EXPECT_LT(first->low, first->high);
  EXPECT_FALSE(first->is_degenerate);
}

TEST(Bootstrap, ComesNearTheNormalIntervalForManySamples) {
  std::vector<double> values(1000, 0.0);
  std::fill(values.begin(), values.begin() + 300, 1.0);
  const auto band = bootstrap(std::vector<std::vector<double>>(1, values), mean_of, 1);
  const double reach = 1.96 * std::sqrt(0.3 * 0.7 / 1000);
  ASSERT_TRUE(band);
  EXPECT_NEAR(band->low, 0.3 - reach, 0.004);
  EXPECT_NEAR(band->high, 0.3 + reach, 0.004);
  const auto wilson = share_interval(300, 1000);
  ASSERT_TRUE(wilson);
  EXPECT_NEAR(wilson->low, band->low, 0.006);
  EXPECT_NEAR(wilson->high, band->high, 0.006);
}

TEST(Bootstrap, SaysWhenItSaysNothing) {
  for (const std::vector<double>& alike : {std::vector<double>{0, 0, 0}, {1, 1}, {3}}) {
    const auto band = bootstrap(std::vector<std::vector<double>>(1, alike), mean_of, 1);
    ASSERT_TRUE(band);
    EXPECT_TRUE(band->is_degenerate);
  }
  EXPECT_FALSE(bootstrap({}, mean_of, 1));
  EXPECT_FALSE(bootstrap(std::vector<std::vector<double>>{{1}, {}}, mean_of, 1));
  const auto none_of_four = share_interval(0, 4);
  ASSERT_TRUE(none_of_four);
  EXPECT_EQ(none_of_four->low, 0);
  EXPECT_NEAR(none_of_four->high, 0.489890, 1e-6);  // z^2 / (n + z^2)
  EXPECT_FALSE(share_interval(0, 0));
}

TEST(Bootstrap, TheCurvesBandsAreThoseOfEachThreshold) {
  const std::vector<std::vector<double>> problems = {{0.5, 1, 2, 0, 4, 0, 1}, {3, 0, 0, 1.5}};
  const std::vector<double> thresholds = {0, 0.5, 1, 2, 5};
  const std::vector<Band> bands = bootstrap_curve(problems, thresholds, 11, 500);
  ASSERT_EQ(bands.size(), thresholds.size());
  for (size_t i = 0; i < thresholds.size(); ++i) {
    const auto alone = bootstrap(
        problems, [&](std::span<const double> s) { return fast_p(s, s.size(), thresholds[i]).value(); }, 11, 500);
    EXPECT_DOUBLE_EQ(bands[i].low, alone->low);
    EXPECT_DOUBLE_EQ(bands[i].high, alone->high);
  }
}

TEST(CompareRuns, ExactOnFewSamples) {
  // One problem, a = {0, 0}, b = {1, 1}: of C(4, 2) = 6 deals two are as extreme.
  const auto comparison = compare_runs(std::vector<PairedProblem>{{{0, 0}, {1, 1}}}, 1);
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->is_exact);
  EXPECT_DOUBLE_EQ(comparison->difference, 1);
  EXPECT_DOUBLE_EQ(comparison->p_value, 2.0 / 6);
  // Two such problems: both the same way in 2 of 36.
  const auto two = compare_runs(std::vector<PairedProblem>{{{0, 0}, {1, 1}}, {{0, 0}, {1, 1}}}, 1);
  EXPECT_DOUBLE_EQ(two->p_value, 2.0 / 36);
}

TEST(CompareRuns, DealtAtRandomComesNearTheExactOne) {
  // Fisher's exact test, two-sided, for 3 of 14 against 11 of 14: 0.006860 (sum of C(14,i) C(14,14-i) / C(28,14) over
  // i <= 3 and i >= 11).
  std::vector<double> a(14, 0.0), b(14, 0.0);
  std::fill_n(a.begin(), 3, 1.0);
  std::fill_n(b.begin(), 11, 1.0);
  const auto comparison = compare_runs(std::vector<PairedProblem>{{a, b}}, 1, 20'000);
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->is_exact);
  double exact = 0, all = 0;
  const auto choose = [](int n, int k) {
    return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)));
  };
  for (int i = 0; i <= 14; ++i) {
    const double ways = choose(14, i) * choose(14, 14 - i);
    all += ways;
    exact += i <= 3 || i >= 11 ? ways : 0;
  }
  EXPECT_NEAR(comparison->p_value, exact / all, 0.002);
  EXPECT_GT(comparison->band.low, 0);
}

TEST(CompareRuns, AlikeRunsAreAlikeWhateverTheirNumbersOfSamples) {
  const auto same = compare_runs(std::vector<PairedProblem>{{{1, 0}, {1, 0, 1, 0, 1, 0}}}, 1);
  ASSERT_TRUE(same);
  EXPECT_DOUBLE_EQ(same->difference, 0);
  EXPECT_DOUBLE_EQ(same->p_value, 1);
  EXPECT_FALSE(compare_runs({}, 1));
  EXPECT_FALSE(compare_runs(std::vector<PairedProblem>{{{}, {1}}}, 1));
}

TEST(SignTest, IsTheBinomialTail) {
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
  EXPECT_NEAR(sign_test(10, 0), 2.0 / 1024, 1e-12);
  EXPECT_NEAR(sign_test(8, 2), 2.0 * (1 + 10 + 45) / 1024, 1e-12);
  EXPECT_NEAR(sign_test(5, 5), 1, 1e-12);
  EXPECT_NEAR(sign_test(1, 9), sign_test(9, 1), 1e-15);
}

}  // namespace
}  // namespace hipbench::results
