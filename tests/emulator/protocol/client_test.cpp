// The device server as its clients see it, through the real process.

#include "emulator/protocol/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>

#include "common/files.hpp"
#include "emulator/protocol/device_server.hpp"

namespace hipbench::emulator {
namespace {

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    DeviceServerOptions options;
    options.threads = 2;
    options.resident_budget = u64{1} << 30;
    options.program = HIPBENCH_BINARY_DIR "/hipbench-device";
    Result<DeviceServer> started = DeviceServer::start(options);
    ASSERT_TRUE(started) << started.error().message;
    server_.emplace(std::move(started).value());
  }

  Client& judge() { return server_->trusted(); }

  std::unique_ptr<Client> untrusted() {
    Result<UniqueFd> fd = judge().new_client_fd();
    EXPECT_TRUE(fd);
    Result<std::unique_ptr<Client>> client = Client::connect(std::move(fd).value());
    EXPECT_TRUE(client);
    return std::move(client).value();
  }

  static ModuleInfo load(Client& client) {
    const Result<std::string> code = read_file(HIPBENCH_BINARY_DIR "/tests/data/runtime.elf");
    EXPECT_TRUE(code);
    Result<ModuleInfo> module = client.load_module(std::as_bytes(std::span(*code)));
    EXPECT_TRUE(module) << module.error().message;
    return std::move(module).value();
  }

  template <typename... Args>
  static LaunchRequest request(const ModuleInfo& module, const char* kernel, Args... args) {
    LaunchRequest launch;
    launch.module = module.handle;
    launch.kernel = kernel;
    const auto append = [&](auto value) {
      const size_t at = (launch.kernargs.size() + sizeof value - 1) / sizeof value * sizeof value;
      launch.kernargs.resize(at + sizeof value);
      std::memcpy(launch.kernargs.data() + at, &value, sizeof value);
    };
    (append(args), ...);
    return launch;
  }

