#include "problems/number_formats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hipbench {
namespace {

TEST(E4m3Fnuz, AnchorsOfTheFormat) {
  EXPECT_EQ(e4m3fnuz_to_double(0x00), 0.0);
  EXPECT_FALSE(std::signbit(e4m3fnuz_to_double(0x00)));
  EXPECT_EQ(e4m3fnuz_to_double(0x01), 0x1p-10);   // smallest
  EXPECT_EQ(e4m3fnuz_to_double(0x07), 7 * 0x1p-10);
  EXPECT_EQ(e4m3fnuz_to_double(0x08), 0x1p-7);    // smallest normal
  EXPECT_EQ(e4m3fnuz_to_double(0x40), 1.0);
  EXPECT_EQ(e4m3fnuz_to_double(0x7f), 240.0);     // largest
  EXPECT_EQ(e4m3fnuz_to_double(0xff), -240.0);
  EXPECT_TRUE(std::isnan(e4m3fnuz_to_double(0x80)));
}

TEST(E4m3Fnuz, AllCodesSurviveARoundTripAndAreOrdered) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<uint8_t>(code);
    EXPECT_EQ(double_to_e4m3fnuz(e4m3fnuz_to_double(byte)), byte);
    if (code % 128 != 127 && code != 0x80) {
      EXPECT_LT(std::abs(e4m3fnuz_to_double(byte)), std::abs(e4m3fnuz_to_double(static_cast<uint8_t>(code + 1))));
    }
  }
}

TEST(E4m3Fnuz, RoundsToNearestEvenBetweenAllNeighbours) {
  for (int code = 0; code < 127; ++code) {
    const double low = e4m3fnuz_to_double(static_cast<uint8_t>(code));
    const double high = e4m3fnuz_to_double(static_cast<uint8_t>(code + 1));
    const double middle = (low + high) / 2;
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(double_to_e4m3fnuz(middle), even) << middle;
    EXPECT_EQ(double_to_e4m3fnuz(std::nextafter(middle, 0)), code);
    EXPECT_EQ(double_to_e4m3fnuz(std::nextafter(middle, 1e9)), code + 1);
    EXPECT_EQ(double_to_e4m3fnuz(-std::nextafter(middle, 1e9)), (code + 1) | 0x80);
  }
}

TEST(E4m3Fnuz, OverflowAndNanGiveTheOneNanAndNegativeZeroDoesNotExist) {
  EXPECT_EQ(double_to_e4m3fnuz(247.999), 0x7f);
  for (const double value : {248.0, 1e30, HUGE_VAL, -248.0, -HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(double_to_e4m3fnuz(value), 0x80) << value;
  }
  EXPECT_EQ(double_to_e4m3fnuz(-0.0), 0x00);
  EXPECT_EQ(double_to_e4m3fnuz(-0x1p-11), 0x00);  // a tie, to even zero
}

TEST(Bf16, RoundsDoublesToNearestEvenWithoutDoubleRounding) {
  for (uint32_t bits = 0; bits < 0x7f7f; bits += 7) {
    const auto code = static_cast<uint16_t>(bits);
    const double low = bf16_to_float(code), high = bf16_to_float(static_cast<uint16_t>(code + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(double_to_bf16(low), code);
    ASSERT_EQ(double_to_bf16(-low), code | 0x8000);
    ASSERT_EQ(double_to_bf16(middle), code % 2 == 0 ? code : code + 1);
    // Rounding through f32 would lose the difference from the midpoint and fall on the even side.
    ASSERT_EQ(double_to_bf16(std::nextafter(middle, 0)), code);
    ASSERT_EQ(double_to_bf16(std::nextafter(middle, HUGE_VAL)), code + 1);
  }
}

TEST(Bf16, LargeValuesBecomeInfiniteAndNanStaysNan) {
  EXPECT_EQ(double_to_bf16(1e300), 0x7f80);
  EXPECT_EQ(double_to_bf16(-HUGE_VAL), 0xff80);
  EXPECT_EQ(double_to_bf16(0x1.fe8p127), 0x7f7f);
  EXPECT_EQ(double_to_bf16(0x1.ffp127), 0x7f80);  // the tie above the largest
  EXPECT_TRUE(std::isnan(bf16_to_float(double_to_bf16(std::nan("")))));
  EXPECT_EQ(double_to_bf16(1e-300), 0);
}

TEST(F16, AllCodesSurviveARoundTripAndTiesGoToEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto code = static_cast<uint16_t>(bits);
    const double value = f16_to_double(code);
    if (std::isnan(value)) continue;
    ASSERT_EQ(double_to_f16(value), code);
    if ((code & 0x7fff) >= 0x7bff) continue;
    const double middle = (value + f16_to_double(static_cast<uint16_t>(code + 1))) / 2;
    ASSERT_EQ(double_to_f16(middle), code % 2 == 0 ? code : code + 1);
  }
  EXPECT_EQ(double_to_f16(65519.99), 0x7bff);
  EXPECT_EQ(double_to_f16(65520), 0x7c00);
  EXPECT_TRUE(std::isnan(f16_to_double(double_to_f16(std::nan("")))));
}

}  // namespace
}  // namespace hipbench
