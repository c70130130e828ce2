#include "evaluator/host_worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "common/files.hpp"

namespace hipbench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The candidate's host code only enqueues work. While the device is busy it may wait as long as it takes (the device
// limits its wave instructions); this ends what goes on for ever all the same.
constexpr auto kLongestRun = 2h;
constexpr auto kPollInterval = 50ms;
// A thread that was joined is still to be seen for a moment.
constexpr auto kThreadPatience = 500ms;
constexpr const char* kInsideWorker = "/hipbench/hipbench-worker";
constexpr const char* kInsideRuntime = "/hipbench/libamdhip64.so.6";
constexpr const char* kInsideCandidate = "/candidate/candidate.so";

// Beside the running program; a test program lies one folder below.
std::filesystem::path find_program(const char* name) {
  const std::filesystem::path here = executable_directory();
  std::error_code ignored;
  return std::filesystem::exists(here / name, ignored) ? here / name : here.parent_path() / name;
}

sandbox::Policy worker_policy(const CandidateSetup& setup, int control_fd, int device_fd) {
  sandbox::Policy policy;
  policy.profile = sandbox::Profile::Worker;
  policy.argv = {kInsideWorker, kInsideRuntime, kInsideCandidate, setup.problem.run_symbol(),
                 setup.problem.workspace_symbol()};
  // The candidate names the runtime without a path. Its name is found because the worker has loaded it before.
  policy.env = {{"HIPBENCH_DEVICE_FD", std::to_string(worker::kDeviceFd)}, {"LANG", "C.UTF-8"}};
  policy.mounts = {{find_program("hipbench-worker"), kInsideWorker, sandbox::Access::ReadOnly},
                   {find_program("lib/libamdhip64.so.6"), kInsideRuntime, sandbox::Access::ReadOnly}};
  policy.input_files[kInsideCandidate] = setup.compiled.code;
  policy.fds = {{control_fd, worker::kControlFd}, {device_fd, worker::kDeviceFd}};
  policy.unsafe_no_sandbox = setup.unsafe_no_sandbox;
  policy.limits.wall = kLongestRun;
  policy.limits.cpu = std::chrono::seconds(60);
  policy.limits.memory_bytes = uint64_t{4} << 30;
  policy.limits.processes = 64;
  return policy;
}

// The children of a process, which has one thread.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream list(fmt::format("/proc/{}/task/{}/children", parent, parent));
  std::vector<pid_t> children;
  for (pid_t child; list >> child;) children.push_back(child);
  return children;
}

int threads_of(pid_t process) {
  std::error_code failed;
  int threads = 0;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), failed), end; !failed && at != end;
       at.increment(failed))
    ++threads;
  return threads;
}

// How long the threads of a process were ready to run while others had the machine (/proc/PID/task/TID/schedstat,
// second number).
std::chrono::nanoseconds waited_for_cpu(pid_t process) {
  uint64_t sum = 0;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), failed), end; !failed && at != end;
       at.increment(failed)) {
    uint64_t ran = 0, waited = 0;
    if (std::ifstream(at->path() / "schedstat") >> ran >> waited) sum += waited;
  }
  return std::chrono::nanoseconds(sum);
}

}  // namespace

std::variant<std::unique_ptr<HostWorker>, Verdict> HostWorker::start(const CandidateSetup& setup) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return Verdict::our_fault(fmt::format("cannot create a socket pair: {}", std::strerror(errno)));
  UniqueFd control(sockets[0]), inside(sockets[1]);
  Result<UniqueFd> device = setup.server.new_client_fd();
  if (!device) return Verdict::our_fault(device.error());
  Result<sandbox::Child> child = sandbox::Child::start(worker_policy(setup, inside.get(), device->get()));
  if (!child) return Verdict::our_fault(child.error().with_context("the worker sandbox could not be started"));
  inside.reset();
  device->reset();
  std::unique_ptr<HostWorker> worker(new HostWorker(std::move(*child), std::move(control), setup));
  std::variant<worker::Answer, Verdict> ready = worker->receive();
  if (Verdict* failed = std::get_if<Verdict>(&ready)) return std::move(*failed);
  const worker::Answer& answer = std::get<worker::Answer>(ready);
  if (answer.stage == worker::Stage::LoadFailed)
    return Verdict{VerdictKind::Rejected, fmt::format("rule `entry point`: {}", answer.text), {}};
  if (answer.stage == worker::Stage::HipFailed)
    return Verdict::our_fault(fmt::format("the worker could not use the emulated device: {}", answer.text));
  worker->has_workspace_ = answer.value != 0;
  return worker;
}

