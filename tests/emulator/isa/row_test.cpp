// The instruction table as a whole: names, uniqueness, coverage of what LLVM knows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "emulator/isa/coverage.hpp"

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

TEST(InstructionTable, EveryVectorInstructionHasARow) {
  const Coverage found = coverage();
  std::vector<std::string> missing;
  for (const std::string& name : found.missing)
    if (name.starts_with("v_")) missing.push_back(name);
  // No public document says what it computes.
  EXPECT_THAT(missing, testing::ElementsAre("v_screen_partition_4se_b32"));
  RecordProperty("known", static_cast<int>(found.known.size()));
  RecordProperty("missing", static_cast<int>(found.missing.size()));
}

}  // namespace
}  // namespace hipbench::emulator
