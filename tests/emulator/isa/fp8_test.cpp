// Conversions to FP8 and BF8 against the formats' values in double precision: to the nearest code in both overflow
// modes, and stochastically. All f32 with HIPBENCH_SWEEP_SAMPLES set (ctest: emulator.fp8_exhaustive, label slow), else
// every few thousandth.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/emulator/isa/bench.hpp"

namespace hipbench::emulator {
namespace {

struct Format {
  const char* name;
  int exponent_bits, fraction_bits, bias;

  // FNUZ: no infinities, no negative zero; code 0x80 would be the first value past the largest.
  f64 value(u32 code) const {
    const u32 field = code >> fraction_bits;
    const f64 fraction = std::ldexp(static_cast<f64>(code & ((1u << fraction_bits) - 1)), -fraction_bits);
    return field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, static_cast<int>(field) - bias);
  }
};
constexpr Format kFormats[] = {{"fp8", 4, 3, 8}, {"bf8", 5, 2, 16}};
constexpr u32 kNan = 0x80, kOverflow = 0x80;  // kOverflow as a magnitude

u32 with_sign(u32 magnitude, bool negative, bool saturate) {
  if (magnitude >= kOverflow) return saturate ? (negative ? 0xff : 0x7f) : kNan;
  return magnitude != 0 && negative ? magnitude | 0x80 : magnitude;
}

bool exhaustive() { return std::getenv("HIPBENCH_SWEEP_SAMPLES") != nullptr; }

// Decoded once, executed often.
class Line {
 public:
  Line(Bench& bench, const std::string& text) : bench_(bench) {
    std::string error;
    code_ = assemble(text + "\n", error);
    EXPECT_EQ(error, "");
    inst_ = decode(disassembler_, code_, 0);
  }
  void run() { inst_->execute(bench_.wave, *inst_); }

 private:
  Bench& bench_;
  Disassembler disassembler_;
  std::vector<std::byte> code_;
  std::unique_ptr<Inst> inst_;
};

// Walks up through the magnitudes of f32 with the code that is nearest.
class Nearest {
 public:
  explicit Nearest(const Format& format) {
    for (u32 code = 0; code <= 0x7f; ++code) middle_[code] = (format.value(code) + format.value(code + 1)) / 2;
  }
  u32 of(f32 magnitude) {
    while (code_ <= 0x7f && (magnitude > middle_[code_] || (magnitude == middle_[code_] && code_ % 2 == 1))) ++code_;
    return code_;
  }

 private:
  f64 middle_[0x80];
  u32 code_ = 0;
};

TEST(Fp8Conversion, PicksTheNearestCodeForEveryNumber) {
  Bench bench;
  const u32 step = exhaustive() ? kWaveSize : 1021 * kWaveSize;
  for (const Format& format : kFormats) {
    Line line(bench, std::string("v_cvt_pk_") + format.name + "_f32 v2, v0, v1");
    for (const bool saturate : {false, true}) {
      bench.wave.mode = (bench.wave.mode & ~kModeFp16Overflow) | (saturate ? kModeFp16Overflow : 0);
      Nearest nearest(format);
      u64 wrong = 0;
      for (u32 first = 0; first <= 0x7f800000; first += step) {
        for (u32 lane = 0; lane < kWaveSize; ++lane) {
          bench.wave.vgpr(0)[lane] = first + lane;
          bench.wave.vgpr(1)[lane] = (first + lane) | 0x80000000;
        }
        line.run();
        for (u32 lane = 0; lane < kWaveSize; ++lane) {
          const f32 magnitude = std::bit_cast<f32>(first + lane);
          const u32 code = std::isnan(magnitude) ? kNan : nearest.of(magnitude);
          const u32 expected = std::isnan(magnitude)
                                   ? kNan | kNan << 8
                                   : with_sign(code, false, saturate) | with_sign(code, true, saturate) << 8;
          wrong += (bench.get(2, lane) & 0xffff) != expected;
        }
      }
      EXPECT_EQ(wrong, 0u) << format.name << (saturate ? ", saturating" : "");
    }
  }
}

// The dropped part of the number as a fraction of the step between its two codes, cut to the bits that a normal number
// drops, plus as many top bits of the random word: from one step on the result is the upper code (for FP8, S1[31:12]).
TEST(Fp8Conversion, RoundsUpAsOftenAsTheDroppedPartSays) {
  Bench bench;
  Random random;
  const u32 step = exhaustive() ? 257 * kWaveSize : 100'003 * kWaveSize;
  for (const Format& format : kFormats) {
    Line line(bench, std::string("v_cvt_sr_") + format.name + "_f32 v2, v0, v1");
    const int dropped = 23 - format.fraction_bits;
    u64 wrong = 0;
    u32 low = 0;
    for (u64 first = 0; first <= 0x7f800000; first += step) {
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        bench.wave.vgpr(0)[lane] = static_cast<u32>(first) + lane * (step / kWaveSize);
        bench.wave.vgpr(1)[lane] = lane % 4 == 0 ? 0 : lane % 4 == 1 ? ~0u : static_cast<u32>(random.bits());
      }
      line.run();
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        const f64 magnitude = std::bit_cast<f32>(bench.wave.vgpr(0)[lane]);
        if (!std::isfinite(magnitude)) continue;
        while (low < kOverflow && format.value(low + 1) <= magnitude) ++low;
        u32 code = low;
        if (low < kOverflow) {
          const f64 fraction = (magnitude - format.value(low)) / (format.value(low + 1) - format.value(low));
          const u64 part = static_cast<u64>(std::floor(std::ldexp(fraction, dropped)));
          const u64 sum = part + (bench.wave.vgpr(1)[lane] >> (32 - dropped));
          code += (sum >> dropped) != 0 ? 1 : 0;
        }
        wrong += (bench.get(2, lane) & 0xff) != with_sign(code, false, false);
      }
    }
    EXPECT_EQ(wrong, 0u) << format.name;
  }
}

}  // namespace
}  // namespace hipbench::emulator
