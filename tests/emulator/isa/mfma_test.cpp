#include "emulator/isa/mfma.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/emulator/isa/mfma_cases.hpp"
#include "tests/emulator/isa/mfma_reference.hpp"

namespace hipbench::emulator {
namespace {

// Bits are equal, or both are NaN.
bool same(u64 got, u64 expected, bool f64_output, bool integer) {
  if (got == expected) return true;
  if (integer) return false;
  if (f64_output) return std::isnan(std::bit_cast<f64>(got)) && std::isnan(std::bit_cast<f64>(expected));
  return std::isnan(std::bit_cast<f32>(static_cast<u32>(got))) &&
         std::isnan(std::bit_cast<f32>(static_cast<u32>(expected)));
}

u64 count_differences(const MfmaEntry& entry, const std::vector<u32>& got, const std::vector<u32>& expected) {
  const bool f64_output = entry.mnemonic.ends_with("f64");
  const bool integer = entry.mnemonic.ends_with("i8");
  u64 differences = 0;
  for (std::size_t at = 0; at < got.size(); ++at) {
    u64 g = got[at], e = expected[at];
    if (f64_output) {
      if (at / 64 % 2 != 0) continue;
      g |= u64{got[at + 64]} << 32;
      e |= u64{expected[at + 64]} << 32;
    }
    differences += !same(g, e, f64_output, integer);
  }
  return differences;
}

TEST(Mfma, TableHasEveryMatrixInstructionOnceWithConsistentCounts) {
  EXPECT_EQ(mfma_table().size(), 46u);
  for (const MfmaEntry& entry : mfma_table()) {
    EXPECT_EQ(find_mfma(entry.mnemonic), &entry);
    EXPECT_NE(entry.execute, nullptr);
    EXPECT_EQ(entry.flops, 2u * entry.m * entry.n * entry.k * entry.blocks) << entry.mnemonic;
  }
  EXPECT_EQ(find_mfma("v_mfma_f32_32x32x8_bf16_1k"), nullptr);
  const MfmaEntry* fp8 = find_mfma("v_mfma_f32_32x32x16_fp8_fp8");
  ASSERT_NE(fp8, nullptr);
  EXPECT_EQ(fp8->flops, 32768u);
  EXPECT_EQ(fp8->cycles, 32);
  EXPECT_EQ(fp8->a_registers, 2);
  EXPECT_EQ(fp8->d_registers, 16);
  const MfmaEntry* sparse = find_mfma("v_smfmac_i32_32x32x32_i8");
  ASSERT_NE(sparse, nullptr);
  EXPECT_EQ(sparse->a_registers, 2);
  EXPECT_EQ(sparse->b_registers, 4);
  EXPECT_EQ(sparse->c_registers, 1);
}

TEST(Mfma, AgreesWithTheReferenceOnRandomAndNastyOperands) {
  std::mt19937_64 random(11);
  for (const MfmaEntry& entry : mfma_table()) {
    u64 differences = 0;
    for (int round = 0; round < 2 * kDistributionCount; ++round) {
      const MfmaCase test = make_case(entry, static_cast<Distribution>(round % kDistributionCount), random);
      std::vector<u32> got = test.d, expected = test.d;
      entry.execute(got.data(), test.a.data(), test.b.data(), test.c.data(), test.modifiers);
      reference::execute(entry, expected.data(), test.a.data(), test.b.data(), test.c.data(), test.modifiers);
      const u64 wrong = count_differences(entry, got, expected);
      EXPECT_EQ(wrong, 0u) << entry.mnemonic << " round " << round;
      differences += wrong;
    }
    ASSERT_EQ(differences, 0u);
  }
}

// Large products that cancel, so that what truncation takes from the small ones shows: at an exponent of 4 nothing is
// lost of an fp8 product, from 5 on the last places are.
TEST(Mfma, Fp8TruncationBeginsAtTheRightExponent) {
  std::mt19937_64 random(15);
  for (const char* mnemonic : {"v_mfma_f32_32x32x16_fp8_fp8", "v_mfma_f32_16x16x32_fp8_fp8"}) {
    const MfmaEntry& entry = *find_mfma(mnemonic);
    for (const auto& [a_exponent, b_exponent] : {std::pair{2, 2}, {3, 2}, {0, 4}, {0, 5}, {5, -1}, {4, 4}, {7, 7}}) {
      std::vector<u32> a(2 * 64), b(2 * 64), c(static_cast<std::size_t>(entry.d_registers) * 64);
      for (u32 word = 0; word < 2 * 64; ++word) {
        a[word] = static_cast<u32>(random()) & 0x87878787u;  // denormals of either sign; −0 is NaN
        b[word] = static_cast<u32>(random()) & 0x87878787u;
        for (u32* tiny : {&a[word], &b[word]}) {
          for (int shift = 0; shift < 32; shift += 8) *tiny |= (*tiny >> shift & 0xffu) == 0x80u ? 1u << shift : 0u;
        }
        const u32 a_big = f32_to_fp8(std::ldexp(1.0f, a_exponent)), b_big = f32_to_fp8(std::ldexp(1.0f, b_exponent));
        if (word >= 64) continue;
        a[word] = (a[word] & 0xff00ff00u) | a_big | a_big << 16;
        b[word] = (b[word] & 0xff00ff00u) | b_big | (b_big | 0x80u) << 16;
      }
      std::vector<u32> got = c, expected = c;
      entry.execute(got.data(), a.data(), b.data(), c.data(), {});
      reference::execute(entry, expected.data(), a.data(), b.data(), c.data(), {});
      EXPECT_EQ(got, expected) << mnemonic << ' ' << a_exponent << ' ' << b_exponent;
    }
  }
}

TEST(Mfma, ReadsAllSourcesBeforeWriting) {
  std::mt19937_64 random(12);
  for (const MfmaEntry& entry : mfma_table()) {
    const MfmaCase test = make_case(entry, Distribution::Normal, random);
    std::vector<u32> expected = test.d;
    entry.execute(expected.data(), test.a.data(), test.b.data(), test.c.data(), test.modifiers);
    // One register file; D begins one register above the start of C, or of A.
    for (const bool over_c : {true, false}) {
      std::vector<u32> file(static_cast<std::size_t>(64 * (1 + 3 * 64)));
      u32* overlapped = file.data();
      u32* d = entry.sparse && over_c ? file.data() + 64 * 64 : file.data() + 64;
      u32* other = file.data() + 2 * 64 * 64;
      u32* c = over_c ? overlapped : other;
      u32* a = over_c ? other : overlapped;
      u32* b = other + 40 * 64;
      if (entry.sparse && !over_c) continue;  // D is an input, and would be overwritten by A here
      std::memcpy(d, test.d.data(), test.d.size() * sizeof(u32));
      std::memcpy(c, test.c.data(), test.c.size() * sizeof(u32));
      std::memcpy(a, test.a.data(), test.a.size() * sizeof(u32));
      std::memcpy(b, test.b.data(), test.b.size() * sizeof(u32));
      entry.execute(d, a, b, c, test.modifiers);
      EXPECT_EQ(std::memcmp(d, expected.data(), expected.size() * sizeof(u32)), 0) << entry.mnemonic;
    }
  }
}

TEST(Mfma, TakesAConstantForTheThirdSource) {
  std::mt19937_64 random(13);
  for (const MfmaEntry& entry : mfma_table()) {
    MfmaCase test = make_case(entry, Distribution::Normal, random);
    const bool f64_form = entry.mnemonic.ends_with("f64");
    test.modifiers.c_constant = f64_form ? std::bit_cast<u64>(1.0) : std::bit_cast<u32>(1.0f);
    for (std::size_t at = 0; at < test.c.size(); ++at) {
      test.c[at] =
          static_cast<u32>(f64_form && at / 64 % 2 != 0 ? test.modifiers.c_constant >> 32 : test.modifiers.c_constant);
    }
    std::vector<u32> from_registers = test.d, from_constant = test.d;
    entry.execute(from_registers.data(), test.a.data(), test.b.data(), test.c.data(), test.modifiers);
    entry.execute(from_constant.data(), test.a.data(), test.b.data(), nullptr, test.modifiers);
    EXPECT_EQ(from_registers, from_constant) << entry.mnemonic;
  }
}

TEST(Mfma, F32FormsFlushInputDenormalsWhenModeSaysSo) {
  const MfmaEntry* entry = find_mfma("v_mfma_f32_32x32x2_f32");
  const std::vector<u32> tiny(64, 0x00400000u), ones(64, std::bit_cast<u32>(1.0f)), c(64 * 16, 1u);
  std::vector<u32> d(64 * 16);
  entry->execute(d.data(), tiny.data(), ones.data(), c.data(), {});
  EXPECT_EQ(d[0], 0x00800001u);
  entry->execute(d.data(), tiny.data(), ones.data(), c.data(), {.flush_f32_denormals = true});
  EXPECT_EQ(d[0], 1u);  // C is never flushed
}

// ---- Results that a hardware-validated model computed
// --------------------------------------------------------------------------

std::string decompress(const std::string& path) {
  const std::string command = "gzip -dc '" + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), count);
  return text;
}

