// The sample of workgroups that is timed stands for all: what the others do beyond it counts.

#include "emulator/timing/launch_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hipbench::emulator {
namespace {

constexpr Effort kEach{
    .workgroups = 1, .instructions = 1000, .mfma_flops = 3'000'000, .memory_bytes = 100'000, .lds_instructions = 50};

Effort times(u64 count, Effort each) {
  return {count * each.workgroups, count * each.instructions, count * each.mfma_flops, count * each.memory_bytes,
          count * each.lds_instructions};
}

TEST(BeyondSample, EqualWorkgroupsAreWhatTheyLookLike) {
  EXPECT_DOUBLE_EQ(beyond_sample(times(304, kEach), times(38, kEach)), 1);
}

TEST(BeyondSample, ASampleThatDoesMoreThanTheOthersStands) {
  Effort all = times(38, kEach);
  all.workgroups = 304;  // the others do nothing
  EXPECT_DOUBLE_EQ(beyond_sample(all, times(38, kEach)), 1);
}

TEST(BeyondSample, WhateverTheOthersDoMoreOfCounts) {
  for (u64 Effort::*part :
       {&Effort::instructions, &Effort::mfma_flops, &Effort::memory_bytes, &Effort::lds_instructions}) {
    Effort half = kEach;
    half.*part /= 2;
    EXPECT_DOUBLE_EQ(beyond_sample(times(304, kEach), times(38, half)), 2);
    half.*part = 0;
    EXPECT_TRUE(std::isinf(beyond_sample(times(304, kEach), times(38, half))));
  }
}

TEST(BeyondSample, ALittleOfSomethingElseIsNotWorthALook) {
  Effort all = times(304, kEach), sample = times(38, kEach);
  sample.lds_instructions = 0;
  all.lds_instructions = all.instructions / 100;
  EXPECT_DOUBLE_EQ(beyond_sample(all, sample), 1);
}

}  // namespace
}  // namespace hipbench::emulator
