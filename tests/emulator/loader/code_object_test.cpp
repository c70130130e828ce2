#include "emulator/loader/code_object.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "emulator/memory/address_space.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::unique_ptr<CodeObject> parse(const std::string& name) {
  const std::string bytes = test_data(name);
  auto object = CodeObject::parse(as_bytes(bytes));
  EXPECT_TRUE(object) << (object ? "" : object.error().message);
  return std::move(object).value();
}

const GlobalSymbol& global(const CodeObject& object, std::string_view name) {
  const auto globals = object.globals();
  return *std::find_if(globals.begin(), globals.end(), [&](const GlobalSymbol& symbol) { return symbol.name == name; });
}

class CodeObjectVersions : public testing::TestWithParam<u32> {};

TEST_P(CodeObjectVersions, ReadsKernelsAndTheirResources) {
  const auto object = parse("loader_v" + std::to_string(GetParam()) + ".elf");
  EXPECT_EQ(object->version(), GetParam());
  EXPECT_EQ(object->kernels().size(), 3u);
  const Kernel* copy = object->find_kernel("copy");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->descriptor.group_segment_fixed_size, 1024u);
  EXPECT_EQ(copy->descriptor.private_segment_fixed_size, 0u);
  EXPECT_EQ(copy->descriptor.kernarg_size, copy->kernarg_segment_size);
  EXPECT_EQ(copy->max_flat_workgroup_size, 1024u);
  EXPECT_GE(copy->allocated_vgprs(), copy->vgpr_count);
  EXPECT_GE(copy->accum_offset(), 4u);
  EXPECT_EQ(copy->entry_offset % 256, 0u);
  const auto ranges = object->code_ranges();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_LT(copy->entry_offset - ranges[0].offset, ranges[0].size);
  const Kernel* fill = object->find_kernel("_Z4fillILi3EEvPi");
  ASSERT_NE(fill, nullptr);
  EXPECT_EQ(fill->demangled, "void fill<3>(int*)");
  EXPECT_EQ(fill->max_flat_workgroup_size, 128u);
}

TEST_P(CodeObjectVersions, ReadsArgumentLayouts) {
  const auto object = parse("loader_v" + std::to_string(GetParam()) + ".elf");
  const Kernel* kernel = object->find_kernel("argument_layout");
  ASSERT_NE(kernel, nullptr);
  ASSERT_GE(kernel->arguments.size(), 4u);
  const u32 offsets[] = {0, 8, 24, 32}, sizes[] = {1, 16, 2, 8};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel->arguments[i].offset, offsets[i]);
    EXPECT_EQ(kernel->arguments[i].size, sizes[i]);
  }
  EXPECT_EQ(kernel->arguments[3].value_kind, "global_buffer");
  if (GetParam() >= 5) {  // version 4 reads the dispatch packet instead
    ASSERT_GT(kernel->arguments.size(), 4u);
    EXPECT_THAT(kernel->arguments[4].value_kind, HasSubstr("hidden_"));
  }
}

INSTANTIATE_TEST_SUITE_P(V4ToV6, CodeObjectVersions, testing::Values(4, 5, 6));

TEST(CodeObject, LoadsIndependentInstancesAndRelocatesThem) {
  const auto object = parse("loader_v5.elf");
  auto space = std::move(AddressSpace::create()).value();
  const u64 base = *object->load(*space), again = *object->load(*space);
  EXPECT_NE(base, again);
  MemoryView view(*space);
  for (const u64 at : {base, again}) {
    int counter;
    std::memcpy(&counter, view.read(at + global(*object, "counter").offset, 4), 4);
    EXPECT_EQ(counter, 7);
    u64 pointer;
    std::memcpy(&pointer, view.read(at + global(*object, "pointer_to_counter").offset, 8), 8);
    EXPECT_EQ(pointer, at + global(*object, "counter").offset);
    float table[4];
    std::memcpy(table, view.read(at + global(*object, "table").offset, 16), 16);
    EXPECT_THAT(table, testing::ElementsAre(1, 2, 3, 4));
  }
  ASSERT_TRUE(space->free(base));
  EXPECT_EQ(space->find(base + global(*object, "counter").offset), nullptr);
  EXPECT_NE(space->find(again + global(*object, "counter").offset), nullptr);
}

TEST(CodeObject, LoadsCodeReadOnlyAndVariablesWritable) {
  const auto object = parse("loader_v5.elf");
  auto space = std::move(AddressSpace::create()).value();
  const u64 base = *object->load(*space);
  MemoryView view(*space);
  EXPECT_EQ(global(*object, "big").size, u64{1} << 20);
  EXPECT_EQ(*view.read(base + global(*object, "big").offset + (1 << 20) - 1, 1), std::byte{0});
  EXPECT_THROW(view.write(base + object->kernels()[0].entry_offset, 4), GuestFault);
  EXPECT_THROW(view.write(base + object->kernels()[0].descriptor_offset, 4), GuestFault);
  view.write(base + global(*object, "counter").offset, 4);
}

TEST(CodeObject, KnowsTheSourceLineOfAnInstruction) {
  const auto object = parse("loader_v5.elf");
  const auto location = object->source_location(object->find_kernel("copy")->entry_offset + 8);
  ASSERT_TRUE(location);
  EXPECT_THAT(location->file, EndsWith("loader.hip"));
  EXPECT_GE(location->line, 14u);
  EXPECT_LE(location->line, 20u);
  EXPECT_FALSE(object->source_location(0));
  EXPECT_FALSE(object->source_location(~u64{0}));
}

TEST(CodeObject, CodeInlinedFromAForeignHeaderHasTheLineOfTheInnermostCall) {
  const auto object = parse("inlined.elf");
  std::set<u32> lines;
  for (u64 offset = object->find_kernel("nested")->entry_offset; const auto location = object->source_location(offset);
       offset += 4) {
    EXPECT_THAT(location->file, EndsWith("inlined.hip"));
    lines.insert(location->line);
  }
  EXPECT_THAT(lines, IsSupersetOf({9u, 5u}));
  EXPECT_THAT(lines, Not(Contains(10u)));  // only calls what is on line 5
}

TEST(CodeObject, RefusesWhatIsNotOneWithAReason) {
  const std::string text = "just some text, not a code object at all";
  EXPECT_FALSE(CodeObject::parse(as_bytes(text)));
  EXPECT_FALSE(CodeObject::parse({}));
  std::string elf = test_data("loader_v5.elf");
  elf[48] = 0x3f;  // e_flags: gfx90a
  const auto other = CodeObject::parse(as_bytes(elf));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("gfx942"));
}

}  // namespace
}  // namespace hipbench::emulator
