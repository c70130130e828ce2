#pragma once
// The device server as its parent sees it: a child process that is the emulated GPU, and the trusted connection to it.

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "emulator/protocol/client.hpp"

namespace hipbench::emulator {

struct DeviceServerOptions {
  u32 threads = 0;          // worker threads; 0 = one a core
  u64 resident_budget = 0;  // bytes of device memory that may be touched; 0 = the server's default
  // The program to start. Empty: hipbench-device beside the running executable or one folder up.
  std::filesystem::path program;
  // The server is not a child of this process (a library must not leave children for the program's own wait()).
  bool detached = false;
};

// Ends the server when it goes: connections close, and a server that does not follow within a second is killed.
class DeviceServer {
 public:
  static Result<DeviceServer> start(const DeviceServerOptions& options = {});
  DeviceServer(DeviceServer&& other) noexcept;
  DeviceServer& operator=(DeviceServer&&) = delete;
  ~DeviceServer();

  Client& trusted() { return *client_; }
  Result<UniqueFd> new_client_fd() { return client_->new_client_fd(); }
  // At once, whatever it is doing. Clients then find their connection closed.
  void kill();
  pid_t pid() const { return pid_; }  // 0 when detached

 private:
  DeviceServer(std::unique_ptr<Client> client, pid_t pid) : client_(std::move(client)), pid_(pid) {}
  std::unique_ptr<Client> client_;
  pid_t pid_ = 0;
};

}  // namespace hipbench::emulator
