#include <gmock/gmock.h>

#include <cstring>

#include "emulator/device/kernarg.hpp"
#include "emulator/device/launch_limits.hpp"

namespace hipbench::emulator {
namespace {

using testing::HasSubstr;

Kernel kernel_with(u32 vgprs, u32 static_lds = 0) {
  Kernel kernel;
  kernel.name = kernel.demangled = "k";
  kernel.sgpr_count = 32;
  kernel.descriptor.compute_pgm_rsrc1 = (vgprs + 7) / 8 - 1;
  kernel.descriptor.group_segment_fixed_size = static_lds;
  return kernel;
}

TEST(Kernarg, PutsExplicitAndHiddenArgumentsAtTheirOffsets) {
  Kernel kernel = kernel_with(32);
  kernel.kernarg_segment_size = 96;
  kernel.arguments = {{"p", "global_buffer", 0, 8, ""},        {"n", "by_value", 8, 4, ""},
                      {"", "hidden_block_count_x", 16, 4, ""}, {"", "hidden_block_count_y", 20, 4, ""},
                      {"", "hidden_group_size_x", 28, 2, ""},  {"", "hidden_remainder_x", 34, 2, ""},
                      {"", "hidden_grid_dims", 40, 2, ""},     {"", "hidden_hostcall_buffer", 48, 8, ""},
                      {"", "hidden_heap_v1", 56, 8, ""},       {"", "hidden_dynamic_lds_size", 64, 4, ""},
                      {"", "hidden_shared_base", 68, 4, ""},   {"", "hidden_private_base", 72, 4, ""},
                      {"", "hidden_queue_ptr", 80, 8, ""},     {"", "hidden_multigrid_sync_arg", 88, 8, ""}};
  std::vector<std::byte> arguments(12, std::byte{0x11});
  EXPECT_EQ(explicit_kernarg_size(kernel), 12u);
  const HiddenValues values{.grid = {7, 5, 1},
                            .block = {64, 2, 1},
                            .dynamic_lds = 100,
                            .hostcall_buffer = 0xaaaa,
                            .heap = 0xbbbb,
                            .queue = 0xcccc,
                            .grid_sync = 0xdddd};
  const auto segment = build_kernarg_segment(kernel, arguments, values);
  ASSERT_TRUE(segment) << segment.error().message;
  const auto at = [&](u32 offset, u32 size) {
    u64 value = 0;
    std::memcpy(&value, segment->data() + offset, size);
    return value;
  };
  EXPECT_EQ(at(8, 4), 0x11111111u);
  EXPECT_EQ(at(12, 4), 0u);
  EXPECT_EQ(at(16, 4), 7u);
  EXPECT_EQ(at(20, 4), 5u);
  EXPECT_EQ(at(28, 2), 64u);
  EXPECT_EQ(at(34, 2), 0u);
  EXPECT_EQ(at(40, 2), 2u);
  EXPECT_EQ(at(48, 8), 0xaaaau);
  EXPECT_EQ(at(56, 8), 0xbbbbu);
  EXPECT_EQ(at(64, 4), 100u);
  EXPECT_EQ(at(68, 4), 0x10000u);
  EXPECT_EQ(at(72, 4), 0x20000u);
  EXPECT_EQ(at(80, 8), 0xccccu);
  EXPECT_EQ(at(88, 8), 0xddddu);
}

TEST(Kernarg, RefusesTheWrongNumberOfBytesAndUnknownHiddenArguments) {
  Kernel kernel = kernel_with(32);
  kernel.kernarg_segment_size = 16;
  kernel.arguments = {{"p", "global_buffer", 0, 8, ""}, {"n", "by_value", 8, 4, ""}};
  std::vector<std::byte> bytes(300);
  EXPECT_FALSE(build_kernarg_segment(kernel, std::span(bytes).first(8), {}));
  EXPECT_TRUE(build_kernarg_segment(kernel, std::span(bytes).first(12), {}));
  EXPECT_TRUE(build_kernarg_segment(kernel, std::span(bytes).first(16), {})) << "padding of the caller's structure";
  EXPECT_FALSE(build_kernarg_segment(kernel, bytes, {}));
  kernel.arguments.push_back({"", "hidden_from_the_future", 0, 8, ""});
  const auto future = build_kernarg_segment(kernel, std::span(bytes).first(12), {});
  ASSERT_FALSE(future);
  EXPECT_THAT(future.error().message, HasSubstr("hidden_from_the_future"));
}

TEST(Occupancy, IsLimitedByRegistersLdsAndWaves) {
  EXPECT_EQ(workgroups_per_cu(kernel_with(64), 64, 0), 32u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(64), 256, 0), 8u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(72), 256, 0), 7u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(128), 256, 0), 4u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(512), 256, 0), 1u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(512), 1024, 0), 0u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(32), 1024, 0), 2u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(32), 65, 0), 16u) << "a partial wave takes a whole one";
  EXPECT_EQ(workgroups_per_cu(kernel_with(32, 16384), 256, 0), 4u);
  EXPECT_EQ(workgroups_per_cu(kernel_with(32, 16384), 256, 1), 3u) << "LDS comes in granules of 512 bytes";
  EXPECT_EQ(workgroups_per_cu(kernel_with(32, 65536), 256, 1), 0u);
  Kernel many_sgprs = kernel_with(32);
  many_sgprs.sgpr_count = 106;
  EXPECT_EQ(workgroups_per_cu(many_sgprs, 64, 0), 28u);
}