std::vector<u64> parse_elements(const std::string& hex, int bits) {
  std::vector<u64> elements(hex.size() * 4 / static_cast<std::size_t>(bits));
  const std::size_t bytes = static_cast<std::size_t>(bits) / 8;
  for (std::size_t at = 0; at < hex.size() / 2; ++at) {
    elements[at / bytes] |= std::stoull(hex.substr(2 * at, 2), nullptr, 16) << (at % bytes * 8);
  }
  return elements;
}

// Puts a block's elements where the registers hold them; what belongs to other blocks stays.
void place_input(const MfmaEntry& entry, std::vector<u32>& registers, int bits, int block,
                 const std::vector<u64>& elements, bool is_b) {
  const int values = reference::values_a_lane(static_cast<int>(registers.size() / 64), bits);
  for (int lane = 0; lane < 64; ++lane) {
    for (int value = 0; value < values; ++value) {
      const reference::InputPlace place = reference::input_place(entry, values, lane, value);
      if (place.block != block) continue;
      const int at = is_b ? place.k * entry.n + place.i : place.i * entry.k + place.k;
      const u64 code = elements[static_cast<std::size_t>(at)];
      if (bits == 64) {
        registers[static_cast<std::size_t>(lane)] = static_cast<u32>(code);
        registers[static_cast<std::size_t>(64 + lane)] = static_cast<u32>(code >> 32);
        continue;
      }
      u32& word = registers[static_cast<std::size_t>(value * bits / 32 * 64 + lane)];
      const int shift = value * bits % 32;
      const u32 mask = (bits == 32 ? ~0u : (1u << bits) - 1) << shift;
      word = (word & ~mask) | static_cast<u32>(code) << shift;
    }
  }
}

