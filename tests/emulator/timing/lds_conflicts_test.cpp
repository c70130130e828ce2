#include "emulator/timing/lds_conflicts.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hipbench::emulator {
namespace {

LdsClocks access(u32 bytes, bool writes, const std::function<u32(u32)>& address, u64 active = ~u64{0}) {
  u32 addresses[kWaveSize];
  for (u32 lane = 0; lane < kWaveSize; ++lane) addresses[lane] = address(lane);
  return lds_access_clocks(addresses, 0, active, bytes, writes);
}
u32 clocks(u32 bytes, bool writes, const std::function<u32(u32)>& address, u64 active = ~u64{0}) {
  return access(bytes, writes, address, active).all;
}

TEST(LdsConflicts, NeighboursTakeAClockAPhase) {
  EXPECT_EQ(clocks(4, false, [](u32 lane) { return 4 * lane; }), 2u);
  EXPECT_EQ(clocks(8, false, [](u32 lane) { return 8 * lane; }), 4u);
  EXPECT_EQ(clocks(16, false, [](u32 lane) { return 16 * lane; }), 8u);
  EXPECT_EQ(clocks(16, true, [](u32 lane) { return 16 * lane; }), 8u);
}

TEST(LdsConflicts, OneDwordGoesToAllWhoWantIt) {
  EXPECT_EQ(clocks(4, false, [](u32) { return 256u; }), 2u);
  EXPECT_EQ(clocks(1, false, [](u32 lane) { return lane; }), 2u);
}

// pyhip measured 16 clocks an instruction at a stride of 8 dwords, 64 at 32.
TEST(LdsConflicts, AStrideOfBanksIsServedOneByOne) {
  EXPECT_EQ(clocks(4, false, [](u32 lane) { return 4 * 8 * lane; }), 16u);
  EXPECT_EQ(clocks(4, false, [](u32 lane) { return 4 * 32 * lane; }), 64u);
  EXPECT_EQ(clocks(4, false, [](u32 lane) { return 4 * 33 * lane; }), 2u) << "padded by a dword";
}

TEST(LdsConflicts, WhatConflictsTakeIsToldApart) {
  EXPECT_EQ(access(16, true, [](u32 lane) { return 16 * lane; }).conflicts, 0u);
  EXPECT_EQ(access(4, false, [](u32) { return 256u; }).conflicts, 0u);
  EXPECT_EQ(access(4, false, [](u32 lane) { return 4 * 8 * lane; }).conflicts, 14u);
  EXPECT_EQ(access(4, false, [](u32 lane) { return 4 * 32 * lane; }).conflicts, 62u);
  EXPECT_EQ(access(
                4, false, [](u32 lane) { return 4 * 32 * lane; }, 1)
                .conflicts,
            0u);
}

TEST(LdsConflicts, LanesThatAreOffTakeNoPart) {
  EXPECT_EQ(clocks(
                4, false, [](u32 lane) { return 4 * 32 * lane; }, 1),
            1u);
  EXPECT_EQ(clocks(
                4, false, [](u32 lane) { return 4 * 32 * lane; }, 0),
            0u);
}

// The groups of lanes of a 16-byte read are not eight neighbours: lanes 0 to 3 are served with 20 to 23.
TEST(LdsConflicts, WideReadsAndWritesHaveDifferentGroups) {
  const auto rows = [](u32 lane) {
    const u32 quad = lane / 4, half = (quad / 2 ^ quad / 4) & 1;
    return quad * 128 + half * 64 + lane % 4 * 16;
  };
  EXPECT_EQ(clocks(16, true, rows), 16u);
  EXPECT_EQ(clocks(16, false, rows), 8u);
}

}  // namespace
}  // namespace hipbench::emulator