HostWorker::~HostWorker() {
  if (!child_) return;
  control_.reset();
  child_->kill();
  collect();
}

sandbox::Outcome HostWorker::collect() {
  sandbox::Outcome outcome = child_->wait();
  child_.reset();
  setup_.printed.add_output(outcome.output);
  setup_.printed.add_errors(outcome.errors);
  setup_.peak_memory_bytes = std::max(setup_.peak_memory_bytes, outcome.peak_memory_bytes);
  return outcome;
}

Verdict HostWorker::verdict_of_end() {
  using sandbox::Status;
  if (!child_) return Verdict::our_fault("the worker has ended already");
  const sandbox::Outcome outcome = collect();
  switch (outcome.status) {
    case Status::Ok:
    case Status::Exited:
      return {VerdictKind::Crashed, fmt::format("the candidate's host code ended the process ({})",
                                                outcome.reason.empty() ? "exit status 0" : outcome.reason), {}};
    case Status::Signaled:
      return {VerdictKind::Crashed, "the candidate's host code crashed: " + outcome.reason, {}};
    case Status::TimedOut:
      return {VerdictKind::TimedOut, "the candidate's host code: " + outcome.reason, {}};
    case Status::OutOfMemory:
      return {VerdictKind::OutOfMemory, "the candidate's host code: " + outcome.reason, {}};
    case Status::OutputLimit:
    case Status::Violation:
      return {VerdictKind::SandboxViolation, outcome.reason, {}};
    case Status::SetupError:
      break;
  }
  return {VerdictKind::Infrastructure, outcome.reason, {}};
}

Verdict HostWorker::stop(VerdictKind kind, std::string reason) {
  child_->kill();
  collect();
  return {kind, std::move(reason), {}};
}

std::chrono::nanoseconds HostWorker::starved() const {
  std::chrono::nanoseconds sum = waited_for_cpu(setup_.server.pid());
  for (const pid_t child : children_of(child_->pid())) sum += waited_for_cpu(child);
  return sum;
}

Result<bool> HostWorker::device_is_idle() {
  return setup_.server.trusted().synchronize_all(kPollInterval);
}

std::variant<worker::Answer, Verdict> HostWorker::receive() {
  Clock::time_point idle_since = Clock::now();
  std::chrono::nanoseconds starved_before = starved();
  while (true) {
    pollfd waiting{control_.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPollInterval).count()));
    if (ready < 0 && errno != EINTR)
      return Verdict::our_fault(fmt::format("cannot poll the worker: {}", std::strerror(errno)));
    if (ready > 0) {
      worker::Answer answer;
      const ssize_t got = ::recv(control_.get(), &answer, sizeof answer, 0);
      if (got <= 0) return verdict_of_end();
      const auto stage = static_cast<uint32_t>(answer.stage);
      if (got != static_cast<ssize_t>(sizeof answer) || stage < 1 ||
          stage > static_cast<uint32_t>(worker::Stage::Unordered))
        return stop(VerdictKind::SandboxViolation,
                    "candidate code wrote to the worker's channel to the judge (descriptor 3)");
      answer.text[worker::kMaxText - 1] = 0;
      return answer;
    }
    if (setup_.stop.stop_requested()) return stop(VerdictKind::Infrastructure, "cancelled");
    if (Clock::now() - idle_since < setup_.host_patience) continue;
    // A machine with too much to do is not the candidate's fault. Many threads that compute can raise this without end;
    // then the limit of CPU time ends them.
    const std::chrono::nanoseconds starving =
        std::max(0ns, starved() - starved_before);  // a thread that ends takes its share along
    if (Clock::now() - idle_since - starving < setup_.host_patience) continue;
    const Result<bool> idle = device_is_idle();
    if (!idle) return Verdict::our_fault(idle.error());
    if (*idle)
      return stop(VerdictKind::TimedOut,
                  fmt::format("the candidate's host code did not return within {:.3g} s while the device was idle",
                              std::chrono::duration<double>(setup_.host_patience).count()));
    idle_since = Clock::now();
    starved_before = starved();
  }
}

