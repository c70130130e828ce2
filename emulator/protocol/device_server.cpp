#include "emulator/protocol/device_server.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/files.hpp"
#include "common/subprocess.hpp"

namespace hipbench::emulator {
namespace {

constexpr int kInheritedFd = 3;

Result<std::filesystem::path> find_program(const DeviceServerOptions& options) {
  if (!options.program.empty()) return options.program;
  const auto beside = executable_directory() / "hipbench-device";
  std::error_code ignored;
  for (const auto& candidate : {beside, executable_directory().parent_path() / "hipbench-device"})
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  return Error{fmt::format("cannot find the device server: there is no {}. Run scripts/build.", beside.string())};
}

}  // namespace

Result<DeviceServer> DeviceServer::start(const DeviceServerOptions& options) {
  const std::filesystem::path program = TRY(find_program(options));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{fmt::format("cannot create a socket for the device server: {}", std::strerror(errno))};
  UniqueFd ours(ends[0]), theirs(ends[1]);
  std::vector<std::string> argv = {program.string(), fmt::format("--fd={}", kInheritedFd),
                                   fmt::format("--threads={}", options.threads),
                                   fmt::format("--resident-budget={}", options.resident_budget)};
  if (options.detached) argv.push_back("--detach");
  // Without the loader's overrides: LD_PRELOAD and the like are meant for the program that is emulated, not for its
  // GPU.
  pid_t pid = TRY(spawn({argv, inherited_environment("LD_"), {{theirs.get(), kInheritedFd}}}));
  theirs.reset();
  if (options.detached) {
    // It forks at once and its first process ends: reap that, so that nothing of ours is left for the program's wait().
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid = 0;
  }
  Result<std::unique_ptr<Client>> client = Client::connect(std::move(ours));
  if (!client) {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    return std::move(client).error().with_context(program.string());
  }
  return DeviceServer(std::move(client).value(), pid);
}

DeviceServer::DeviceServer(DeviceServer&& other) noexcept
    : client_(std::move(other.client_)), pid_(std::exchange(other.pid_, 0)) {}

void DeviceServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

DeviceServer::~DeviceServer() {
  client_.reset();
  if (pid_ <= 0) return;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < deadline) {
    const pid_t ended = ::waitpid(pid_, nullptr, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill();
}

}  // namespace hipbench::emulator