  static int read_int(Client& client, u64 address) {
    int value = -1;
    EXPECT_TRUE(client.read(address, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  std::optional<DeviceServer> server_;
};

TEST_F(ClientTest, StartsFast) {
  DeviceServerOptions options;
  options.program = HIPBENCH_BINARY_DIR "/hipbench-device";
  auto best = std::chrono::milliseconds(10000);
  for (int i = 0; i < 3; ++i) {
    const auto before = std::chrono::steady_clock::now();
    const Result<DeviceServer> started = DeviceServer::start(options);
    ASSERT_TRUE(started);
    best = std::min(best,
                    std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - before));
  }
  // The aim is 50 ms; a loaded machine and sanitizers get some room.
  EXPECT_LT(best.count(), 500);
}

TEST_F(ClientTest, MissingProgramIsAnError) {
  DeviceServerOptions options;
  options.program = "/nonexistent/hipbench-device";
  const Result<DeviceServer> started = DeviceServer::start(options);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, testing::HasSubstr("/nonexistent/hipbench-device"));
}

TEST_F(ClientTest, WritesAndReadsBackMoreThanOneMessage) {
  std::vector<u32> data((5u << 20) / 4 + 3), back(data.size());
  std::iota(data.begin(), data.end(), 1u);
  const Result<u64> address = judge().allocate(data.size() * 4, "data");
  ASSERT_TRUE(address);
  ASSERT_TRUE(judge().write(*address, std::as_bytes(std::span(data))));
  ASSERT_TRUE(judge().read(*address, std::as_writable_bytes(std::span(back))));
  EXPECT_EQ(data, back);
}

TEST_F(ClientTest, RowsArePlacedByTheirPitches) {
  std::vector<std::byte> source(6 * 10), back(6 * 20, std::byte{0xee});
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
  const u64 address = *judge().allocate(6 * 64);
  ASSERT_TRUE(judge().fill(address, 0x77, 1, 6 * 64));
  ASSERT_TRUE(judge().write_rows(address, 64, source.data(), 10, 7, 6));
  ASSERT_TRUE(judge().read_rows(back.data(), 20, address, 64, 8, 6));
  for (size_t row = 0; row < 6; ++row) {
    for (size_t column = 0; column < 7; ++column) EXPECT_EQ(back[row * 20 + column], source[row * 10 + column]);
    EXPECT_EQ(back[row * 20 + 7], std::byte{0x77});
    EXPECT_EQ(back[row * 20 + 8], std::byte{0xee});
  }
}

TEST_F(ClientTest, FillsWithValuesOfEverySize) {
  const u64 address = *judge().allocate(64);
  ASSERT_TRUE(judge().fill(address, 0x11, 1, 64));
  ASSERT_TRUE(judge().fill(address + 4, 0x2222, 2, 2));
  ASSERT_TRUE(judge().fill(address + 8, 0x33445566, 4, 1));
  EXPECT_EQ(read_int(judge(), address), 0x11111111);
  EXPECT_EQ(read_int(judge(), address + 4), 0x22222222);
  EXPECT_EQ(read_int(judge(), address + 8), 0x33445566);
}

TEST_F(ClientTest, OutOfRangeOperationsAreRefusedOnce) {
  const u64 address = *judge().allocate(64);
  ASSERT_TRUE(judge().fill(address, 0, 1, 65));
  const auto first = judge().synchronize();
  ASSERT_TRUE(first && *first);
  EXPECT_TRUE((*first)->refused);
  const auto second = judge().synchronize();
  EXPECT_TRUE(second && !*second);
  std::array<std::byte, 8> past_the_end{};
  EXPECT_FALSE(judge().read(address + 60, past_the_end));
}

TEST_F(ClientTest, LaunchesRunInOrderAndAreLogged) {
  const ModuleInfo module = load(judge());
  ASSERT_NE(module.find_kernel("add_indices"), nullptr);
  EXPECT_EQ(module.find_kernel("add_indices")->explicit_kernarg_size, 12u);
  EXPECT_EQ(module.find_kernel("at_most_128")->max_flat_workgroup_size, 128u);
  ASSERT_NE(module.find_global("device_variable"), nullptr);
  EXPECT_EQ(read_int(judge(), module.find_global("device_variable")->address), 5);

  const u64 address = *judge().allocate(1024);
  ASSERT_TRUE(judge().drain_log());
  LaunchRequest launch = request(module, "add_indices", address, 100);
  launch.grid = Dim3{4, 1, 1};
  launch.block = Dim3{64, 1, 1};
  ASSERT_TRUE(judge().launch(launch));
  ASSERT_TRUE(judge().launch(request(module, "store_value", address + 8, -7)));
  const auto failure = judge().synchronize();
  ASSERT_TRUE(failure);
  EXPECT_FALSE(*failure) << (*failure)->text;
  EXPECT_EQ(read_int(judge(), address + 255 * 4), 355);
  EXPECT_EQ(read_int(judge(), address + 8), -7);

  const Result<OperationLog> log = judge().drain_log();
  ASSERT_TRUE(log);
  EXPECT_EQ(log->dropped, 0u);
  ASSERT_GE(log->operations.size(), 2u);
  EXPECT_EQ(log->operations[0].kernel, "add_indices");
  EXPECT_EQ(log->operations[0].result.counters.workgroups, 4u);
  EXPECT_EQ(log->operations[1].kernel, "store_value");
}

TEST_F(ClientTest, FaultEndsTheContextUntilItIsCleared) {
  const std::unique_ptr<Client> client = untrusted();
  const ModuleInfo module = load(*client);
  const u64 address = *client->allocate(4);
  ASSERT_TRUE(client->launch(request(module, "write_at", u64{0x123000})));
  ASSERT_TRUE(client->launch(request(module, "store_value", address, 1)));
  for (int i = 0; i < 2; ++i) {
    const auto failure = client->synchronize();
    ASSERT_TRUE(failure && *failure);
    EXPECT_EQ((*failure)->report.kind, FaultKind::OutOfBounds);
    EXPECT_FALSE((*failure)->refused);
    EXPECT_THAT((*failure)->text, testing::HasSubstr("runtime.hip"));
  }
  // Others go on, and so does the client once it has cleared the failure.
  const auto other = judge().synchronize();
  EXPECT_TRUE(other && !*other);
  ASSERT_TRUE(client->clear_failure());
  EXPECT_EQ(read_int(*client, address), 0);
  ASSERT_TRUE(client->launch(request(module, "store_value", address, 2)));
  EXPECT_EQ(read_int(*client, address), 2);
}

TEST_F(ClientTest, SharedMemoryIsSeenByARunningKernel) {
  const ModuleInfo module = load(judge());
  const Result<void*> shared = judge().allocate_shared(8192);
  ASSERT_TRUE(shared) << shared.error().message;
  auto* flags = static_cast<std::atomic<int>*>(*shared);
  flags[0] = flags[1] = 0;
  ASSERT_TRUE(judge().launch(
      request(module, "wait_for_flag", reinterpret_cast<u64>(*shared), reinterpret_cast<u64>(*shared) + 4)));
  const u64 submitted = judge().submitted();
  EXPECT_LT(*judge().completed(), submitted);
  EXPECT_TRUE(judge().allocate(64));  // does not wait for the kernel
  flags[0] = 1;
  const auto failure = judge().synchronize();
  EXPECT_TRUE(failure && !*failure);
  EXPECT_EQ(flags[1], 1);
  EXPECT_TRUE(judge().free(reinterpret_cast<u64>(*shared)));
}

TEST_F(ClientTest, TimestampsFollowTheDeviceClock) {
  const ModuleInfo module = load(judge());
  const u64 address = *judge().allocate(4);
  ASSERT_TRUE(judge().timestamp(3));
  ASSERT_TRUE(judge().launch(request(module, "store_value", address, 1)));
  ASSERT_TRUE(judge().timestamp(4));
  ASSERT_TRUE(judge().synchronize());
  const auto before = judge().timestamp_value(3), after = judge().timestamp_value(4);
  ASSERT_TRUE(before && *before && after && *after);
  EXPECT_GT(**after, **before);
  EXPECT_FALSE(*judge().timestamp_value(5));
}

TEST_F(ClientTest, UntrustedClientsMayNotJudge) {
  const std::unique_ptr<Client> client = untrusted();
  EXPECT_FALSE(client->trusted());
  EXPECT_FALSE(client->drain_log());
  EXPECT_FALSE(client->set_limits({}));
  EXPECT_FALSE(client->new_client_fd());
  EXPECT_FALSE(client->close_clients());
  EXPECT_TRUE(client->connected());
}

TEST_F(ClientTest, ClientsOwnWhatTheyMade) {
  const std::unique_ptr<Client> client = untrusted();
  const u64 ours = *judge().allocate(64);
  const ModuleInfo module = load(judge());
  EXPECT_FALSE(client->free(ours));
  EXPECT_FALSE(client->unload_module(module.handle));
  ASSERT_TRUE(client->launch(request(module, "store_value", ours, 1)));
  const auto failure = client->synchronize();
  ASSERT_TRUE(failure && *failure);
  EXPECT_TRUE((*failure)->refused);
}

TEST_F(ClientTest, LimitsRuleUntrustedLaunches) {
  Limits limits;
  limits.instructions_per_launch = 10000;
  ASSERT_TRUE(judge().set_limits(limits));
  const std::unique_ptr<Client> client = untrusted();
  const ModuleInfo module = load(*client);
  const u64 never = *client->allocate(4);
  ASSERT_TRUE(client->fill(never, 0, 4, 1));
  LaunchRequest launch = request(module, "spin_for_ever", never);
  launch.instruction_limit = ~u64{0};
  ASSERT_TRUE(client->launch(launch));
  const auto failure = client->synchronize();
  ASSERT_TRUE(failure && *failure);
  EXPECT_EQ((*failure)->report.kind, FaultKind::InstructionLimit);
}

TEST_F(ClientTest, LimitOverAllLaunchesIsUsedUp) {
  const std::unique_ptr<Client> client = untrusted();
  const ModuleInfo module = load(*client);
  const u64 address = *client->allocate(4);
  Limits limits;
  limits.instructions_in_all = 20;
  ASSERT_TRUE(judge().set_limits(limits));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client->launch(request(module, "store_value", address, i)));
  const auto failure = client->synchronize();
  ASSERT_TRUE(failure && *failure);
  EXPECT_EQ((*failure)->report.kind, FaultKind::InstructionLimit);
}

