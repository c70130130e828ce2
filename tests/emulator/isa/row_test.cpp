// The instruction table as a whole: names, uniqueness, coverage of what LLVM knows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "emulator/isa/coverage.hpp"
#include "emulator/isa/program.hpp"
#include "tests/emulator/isa/assembler.hpp"

namespace hipbench::emulator {
namespace {

Coverage coverage() {
  Disassembler disassembler;
  return instruction_coverage(disassembler);
}

TEST(InstructionTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Op* op : all_ops()) EXPECT_TRUE(names.insert(op->name).second) << op->name;
}

TEST(InstructionTable, EveryRowIsAnInstructionThatLlvmDecodes) {
  const Coverage found = coverage();
  for (const Op* op : all_ops())
    EXPECT_TRUE(std::binary_search(found.known.begin(), found.known.end(), op->name)) << op->name;
}

TEST(InstructionTable, EveryInstructionHasARowOrAReason) {
  const Coverage found = coverage();
  EXPECT_THAT(found.missing, testing::IsEmpty());
  EXPECT_GT(found.known.size(), 1150u);
  for (const Coverage::LeftOut& entry : found.left_out) EXPECT_FALSE(entry.reason.empty()) << entry.mnemonic;
  EXPECT_LT(found.left_out.size(), 10u);
}

// Old spellings, which LLVM prints in another way: "v_mfma_f32_32x32x1f32" is "v_mfma_f32_32x32x1_2b_f32".
bool is_other_spelling(const std::string& mnemonic, const std::vector<std::string>& known) {
  if (mnemonic == "v_mul_lo_i32") return true;  // the same bits as v_mul_lo_u32
  if (!mnemonic.starts_with("v_mfma_")) return false;
  const size_t type = mnemonic.find_first_of("fbi", mnemonic.rfind('x'));
  const std::string head = mnemonic.substr(0, type), tail = mnemonic.substr(type, mnemonic.find("_1k") - type);
  for (const char* blocks : {"", "_2b", "_4b", "_16b"})
    if (std::binary_search(known.begin(), known.end(), head + blocks + "_" + tail)) return true;
  return false;
}

TEST(InstructionTable, CoverageKnowsEveryMnemonicThatTheAssemblerTakes) {
  const Coverage found = coverage();
  const std::vector<std::string> accepted = assembler_mnemonics();
  for (const std::string& mnemonic : accepted)
    EXPECT_TRUE(std::binary_search(found.known.begin(), found.known.end(), mnemonic) ||
                is_other_spelling(mnemonic, found.known))
        << mnemonic;
  for (const std::string& mnemonic : found.known)
    EXPECT_TRUE(std::binary_search(accepted.begin(), accepted.end(), mnemonic)) << mnemonic;
}

// LLVM prints "scratch_store_dword off, v0, s0": its "off," is no part of the name.
TEST(InstructionTable, ScratchStoresWithoutAVectorAddressAreSupported) {
  std::string error;
  const std::vector<std::byte> code = assemble("scratch_store_dword off, v0, s0\ns_endpgm\n", error);
  ASSERT_EQ(error, "");
  Program program({{0x1000, code}});
  EXPECT_TRUE(program.unsupported().empty());
}

}  // namespace
}  // namespace hipbench::emulator
