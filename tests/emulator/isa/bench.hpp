#pragma once
// One wave on which tests run lines of assembler, and the values that they run them on.

#include <gtest/gtest.h>

#include <cfenv>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emulator/isa/decode.hpp"
#include "emulator/isa/wave.hpp"
#include "tests/emulator/isa/assembler.hpp"

namespace hipbench::emulator {

// How MODE numbers the rounding modes, in the host's constants.
inline constexpr int kHostRounding[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// One wave and a way to run a line of assembler on it.
class Bench {
 public:
  Bench() : space_(AddressSpace::create().value()), wave(*space_) {
    wave.vgprs = registers_.data();
    wave.set_exec(~u64{0});
  }
  void run(const std::string& text) {
    std::string error;
    const std::vector<std::byte> code = assemble(text + "\n", error);
    ASSERT_EQ(error, "") << text;
    run(code);
  }
  void run(std::span<const std::byte> code) {
    for (size_t at = 0; at < code.size();) {
      const std::unique_ptr<Inst> inst = decode(disassembler_, code.subspan(at), at);
      inst->execute(wave, *inst);
      at += inst->size;
    }
  }
  void set_mode(u32 round_single, u32 denorm_single, u32 round_double, u32 denorm_double) {
    wave.mode = (wave.mode & ~0xffu) | round_single | round_double << 2 | denorm_single << 4 | denorm_double << 6;
    wave.special_float_mode = (wave.mode & 0xff) != kModeDefaultFp;
  }
  void set(u32 index, const std::vector<u32>& values) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) wave.vgpr(index)[lane] = values[lane];
  }
  void set64(u32 index, const std::vector<u64>& values) {
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      wave.vgpr(index)[lane] = static_cast<u32>(values[lane]);
      wave.vgpr(index + 1)[lane] = static_cast<u32>(values[lane] >> 32);
    }
  }
  u32 get(u32 index, u32 lane) { return wave.vgpr(index)[lane]; }
  u64 get64(u32 index, u32 lane) { return get(index, lane) | u64{get(index + 1, lane)} << 32; }

 private:
  std::unique_ptr<AddressSpace> space_;
  std::vector<u32> registers_ = std::vector<u32>(size_t{kVgprs} * kWaveSize);
  Disassembler disassembler_;

 public:
  Wave wave;
};

// ---- Values that arithmetic gets wrong ----

inline constexpr u32 kNastySingles[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                        0x80800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x33800000,
                                        0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00001,
                                        0x7f800001, 0x4b000000, 0x5f000000, 0x1f800000, 0x00ffffff};
inline constexpr u64 kNastyDoubles[] = {0,
                                        0x8000000000000000,
                                        1,
                                        0x800fffffffffffff,
                                        0x0010000000000000,
                                        0x3ff0000000000000,
                                        0xbff0000000000001,
                                        0x3ca0000000000000,
                                        0x7fefffffffffffff,
                                        0xffefffffffffffff,
                                        0x7ff0000000000000,
                                        0xfff0000000000000,
                                        0x7ff8000000000001,
                                        0x4330000000000000,
                                        0x5fe0000000000000,
                                        0x1ff0000000000000};

class Random {
 public:
  u32 single() {
    const u32 draw = static_cast<u32>(engine_());
    return draw % 3 == 0 ? kNastySingles[draw / 3 % std::size(kNastySingles)] : static_cast<u32>(engine_());
  }
  // Exponents near each other, so that sums and products meet.
  u32 moderate_single() {
    return (static_cast<u32>(engine_()) & 0x807fffff) | (100 + static_cast<u32>(engine_()) % 54) << 23;
  }
  u64 twice() {
    const u32 draw = static_cast<u32>(engine_());
    return draw % 3 == 0 ? kNastyDoubles[draw / 3 % std::size(kNastyDoubles)] : engine_();
  }
  u64 bits() { return engine_(); }
  std::vector<u32> singles() { return lanes<u32>([&] { return bits() % 2 == 0 ? single() : moderate_single(); }); }
  std::vector<u64> doubles() { return lanes<u64>([&] { return twice(); }); }
  std::vector<u32> words() { return lanes<u32>([&] { return static_cast<u32>(bits()); }); }

 private:
  template <typename T, typename Draw>
  std::vector<T> lanes(Draw draw) {
    std::vector<T> values(kWaveSize);
    for (T& value : values) value = draw();
    return values;
  }
  std::mt19937_64 engine_{42};
};

}  // namespace hipbench::emulator
