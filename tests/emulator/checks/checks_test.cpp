// The memory and race checks: kernels of tests/data/checks.hip with one mistake each, and clean ones.

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <string>

#include "emulator/device/device.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

// "checks.hip:LINE" of the line that has the mark.
std::string line_of(const std::string& mark) {
  std::ifstream file(HIPBENCH_SOURCE_DIR "/tests/data/checks.hip");
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (line.ends_with("// mark: " + mark)) return "checks.hip:" + std::to_string(number);
  ADD_FAILURE() << "no mark '" << mark << "'";
  return "?";
}

class ChecksTest : public testing::Test {
 protected:
  explicit ChecksTest() {
    auto device = Device::create({.threads = 2, .resident_budget = 0, .print = {}});
    EXPECT_TRUE(device);
    device_ = std::move(device).value();
    EXPECT_TRUE(device_->memory().start_tracking());
    const auto module = device_->load_module(as_bytes(test_data("checks.elf")));
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    module_ = *module;
  }
  u64 unwritten(u64 size, std::string label = "data") {
    const u64 address = *device_->memory().allocate(size, std::move(label));
    device_->memory().track(address);
    return address;
  }
  u64 zeros(u64 size) {
    const u64 address = unwritten(size);
    device_->memory().mark_written(address, size);
    return address;
  }
  template <typename... T>
  LaunchResult run(const char* kernel, u32 blocks, u32 threads, T... arguments) {
    LaunchRequest request;
    request.module = module_;
    request.kernel = kernel;
    request.grid = {blocks, 1, 1};
    request.block = {threads, 1, 1};
    request.check = true;
    request.instruction_limit = 50'000'000;
    const auto add = [&](auto value) {
      const size_t at = (request.kernargs.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value);
      request.kernargs.resize(at + sizeof(value));
      std::memcpy(request.kernargs.data() + at, &value, sizeof(value));
    };
    (add(arguments), ...);
    auto result = device_->launch(request);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? std::move(result).value() : LaunchResult{};
  }

  std::unique_ptr<Device> device_;
  ModuleHandle module_ = 0;
};

#define EXPECT_CLEAN(...)                                        \
  do {                                                           \
    const LaunchResult clean = run(__VA_ARGS__);                 \
    EXPECT_TRUE(clean.completed()) << clean.fault.to_string();   \
  } while (false)

TEST_F(ChecksTest, ReadingLdsThatAnotherWaveWroteSinceTheBarrierIsARace) {
  const LaunchResult result = run("lds_read_race", 1, 128, unwritten(512));
  EXPECT_EQ(result.fault.kind, FaultKind::Race) << result.fault.to_string();
  // Here the first wave runs first: it reads all that the second is going to write, beginning with thread 64's element.
  EXPECT_EQ(result.fault.lane, 0);
  EXPECT_EQ(result.fault.wave, 1u);
  EXPECT_THAT(result.fault.source, EndsWith(line_of("lds_read_race writes")));
  EXPECT_THAT(result.fault.message, AllOf(HasSubstr("writes LDS byte 256"), HasSubstr("wave 0 read"),
                                          HasSubstr(line_of("lds_read_race writes")),
                                          HasSubstr(line_of("lds_read_race reads")), HasSubstr("__syncthreads()")));
}

TEST_F(ChecksTest, ABarrierOrdersLdsAccesses) { EXPECT_CLEAN("lds_read_clean", 5, 128, unwritten(5 * 512)); }

TEST_F(ChecksTest, OverwritingLdsThatAnotherWaveReadsIsARace) {
  const LaunchResult result = run("lds_write_race", 1, 128, unwritten(512));
  EXPECT_EQ(result.fault.kind, FaultKind::Race) << result.fault.to_string();
  EXPECT_THAT(result.fault.message,
              AllOf(HasSubstr(line_of("lds_write_race reads")), HasSubstr(line_of("lds_write_race writes"))));
}

TEST_F(ChecksTest, LdsRacesAreToldByTheByte) { EXPECT_CLEAN("lds_byte_neighbours", 1, 128, unwritten(128)); }

TEST_F(ChecksTest, WritingWhatIsThereAlreadyIsNoRace) {
  EXPECT_CLEAN("lds_same_value", 1, 256, zeros(1024));
  EXPECT_CLEAN("global_same_value", 4, 64, unwritten(256));
}

TEST_F(ChecksTest, AtomicsDoNotRaceWithEachOtherButWithOtherAccesses) {
  EXPECT_CLEAN("lds_histogram", 2, 128, unwritten(512), 1u);
  const LaunchResult result = run("lds_histogram", 1, 128, unwritten(512), 0u);
  EXPECT_EQ(result.fault.kind, FaultKind::Race) << result.fault.to_string();
  EXPECT_THAT(result.fault.message,
              AllOf(HasSubstr(line_of("lds_histogram reads")), HasSubstr(line_of("lds_histogram adds"))));
}

