#include "emulator/timing/validation/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace hipbench::emulator {
namespace {

using testing::HasSubstr;

Agreement point(f64 measured, f64 modelled, const char* shape = "a") {
  return {.shape = shape, .variant = "v", .fitted = false, .measured_us = measured, .modelled_us = modelled};
}

TEST(TimingStatistics, PercentilesInterpolate) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3}, 1), 3);
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

TEST(TimingStatistics, RankCorrelationSeesOrderOnly) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 300, 4000}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4, 5}, {1, 2, 3, 5, 4}), 0.9);
  EXPECT_NEAR(rank_correlation({1, 1, 2}, {1, 2, 3}), std::sqrt(0.75), 1e-12) << "ties share their rank";
  EXPECT_TRUE(std::isnan(rank_correlation({1, 2}, {1, 2})));
}

TEST(TimingStatistics, RegretIsWhatTrustingTheModelCosts) {
  EXPECT_DOUBLE_EQ(regret({point(100, 90), point(120, 80), point(300, 400)}), 1.2);
  EXPECT_DOUBLE_EQ(regret({point(100, 70), point(120, 80)}), 1);
}

TEST(TimingStatistics, PairsAreComparedWithinAShape) {
  const std::vector<Agreement> points = {point(100, 100), point(110, 220), point(90, 300), point(1, 1e6, "b")};
  const PairOrder order = pair_order(points, 2);
  EXPECT_EQ(order.pairs, 2u) << "220 over 100 and 300 over 100";
  EXPECT_DOUBLE_EQ(order.same_order, 0.5);
}

TEST(TimingStatistics, TheReportHasEveryShapeAndTheFiguresEveryPoint) {
  const std::vector<Agreement> points = {point(100, 110, "m"), point(200, 180, "m"), point(300, 330, "m"),
                                         point(50, 50, "n")};
  const std::string text = agreement_report(points);
  EXPECT_THAT(text, HasSubstr("median error  10.0 %"));
  EXPECT_THAT(text, HasSubstr("best tile within 15 % of the measured best in 2 of 2"));
  const std::string svg = scatter_svg(points);
  size_t circles = 0;
  for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++circles;
  EXPECT_EQ(circles, points.size());
  EXPECT_THAT(error_svg(points), HasSubstr("<polyline"));
}

}  // namespace
}  // namespace hipbench::emulator
