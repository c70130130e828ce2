// Matrix instructions through the whole stack: assembled, decoded and run on a wave, with their operands in either half
// of the register file. The arithmetic itself is tested in mfma_test.cpp.

#include <gtest/gtest.h>

#include <cstring>

#include "emulator/isa/mfma.hpp"
#include "tests/emulator/isa/bench.hpp"
#include "tests/emulator/isa/mfma_cases.hpp"

namespace hipbench::emulator {
namespace {

constexpr u32 kA = 0, kB = 16, kIndex = 24, kC = 32, kD = 64;  // first registers of the operands

std::string tuple(char file, u32 first, u32 count) {
  const std::string name(1, file);
  if (count == 1) return name + std::to_string(first);
  return name + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

// Which half of the register file the operands are in: 'v' or 'a'. The results are where src2 is.
struct Files {
  char a, b, c;
};

class MatrixRow {
 public:
  MatrixRow(const MfmaEntry& entry, const Files& files, const MfmaCase& test)
      : entry_(entry), files_(files), test_(test) {
    put(files.a, kA, test.a);
    put(files.b, kB, test.b);
    put(files.c, kD, test.d);
    if (entry.sparse) put('v', kIndex, test.c);
    else put(files.c, kC, test.c);
  }

  // src2 is a register tuple, or the constant's text when that is not empty.
  std::string text(const std::string& constant = "") const {
    const std::string src2 = entry_.sparse ? tuple('v', kIndex, 1) : tuple(files_.c, kC, entry_.d_registers);
    return std::string(entry_.mnemonic) + " " + tuple(files_.c, kD, entry_.d_registers) + ", " +
           tuple(files_.a, kA, entry_.a_registers) + ", " + tuple(files_.b, kB, entry_.b_registers) + ", " +
           (constant.empty() ? src2 : constant);
  }
  void run_and_compare(const std::string& line, const MfmaModifiers& modifiers, const u32* c) {
    SCOPED_TRACE(line);
    std::vector<u32> expected = test_.d;
    entry_.execute(expected.data(), test_.a.data(), test_.b.data(), c, modifiers);
    bench_.run(line);
    EXPECT_EQ(std::memcmp(bench_.wave.vgpr(place(files_.c, kD)), expected.data(), expected.size() * sizeof(u32)), 0);
  }

 private:
  static u32 place(char file, u32 first) { return first + (file == 'a' ? kAgprBase : 0); }
  void put(char file, u32 first, const std::vector<u32>& words) {
    std::memcpy(bench_.wave.vgpr(place(file, first)), words.data(), words.size() * sizeof(u32));
  }

  const MfmaEntry& entry_;
  Files files_;
  const MfmaCase& test_;
  Bench bench_;
};

bool assembles(const std::string& line) {
  std::string error;
  assemble(line + "\n", error);
  return error.empty();
}

TEST(MatrixRows, TakeTheirOperandsFromBothHalvesOfTheRegisterFile) {
  std::mt19937_64 random(21);
  for (const MfmaEntry& entry : mfma_table())
    for (const Files& files : {Files{'v', 'v', 'v'}, Files{'v', 'v', 'a'}, Files{'a', 'v', 'v'}, Files{'v', 'a', 'a'},
                               Files{'a', 'a', 'a'}}) {
      const MfmaCase test = make_case(entry, Distribution::Normal, random);
      MatrixRow row(entry, files, test);
      row.run_and_compare(row.text(), {}, test.c.data());
    }
}

TEST(MatrixRows, TakeConstantsForTheThirdSource) {
  std::mt19937_64 random(22);
  struct Constant {
    const char* text;
    u64 single, twice;  // the bits for 32-bit and for 64-bit elements
  };
  for (const MfmaEntry& entry : mfma_table()) {
    if (entry.sparse) continue;
    const bool f64_form = entry.mnemonic.ends_with("f64");
    for (const Constant& constant : {Constant{"0", 0, 0}, Constant{"1.0", 0x3f800000, 0x3ff0000000000000},
                                     Constant{"-4.0", 0xc0800000, 0xc010000000000000}}) {
      const MfmaCase test = make_case(entry, Distribution::Normal, random);
      MfmaModifiers modifiers;
      modifiers.c_constant = f64_form ? constant.twice : constant.single;
      MatrixRow row(entry, {'v', 'v', 'v'}, test);
      row.run_and_compare(row.text(constant.text), modifiers, nullptr);
    }
  }
}

TEST(MatrixRows, PassTheirModifiersOn) {
  std::mt19937_64 random(23);
  u32 with_broadcast = 0, with_swizzle = 0;
  for (const MfmaEntry& entry : mfma_table()) {
    const MfmaCase test = make_case(entry, Distribution::Normal, random);
    const auto check = [&](const std::string& suffix, u8 cbsz, u8 abid, u8 blgp, u32& count) {
      MatrixRow row(entry, {'v', 'v', 'a'}, test);
      if (!assembles(row.text() + suffix)) return;
      ++count;
      MfmaModifiers modifiers;
      modifiers.cbsz = cbsz;
      modifiers.abid = abid;
      modifiers.blgp = blgp;
      row.run_and_compare(row.text() + suffix, modifiers, test.c.data());
    };
    if (entry.blocks > 1 || entry.sparse) check(" cbsz:1 abid:1", 1, 1, 0, with_broadcast);
    if (entry.sparse) check(" abid:1", 0, 1, 0, with_broadcast);
    else if (entry.mnemonic.ends_with("f64")) check(" neg:[1,0,1]", 0, 0, 5, with_swizzle);
    else check(" blgp:3", 0, 0, 3, with_swizzle);
  }
  EXPECT_GT(with_broadcast, 20u);
  EXPECT_GT(with_swizzle, 20u);
}

}  // namespace
}  // namespace hipbench::emulator
