// A client of the device server that sends anything. The input is a list of messages: opcode, payload length, payload;
// opcode 0xff uploads a real code object, so that launches of its kernels are reached, and 0xfe sends raw bytes.
// Afterwards the server must still serve others.
#include <sys/socket.h>

#include <thread>

#include "emulator/protocol/connection.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace hipbench;
using namespace hipbench::emulator;

Server& server() {
  static const std::unique_ptr<Server> instance = [] {
    auto created = Server::create(1, uint64_t{256} << 20).value();
    Limits limits;
    limits.instructions_per_launch = 20'000;
    created->set_limits(limits);
    return created;
  }();
  return *instance;
}

void send_messages(int fd, fuzz::Input input) {
  static const std::string code = fuzz::device_code("fuzz.elf");
  wire::Writer hello;
  hello.put(wire::kHello);
  hello.put(wire::kVersion);
  bool open = wire::send_message(fd, wire::Opcode::Hello, false, hello.data());
  while (open && !input.empty()) {
    const auto opcode = input.take<uint8_t>();
    const auto payload = std::as_bytes(input.take(input.take<uint8_t>()));
    if (opcode == 0xff) {
      open = wire::send_message(fd, wire::Opcode::ModuleData, false, {}, std::as_bytes(std::span(code)));
    } else if (opcode == 0xfe) {
      open = ::send(fd, payload.data(), payload.size(), MSG_NOSIGNAL) >= 0;
    } else {
      open = wire::send_message(fd, static_cast<wire::Opcode>(opcode), false, payload);
    }
  }
  ::shutdown(fd, SHUT_WR);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const u64 idle = server().memory().used();  // the device's own
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) __builtin_trap();
  UniqueFd ours(ends[0]);
  std::thread drain([fd = ours.get()] {
    while (wire::receive_message(fd, wire::kMaxReply)) {
    }
  });
  std::thread sender([fd = ours.get(), data, size] { send_messages(fd, fuzz::Input(data, size)); });
  {
    static u32 id = 1;
    Connection connection(server(), UniqueFd(ends[1]), id++, false);
    connection.read_requests();
  }
  sender.join();
  drain.join();
  (void)server().drain_log();
  // Nothing of the client is left.
  if (server().memory().used() != idle) __builtin_trap();
  return 0;
}
