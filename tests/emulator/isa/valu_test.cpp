// Vector rows against second formulations: host IEEE arithmetic, whole division sequences, transcendentals. Properties
// of single rows are in float_property_test.cpp and integer_property_test.cpp.

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "emulator/isa/float_formats.hpp"
#include "tests/emulator/isa/bench.hpp"

namespace hipbench::emulator {
namespace {

f32 as_f32(u32 bits) { return std::bit_cast<f32>(bits); }
f64 as_f64(u64 bits) { return std::bit_cast<f64>(bits); }
u32 flushed(u32 bits, bool flush) { return flush && (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }


struct SingleCase {
  const char* text;
  f32 (*host)(f32, f32, f32);
};
// Out of line and volatile, so that the compiler computes under the rounding mode set at run time.
f32 host_add(f32 a, f32 b, f32) {
  volatile f32 x = a, y = b;
  return x + y;
}
f32 host_subtract(f32 a, f32 b, f32) {
  volatile f32 x = a, y = b;
  return x - y;
}
f32 host_multiply(f32 a, f32 b, f32) {
  volatile f32 x = a, y = b;
  return x * y;
}
f32 host_fma(f32 a, f32 b, f32 c) {
  volatile f32 x = a, y = b, z = c;
  return std::fma(x, y, z);
}

TEST(VectorF32, ArithmeticIsTheHostsInEveryRoundingAndDenormalMode) {
  Bench bench;
  Random random;
  const SingleCase cases[] = {{"v_add_f32 v3, v0, v1", host_add},
                              {"v_sub_f32 v3, v0, v1", host_subtract},
                              {"v_subrev_f32 v3, v1, v0", host_subtract},
                              {"v_mul_f32 v3, v0, v1", host_multiply},
                              {"v_fma_f32 v3, v0, v1, v2", host_fma}};
  for (u32 mode = 0; mode < 16; ++mode)
    for (const SingleCase& test : cases)
      for (int round = 0; round < 6; ++round) {
        const std::vector<u32> a = random.singles(), b = random.singles(), c = random.singles();
        bench.set(0, a);
        bench.set(1, b);
        bench.set(2, c);
        bench.set_mode(mode & 3, mode >> 2, 0, 3);
        bench.run(test.text);
        const bool flush_in = (mode >> 2 & 1) == 0, flush_out = (mode >> 3 & 1) == 0;
        for (u32 lane = 0; lane < kWaveSize; ++lane) {
          std::fesetround(kHostRounding[mode & 3]);
          const f32 exact = test.host(as_f32(flushed(a[lane], flush_in)), as_f32(flushed(b[lane], flush_in)),
                                      as_f32(flushed(c[lane], flush_in)));
          std::fesetround(FE_TONEAREST);
          const u32 expected = flushed(std::bit_cast<u32>(exact), flush_out), actual = bench.get(3, lane);
          if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(as_f32(actual))) << test.text;
            ASSERT_NE(actual & 0x400000, 0u) << "a signalling NaN came out of " << test.text;
          } else {
            ASSERT_EQ(actual, expected) << test.text << " mode " << mode << std::hex << " of " << a[lane] << ' '
                                        << b[lane] << ' ' << c[lane];
          }
        }
      }
}

TEST(VectorF64, ArithmeticIsTheHostsInEveryRoundingMode) {
  Bench bench;
  Random random;
  for (u32 mode = 0; mode < 4; ++mode)
    for (int round = 0; round < 20; ++round) {
      const std::vector<u64> a = random.doubles(), b = random.doubles(), c = random.doubles();
      bench.set64(0, a);
      bench.set64(2, b);
      bench.set64(4, c);
      bench.set_mode(0, 3, mode, 3);
      bench.run(
          "v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]\nv_add_f64 v[8:9], v[0:1], v[2:3]\nv_cvt_f32_f64 v10, v[0:1]");
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        std::fesetround(kHostRounding[mode]);
        volatile f64 x = as_f64(a[lane]), y = as_f64(b[lane]), z = as_f64(c[lane]);
        volatile f64 fused = std::fma(x, y, z), sum = x + y;
        std::fesetround(FE_TONEAREST);
        const f32 single = static_cast<f32>(as_f64(a[lane]));  // rounds as MODE says for f32
        const auto same = [](f64 want, u64 got) {
          return std::isnan(want) ? std::isnan(as_f64(got)) : std::bit_cast<u64>(want) == got;
        };
        ASSERT_TRUE(same(fused, bench.get64(6, lane)));
        ASSERT_TRUE(same(sum, bench.get64(8, lane)));
        if (!std::isnan(single)) ASSERT_EQ(bench.get(10, lane), std::bit_cast<u32>(single));
      }
    }
}

