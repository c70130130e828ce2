#include "sandbox/watch.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "sandbox/bubblewrap.hpp"
#include "sandbox/seccomp_filter.hpp"
#include "sandbox/spawn.hpp"
#include "sandbox/verdict.hpp"

namespace hipbench::sandbox {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSetUpTime = std::chrono::seconds(30);  // it takes 20 ms; a machine may be heavily loaded
constexpr milliseconds kEndTime = std::chrono::seconds(20);    // for processes that the kernel cannot kill at once

// bubblewrap's child waits for its parent to write the id maps, and only then asks to die with it: were the parent
// alone killed in between, the child would wait for ever, with the uid's lock. A stopped parent makes no more children.
void kill_with_children(int pidfd, pid_t pid) {
  syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, nullptr, 0);
  siginfo_t stopped{};
  while (waitid(P_PID, static_cast<id_t>(pid), &stopped, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  std::ifstream children(fmt::format("/proc/{}/task/{}/children", pid, pid));
  for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

// One message of init and the descriptor that may come with it.
struct Received {
  wire::Report report;
  UniqueFd fd;
};

std::optional<Received> receive(int socket) {
  Received received;
  iovec data{&received.report, sizeof received.report};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof received.report)) return std::nullopt;
  if (const cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr && message->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(message), sizeof fd);
    received.fd.reset(fd);
  }
  received.report.text[sizeof received.report.text - 1] = '\0';
  return received;
}

}  // namespace

Watch::Watch(const Policy& policy)
    : policy_(policy),
      kill_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      started_future_(started_promise_.get_future()) {
  // Duplicates the caller's descriptors now, in the caller's thread: it may close them as soon as we return.
  auto made = prepare(policy_);
  if (made)
    made_ = std::move(*made);
  else
    set_up_failed(made.error().message);
  thread_ = std::thread([this] { watch(); });
}

Watch::~Watch() {
  kill();
  if (thread_.joinable()) thread_.join();
}

Outcome Watch::wait() {
  if (thread_.joinable()) thread_.join();
  return outcome_;
}

void Watch::kill() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(kill_event_.get(), &one, sizeof one);
}

void Watch::watch() {
  if (!stopped_) set_up();
  while (process_.valid() && !ended_) poll_once();
  on_ended();
  if (!started_) started_promise_.set_value(false);
}

void Watch::set_up() {
  cgroup_.emplace(JobCgroup::create(policy_.limits));
  const auto pid = spawn(made_);
  made_.child_ends.clear();
  if (!pid) return set_up_failed(pid.error().message);
  process_pid_ = *pid;
  process_ = open_pidfd(*pid);
  if (!process_.valid()) {
    ::kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
    return set_up_failed("pidfd_open fails: Linux 5.5 or newer is needed");
  }
  if (policy_.unsafe_no_sandbox) {
    init_pid_ = *pid;
    init_ = open_pidfd(*pid);
  }
  deadline_ = Clock::now() + kSetUpTime;
}

