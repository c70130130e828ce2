#include "emulator/isa/dot_products.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hipbench::emulator {
namespace {

TEST(DotProducts, IntegerFormsAddTheProductsOfTheirElements) {
  EXPECT_EQ(dot2_i32_i16(0xffff'0003, 0x0002'0005, 10), 23u);          // 3·5 − 1·2 + 10
  EXPECT_EQ(dot2_u32_u16(0xffff'0003, 0x0002'0005, 10), 131095u);      // 15 + 65535·2 + 10
  EXPECT_EQ(dot4_i32_i8(0x80'7f'ff'01, 0x80'7f'02'03, 0), 32514u);     // 16384 + 16129 − 2 + 3
  EXPECT_EQ(dot4_u32_u8(0x80'7f'ff'01, 0x80'7f'02'03, 0), 33026u);     // 16384 + 16129 + 510 + 3
  EXPECT_EQ(dot8_i32_i4(0x8765'4321, 0x1111'1111, 0xffffffffu), 19u);  // 28 − 8 − 1
  EXPECT_EQ(dot8_u32_u4(0x8765'4321, 0x1111'1111, 1), 37u);
}

TEST(DotProducts, ClampSaturatesWhatOtherwiseWraps) {
  EXPECT_EQ(dot4_i32_i8(0x01, 0x01, 0x7fffffffu), 0x80000000u);
  EXPECT_EQ(dot4_i32_i8(0x01, 0x01, 0x7fffffffu, true), 0x7fffffffu);
  EXPECT_EQ(dot4_i32_i8(0x01, 0xff, 0x80000000u, true), 0x80000000u);
  EXPECT_EQ(dot2_i32_i16(0x8000'8000, 0x8000'8000, 0), 0x80000000u);
  EXPECT_EQ(dot2_i32_i16(0x8000'8000, 0x8000'8000, 0, true), 0x7fffffffu);
  EXPECT_EQ(dot4_u32_u8(0x01, 0x01, 0xffffffffu), 0u);
  EXPECT_EQ(dot4_u32_u8(0x01, 0x01, 0xffffffffu, true), 0xffffffffu);
}

TEST(DotProducts, HalfFormRoundsAtEachStep) {
  EXPECT_EQ(dot2_f32_f16(0x4000'3c00, 0x4200'4400, 0.5f), 10.5f);  // 1·4 + 2·3 + 0.5
  // 2^-24 is lost against 1 in the first step, and would not be in an exact sum with the second product.
  EXPECT_EQ(dot2_f32_f16(0x0001'0001, 0x3c00'3c00, 1.0f), 1.0f);
}

}  // namespace
}  // namespace hipbench::emulator
