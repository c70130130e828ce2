#include "evaluator/gpu_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/files.hpp"
#include "common/subprocess.hpp"

namespace hipbench {

namespace {

using Clock = std::chrono::steady_clock;
using gpu::Answer;
using gpu::Ask;
using gpu::Request;

// Names of variables by which people choose one of several GPUs. The process gets no other of the environment.
constexpr const char* kDeviceChoice[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};

Error failed(const char* what) { return Error{fmt::format("cannot {}: {}", what, std::strerror(errno))}; }

std::filesystem::path program() {
  const std::filesystem::path here = executable_directory();
  std::error_code ignored;
  return std::filesystem::exists(here / "hipbench-gpu", ignored) ? here / "hipbench-gpu"
                                                                 : here.parent_path() / "hipbench-gpu";
}

Result<UniqueFd> make_shared_memory() {
  UniqueFd memory(::memfd_create("hipbench-gpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid() || ::ftruncate(memory.get(), static_cast<off_t>(gpu::kSharedBytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failed("create shared memory for a GPU process");
  return memory;
}

// What the process writes beyond the pipe's size is lost, so that it never waits for us.
struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failed("create a pipe for a GPU process");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<pid_t> start_program(const std::filesystem::path& runtime, const UniqueFd& control, const UniqueFd& shared,
                            const UniqueFd& errors) {
  // Without XNACK a kernel reaches no host memory but what the runtime pins for it.
  std::vector<std::string> environment = {"LANG=C.UTF-8", "HSA_XNACK=0"};
  for (const char* name : kDeviceChoice)
    if (const char* value = std::getenv(name)) environment.push_back(fmt::format("{}={}", name, value));
  Result<pid_t> pid =
      spawn({{program().string(), runtime.string()},
             environment,
             {{errors.get(), 1}, {errors.get(), 2}, {control.get(), gpu::kControlFd}, {shared.get(), gpu::kSharedFd}}});
  if (!pid) return Error{pid.error().message + ". Run scripts/build."};
  return pid;
}

Ask request_for(Request request) {
  Ask ask;
  ask.request = request;
  return ask;
}

}  // namespace

std::filesystem::path find_hip_runtime() {
  constexpr const char* kName = "libamdhip64.so.6";
  const char* rocm = std::getenv("ROCM_PATH");
  for (const std::filesystem::path root : {rocm == nullptr ? "" : rocm, "/opt/rocm"}) {
    std::error_code ignored;
    if (!root.empty() && std::filesystem::exists(root / "lib" / kName, ignored)) return root / "lib" / kName;
  }
  return kName;
}

Result<std::unique_ptr<GpuProcess>> GpuProcess::start(const std::filesystem::path& runtime,
                                                      std::chrono::seconds patience, std::stop_token stop) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failed("create a socket for a GPU process");
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const UniqueFd shared = TRY(make_shared_memory());
  Pipe errors = TRY(make_pipe());
  std::unique_ptr<GpuProcess> process(new GpuProcess(patience));
  void* mapped = ::mmap(nullptr, gpu::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared.get(), 0);
  if (mapped == MAP_FAILED) return failed("map the shared memory of a GPU process");
  process->shared_ = static_cast<std::byte*>(mapped);
  process->pid_ = TRY(start_program(runtime, theirs, shared, errors.write));
  process->control_ = std::move(ours);
  process->errors_ = std::move(errors.read);
  theirs.reset();
  errors.write.reset();
  process->on_stop_.emplace(std::move(stop), [pid = process->pid_] { ::kill(pid, SIGKILL); });
  const Answer ready = TRY(process->receive(false));
  process->is_stand_in_ = ready.stand_in != 0;
  process->device_ = ready.text;
  process->bus_id_ = ready.bus_id;
  return process;
}

GpuProcess::~GpuProcess() {
  on_stop_.reset();  // before the number may be another's
  control_.reset();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (shared_ != nullptr) ::munmap(shared_, gpu::kSharedBytes);
}

std::string GpuProcess::errors() const {
  std::string text(size_t{64} << 10, '\0');
  const ssize_t got = ::read(errors_.get(), text.data(), text.size());
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  return text;
}

// `watchful`: without sleeping, since the time of the answer counts.
Result<Answer> GpuProcess::receive(bool watchful) {
  const Clock::time_point start = Clock::now();
  Answer answer;
  while (true) {
    if (!watchful) {
      pollfd waiting{control_.get(), POLLIN, 0};
      static_cast<void>(::poll(&waiting, 1, 100));
    }
    const ssize_t got = ::recv(control_.get(), &answer, sizeof answer, MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(sizeof answer)) break;
    if (got >= 0 || (errno != EAGAIN && errno != EINTR)) {
      last_failure_ = Failure::Ended;
      return Error{"the GPU process has ended"};
    }
    if (Clock::now() - start > patience_) {
      ::kill(pid_, SIGKILL);
      last_failure_ = Failure::Late;
      return Error{fmt::format("the GPU process did not answer within {} s", patience_.count())};
    }
    if (watchful) ::sched_yield();
  }
  answer.text[gpu::kMostText - 1] = 0;
  answer.bus_id[sizeof answer.bus_id - 1] = 0;
  if (answer.error == 0) return answer;
  last_failure_ = Failure::Refused;
  return Error{answer.error < 0 ? std::string(answer.text)
                                : fmt::format("HIP error {}: {}", answer.error, answer.text)};
}

Result<Answer> GpuProcess::ask(const Ask& ask) {
  if (::send(control_.get(), &ask, sizeof ask, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof ask)) {
    last_failure_ = Failure::Ended;
    return Error{"the GPU process has ended"};
  }
  return receive(ask.request == Request::Call);
}

Result<void> GpuProcess::ask_for(Request request, uint64_t address, uint64_t bytes, uint32_t value) {
  Ask wanted = request_for(request);
  wanted.address = address;
  wanted.bytes = bytes;
  wanted.value = value;
  TRY(ask(wanted));
  return {};
}

Result<void> GpuProcess::load_module(std::span<const std::byte> code) {
  if (code.size() > gpu::kSharedBytes)
    return Error{fmt::format("a code object of {} bytes is larger than a GPU process takes", code.size())};
  std::memcpy(shared_, code.data(), code.size());
  return ask_for(Request::LoadModule, 0, code.size());
}

Result<uint32_t> GpuProcess::find_kernel(const std::string& name) {
  Ask wanted = request_for(Request::FindKernel);
  if (name.size() >= sizeof wanted.text)
    return Error{"a kernel's symbol has " + std::to_string(name.size()) + " bytes"};
  std::memcpy(wanted.text, name.c_str(), name.size() + 1);
  return static_cast<uint32_t>(TRY(ask(wanted)).value);
}

Result<uint64_t> GpuProcess::allocate(uint64_t bytes) {
  Ask wanted = request_for(Request::Allocate);
  wanted.bytes = bytes;
  return TRY(ask(wanted)).value;
}

Result<void> GpuProcess::write(uint64_t address, std::span<const std::byte> bytes) {
  for (uint64_t at = 0; at < bytes.size();) {
    const uint64_t size = std::min<uint64_t>(gpu::kSharedBytes, bytes.size() - at);
    std::memcpy(shared_, bytes.data() + at, size);
    TRY(ask_for(Request::CopyIn, address + at, size));
    at += size;
  }
  return {};
}

Result<void> GpuProcess::copy_out(uint64_t address, uint64_t bytes) {
  return ask_for(Request::CopyOut, address, bytes);
}

Result<void> GpuProcess::fill(uint64_t address, std::byte value, uint64_t bytes) {
  return ask_for(Request::Fill, address, bytes, static_cast<uint32_t>(value));
}

Result<void> GpuProcess::clear_steps() { return ask_for(Request::ClearSteps); }

Result<void> GpuProcess::add_fill(uint64_t address, uint8_t value, uint64_t bytes) {
  return ask_for(Request::AddFill, address, bytes, value);
}

Result<void> GpuProcess::add_launch(const gpu::Launch& launch) {
  Ask wanted = request_for(Request::AddLaunch);
  wanted.launch = launch;
  TRY(ask(wanted));
  return {};
}

Result<ClockReadings> GpuProcess::call() {
  const Ask wanted = request_for(Request::Call);
  const Clock::time_point start = Clock::now();
  const Answer answer = TRY(ask(wanted));
  const std::chrono::duration<double, std::micro> wall = Clock::now() - start;
  return ClockReadings{answer.events_us, wall.count()};
}

Result<void> GpuProcess::synchronize() { return ask_for(Request::Synchronise); }

}  // namespace hipbench