TEST_F(ClientTest, LimitOverAllLaunchesCountsTheTrustedConnectionsToo) {
  const ModuleInfo module = load(judge());
  const u64 address = *judge().allocate(4);
  Limits limits;
  limits.instructions_in_all = 20;
  ASSERT_TRUE(judge().set_limits(limits));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(judge().launch(request(module, "store_value", address, i)));
  const auto failure = judge().synchronize();
  ASSERT_TRUE(failure && *failure);
  EXPECT_EQ((*failure)->report.kind, FaultKind::InstructionLimit);
  EXPECT_NE((*failure)->text.find("all launches together executed more than 20 wave instructions"), std::string::npos)
      << (*failure)->text;
}

TEST_F(ClientTest, WaitingForABusyDeviceEndsAtTheDeadline) {
  const std::unique_ptr<Client> client = untrusted();
  const ModuleInfo module = load(*client);
  EXPECT_EQ(judge().synchronize_all(std::chrono::seconds(10)).value(), true);
  const u64 never = *client->allocate(4);
  ASSERT_TRUE(client->fill(never, 0, 4, 1));
  ASSERT_TRUE(client->launch(request(module, "spin_for_ever", never)));
  ASSERT_TRUE(client->completed());  // its answer comes after the launch has been queued
  EXPECT_EQ(judge().synchronize_all(std::chrono::milliseconds(20)).value(), false);
}

