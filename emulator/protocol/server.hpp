#pragma once
// The device server's shared state: the one Device, the operation log, the limits, and the list of connections. It
// believes nothing that comes from an untrusted connection: every size is bounded, every handle looked up in that
// connection's own.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/device/device.hpp"
#include "emulator/protocol/client.hpp"

namespace hipbench::emulator {

class Connection;

class Server {
 public:
  static Result<std::unique_ptr<Server>> create(u32 threads, u64 resident_budget);
  ~Server();

  // Serves the trusted connection until it closes.
  void serve(UniqueFd trusted);

  Device& device() { return *device_; }
  AddressSpace& memory() { return device_->memory(); }

  // Runs a launch for a connection: limits applied, printed text sent its way, logged. The module was checked to be its
  // own.
  LaunchResult launch(Connection& connection, LaunchRequest request, std::string& refused);
  void log(Operation operation);
  // An untrusted connection may load this code.
  bool may_load(std::span<const std::byte> code);

  Result<UniqueFd> add_client();
  void set_limits(const Limits& limits);
  OperationLog drain_log();
  bool all_idle();
  // Shuts untrusted connections; true once all have ended.
  bool close_clients();

 private:
  Server() = default;
  bool limit(const Connection& connection, LaunchRequest& request);
  void explain_limit(FaultReport& fault);
  void model_transfer(Operation& operation) const;
  void reap();

  std::unique_ptr<Device> device_;
  // Who runs a launch now, so that printed text finds its way. The Device runs one launch at a time; so do we.
  std::mutex launch_mutex_;
  std::atomic<Connection*> launching_{nullptr};

  std::mutex mutex_;  // of all below
  Limits limits_;
  u64 instructions_used_ = 0;
  std::vector<Operation> log_;
  u64 log_bytes_ = 0, dropped_ = 0, sequence_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;  // [0] is the trusted one
  u32 next_client_ = 0;
};

}  // namespace hipbench::emulator
