// Vector integer rows against second formulations in wider types, on random words.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/emulator/isa/bench.hpp"

namespace hipbench::emulator {
namespace {

struct IntegerCase {
  const char* text;
  std::function<u32(u32, u32, u32)> expected;
};

TEST(VectorIntegers, AgreeWithWiderArithmetic) {
  Bench bench;
  Random random;
  const auto s24 = [](u32 x) { return static_cast<i64>(static_cast<i32>(x << 8) >> 8); };
  const auto clip = [](i64 x, i64 low, i64 high) { return static_cast<u32>(std::min(std::max(x, low), high)); };
  const auto s = [](u32 x) { return i64{static_cast<i32>(x)}; };
  const auto absolute_differences = [](u32 a, u32 b, u32 width) {
    u32 sum = 0;
    for (u32 k = 0; k < 32; k += width) {
      const i64 x = a >> k & ((1u << width) - 1), y = b >> k & ((1u << width) - 1);
      sum += static_cast<u32>(x > y ? x - y : y - x);
    }
    return sum;
  };
  const IntegerCase cases[] = {
      {"v_add_u32_e64 v3, v0, v1 clamp", [&](u32 a, u32 b, u32) { return clip(i64{a} + b, 0, UINT32_MAX); }},
      {"v_sub_u32_e64 v3, v0, v1 clamp", [&](u32 a, u32 b, u32) { return clip(i64{a} - b, 0, UINT32_MAX); }},
      {"v_add_i32 v3, v0, v1 clamp", [&](u32 a, u32 b, u32) { return clip(s(a) + s(b), INT32_MIN, INT32_MAX); }},
      {"v_mul_hi_i32 v3, v0, v1", [&](u32 a, u32 b, u32) { return static_cast<u32>(s(a) * s(b) >> 32); }},
      {"v_mul_hi_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} * b >> 32); }},
      {"v_mul_lo_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} * b); }},
      {"v_mad_i32_i24 v3, v0, v1, v2", [&](u32 a, u32 b, u32 c) { return static_cast<u32>(s24(a) * s24(b) + s(c)); }},
      {"v_mad_i32_i24 v3, v0, v1, v2 clamp",
       [&](u32 a, u32 b, u32 c) { return clip(s24(a) * s24(b) + s(c), INT32_MIN, INT32_MAX); }},
      {"v_mul_hi_i32_i24 v3, v0, v1", [&](u32 a, u32 b, u32) { return static_cast<u32>(s24(a) * s24(b) >> 32); }},
      {"v_bfe_i32 v3, v0, v1, v2",
       [](u32 a, u32 offset, u32 width) {
         i64 value = 0;
         for (u32 k = 0; k < (width & 31); ++k)
           value |= i64{static_cast<i32>(a)} >> std::min((offset & 31) + k, 63u) << k & (i64{1} << k);
         if ((width & 31) != 0 && (value >> ((width & 31) - 1) & 1) != 0) value -= i64{1} << (width & 31);
         return static_cast<u32>(value);
       }},
      {"v_alignbyte_b32 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (8 * (c & 3))); }},
      {"v_med3_i32 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) {
         i32 v[] = {static_cast<i32>(a), static_cast<i32>(b), static_cast<i32>(c)};
         std::sort(v, v + 3);
         return static_cast<u32>(v[1]);
       }},
      {"v_xad_u32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }},
      {"v_add_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} + b); }},
      {"v_sub_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>((u64{1} << 32) + a - b); }},
      {"v_subrev_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>((u64{1} << 32) + b - a); }},
      {"v_sub_i32 v3, v0, v1 clamp", [&](u32 a, u32 b, u32) { return clip(s(a) - s(b), INT32_MIN, INT32_MAX); }},
      {"v_add3_u32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a} + b + c); }},
      {"v_lshl_add_u32 v3, v0, v1, v2", [](u32 a, u32 n, u32 b) { return static_cast<u32>((u64{a} << n % 32) + b); }},
      {"v_add_lshl_u32 v3, v0, v1, v2", [](u32 a, u32 b, u32 n) { return static_cast<u32>((u64{a} + b) << n % 32); }},
      {"v_lshl_or_b32 v3, v0, v1, v2", [](u32 a, u32 n, u32 b) { return static_cast<u32>(u64{a} << n % 32) | b; }},
      {"v_and_or_b32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return ~(~(a & b) & ~c); }},
      {"v_or3_b32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return ~(~a & ~b & ~c); }},
      {"v_mul_i32_i24 v3, v0, v1", [&](u32 a, u32 b, u32) { return static_cast<u32>(s24(a) * s24(b)); }},
      {"v_mul_u32_u24 v3, v0, v1",
       [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a % (1u << 24)} * (b % (1u << 24))); }},
      {"v_mul_hi_u32_u24 v3, v0, v1",
       [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a % (1u << 24)} * (b % (1u << 24)) >> 32); }},
      {"v_mad_u32_u24 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a % (1u << 24)} * (b % (1u << 24)) + c); }},
      {"v_mad_u32_u24 v3, v0, v1, v2 clamp",
       [&](u32 a, u32 b, u32 c) { return clip(i64{a % (1u << 24)} * (b % (1u << 24)) + c, 0, UINT32_MAX); }},
      {"v_mad_u32_u16 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a % 65536} * (b % 65536) + c); }},
      {"v_mad_i32_i16 v3, v0, v1, v2",
       [&](u32 a, u32 b, u32 c) { return static_cast<u32>(i64{static_cast<i16>(a)} * static_cast<i16>(b) + s(c)); }},
      {"v_min_i32 v3, v0, v1", [&](u32 a, u32 b, u32) { return s(a) <= s(b) ? a : b; }},
      {"v_max_i32 v3, v0, v1", [&](u32 a, u32 b, u32) { return s(a) <= s(b) ? b : a; }},
      {"v_min_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return a <= b ? a : b; }},
      {"v_max_u32 v3, v0, v1", [](u32 a, u32 b, u32) { return a <= b ? b : a; }},
      {"v_min3_i32 v3, v0, v1, v2",
       [&](u32 a, u32 b, u32 c) { return static_cast<u32>(std::min({s(a), s(b), s(c)})); }},
      {"v_max3_i32 v3, v0, v1, v2",
       [&](u32 a, u32 b, u32 c) { return static_cast<u32>(std::max({s(a), s(b), s(c)})); }},
      {"v_min3_u32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }},
      {"v_max3_u32 v3, v0, v1, v2", [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }},
      {"v_med3_u32 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) {
         u32 v[] = {a, b, c};
         std::sort(v, v + 3);
         return v[1];
       }},
      {"v_lshlrev_b32 v3, v0, v1", [](u32 n, u32 a, u32) { return static_cast<u32>(u64{a} << n % 32); }},
      {"v_lshrrev_b32 v3, v0, v1", [](u32 n, u32 a, u32) { return static_cast<u32>((u64{a} << 32) >> (32 + n % 32)); }},
      {"v_ashrrev_i32 v3, v0, v1",
       [&](u32 n, u32 a, u32) { return static_cast<u32>(i64(std::floor(std::ldexp(s(a), -int(n % 32))))); }},
      {"v_bfe_u32 v3, v0, v1, v2",
       [](u32 a, u32 offset, u32 width) { return static_cast<u32>((u64{a} >> offset % 32) % (u64{1} << width % 32)); }},
      {"v_bfi_b32 v3, v0, v1, v2", [](u32 mask, u32 a, u32 b) { return b ^ (mask & (a ^ b)); }},
      {"v_bfm_b32 v3, v0, v1",
       [](u32 width, u32 offset, u32) { return static_cast<u32>(((u64{1} << width % 32) - 1) << offset % 32); }},
      {"v_bfrev_b32 v3, v0",
       [](u32 a, u32, u32) {
         u32 result = 0;
         for (u32 k = 0; k < 32; ++k) result = result << 1 | (a >> k & 1);
         return result;
       }},
      {"v_ffbh_u32 v3, v0",
       [](u32 a, u32, u32) {
         for (u32 k = 0; k < 32; ++k)
           if ((a << k & 0x80000000) != 0) return k;
         return ~0u;
       }},
      {"v_ffbh_i32 v3, v0",
       [](u32 a, u32, u32) {
         for (u32 k = 1; k < 32; ++k)
           if ((a << k >> 31) != a >> 31) return k;
         return ~0u;
       }},
      {"v_ffbl_b32 v3, v0",
       [](u32 a, u32, u32) {
         for (u32 k = 0; k < 32; ++k)
           if ((a >> k & 1) != 0) return k;
         return ~0u;
       }},
      {"v_bcnt_u32_b32 v3, v0, v1",
       [](u32 a, u32 b, u32) {
         for (; a != 0; a /= 2) b += a % 2;
         return b;
       }},
      {"v_alignbit_b32 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 n) { return static_cast<u32>((u64{a} << 32 | b) >> n % 32); }},
      {"v_sad_u8 v3, v0, v1, v2", [&](u32 a, u32 b, u32 c) { return c + absolute_differences(a, b, 8); }},
      {"v_sad_hi_u8 v3, v0, v1, v2", [&](u32 a, u32 b, u32 c) { return c + (absolute_differences(a, b, 8) << 16); }},
      {"v_sad_u16 v3, v0, v1, v2", [&](u32 a, u32 b, u32 c) { return c + absolute_differences(a, b, 16); }},
      {"v_sad_u32 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) { return static_cast<u32>(c + static_cast<u64>(std::abs(i64{a} - i64{b}))); }},
      {"v_lerp_u8 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 round) {
         u32 result = 0;
         for (u32 k = 0; k < 32; k += 8) result |= ((a >> k & 255) + (b >> k & 255) + (round >> k & 1)) / 2 << k;
         return result;
       }},
      {"v_cvt_pk_i16_i32 v3, v0, v1",
       [&](u32 a, u32 b, u32) { return (clip(s(a), -32768, 32767) & 0xffff) | clip(s(b), -32768, 32767) << 16; }},
      {"v_cvt_pk_u16_u32 v3, v0, v1", [&](u32 a, u32 b, u32) { return clip(a, 0, 65535) | clip(b, 0, 65535) << 16; }},
      {"v_add_u16 v3, v0, v1", [](u32 a, u32 b, u32) { return (a + b) % 65536; }},
      {"v_sub_u16 v3, v0, v1", [](u32 a, u32 b, u32) { return (65536 + a % 65536 - b % 65536) % 65536; }},
      {"v_mul_lo_u16 v3, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(u64{a} * b % 65536); }},
      {"v_lshlrev_b16 v3, v0, v1", [](u32 n, u32 a, u32) { return (a << n % 16) % 65536; }},
      {"v_lshrrev_b16 v3, v0, v1", [](u32 n, u32 a, u32) { return a % 65536 >> n % 16; }},
      {"v_ashrrev_i16 v3, v0, v1",
       [&](u32 n, u32 a, u32) { return static_cast<u32>(s(a << 16) >> (16 + n % 16)) & 0xffff; }},
      {"v_max_u16 v3, v0, v1", [](u32 a, u32 b, u32) { return std::max(a % 65536, b % 65536); }},
      {"v_min_i16 v3, v0, v1",
       [&](u32 a, u32 b, u32) { return static_cast<u32>(std::min(s(a << 16), s(b << 16)) >> 16) & 0xffff; }},
      {"v_pk_add_u16 v3, v0, v1", [](u32 a, u32 b, u32) { return (a + b) % 65536 | ((a >> 16) + (b >> 16)) << 16; }},
      {"v_pk_sub_i16 v3, v0, v1 clamp",
       [&](u32 a, u32 b, u32) {
         const auto half = [&](u32 x, u32 y) {
           return clip(i64{static_cast<i16>(x)} - static_cast<i16>(y), -32768, 32767) & 0xffff;
         };
         return half(a, b) | half(a >> 16, b >> 16) << 16;
       }},
      {"v_pk_mad_i16 v3, v0, v1, v2 clamp",
       [&](u32 a, u32 b, u32 c) {
         const auto half = [&](u32 x, u32 y, u32 z) {
           return clip(i64{static_cast<i16>(x)} * static_cast<i16>(y) + static_cast<i16>(z), -32768, 32767) & 0xffff;
         };
         return half(a, b, c) | half(a >> 16, b >> 16, c >> 16) << 16;
       }},
      {"v_dot4_i32_i8 v3, v0, v1, v2",
       [](u32 a, u32 b, u32 c) {
         i32 sum = static_cast<i32>(c);
         for (u32 k = 0; k < 32; k += 8)
           sum = static_cast<i32>(static_cast<u32>(sum) +
                                  static_cast<u32>(static_cast<i8>(a >> k) * static_cast<i8>(b >> k)));
         return static_cast<u32>(sum);
       }},
  };
  for (const IntegerCase& test : cases)
    for (int round = 0; round < 10; ++round) {
      const std::vector<u32> a = random.words(), b = random.words(), c = random.words();
      bench.set(0, a);
      bench.set(1, b);
      bench.set(2, c);
      bench.run(test.text);
      for (u32 lane = 0; lane < kWaveSize; ++lane)
        ASSERT_EQ(bench.get(3, lane), test.expected(a[lane], b[lane], c[lane]))
            << test.text << std::hex << ' ' << a[lane] << ' ' << b[lane];
    }
}

TEST(VectorIntegers, WideMultiplyAddCarriesOut) {
  Bench bench;
  Random random;
  for (int round = 0; round < 20; ++round) {
    const std::vector<u32> a = random.words(), b = random.words();
    const std::vector<u64> c = random.doubles();
    bench.set(0, a);
    bench.set(1, b);
    bench.set64(2, c);
    bench.run("v_mad_u64_u32 v[4:5], vcc, v0, v1, v[2:3]\nv_mad_i64_i32 v[6:7], s[0:1], v0, v1, v[2:3]");
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      const unsigned __int128 sum = static_cast<unsigned __int128>(a[lane]) * b[lane] + c[lane];
      ASSERT_EQ(bench.get64(4, lane), static_cast<u64>(sum));
      ASSERT_EQ(bench.wave.vcc() >> lane & 1, static_cast<u64>(sum >> 64));
      const __int128 wide =
          static_cast<__int128>(static_cast<i32>(a[lane])) * static_cast<i32>(b[lane]) + static_cast<i64>(c[lane]);
      ASSERT_EQ(bench.get64(6, lane), static_cast<u64>(wide));
      ASSERT_EQ(bench.wave.scalar64(0) >> lane & 1, static_cast<u64>(wide >> 64 & 1));
    }
  }
}

TEST(VectorPermute, FastAndExactPathsAgree) {
  Bench bench;
  Random random;
  for (int round = 0; round < 20; ++round) {
    const std::vector<u32> a = random.words(), b = random.words();
    std::vector<u32> select = random.words();
    for (u32& word : select) word &= round % 2 == 0 ? 0x07070707 : 0x0f0f0f0f;
    bench.set(0, a);
    bench.set(1, b);
    bench.set(2, select);
    bench.run("v_perm_b32 v3, v0, v1, v2");
    for (u32 lane = 0; lane < kWaveSize; ++lane)
      for (u32 k = 0; k < 4; ++k) {
        const u32 code = select[lane] >> (8 * k) & 0xff;
        const u64 both = u64{a[lane]} << 32 | b[lane];
        u32 byte = code < 8 ? static_cast<u32>(both >> (8 * code) & 0xff) : code < 12 ? 0 : code == 12 ? 0 : 0xff;
        if (code >= 8 && code < 12 && (both >> (16 * (code - 8) + 15) & 1) != 0) byte = 0xff;
        ASSERT_EQ(bench.get(3, lane) >> (8 * k) & 0xff, byte) << code;
      }
  }
}

}  // namespace
}  // namespace hipbench::emulator