int Watch::milliseconds_left() const {
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

void Watch::poll_once() {
  enum { kProcess, kControl, kListener, kOutput, kErrors, kInfo, kKill, kCount };
  const bool listening = !stopped_;
  std::array<pollfd, kCount> polled{{{process_.get(), POLLIN, 0},
                                     {reported_ ? -1 : made_.control.get(), POLLIN, 0},
                                     {listening ? listener_.get() : -1, POLLIN, 0},
                                     {made_.output.get(), POLLIN, 0},
                                     {made_.errors.get(), POLLIN, 0},
                                     {made_.info.get(), POLLIN, 0},
                                     {listening ? kill_event_.get() : -1, POLLIN, 0}}};
  const int ready = poll(polled.data(), polled.size(), milliseconds_left());
  if (ready < 0) return;  // EINTR
  if (ready == 0) {
    if (stopped_) {
      stopped_->reason += "; some of its processes do not end, they are stuck in the kernel";
      ended_ = true;
    } else if (!started_) {
      stop(Status::SetupError, fmt::format("the sandbox was not ready after {} s", kSetUpTime.count() / 1000));
    } else {
      stop(Status::TimedOut,
           fmt::format("ran longer than {:.3g} s", static_cast<double>(policy_.limits.wall.count()) / 1e3),
           {.limit = "wall"});
    }
    return;
  }
  if (polled[kInfo].revents != 0) on_info();
  if (polled[kControl].revents != 0) on_message();
  if ((polled[kListener].revents & POLLIN) != 0)
    on_forbidden_call();
  else if (polled[kListener].revents != 0)
    listener_.reset();
  if (polled[kOutput].revents != 0) read_stream(made_.output, outcome_.output);
  if (polled[kErrors].revents != 0) read_stream(made_.errors, outcome_.errors);
  if (polled[kKill].revents != 0 && !stopped_) stop(Status::Signaled, "killed by the judge", {.signal = SIGKILL});
  // Last, so that what was said before the end has been heard.
  if (polled[kProcess].revents != 0) ended_ = true;
}

// bubblewrap tells which process will be init, and then waits for our word.
void Watch::on_info() {
  std::array<char, 1024> buffer;
  const ssize_t size = read(made_.info.get(), buffer.data(), buffer.size());
  if (size <= 0) return made_.info.reset();
  info_.append(buffer.data(), static_cast<size_t>(size));
  constexpr std::string_view kKey = "\"child-pid\":";
  const size_t at = info_.find(kKey);
  if (init_pid_ != 0 || at == std::string::npos || info_.find_first_of(",}\n", at) == std::string::npos) return;
  init_pid_ = static_cast<pid_t>(strtol(info_.c_str() + at + kKey.size(), nullptr, 10));
  init_ = open_pidfd(init_pid_);
  cgroup_->add(init_pid_);
  [[maybe_unused]] const ssize_t written = write(made_.block.get(), "x", 1);
}

void Watch::on_message() {
  auto received = receive(made_.control.get());
  if (!received) {
    reported_ = true;  // init is gone
    return;
  }
  if (received->report.message == wire::Message::Started) return on_started(received->fd.release());
  reported_ = true;
  on_report(received->report);
}

void Watch::on_started(int listener) {
  listener_.reset(listener);
  if (!policy_.unsafe_no_sandbox && listener < 0) return stop(Status::SetupError, "the seccomp filter has no listener");
  start_ = Clock::now();
  deadline_ = start_ + policy_.limits.wall;
  started_ = true;
  started_promise_.set_value(true);
}

void Watch::on_report(const wire::Report& report) {
  outcome_.cpu_seconds = report.cpu_seconds;
  outcome_.peak_memory_bytes = report.peak_memory_bytes;
  if (started_) outcome_.wall_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (!stopped_) {
    stopped_ = outcome_from_report(report, policy_.limits);
    deadline_ = Clock::now() + kEndTime;
  }
}

// The caller is held inside the call until we answer, and we never do, but for the worker's very first execve: that is
// init starting the program.
void Watch::on_forbidden_call() {
  seccomp_notif_sizes sizes{};
  syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
  std::vector<uint64_t> storage(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)) / 8 + 1);
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, storage.data()) != 0) return;  // the caller was killed meanwhile
  seccomp_notif call{};
  memcpy(&call, storage.data(), sizeof call);
  const std::string name = system_call_name(call.data.nr);
  if (policy_.profile == Profile::Worker && !program_executed_ && call.data.nr == SYS_execve) {
    program_executed_ = true;
    std::vector<uint64_t> answer_storage(std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)) / 8 +
                                         1);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    memcpy(answer_storage.data(), &answer, sizeof answer);
    if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, answer_storage.data()) != 0 && errno != ENOENT)
      stop(Status::SetupError, "the kernel cannot let a supervised system call pass: Linux 5.5 or newer is needed");
    return;
  }
  stop(Status::Violation, fmt::format("made the forbidden system call {}", describe_call(name, call.data.args)),
       {.system_call = name});
}

