#include "emulator/device/device.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    auto device = Device::create({.threads = 2, .resident_budget = 0, .print = {}});
    EXPECT_TRUE(device);
    device_ = std::move(device).value();
    const std::string code = test_data("device.elf");
    const auto module = device_->load_module(as_bytes(code));
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    module_ = *module;
  }
  template <typename T>
  u64 buffer(std::vector<T> values) {
    const u64 size = values.size() * sizeof(T);
    const u64 address = *device_->memory().allocate(size, "data");
    std::memcpy(*device_->memory().host_range(address, size), values.data(), size);
    return address;
  }
  template <typename T>
  std::vector<T> read(u64 address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), *device_->memory().host_range(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }
  template <typename... T>
  LaunchRequest request(const char* kernel, Dim3 grid, Dim3 block, T... arguments) {
    LaunchRequest result;
    result.module = module_;
    result.kernel = kernel;
    result.grid = grid;
    result.block = block;
    const auto add = [&](auto value) {
      const size_t at = (result.kernargs.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value);
      result.kernargs.resize(at + sizeof(value));
      std::memcpy(result.kernargs.data() + at, &value, sizeof(value));
    };
    (add(arguments), ...);
    return result;
  }
  LaunchResult run(const LaunchRequest& wanted) {
    auto result = device_->launch(wanted);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? std::move(result).value() : LaunchResult{};
  }

  std::unique_ptr<Device> device_;
  ModuleHandle module_ = 0;
};

TEST_F(DeviceTest, RunsAKernelOnEveryWorkItem) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const u64 data = buffer(values);
  const LaunchResult result = run(request("add_bias", {4, 1, 1}, {256, 1, 1}, data, 1000));
  ASSERT_TRUE(result.completed()) << result.fault.to_string();
  for (int& value : values) value += 100;
  EXPECT_EQ(read<int>(data, 1000), values);
  EXPECT_EQ(result.counters.workgroups, 4u);
  EXPECT_EQ(result.counters.waves, 16u);
}

TEST_F(DeviceTest, TellsKernelsTheirLaunchConfiguration) {
  const u64 out = buffer(std::vector<u32>(8));
  const LaunchResult result = run(request("describe", {7, 5, 3}, {64, 2, 1}, out));
  ASSERT_TRUE(result.completed()) << result.fault.to_string();
  EXPECT_THAT(read<u32>(out, 8), ElementsAre(64, 2, 1, 448, 10, 7, 5, 3));
}

TEST_F(DeviceTest, DeviceVariablesCanBeWrittenByTheHost) {
  const auto address = device_->global_address(module_, "bias");
  ASSERT_TRUE(address);
  const int fresh = 5;
  std::memcpy(*device_->memory().host_range(*address, 4), &fresh, 4);
  const u64 data = buffer(std::vector<int>{1, 2});
  ASSERT_TRUE(run(request("add_bias", {1, 1, 1}, {64, 1, 1}, data, 2)).completed());
  EXPECT_THAT(read<int>(data, 2), ElementsAre(6, 7));
  EXPECT_FALSE(device_->global_address(module_, "no_such"));
}

TEST_F(DeviceTest, ReportsAnOutOfBoundsAccessWithItsPlace) {
  const u64 data = buffer(std::vector<int>(100));
  const LaunchResult result = run(request("add_bias", {1, 1, 1}, {128, 1, 1}, data, 128));
  ASSERT_EQ(result.fault.kind, FaultKind::OutOfBounds);
  EXPECT_EQ(result.fault.kernel, "add_bias");
  EXPECT_EQ(result.fault.wave, 1u);
  EXPECT_EQ(result.fault.lane, 36);
  EXPECT_THAT(result.fault.message, HasSubstr("right past the end of 'data' (400 bytes)"));
  EXPECT_THAT(result.fault.source, HasSubstr("device.hip:"));
  EXPECT_THAT(result.fault.to_string(), HasSubstr("lane 36"));
  EXPECT_TRUE(run(request("add_bias", {1, 1, 1}, {64, 1, 1}, data, 64)).completed())
      << "the device is usable afterwards";
}

