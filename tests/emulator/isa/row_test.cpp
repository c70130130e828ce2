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

TEST(InstructionTable, EveryInstructionHasARow) {
  const Coverage found = coverage();
  // LLVM decodes more than CDNA 3 documents: scalar atomics, trap handlers' and graphics' instructions. Compilers emit none of them,
  // and no public document says what v_screen_partition_4se_b32 computes.
  const auto undocumented = [](const std::string& name) {
    for (const char* prefix : {"s_atomic_", "s_buffer_atomic_", "s_buffer_store_", "s_scratch_store_", "s_atc_probe", "s_cbranch_g_fork",
                               "s_cbranch_i_fork", "s_cbranch_join", "s_endpgm_ordered_ps_done", "s_rfe_", "s_sendmsghalt", "s_setvskip",
                               "v_screen_partition_4se_b32"})
      if (name.starts_with(prefix)) return true;
    return false;
  };
  std::vector<std::string> missing;
  for (const std::string& name : found.missing)
    if (!undocumented(name)) missing.push_back(name);
  EXPECT_THAT(missing, testing::IsEmpty());
  RecordProperty("known", static_cast<int>(found.known.size()));
  RecordProperty("missing", static_cast<int>(found.missing.size()));
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