TEST_F(ChecksTest, ReadingLdsThatNobodyWroteIsReported) {
  // Twice: what the first workgroup wrote does not count for the second.
  const LaunchResult result = run("lds_uninitialised", 2, 128, unwritten(512));
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_EQ(result.fault.wave, 1u);
  EXPECT_EQ(result.fault.lane, 5);
  EXPECT_THAT(result.fault.message, HasSubstr("byte 20 was never written"));
  EXPECT_THAT(result.fault.source, EndsWith(line_of("lds_uninitialised reads")));
}

TEST_F(ChecksTest, ReadingMemoryThatNobodyWroteIsReported) {
  const u64 in = unwritten(8192, "weights"), out = unwritten(8192);
  device_->memory().mark_written(in, 8192 - 8);
  const LaunchResult result = run("global_read", 32, 64, in, out);
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_EQ(result.fault.lane, 62);
  EXPECT_EQ(result.fault.workgroup.x, 31u);
  EXPECT_THAT(result.fault.message, HasSubstr("'weights' + 8184"));
  EXPECT_THAT(result.fault.source, EndsWith(line_of("global_read reads")));
  device_->memory().mark_written(in + 8192 - 8, 8);
  EXPECT_CLEAN("global_read", 32, 64, in, out);
  EXPECT_CLEAN("global_read", 32, 64, out, in);  // what a kernel wrote is written
}

TEST_F(ChecksTest, FreedMemoryIsUnwrittenWhenItComesBack) {
  const u64 in = zeros(256), out = unwritten(256);
  ASSERT_TRUE(device_->memory().free(in));
  const u64 again = unwritten(256);
  EXPECT_EQ(run("global_read", 1, 64, again, out).fault.kind, FaultKind::UninitialisedRead);
}

TEST_F(ChecksTest, CountingInMemoryThatNobodyClearedIsReported) {
  const LaunchResult result = run("global_count", 1, 64, unwritten(4, "counter"));
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_THAT(result.fault.message, HasSubstr("'counter' + 0"));
  EXPECT_CLEAN("global_count", 8, 64, zeros(4));
}

TEST_F(ChecksTest, WorkgroupsThatWriteDifferentValuesToOnePlaceRace) {
  const LaunchResult result = run("global_write_race", 2, 64, unwritten(256));
  EXPECT_EQ(result.fault.kind, FaultKind::Race) << result.fault.to_string();
  EXPECT_THAT(result.fault.message, HasSubstr(line_of("global_write_race writes")));
  EXPECT_CLEAN("global_write_race", 1, 64, unwritten(256));
}

TEST_F(ChecksTest, ReadingWhatAnotherWorkgroupWroteIsARace) {
  const LaunchResult result = run("global_read_race", 8, 64, zeros(65536));
  EXPECT_EQ(result.fault.kind, FaultKind::Race) << result.fault.to_string();
  EXPECT_THAT(result.fault.message,
              AllOf(HasSubstr(line_of("global_read_race writes")), HasSubstr(line_of("global_read_race reads"))));
}

TEST_F(ChecksTest, WorkgroupsMayHandDataOverThroughAtomics) {
  EXPECT_CLEAN("global_last_block", 40, 64, unwritten(40 * 256), zeros(4), 40u, unwritten(256));
  EXPECT_CLEAN("global_chain", 40, 64, zeros(160), unwritten(40 * 256));
}

TEST_F(ChecksTest, LanesThatSkipABarrierAreReportedWhenTheyComeBack) {
  const LaunchResult result = run("divergent_barrier", 1, 128, unwritten(1024));
  EXPECT_EQ(result.fault.kind, FaultKind::DivergentBarrier) << result.fault.to_string();
  EXPECT_EQ(result.fault.lane, 32);
  EXPECT_THAT(result.fault.source, EndsWith(line_of("divergent_barrier goes on")));
  EXPECT_CLEAN("early_return", 1, 256, unwritten(1024), 100u);
}

TEST_F(ChecksTest, WaitingForAFlagThatNobodySetsIsADeadlock) {
  const LaunchResult result = run("wait_for_nobody", 3, 64, zeros(4));
  EXPECT_EQ(result.fault.kind, FaultKind::Deadlock) << result.fault.to_string();
  EXPECT_THAT(result.fault.source, HasSubstr(line_of("wait_for_nobody waits")));
}

TEST_F(ChecksTest, ALockThatLanesOfOneWaveFightForIsADeadlockOrGetsDone) {
  // Whether the compiler lets the lane that has the lock go on first is its business.
  const LaunchResult result = run("lane_lock", 1, 64, zeros(4), zeros(4));
  EXPECT_TRUE(result.completed() || result.fault.kind == FaultKind::Deadlock) << result.fault.to_string();
}

