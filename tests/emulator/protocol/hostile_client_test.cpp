// Clients that do not keep to the protocol must not harm the server or anybody else's connection.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <random>

#include "emulator/protocol/device_server.hpp"
#include "emulator/protocol/wire.hpp"

namespace hipbench::emulator {
namespace {

class HostileClientTest : public testing::Test {
 protected:
  void SetUp() override {
    DeviceServerOptions options;
    options.threads = 1;
    options.resident_budget = u64{256} << 20;
    options.program = HIPBENCH_BINARY_DIR "/hipbench-device";
    Result<DeviceServer> started = DeviceServer::start(options);
    ASSERT_TRUE(started) << started.error().message;
    server_.emplace(std::move(started).value());
  }

  // Whatever happened, the judge is still served and a new client can work.
  void TearDown() override {
    ASSERT_TRUE(server_->trusted().close_clients());
    ASSERT_TRUE(server_->trusted().drain_log());
    Result<UniqueFd> fd = server_->new_client_fd();
    ASSERT_TRUE(fd);
    Result<std::unique_ptr<Client>> client = Client::connect(std::move(*fd));
    ASSERT_TRUE(client);
    const Result<u64> address = (*client)->allocate(4096);
    ASSERT_TRUE(address);
    EXPECT_TRUE((*client)->free(*address));
  }

  UniqueFd connect() {
    Result<UniqueFd> fd = server_->new_client_fd();
    EXPECT_TRUE(fd);
    return std::move(*fd);
  }

  UniqueFd greeted() {
    UniqueFd fd = connect();
    wire::Writer hello;
    hello.put(wire::kHello);
    hello.put(wire::kVersion);
    EXPECT_TRUE(wire::send_message(fd.get(), wire::Opcode::Hello, false, hello.data()));
    EXPECT_TRUE(wire::receive_message(fd.get(), wire::kMaxReply));
    return fd;
  }

  std::optional<DeviceServer> server_;
};

// What the server answers is thrown away, so that it never waits for us.
void drop_replies(int fd) {
  char buffer[65536];
  while (::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
  }
}

TEST_F(HostileClientTest, RandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const UniqueFd fd = round % 2 == 0 ? connect() : greeted();
    std::vector<u8> noise(random() % 4096);
    for (u8& byte : noise) byte = static_cast<u8>(random());
    (void)::send(fd.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
  }
}

// Well-formed headers around random payloads: every opcode's reader gets noise.
TEST_F(HostileClientTest, RandomPayloadsForEveryOpcode) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const UniqueFd fd = greeted();
    for (int message = 0; message < 20; ++message) {
      std::vector<std::byte> payload(random() % 160);
      for (std::byte& byte : payload) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
      const auto opcode = static_cast<wire::Opcode>(random() % 32);
      if (!wire::send_message(fd.get(), opcode, false, payload)) break;
      drop_replies(fd.get());
    }
  }
}

TEST_F(HostileClientTest, MessageLongerThanAllowedEndsTheConnection) {
  const UniqueFd fd = greeted();
  wire::Header header;
  header.size = ~0u;
  header.opcode = static_cast<u16>(wire::Opcode::Write);
  ASSERT_EQ(::send(fd.get(), &header, sizeof header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof header));
  EXPECT_FALSE(wire::receive_message(fd.get(), wire::kMaxReply));
}

TEST_F(HostileClientTest, NothingWithoutAGreeting) {
  const UniqueFd fd = connect();
  ASSERT_TRUE(wire::send_message(fd.get(), wire::Opcode::MemoryInfo, false, {}));
  EXPECT_FALSE(wire::receive_message(fd.get(), wire::kMaxReply));
}

TEST_F(HostileClientTest, EndlessModuleDataIsCutOff) {
  const UniqueFd fd = greeted();
  const std::vector<std::byte> chunk(wire::kMaxChunk);
  int sent = 0;
  while (sent < 1000 && wire::send_message(fd.get(), wire::Opcode::ModuleData, false, {}, chunk)) ++sent;
  EXPECT_LE(sent, 300);
}

TEST_F(HostileClientTest, AllocationsAreCounted) {
  Result<std::unique_ptr<Client>> client = Client::connect(connect());
  ASSERT_TRUE(client);
  int made = 0;
  while (made < 100000 && (*client)->allocate(1)) ++made;
  EXPECT_LE(made, 1 << 16);
}

TEST_F(HostileClientTest, HugeAndOverflowingRangesAreRefused) {
  Result<std::unique_ptr<Client>> connected = Client::connect(connect());
  ASSERT_TRUE(connected);
  Client& client = **connected;
  const u64 address = *client.allocate(4096);
  for (const u64 huge : {u64{1} << 40, ~u64{0}, ~u64{0} - 4095, u64{1} << 63}) {
    (void)client.fill(address, 0, 4, huge);
    (void)client.fill_rows(address, huge, 0, 1, 16, huge);
    (void)client.copy(address, address, huge);
    (void)client.copy_rows(address, 0, address, huge, 64, 3);
    const auto failure = client.synchronize();
    ASSERT_TRUE(failure && *failure);
    EXPECT_TRUE((*failure)->refused);
  }
  EXPECT_FALSE(client.allocate(~u64{0}));
  EXPECT_FALSE(client.allocate_shared(~u64{0}));
}

TEST_F(HostileClientTest, ClientThatNeverReadsHoldsNobodyUp) {
  const UniqueFd fd = greeted();
  // Replies pile up until the socket is full and the server's thread for this connection waits in it.
  for (int i = 0; i < 100000; ++i) {
    wire::Header header;
    header.opcode = static_cast<u16>(wire::Opcode::MemoryInfo);
    if (::send(fd.get(), &header, sizeof header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
  }
  EXPECT_TRUE(server_->trusted().allocate(4096));
}

TEST_F(HostileClientTest, ManyConnectionsAreRefusedNotServed) {
  std::vector<UniqueFd> fds;
  for (int i = 0; i < 200; ++i) {
    Result<UniqueFd> fd = server_->new_client_fd();
    if (!fd) break;
    fds.push_back(std::move(*fd));
  }
  EXPECT_LT(fds.size(), 100u);
}

}  // namespace
}  // namespace hipbench::emulator