TEST_F(ClientTest, ClosedClientsGiveTheirMemoryBack) {
  const u64 before = judge().memory_info()->free_bytes;
  const std::unique_ptr<Client> client = untrusted();
  ASSERT_TRUE(client->allocate(64 << 20));
  EXPECT_LT(judge().memory_info()->free_bytes, before);
  ASSERT_TRUE(judge().close_clients());
  EXPECT_EQ(judge().memory_info()->free_bytes, before);
  EXPECT_FALSE(client->allocate(64));
  EXPECT_FALSE(client->connected());
}

TEST_F(ClientTest, NextProgramOnAConnectionStartsAfresh) {
  Result<UniqueFd> fd = judge().new_client_fd();
  ASSERT_TRUE(fd);
  Result<std::unique_ptr<Client>> first = Client::connect(UniqueFd(::dup(fd->get())));
  ASSERT_TRUE(first && (*first)->allocate(1 << 20) && (*first)->fill(0, 0, 1, 1));
  const u64 free_bytes = judge().memory_info()->free_bytes;
  first->reset();
  const Result<std::unique_ptr<Client>> second = Client::connect(std::move(*fd));
  ASSERT_TRUE(second);
  EXPECT_GT(judge().memory_info()->free_bytes, free_bytes);
  const auto failure = (*second)->synchronize();
  EXPECT_TRUE(failure && !*failure);
}

TEST_F(ClientTest, BudgetIsOutOfMemoryAndNotTheEndOfTheServer) {
  const u64 size = u64{3} << 30;
  const Result<u64> address = judge().allocate(size);
  ASSERT_TRUE(address);
  ASSERT_TRUE(judge().fill(*address, 1, 1, size));
  const auto failure = judge().synchronize();
  ASSERT_TRUE(failure && *failure);
  EXPECT_THAT((*failure)->text, testing::StartsWith("out of memory"));
  ASSERT_TRUE(judge().free(*address));
  EXPECT_TRUE(judge().allocate(1 << 20));
}

TEST_F(ClientTest, KilledServerIsAnErrorForEveryCall) {
  const std::unique_ptr<Client> client = untrusted();
  server_->kill();
  EXPECT_FALSE(client->allocate(64));
  EXPECT_FALSE(client->synchronize());
  EXPECT_FALSE(client->connected());
  EXPECT_FALSE(judge().synchronize());
}

}  // namespace
}  // namespace hipbench::emulator