void Watch::read_stream(UniqueFd& pipe, std::string& text) {
  std::array<char, 1 << 16> buffer;
  const ssize_t size = read(pipe.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return pipe.reset();
  const size_t room = static_cast<size_t>(policy_.limits.output_bytes) - text.size();
  text.append(buffer.data(), std::min(room, static_cast<size_t>(size)));
  if (static_cast<size_t>(size) > room && (!stopped_ || stopped_->ok()))
    stop(Status::OutputLimit, fmt::format("wrote more than {} bytes of output", policy_.limits.output_bytes),
         {.limit = "output_bytes"});
}

void Watch::set_up_failed(const std::string& reason) {
  stop(Status::SetupError, "cannot set up the sandbox: " + reason);
}

void Watch::stop(Status status, std::string reason, Evidence evidence) {
  stopped_.emplace();
  stopped_->status = status;
  stopped_->reason = std::move(reason);
  stopped_->evidence = std::move(evidence);
  deadline_ = Clock::now() + kEndTime;
  end_group();
}

// init's death takes every process of its pid namespace along. Without one, init itself kills what it can find once its
// socket closes.
void Watch::end_group() {
  if (policy_.unsafe_no_sandbox) {
    shutdown(made_.control.get(), SHUT_RDWR);
  } else if (init_.valid()) {
    syscall(SYS_pidfd_send_signal, init_.get(), SIGKILL, nullptr, 0);
  } else if (process_.valid()) {
    kill_with_children(process_.get(), process_pid_);
  }
}

void Watch::on_ended() {
  if (process_.valid()) {
    // Everything the group wrote is in the pipes by now; a writer outside (a passed descriptor) is not waited for.
    for (int i = 0; i < 64 && (made_.output.valid() || made_.errors.valid()); ++i) {
      if (made_.output.valid()) read_stream(made_.output, outcome_.output);
      if (made_.errors.valid()) read_stream(made_.errors, outcome_.errors);
    }
    while (!reported_) on_message();
    if (policy_.unsafe_no_sandbox) ::kill(process_pid_, SIGKILL);
    waitpid(process_pid_, nullptr, WNOHANG);
  }
  const bool out_of_memory = cgroup_ && cgroup_->ran_out_of_memory();
  if (!stopped_ && out_of_memory) stop(Status::OutOfMemory, "");
  if (!stopped_) finish_without_report();
  if (started_ && outcome_.wall_seconds == 0)
    outcome_.wall_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  outcome_.status = stopped_->status;
  outcome_.reason = stopped_->reason;
  outcome_.evidence = stopped_->evidence;
  outcome_.isolated = !policy_.unsafe_no_sandbox;
  if (out_of_memory && outcome_.status != Status::SetupError) {
    outcome_.status = Status::OutOfMemory;
    outcome_.reason = memory_reason(policy_.limits);
    outcome_.evidence.limit = "memory_bytes";
  }
  if (outcome_.ok()) collect_output_files();
  // Descriptors and the uid's lock go now, not when the caller drops the object.
  made_ = Preparation();
  cgroup_.reset();
}

// init never said how it ended: the sandbox failed to come up, or somebody outside killed it.
void Watch::finish_without_report() {
  if (std::string error = read_spawn_error(made_); !error.empty()) return set_up_failed(error);
  if (started_) {
    stop(Status::SetupError,
         "the sandbox was killed from outside (the kernel's out-of-memory killer, or an administrator)");
    return;
  }
  std::string message = outcome_.errors.substr(0, 500);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  set_up_failed(
      fmt::format("{}; {}", message.empty() ? "bubblewrap ended without a word" : message, remedy_for(message)));
}

void Watch::collect_output_files() {
  for (size_t i = 0; i < policy_.output_files.size(); ++i) {
    const int file = made_.output_files[i].get();
    std::string content(static_cast<size_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END))), '\0');
    size_t done = 0;
    while (done < content.size()) {
      const ssize_t size = pread(file, content.data() + done, content.size() - done, static_cast<off_t>(done));
      if (size <= 0) break;
      done += static_cast<size_t>(size);
    }
    outcome_.files.emplace(policy_.output_files[i], std::move(content));
  }
}

}  // namespace hipbench::sandbox
