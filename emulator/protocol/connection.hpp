#pragma once
// One client of the device server: reads its requests, answers those that need no waiting, queues the others. Holds
// what the client owns (allocations, modules) and gives it back when the client goes.

#include <atomic>
#include <map>
#include <memory>
#include <set>

#include "emulator/protocol/server.hpp"
#include "emulator/protocol/stream.hpp"
#include "emulator/protocol/wire.hpp"

namespace hipbench::emulator {

class Connection {
 public:
  Connection(Server& server, UniqueFd fd, u32 id, bool trusted);
  ~Connection();

  void start();          // a thread that reads requests until the client goes
  void read_requests();  // the same on the caller's thread
  void shut();           // the client finds its connection closed; the reader ends soon
  bool ended() const { return ended_; }

  Server& server() { return server_; }
  Stream& stream() { return stream_; }
  u32 id() const { return id_; }
  bool trusted() const { return trusted_; }
  bool owns_module(ModuleHandle module);
  bool holds_code(std::span<const std::byte> elf);  // it has loaded this code object

  // Free or UnloadModule, in stream order.
  void release(const wire::Message& request);
  void reply(wire::Opcode opcode, const wire::Writer& payload, std::span<const std::byte> body = {},
             int attached_fd = -1);
  void reply_error(wire::Opcode opcode, std::string_view message);

 private:
  bool handle(wire::Message request);  // false: a violation of the protocol, close
  bool greet(wire::Reader reader);
  bool handle_trusted(wire::Opcode opcode, wire::Reader reader);
  void allocate(wire::Reader reader, bool shared);
  void find_allocation(wire::Reader reader);
  void progress(wire::Reader reader);
  void timestamp_value(wire::Reader reader);
  bool module_data(wire::Reader reader);
  void load_module();
  void occupancy(wire::Reader reader);
  void give_back();

  Server& server_;
  UniqueFd fd_;
  const u32 id_;
  const bool trusted_;
  Stream stream_;
  std::thread reader_;
  std::atomic<bool> ended_{false};
  bool greeted_ = false;
  std::mutex send_mutex_;
  std::mutex owned_mutex_;  // of the two below
  std::set<u64> allocations_;
  std::map<ModuleHandle, u64> modules_;  // with the bytes of code
  std::vector<std::byte> module_buffer_;
};

}  // namespace hipbench::emulator