u64 output_element(const std::vector<u32>& registers, std::size_t at, bool f64_output) {
  return f64_output ? registers[at] | u64{registers[at + 64]} << 32 : registers[at];
}

u64 count_wrong_elements(const MfmaEntry& entry, const nlohmann::json& line, int block, std::mt19937_64& random) {
  const int bits = reference::input_types(entry.mnemonic).bits;
  const bool f64_output = bits == 64;
  const std::vector<u64> c = parse_elements(line["c"], f64_output ? 64 : 32),
                         d = parse_elements(line["d"], f64_output ? 64 : 32);
  MfmaCase test = make_case(entry, Distribution::Normal, random);
  test.modifiers = {};
  place_input(entry, test.a, bits, block, parse_elements(line["a"], bits), false);
  place_input(entry, test.b, bits, block, parse_elements(line["b"], bits), true);
  const auto for_each_output = [&](auto action) {
    for (int reg = 0; reg < entry.d_registers; reg += f64_output ? 2 : 1) {
      for (int lane = 0; lane < 64; ++lane) {
        const reference::OutputPlace place = reference::output_place(entry, reg, lane);
        if (place.block == block)
          action(static_cast<std::size_t>(reg * 64 + lane), static_cast<std::size_t>(place.i * entry.n + place.j));
      }
    }
  };
  for_each_output([&](std::size_t at, std::size_t element) {
    test.c[at] = static_cast<u32>(c[element]);
    if (f64_output) test.c[at + 64] = static_cast<u32>(c[element] >> 32);
  });
  entry.execute(test.d.data(), test.a.data(), test.b.data(), test.c.data(), test.modifiers);
  u64 wrong = 0;
  for_each_output([&](std::size_t at, std::size_t element) {
    wrong += !same(output_element(test.d, at, f64_output), d[element], f64_output, false);
  });
  return wrong;
}

TEST(Mfma, AgreesWithTheHardwareValidatedModelBitForBit) {
  std::istringstream lines(decompress(HIPBENCH_SOURCE_DIR "/tests/data/mfma/mfma_gfx942_bit_exact.jsonl.gz"));
  std::mt19937_64 random(14);
  int cases = 0;
  for (std::string text; std::getline(lines, text); ++cases) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const MfmaEntry* entry = find_mfma(line["instruction"].get<std::string>());
    ASSERT_NE(entry, nullptr) << line["instruction"];
    for (int block = 0; block < entry->blocks; ++block) {
      EXPECT_EQ(count_wrong_elements(*entry, line, block, random), 0u)
          << entry->mnemonic << ' ' << line["distribution"];
    }
  }
  EXPECT_EQ(cases, 108);
}

}  // namespace
}  // namespace hipbench::emulator