TEST_F(ChecksTest, ALongLoopIsNoDeadlock) { EXPECT_CLEAN("long_loop", 2, 64, unwritten(256), 1'000'000u); }

TEST_F(ChecksTest, AResultUsedBeforeItsWaitIsReported) {
  const LaunchResult result = run("use_before_vector_load", 1, 64, zeros(256), unwritten(256));
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_EQ(result.fault.lane, 0);
  EXPECT_THAT(result.fault.source, EndsWith(line_of("use_before_vector_load uses")));
  EXPECT_THAT(result.fault.message, AllOf(HasSubstr(" is used at "), HasSubstr("before the s_waitcnt vmcnt"),
                                          HasSubstr(line_of("use_before_vector_load loads"))));
  for (const char* kernel : {"use_before_scalar_load", "count_scalar_loads"}) {
    const LaunchResult scalar = run(kernel, 1, 64, zeros(256), unwritten(256));
    EXPECT_EQ(scalar.fault.kind, FaultKind::UninitialisedRead) << kernel << scalar.fault.to_string();
    EXPECT_THAT(scalar.fault.message, AllOf(HasSubstr("s_waitcnt lgkmcnt"), testing::StartsWith("s")));
  }
  const LaunchResult lds = run("use_before_lds_load", 1, 64, unwritten(256), 0u);
  EXPECT_THAT(lds.fault.message, HasSubstr("before the s_waitcnt lgkmcnt")) << lds.fault.to_string();
  const LaunchResult flat = run("wait_for_half_of_flat", 1, 64, zeros(256), unwritten(256), 0u);
  EXPECT_THAT(flat.fault.message, HasSubstr("before the s_waitcnt lgkmcnt")) << flat.fault.to_string();
  const LaunchResult late = run("overwritten_by_a_late_load", 1, 64, zeros(256), unwritten(256));
  EXPECT_THAT(late.fault.message, HasSubstr(" is overwritten")) << late.fault.to_string();
}

TEST_F(ChecksTest, WhatIsComputedFromARegisterThatNothingWasWrittenToMustNotReachMemory) {
  const LaunchResult sum = run("accumulator_without_start", 1, 64, unwritten(256));
  EXPECT_EQ(sum.fault.kind, FaultKind::UninitialisedRead) << sum.fault.to_string();
  EXPECT_EQ(sum.fault.lane, 0);
  EXPECT_THAT(sum.fault.source, EndsWith(line_of("accumulator_without_start stores")));
  EXPECT_THAT(sum.fault.message, AllOf(HasSubstr("writes to memory v"), HasSubstr("computed at"),
                                       HasSubstr("first value"), HasSubstr(line_of("accumulator_without_start adds"))));
  const LaunchResult matrix = run("matrix_without_start", 1, 64, unwritten(512));
  EXPECT_THAT(matrix.fault.source, EndsWith(line_of("matrix_without_start stores"))) << matrix.fault.to_string();
}

TEST_F(ChecksTest, AnAddressFromARegisterThatNothingWasWrittenToIsReported) {
  const LaunchResult result = run("address_without_start", 1, 64, unwritten(256));
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_THAT(result.fault.source, EndsWith(line_of("address_without_start loads")));
  EXPECT_THAT(result.fault.message,
              AllOf(HasSubstr("takes an address from v44"), HasSubstr("to which nothing was written")));
}

TEST_F(ChecksTest, RegistersAreWrittenLaneByLane) {
  EXPECT_CLEAN("half_of_the_lanes", 1, 64, unwritten(256), 0u);
  const LaunchResult result = run("half_of_the_lanes", 1, 64, unwritten(256), 1u);
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_EQ(result.fault.lane, 32);
}

TEST_F(ChecksTest, RegistersThatDoNotMatterAreNotReported) {
  EXPECT_CLEAN("registers_that_do_not_matter", 1, 64, unwritten(256));
}

TEST_F(ChecksTest, WaitsAreCounted) {
  const LaunchResult result = run("two_vector_loads", 1, 64, zeros(512), unwritten(256), 1u);
  EXPECT_EQ(result.fault.kind, FaultKind::UninitialisedRead) << result.fault.to_string();
  EXPECT_CLEAN("two_vector_loads", 1, 64, zeros(512), unwritten(256), 0u);
  EXPECT_CLEAN("use_before_lds_load", 1, 64, unwritten(256), 1u);
  EXPECT_CLEAN("wait_for_half_of_flat", 1, 64, zeros(256), unwritten(256), 1u);
  EXPECT_CLEAN("other_lanes_use_the_register", 1, 64, zeros(256), unwritten(256));
}

}  // namespace
}  // namespace hipbench::emulator