TEST(LaunchLimits, RefusesWhatTheHardwareCannotRunAndSaysWhy) {
  const auto reason = [](const Kernel& kernel, Dim3 grid, Dim3 block, u32 lds = 0, bool cooperative = false) {
    LaunchRequest request;
    request.grid = grid;
    request.block = block;
    request.dynamic_lds = lds;
    request.cooperative = cooperative;
    const auto checked = check_launch(kernel, request);
    return checked ? std::string("fine") : checked.error().message;
  };
  const Kernel plain = kernel_with(64);
  EXPECT_EQ(reason(plain, {1, 1, 1}, {1024, 1, 1}), "fine");
  EXPECT_EQ(reason(plain, {1 << 21, 65535, 1}, {1024, 1, 1}), "fine");
  EXPECT_THAT(reason(plain, {0, 1, 1}, {64, 1, 1}), HasSubstr("is 0"));
  EXPECT_THAT(reason(plain, {1, 1, 1}, {1025, 1, 1}), HasSubstr("1024"));
  EXPECT_THAT(reason(plain, {1, 1, 1}, {32, 32, 2}), HasSubstr("2048 work-items"));
  EXPECT_THAT(reason(plain, {1u << 31, 1, 1}, {64, 1, 1}), HasSubstr("2^32"));
  EXPECT_THAT(reason(plain, {1, 1, 1}, {64, 1, 1}, 65537), HasSubstr("LDS"));
  EXPECT_THAT(reason(plain, {1, 1, 1}, {64, 1, 1}, ~0u), HasSubstr("LDS"));
  EXPECT_THAT(reason(kernel_with(512), {1, 1, 1}, {512, 1, 1}), HasSubstr("does not fit"));
  EXPECT_EQ(reason(plain, {304 * 8, 1, 1}, {256, 1, 1}, 0, true), "fine");
  EXPECT_THAT(reason(plain, {304 * 8 + 1, 1, 1}, {256, 1, 1}, 0, true), HasSubstr("cooperative"));
  Kernel bounded = plain;
  bounded.max_flat_workgroup_size = 256;
  EXPECT_THAT(reason(bounded, {1, 1, 1}, {257, 1, 1}), HasSubstr("__launch_bounds__"));
  Kernel required = plain;
  required.required_workgroup_size[0] = 64;
  required.required_workgroup_size[1] = required.required_workgroup_size[2] = 1;
  EXPECT_THAT(reason(required, {1, 1, 1}, {128, 1, 1}), HasSubstr("requires 64x1x1"));
  Kernel scratchy = plain;
  scratchy.descriptor.private_segment_fixed_size = 1 << 20;
  EXPECT_THAT(reason(scratchy, {1, 1, 1}, {64, 1, 1}), HasSubstr("scratch"));
}

}  // namespace
}  // namespace hipbench::emulator
