#include "evaluator/host_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/files.hpp"
#include "sandbox/worker_protocol.hpp"

namespace hipbench {

namespace {

using namespace std::chrono_literals;

// The candidate's host code only enqueues work. While the device is busy it may wait as long as it takes; with the device idle
// it gets this long before it counts as hanging.
constexpr auto kIdlePatience = 20s;
constexpr auto kPollInterval = 250ms;
constexpr auto kLongestRun = 2h;
constexpr const char* kInsideCandidate = "/candidate/candidate.so";

sandbox::Policy worker_policy(const Problem& problem, const std::string& shared_object_path, int control_fd, int device_fd) {
  const std::filesystem::path programs = executable_directory();
  const std::filesystem::path worker = programs / "hipbench-worker", runtime = programs / "lib/libamdhip64.so.6";
  sandbox::Policy policy;
  policy.profile = sandbox::Profile::Worker;
  policy.argv = {"/hipbench/hipbench-worker", "/hipbench/libamdhip64.so.6", kInsideCandidate, problem.run_symbol(), problem.workspace_symbol()};
  policy.env = {{"HIPBENCH_DEVICE_FD", std::to_string(worker::kDeviceFd)}, {"LD_LIBRARY_PATH", "/hipbench"}, {"LANG", "C.UTF-8"}};
  policy.mounts = {{worker, "/hipbench/hipbench-worker", sandbox::Access::ReadOnly},
                   {runtime, "/hipbench/libamdhip64.so.6", sandbox::Access::ReadOnly},
                   {shared_object_path, kInsideCandidate, sandbox::Access::ReadOnly}};
  policy.fds = {{control_fd, worker::kControlFd}, {device_fd, worker::kDeviceFd}};
  policy.limits.wall = kLongestRun;
  policy.limits.cpu = std::chrono::seconds(60);
  policy.limits.memory_bytes = uint64_t{4} << 30;
  policy.limits.processes = 64;
  return policy;
}

}  // namespace

struct HostWorker::Reply {
  worker::Answer answer;
};

std::variant<std::unique_ptr<HostWorker>, Verdict> HostWorker::start(const Problem& problem, const std::string& shared_object,
                                                                     emulator::DeviceServer& server, bool unsafe_no_sandbox) {
  const auto ours = [](const Error& error) { return Verdict{VerdictKind::Infrastructure, error.message, {}}; };
  Result<TemporaryDirectory> folder = TemporaryDirectory::create("hipbench-candidate");
  if (!folder) return ours(folder.error());
  const std::filesystem::path object = folder->path() / "candidate.so";
  if (Result<void> written = write_file_atomically(object, shared_object); !written) return ours(written.error());
  // The worker's uid is another one.
  std::error_code ignored;
  std::filesystem::permissions(folder->path(), std::filesystem::perms::owner_all | std::filesystem::perms::group_exec | std::filesystem::perms::others_exec, ignored);

  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return ours(Error{fmt::format("cannot create a socket pair: {}", std::strerror(errno))});
  UniqueFd control(sockets[0]), inside(sockets[1]);
  Result<UniqueFd> device = server.new_client_fd();
  if (!device) return ours(device.error());

  sandbox::Policy policy = worker_policy(problem, object, inside.get(), device->get());
  policy.unsafe_no_sandbox = unsafe_no_sandbox;
  Result<sandbox::Child> child = sandbox::Child::start(policy);
  if (!child) return ours(child.error().with_context("the worker sandbox could not be started"));
  inside.reset();
  device->reset();
  std::unique_ptr<HostWorker> worker(new HostWorker(std::move(*child), std::move(control), server));
  std::variant<Reply, Verdict> ready = worker->receive();
  if (Verdict* failed = std::get_if<Verdict>(&ready)) return std::move(*failed);
  worker->has_workspace_ = std::get<Reply>(ready).answer.value != 0;
  return worker;
}

HostWorker::~HostWorker() {
  if (!child_) return;
  control_.reset();
  child_->kill();
  child_->wait();
}

Verdict HostWorker::verdict_of_end() {
  using sandbox::Status;
  const sandbox::Outcome outcome = child_->wait();
  child_.reset();
  const std::string said = outcome.errors.empty() ? "" : "standard error of the candidate:\n" + outcome.errors;
  switch (outcome.status) {
    case Status::Ok:
    case Status::Exited:
      return {VerdictKind::Crashed, fmt::format("the candidate's host code ended the process ({})",
                                                outcome.reason.empty() ? "exit status 0" : outcome.reason), said};
    case Status::Signaled:
      return {VerdictKind::Crashed, "the candidate's host code crashed: " + outcome.reason, said};
    case Status::TimedOut:
      return {VerdictKind::TimedOut, "the candidate's host code: " + outcome.reason, said};
    case Status::OutOfMemory:
      return {VerdictKind::OutOfMemory, "the candidate's host code: " + outcome.reason, said};
    case Status::OutputLimit:
    case Status::Violation:
      return {VerdictKind::SandboxViolation, outcome.reason, said};
    case Status::SetupError:
      break;
  }
  return {VerdictKind::Infrastructure, outcome.reason, said};
}

std::variant<HostWorker::Reply, Verdict> HostWorker::receive() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point idle_since = Clock::now();
  while (true) {
    pollfd waiting{control_.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPollInterval).count()));
    if (ready < 0 && errno != EINTR) return Verdict{VerdictKind::Infrastructure, fmt::format("cannot poll the worker: {}", std::strerror(errno)), {}};
    if (ready > 0) {
      Reply reply;
      const ssize_t got = ::recv(control_.get(), &reply.answer, sizeof reply.answer, 0);
      if (got <= 0) return verdict_of_end();
      if (got != static_cast<ssize_t>(sizeof reply.answer))
        return Verdict{VerdictKind::SandboxViolation, "the worker sent a message that is not ours: candidate code wrote to the judge's channel", {}};
      reply.answer.text[worker::kMaxText - 1] = 0;
      if (reply.answer.stage == worker::Stage::LoadFailed)
        return Verdict{VerdictKind::Rejected, fmt::format("rule `entry point`: {}", reply.answer.text), {}};
      return reply;
    }
    // Nothing said yet. If the device works, so does the candidate: its wave instructions are limited there.
    const Clock::time_point before = Clock::now();
    if (before - idle_since < kIdlePatience) continue;
    if (Result<void> idle = server_.trusted().synchronize_all(); !idle) return Verdict{VerdictKind::Infrastructure, idle.error().message, {}};
    if (Clock::now() - before < kPollInterval) {
      child_->kill();
      child_->wait();
      child_.reset();
      return Verdict{VerdictKind::TimedOut,
                     fmt::format("the candidate's host code did not return within {} s while the device was idle", kIdlePatience.count()), {}};
    }
    idle_since = Clock::now();
  }
}