TEST(VectorF16, ArithmeticRoundsOnceAndFlushesByMode) {
  Bench bench;
  Random random;
  for (u32 repeat = 0; repeat < 160; ++repeat)
    for (u32 denorm : {0u, 3u}) {
      const u32 mode = repeat % 4;
      const std::vector<u32> a = random.words(), b = random.words(), c = random.words();
      bench.set(0, a);
      bench.set(1, b);
      bench.set(2, c);
      bench.set(3, std::vector<u32>(kWaveSize, 0xabcd0000));
      bench.set_mode(0, 3, mode, denorm);
      bench.run("v_fma_f16 v3, v0, v1, v2\nv_add_f16 v4, v0, v1\nv_pk_mul_f16 v5, v0, v1\nv_pk_fma_f16 v6, v0, v1, v2");
      const auto half = [&](u32 word, u32 shift) {
        const u16 bits = static_cast<u16>(word >> shift);
        return static_cast<u16>(denorm == 0 && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits);
      };
      const auto out = [&](u16 bits) {
        return static_cast<u32>(denorm == 0 && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits);
      };
      const RoundMode rounding = static_cast<RoundMode>(mode);
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const u32 x = a[lane], y = b[lane], z = c[lane];
        const auto same = [&](u32 actual, u16 expected) {
          if (f16_is_nan(expected)) return f16_is_nan(static_cast<u16>(actual));
          return (actual & 0xffff) == out(expected);
        };
        ASSERT_TRUE(same(bench.get(3, lane), f16_fma(half(x, 0), half(y, 0), half(z, 0), rounding)))
            << std::hex << x << ' ' << y << ' ' << z;
        ASSERT_EQ(bench.get(3, lane) >> 16, 0xabcdu);
        ASSERT_TRUE(same(bench.get(4, lane), f16_add(half(x, 0), half(y, 0), rounding)));
        ASSERT_EQ(bench.get(4, lane) >> 16, 0u);
        ASSERT_TRUE(same(bench.get(5, lane), f16_mul(half(x, 0), half(y, 0), rounding)));
        ASSERT_TRUE(same(bench.get(5, lane) >> 16, f16_mul(half(x, 16), half(y, 16), rounding)));
        ASSERT_TRUE(same(bench.get(6, lane), f16_fma(half(x, 0), half(y, 0), half(z, 0), rounding)));
      }
    }
}

TEST(VectorF16, OverflowModeGivesTheLargestNumberButKeepsInfinities) {
  Bench bench;
  bench.wave.mode |= kModeFp16Overflow;
  bench.set(0, std::vector<u32>(kWaveSize, 0x7bff));
  bench.set(1, std::vector<u32>(kWaveSize, 0x7c00));
  bench.run("v_add_f16 v2, v0, v0\nv_add_f16 v3, v0, v1");
  EXPECT_EQ(bench.get(2, 0), 0x7bffu);
  EXPECT_EQ(bench.get(3, 0), 0x7c00u);
}

// ---- Division: the sequence that LLVM emits for an IEEE quotient ----

constexpr const char* kDivideSingle = R"(
v_div_scale_f32 v2, s[0:1], v1, v1, v0
v_div_scale_f32 v3, vcc, v0, v1, v0
v_rcp_f32 v4, v2
v_fma_f32 v5, -v2, v4, 1.0
v_fmac_f32 v4, v5, v4
v_mul_f32 v5, v3, v4
v_fma_f32 v6, -v2, v5, v3
v_fmac_f32 v5, v6, v4
v_fma_f32 v2, -v2, v5, v3
v_div_fmas_f32 v2, v2, v4, v5
v_div_fixup_f32 v7, v2, v1, v0)";

TEST(Division, SequenceForF32GivesTheIeeeQuotient) {
  Bench bench;
  Random random;
  for (int round = 0; round < 300; ++round) {
    const std::vector<u32> n = random.singles(), d = random.singles();
    bench.set(0, n);
    bench.set(1, d);
    bench.run(kDivideSingle);
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const f32 expected = as_f32(n[lane]) / as_f32(d[lane]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(as_f32(bench.get(7, lane))));
      else
        ASSERT_EQ(bench.get(7, lane), std::bit_cast<u32>(expected)) << std::hex << n[lane] << " / " << d[lane];
    }
  }
}