TEST_F(DeviceTest, StopsAtTheInstructionLimitAndAtTraps) {
  LaunchRequest endless = request("forever", {1, 1, 1}, {64, 1, 1}, buffer(std::vector<int>{0}));
  endless.instruction_limit = 100000;
  EXPECT_EQ(run(endless).fault.kind, FaultKind::InstructionLimit);
  EXPECT_EQ(run(request("trap", {1, 1, 1}, {64, 1, 1})).fault.kind, FaultKind::Trap);
}

TEST_F(DeviceTest, ClocksGoOnFromLaunchToLaunch) {
  const u64 out = buffer(std::vector<u64>(1));
  u64 last = 0, last_ns = device_->clock_ns();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(request("clock_now", {1, 1, 1}, {1, 1, 1}, out)).completed());
    const u64 now = read<u64>(out, 1)[0];
    EXPECT_GT(now, last);
    EXPECT_GT(device_->clock_ns(), last_ns);
    last = now;
    last_ns = device_->clock_ns();
  }
}

// One long workgroup among many short ones: what it saw last is the past for whoever comes later.
TEST_F(DeviceTest, TheClockNeverGoesBackToWhatAKernelHasSeen) {
  const u64 out = buffer(std::vector<u64>(2));
  u64 seen = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(run(request("clock_span", {64, 1, 1}, {1, 1, 1}, out)).completed());
    const std::vector<u64> clocks = read<u64>(out, 2);
    EXPECT_GT(clocks[0], seen) << i;
    EXPECT_GE(clocks[1], clocks[0] + 100000);
    seen = clocks[1];
  }
}

TEST_F(DeviceTest, RefusesLaunchesThatCannotStart) {
  const u64 data = buffer(std::vector<int>(1));
  const auto reason = [&](const LaunchRequest& wanted) {
    const auto result = device_->launch(wanted);
    return result ? std::string("launched") : result.error().message;
  };
  EXPECT_THAT(reason(request("add_bia", {1, 1, 1}, {64, 1, 1}, data, 1)), HasSubstr("add_bias"));
  EXPECT_THAT(reason(request("add_bias", {1, 1, 1}, {64, 1, 1}, data)),
              HasSubstr("12 bytes of arguments, 8 were given"));
  EXPECT_THAT(reason(request("add_bias", {1, 1, 1}, {2048, 1, 1}, data, 1)), HasSubstr("1024"));
  LaunchRequest nowhere = request("add_bias", {1, 1, 1}, {64, 1, 1}, data, 1);
  nowhere.module = 99;
  EXPECT_THAT(reason(nowhere), HasSubstr("module 99"));
}

TEST_F(DeviceTest, ModulesAreIndependentAndCanBeUnloaded) {
  const std::string code = test_data("device.elf");
  const ModuleHandle second = *device_->load_module(as_bytes(code));
  EXPECT_NE(device_->global_address(module_, "bias"), device_->global_address(second, "bias"));
  EXPECT_NE(device_->module(second), nullptr);
  EXPECT_EQ(*device_->occupancy(second, "add_bias", 256, 0), 8u);
  EXPECT_FALSE(device_->occupancy(second, "no_such", 256, 0));
  const u64 used = device_->memory().used();
  ASSERT_TRUE(device_->unload_module(second));
  EXPECT_LT(device_->memory().used(), used);
  EXPECT_EQ(device_->module(second), nullptr);
  EXPECT_FALSE(device_->unload_module(second));
}

TEST_F(DeviceTest, LaunchesFromManyThreadsRunOneAfterTheOther) {
  const u64 data = buffer(std::vector<int>(64));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) EXPECT_TRUE(run(request("add_bias", {1, 1, 1}, {64, 1, 1}, data, 64)).completed());
    });
  threads.clear();
  EXPECT_EQ(read<int>(data, 1)[0], 8000);
}

}  // namespace
}  // namespace hipbench::emulator