namespace {

std::optional<Verdict> send(int fd, const worker::Ask& ask) {
  if (::send(fd, &ask, sizeof ask, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof ask)) return std::nullopt;
  return Verdict{VerdictKind::Infrastructure, "the worker does not listen", {}};
}

worker::Ask ask_with(worker::Request request, std::span<const std::byte> args) {
  CHECK(args.size() <= worker::kMaxArgs);
  worker::Ask ask;
  ask.request = request;
  ask.args_size = static_cast<uint32_t>(args.size());
  std::memcpy(ask.args, args.data(), args.size());
  return ask;
}

}  // namespace

std::variant<uint64_t, Verdict> HostWorker::workspace_bytes(std::span<const std::byte> args) {
  if (!has_workspace_) return uint64_t{0};
  if (send(control_.get(), ask_with(worker::Request::Workspace, args))) return verdict_of_end();
  std::variant<Reply, Verdict> reply = receive();
  if (Verdict* verdict = std::get_if<Verdict>(&reply)) return std::move(*verdict);
  return static_cast<uint64_t>(std::get<Reply>(reply).answer.value);
}

std::optional<Verdict> HostWorker::run(std::span<const std::byte> args, uint64_t workspace, uint64_t workspace_bytes) {
  worker::Ask ask = ask_with(worker::Request::Run, args);
  ask.workspace = workspace;
  ask.workspace_bytes = workspace_bytes;
  if (send(control_.get(), ask)) return verdict_of_end();
  std::variant<Reply, Verdict> reply = receive();
  if (Verdict* verdict = std::get_if<Verdict>(&reply)) return std::move(*verdict);
  const worker::Answer& answer = std::get<Reply>(reply).answer;
  if (answer.stage == worker::Stage::HipFailed)
    return Verdict{VerdictKind::Crashed, fmt::format("the HIP runtime reported error {} after the call: {}", answer.value, answer.text), {}};
  if (answer.value != 0)
    return Verdict{VerdictKind::Crashed, fmt::format("the candidate returned {} instead of 0", answer.value), {}};
  return std::nullopt;
}

}  // namespace hipbench