constexpr const char* kDivideDouble = R"(
v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]
v_rcp_f64 v[6:7], v[4:5]
v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]
v_mul_f64 v[10:11], v[8:9], v[6:7]
v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]
v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]
v_div_fixup_f64 v[12:13], v[4:5], v[2:3], v[0:1])";

TEST(Division, SequenceForF64GivesTheIeeeQuotient) {
  Bench bench;
  Random random;
  for (int round = 0; round < 300; ++round) {
    const std::vector<u64> n = random.doubles(), d = random.doubles();
    bench.set64(0, n);
    bench.set64(2, d);
    bench.run(kDivideDouble);
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const f64 expected = as_f64(n[lane]) / as_f64(d[lane]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(as_f64(bench.get64(12, lane))));
      else
        ASSERT_EQ(bench.get64(12, lane), std::bit_cast<u64>(expected)) << std::hex << n[lane] << " / " << d[lane];
    }
  }
}

// ---- Transcendentals: within 1 ULP of long double ----

TEST(Transcendental, ResultsAreWithinOneUnitInTheLastPlace) {
  Bench bench;
  Random random;
  struct Case {
    const char* text;
    long double (*exact)(long double);
  };
  const long double kTurn = 2 * std::acos(-1.0L);
  static long double turn = kTurn;
  const Case cases[] = {
      {"v_exp_f32 v1, v0", [](long double x) { return std::exp2(x); }},
      {"v_log_f32 v1, v0", [](long double x) { return std::log2(x); }},
      {"v_rcp_f32 v1, v0", [](long double x) { return 1 / x; }},
      {"v_rsq_f32 v1, v0", [](long double x) { return 1 / std::sqrt(x); }},
      {"v_sqrt_f32 v1, v0", [](long double x) { return std::sqrt(x); }},
      {"v_sin_f32 v1, v0", [](long double x) { return std::sin(x * turn); }},
      {"v_cos_f32 v1, v0", [](long double x) { return std::cos(x * turn); }},
  };
  for (const Case& test : cases)
    for (int round = 0; round < 100; ++round) {
      std::vector<u32> x = random.singles();
      for (u32& bits : x)
        if (std::fabs(as_f32(bits)) > 100 || !(std::fabs(as_f32(bits)) > 0x1p-20f))
          bits = 0x3f000000 + bits % 0x1000000;
      bench.set(0, x);
      bench.run(test.text);
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const long double exact = test.exact(as_f32(x[lane]));
        if (std::isnan(exact) || std::fabs(exact) < 0x1p-22L) continue;
        const f32 actual = as_f32(bench.get(1, lane));
        const f32 rounded = static_cast<f32>(exact);
        const f32 ulp = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
        ASSERT_LE(std::fabs(static_cast<f64>(actual - exact)), 0.51 * ulp) << test.text << " of " << as_f32(x[lane]);
      }
    }
}

TEST(Transcendental, F32FormsFlushDenormals) {
  Bench bench;
  bench.set(0, std::vector<u32>(kWaveSize, 0x00400000));
  bench.set(1, std::vector<u32>(kWaveSize, std::bit_cast<u32>(-127.0f)));
  bench.run("v_rcp_f32 v2, v0\nv_sqrt_f32 v3, v0\nv_exp_f32 v4, v1\nv_log_f32 v5, v0");
  EXPECT_EQ(bench.get(2, 5), 0x7f800000u);
  EXPECT_EQ(bench.get(3, 5), 0u);
  EXPECT_EQ(bench.get(4, 5), 0u);
  EXPECT_EQ(bench.get(5, 5), 0xff800000u);
}

// ---- Lanes and EXEC ----

TEST(Exec, InactiveLanesKeepTheirValuesAndCompareAsZero) {
  Bench bench;
  bench.wave.set_exec(0x00ff00ff00ff00f1);
  bench.set(0, std::vector<u32>(kWaveSize, 7));
  bench.set(1, std::vector<u32>(kWaveSize, 1));
  bench.run(
      "v_add_u32 v1, v0, v1\nv_cmp_eq_u32 vcc, v0, v0\nv_add_u32_dpp v2, v0, v1 quad_perm:[0,1,2,3] row_mask:0xf "
      "bank_mask:0xf");
  EXPECT_EQ(bench.wave.vcc(), bench.wave.exec());
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    EXPECT_EQ(bench.get(1, lane), (bench.wave.exec() >> lane & 1) != 0 ? 8u : 1u);
    EXPECT_EQ(bench.get(2, lane), (bench.wave.exec() >> lane & 1) != 0 ? 15u : 0u);
  }
}