std::optional<Verdict> HostWorker::ask(const worker::Ask& ask) {
  pollfd early{control_.get(), POLLIN, 0};
  char byte;
  // Nobody was asked anything, so nothing may have been said; a closed channel reads as empty.
  if (::poll(&early, 1, 0) > 0 && ::recv(control_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
    return stop(VerdictKind::SandboxViolation,
                "candidate code wrote to the worker's channel to the judge (descriptor 3)");
  if (::send(control_.get(), &ask, sizeof ask, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof ask)) return std::nullopt;
  return verdict_of_end();
}

namespace {

worker::Ask ask_with(worker::Request request, std::span<const std::byte> args) {
  CHECK(args.size() <= worker::kMaxArgs);
  worker::Ask ask;
  ask.request = request;
  ask.args_size = static_cast<uint32_t>(args.size());
  std::memcpy(ask.args, args.data(), args.size());
  return ask;
}

}  // namespace

int HostWorker::threads_left_behind() const {
  const Clock::time_point start = Clock::now();
  while (true) {
    int threads = -1;
    for (const pid_t child : children_of(child_->pid())) threads += threads_of(child);
    if (threads == 0 || Clock::now() - start > kThreadPatience) return threads;
    std::this_thread::sleep_for(5ms);
  }
}

std::variant<uint64_t, Verdict> HostWorker::workspace_bytes(std::span<const std::byte> args) {
  if (!has_workspace_) return uint64_t{0};
  if (std::optional<Verdict> failed = ask(ask_with(worker::Request::Workspace, args))) return std::move(*failed);
  std::variant<worker::Answer, Verdict> answer = receive();
  if (Verdict* verdict = std::get_if<Verdict>(&answer)) return std::move(*verdict);
  return static_cast<uint64_t>(std::get<worker::Answer>(answer).value);
}

std::optional<Verdict> HostWorker::run(std::span<const std::byte> args, uint64_t workspace, uint64_t workspace_bytes) {
  worker::Ask request = ask_with(worker::Request::Run, args);
  request.workspace = workspace;
  request.workspace_bytes = workspace_bytes;
  if (std::optional<Verdict> failed = ask(request)) return failed;
  std::variant<worker::Answer, Verdict> received = receive();
  if (Verdict* verdict = std::get_if<Verdict>(&received)) return std::move(*verdict);
  const worker::Answer& answer = std::get<worker::Answer>(received);
  const int left = threads_left_behind();
  if (left < 0) {
    // Gone meanwhile, or hidden from us: then nobody knows what it left behind.
    pollfd closed{control_.get(), POLLIN, 0};
    if (::poll(&closed, 1, 1000) > 0) return verdict_of_end();
    return Verdict::our_fault(
        Error{"the worker's threads cannot be counted: /proc does not list the children of the sandbox"});
  }
  if (left > 0)
    return stop(VerdictKind::SandboxViolation,
                fmt::format("{} thread{} of the candidate outlive{} the call: join every thread before {} returns",
                            left, left == 1 ? "" : "s", left == 1 ? "s" : "", setup_.problem.run_symbol()));
  if (answer.stage == worker::Stage::HipFailed)
    return Verdict{VerdictKind::Crashed,
                   fmt::format("the HIP runtime reported error {} after the call: {}", answer.value, answer.text),
                   {}};
  // A candidate that hides this gains nothing: the emulated device runs and counts all work in the order of its
  // submission.
  if (answer.stage == worker::Stage::Unordered)
    return Verdict{
        VerdictKind::Rejected,
        fmt::format("rule `streams`: work on {} other stream{} is not ordered before the end of the given stream; "
                    "record an event there and "
                    "let the given stream wait for it (hipStreamWaitEvent), or synchronise before {} returns",
                    answer.value, answer.value == 1 ? "" : "s", setup_.problem.run_symbol()),
        {}};
  if (answer.value != 0)
    return Verdict{VerdictKind::Crashed,
                   fmt::format("{} returned {} instead of 0 (as a hipError_t: {})", setup_.problem.run_symbol(),
                               answer.value, answer.text),
                   {}};
  return std::nullopt;
}

}  // namespace hipbench
