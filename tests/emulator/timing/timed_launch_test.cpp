// What a modelled time promises, whatever its constants: it repeats, it is cheap, and asking for it changes nothing.

#include <gtest/gtest.h>

#include <cstring>

#include "emulator/device/device.hpp"
#include "emulator/timing/launch_model.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

struct Copied {
  LaunchResult result;
  std::string output;
};

// Copies `groups` times 4 KiB.
Copied copy(u32 threads, bool time, const TimingParameters& parameters, u32 groups) {
  auto device = Device::create({.threads = threads, .timing = &parameters, .print = {}}).value();
  const u64 bytes = u64{groups} * 4096;
  const u64 to = device->memory().allocate(bytes, "to").value(),
            from = device->memory().allocate(bytes, "from").value();
  std::byte* source = *device->memory().host_range(from, bytes);
  for (u64 k = 0; k < bytes; ++k) source[k] = static_cast<std::byte>(k * 7);
  LaunchRequest request;
  request.module = device->load_module(as_bytes(test_data("timing.elf"))).value();
  request.kernel = "copy";
  request.grid = {groups, 1, 1};
  request.block = {256, 1, 1};
  request.time = time;
  request.kernargs.resize(16);
  std::memcpy(request.kernargs.data(), &to, 8);
  std::memcpy(request.kernargs.data() + 8, &from, 8);
  auto result = device->launch(request);
  EXPECT_TRUE(result && result->completed());
  const std::byte* output = *device->memory().host_range(to, bytes);
  return {std::move(result).value(), std::string(reinterpret_cast<const char*>(output), bytes)};
}

TEST(TimedLaunch, HasTheSameTimeOnAnyNumberOfThreads) {
  const f64 time = copy(1, true, mi300x_timing(), 2000).result.modelled_seconds;
  EXPECT_GT(time, 4e-6);
  EXPECT_EQ(copy(2, true, mi300x_timing(), 2000).result.modelled_seconds, time);
  EXPECT_EQ(copy(5, true, mi300x_timing(), 2000).result.modelled_seconds, time);
}

TEST(TimedLaunch, DoesWhatItDoesWithoutATime) {
  const Copied timed = copy(2, true, mi300x_timing(), 64), plain = copy(2, false, mi300x_timing(), 64);
  EXPECT_EQ(timed.output, plain.output);
  EXPECT_EQ(timed.result.counters.instructions, plain.result.counters.instructions);
  EXPECT_EQ(timed.result.counters.bytes_read, plain.result.counters.bytes_read);
  EXPECT_EQ(plain.result.modelled_seconds, 0);
  EXPECT_EQ(plain.result.modelled, nullptr);
  EXPECT_EQ(timed.result.timing_model, timing_model_version());
}

// 4 KiB are read and 4 KiB written a workgroup, each once: 16 MiB, which the Infinity Cache holds, or 281 MiB, which
// it does not.
TEST(TimedLaunch, CountsTheBytesThatMove) {
  for (const u32 groups : {2000u, 36'000u}) {
    const TimeBreakdown b = copy(2, true, mi300x_timing(), groups).result.time_breakdown;
    const f64 moved = groups * 8192.0;
    EXPECT_NEAR(b.l2_bytes, moved, 0.02 * moved);
    EXPECT_NEAR(b.beyond_l2_bytes, moved, 0.02 * moved);
    EXPECT_NEAR(b.hbm_bytes, groups == 2000 ? 0 : moved, 0.02 * moved);
    EXPECT_EQ(b.lds_conflicts, 0);
  }
}

TEST(TimedLaunch, OfManyWorkgroupsAFewAreTracedAndTheRestReckoned) {
  TimingParameters few = mi300x_timing();
  ASSERT_TRUE(few.set("sampling.traced_instructions", 20'000));
  const LaunchResult all = copy(2, true, mi300x_timing(), 8000).result, sampled = copy(2, true, few, 8000).result;
  EXPECT_EQ(all.modelled->traced_workgroups, 1000u);
  EXPECT_EQ(all.modelled_error, 0);
  EXPECT_LT(sampled.modelled->traced_workgroups, 500u);
  EXPECT_GT(sampled.modelled_error, 0);
  EXPECT_NEAR(sampled.modelled->kernel_seconds, all.modelled->kernel_seconds, 0.25 * all.modelled->kernel_seconds);
}

f64 work_in_one_xcd(u32 working, u64 secret, const TimingParameters& parameters) {
  constexpr u32 kGroups = 64, kLinks = 300;
  constexpr u64 kStride = 4096;
  auto device = Device::create({.threads = 2, .timing = &parameters, .print = {}}).value();
  const u64 chain = device->memory().allocate(kLinks * kStride, "chain").value();
  std::byte* host = *device->memory().host_range(chain, kLinks * kStride);
  for (u64 k = 0; k < kLinks; ++k) {
    const u64 next = chain + (k + 1) % kLinks * kStride;
    std::memcpy(host + k * kStride, &next, sizeof next);
  }
  LaunchRequest request;
  request.module = device->load_module(as_bytes(test_data("timing.elf"))).value();
  request.kernel = "work_in_one_xcd";
  request.grid = {kGroups, 1, 1};
  request.block = {64, 1, 1};
  request.time = true;
  request.timing_secret = secret;
  request.kernargs.resize(16);
  std::memcpy(request.kernargs.data(), &chain, 8);
  std::memcpy(request.kernargs.data() + 8, &kLinks, 4);
  std::memcpy(request.kernargs.data() + 12, &working, 4);
  const auto result = device->launch(request);
  EXPECT_TRUE(result && result->completed());
  return result->modelled->kernel_seconds;
}

TEST(TimedLaunch, WorkCountsInWhicheverXcdItIsDone) {
  const f64 seen = work_in_one_xcd(0, 1, mi300x_timing()), nowhere = work_in_one_xcd(8, 1, mi300x_timing());
  EXPECT_GT(seen, 2 * nowhere);
  for (const u32 xcd : {1u, 5u, 7u}) EXPECT_NEAR(work_in_one_xcd(xcd, 1, mi300x_timing()), seen, 0.1 * seen) << xcd;
  // Also where a few witnesses are all that can be afforded.
  TimingParameters few = mi300x_timing();
  ASSERT_TRUE(few.set("sampling.traced_instructions", 20'000));
  for (const u64 secret : {1u, 2u, 3u}) EXPECT_GT(work_in_one_xcd(5, secret, few), 0.5 * seen) << secret;
}

}  // namespace
}  // namespace hipbench::emulator