TEST(Exec, CmpxWritesItsDestinationAndExec) {
  Bench bench;
  for (u32 lane = 0; lane < kWaveSize; ++lane) bench.wave.vgpr(0)[lane] = lane;
  bench.run("v_cmpx_gt_u32 vcc, 10, v0");
  EXPECT_EQ(bench.wave.exec(), 0x3ffu);
  EXPECT_EQ(bench.wave.vcc(), 0x3ffu);
}

TEST(Fp8, EveryByteSelectConvertsEveryCode) {
  Bench bench;
  for (u32 first = 0; first < 256; first += 64) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const u32 code = first + lane;
      bench.wave.vgpr(0)[lane] = code << 16 | (code ^ 0x55);
    }
    bench.run(
        "v_cvt_f32_fp8_sdwa v1, v0 src0_sel:BYTE_2\nv_cvt_f32_bf8 v2, v0\nv_cvt_pk_f32_fp8_sdwa v[4:5], v0 "
        "src0_sel:WORD_1\n"
        "v_cvt_pk_f32_bf8 v[6:7], v0");
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const u8 code = static_cast<u8>(first + lane), other = code ^ 0x55;
      EXPECT_EQ(bench.get(1, lane), std::bit_cast<u32>(fp8_to_f32(code)));
      EXPECT_EQ(bench.get(2, lane), std::bit_cast<u32>(bf8_to_f32(other)));
      EXPECT_EQ(bench.get(4, lane), std::bit_cast<u32>(fp8_to_f32(code)));
      EXPECT_EQ(bench.get(5, lane), 0u);
      EXPECT_EQ(bench.get(6, lane), std::bit_cast<u32>(bf8_to_f32(other)));
    }
  }
}

TEST(Fp8, NarrowingIsTheReferencesInBothOverflowModes) {
  Bench bench;
  Random random;
  for (int round = 0; round < 400; ++round) {
    const Fp8Overflow overflow = round % 2 == 0 ? Fp8Overflow::Nan : Fp8Overflow::Saturate;
    bench.wave.mode = (bench.wave.mode & ~kModeFp16Overflow) | (round % 2 == 0 ? 0u : kModeFp16Overflow);
    std::vector<u32> a = random.singles(), b = random.words();
    for (u32& word : b) word = (word & 0x807fffff) | (105 + (word >> 23) % 40) << 23;  // around both formats
    bench.set(0, a);
    bench.set(1, b);
    bench.set(2, std::vector<u32>(kWaveSize, 0x11112222));
    bench.run("v_cvt_pk_fp8_f32 v2, v0, v1 op_sel:[0,0,1]\nv_cvt_pk_bf8_f32 v3, v0, v1");
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const f32 x = as_f32(a[lane]), y = as_f32(b[lane]);
      ASSERT_EQ(bench.get(2, lane), 0x2222u | u32{f32_to_fp8(x, overflow)} << 16 | u32{f32_to_fp8(y, overflow)} << 24)
          << x << ' ' << y;
      ASSERT_EQ(bench.get(3, lane) & 0xffff, f32_to_bf8(x, overflow) | u32{f32_to_bf8(y, overflow)} << 8)
          << x << ' ' << y;
    }
  }
}

TEST(Conversion, PackTowardZeroIsTheReferences) {
  Bench bench;
  Random random;
  for (int round = 0; round < 100; ++round) {
    const std::vector<u32> a = random.singles(), b = random.singles();
    bench.set(0, a);
    bench.set(1, b);
    bench.run("v_cvt_pkrtz_f16_f32 v2, v0, v1");
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      ASSERT_EQ(bench.get(2, lane), pack_f16_toward_zero(as_f32(a[lane]), as_f32(b[lane])));
  }
}

TEST(MinMax, IeeeModeQuietsSignallingNans) {
  Bench bench;
  bench.set(0, std::vector<u32>(kWaveSize, 0x7f800001));
  bench.set(1, std::vector<u32>(kWaveSize, 0x3f800000));
  bench.run("v_min_f32 v2, v0, v1");
  EXPECT_EQ(bench.get(2, 0), 0x7fc00001u);
  bench.wave.mode &= ~kModeIeee;
  bench.run("v_min_f32 v2, v0, v1");
  EXPECT_EQ(bench.get(2, 0), 0x3f800000u);
}

}  // namespace
}  // namespace hipbench::emulator
