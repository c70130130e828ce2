// The first process of a sandbox (pid 1 of its pid namespace). It starts the program, watches what the group uses,
// tells the launcher how it ended, and by ending itself makes the kernel kill whatever is left.
//
// It is trusted but shares uid and namespaces with a hostile program, so it is out of that program's reach: signals
// from inside never reach pid 1, it is not dumpable (no ptrace, no /proc/1/mem), its descriptors are closed on exec,
// and the filter refuses calls that would change another process's limits or priority. It is linked statically and
// embedded in hb_sandbox, so there is no file to find or to tamper with.

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/init/group.hpp"
#include "sandbox/init/wire.hpp"

namespace hipbench::sandbox {
namespace {

using wire::Message;
using wire::Report;

constexpr int kPollMilliseconds = 10;   // a core dirties about 20 MB of fresh memory in this time
constexpr int kGraceMilliseconds = 50;  // for children that are just ending when the program ends
constexpr int kGroupRlimitSlack = 2;    // init itself, and one task past the limit so that it is seen

int control_fd = wire::kControlFd;  // moves in the child that becomes the program

void send_report(const Report& report, int fd_to_send = -1) {
  iovec data{const_cast<Report*>(&report), sizeof report};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fd_to_send >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* message = CMSG_FIRSTHDR(&header);
    message->cmsg_level = SOL_SOCKET;
    message->cmsg_type = SCM_RIGHTS;
    message->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(message), &fd_to_send, sizeof fd_to_send);
  }
  if (sendmsg(control_fd, &header, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof report)) _exit(1);
}

[[noreturn]] void fail_setup(const std::string& text) {
  Report report;
  report.message = Message::SetupFailed;
  snprintf(report.text, sizeof report.text, "%s", text.c_str());
  send_report(report);
  _exit(1);
}

[[noreturn]] void fail_setup_errno(const std::string& what) { fail_setup(what + ": " + strerror(errno)); }

std::string read_config() {
  struct stat status{};
  if (fstat(wire::kConfigFd, &status) != 0) fail_setup_errno("cannot read the sandbox's configuration");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (pread(wire::kConfigFd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail_setup_errno("cannot read the sandbox's configuration");
  return bytes;
}

void set_limit(__rlimit_resource resource, uint64_t soft, uint64_t hard, const char* name) {
  rlimit current{};
  getrlimit(resource, &current);
  // Where the caller's own hard limit is lower, that one stays: it is the stricter.
  const rlimit wanted{std::min<rlim_t>(soft, current.rlim_max), std::min<rlim_t>(hard, current.rlim_max)};
  if (setrlimit(resource, &wanted) != 0) fail_setup_errno(std::string("cannot set the limit ") + name);
}

void set_limits(const wire::Config& config) {
  // 1 and not 0: a core of one byte is never written, and with 1 the kernel does not start a core_pattern program
  // either.
  set_limit(RLIMIT_CORE, 1, 1, "core");
  set_limit(RLIMIT_CPU, config.cpu_seconds + 1, config.cpu_seconds + 2, "cpu");
  set_limit(RLIMIT_FSIZE, config.file_bytes, config.file_bytes, "file_bytes");
  set_limit(RLIMIT_NOFILE, config.open_files, config.open_files, "open_files");
  set_limit(RLIMIT_MEMLOCK, 0, 0, "memlock");
  set_limit(RLIMIT_MSGQUEUE, 0, 0, "msgqueue");
  if (config.limit_processes) {
    const uint64_t tasks = config.processes + kGroupRlimitSlack;
    set_limit(RLIMIT_NPROC, tasks, tasks, "processes");
  }
}

// Gives the program its descriptors under its own numbers; everything else, the control socket included, is closed on
// exec.
void arrange_fds(const wire::Config& config) {
  // Copies above every number in use, so that no dup2 below overwrites one that is still needed.
  int above = wire::kFirstFd + static_cast<int>(config.fds.size() + config.output_files.size());
  for (int fd : config.fds) above = std::max(above, fd + 1);
  const auto copy_above = [&](int fd) {
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, above);
    if (copy < 0) fail_setup_errno("cannot place an inherited descriptor");
    return copy;
  };
  control_fd = copy_above(wire::kControlFd);
  std::vector<int> copies;
  for (size_t i = 0; i < config.fds.size(); ++i) copies.push_back(copy_above(wire::kFirstFd + static_cast<int>(i)));
  if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) fail_setup_errno("close_range (needs Linux 5.11)");
  for (size_t i = 0; i < copies.size(); ++i)
    if (dup2(copies[i], config.fds[i]) < 0) fail_setup_errno("cannot place an inherited descriptor");
}

// From here on the filter is in force. Its listener goes to the launcher, which is told of forbidden calls by it.
void install_filter(const std::string& filter) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_setup_errno("cannot give up new privileges");
  sock_fprog program{};
  program.len = static_cast<unsigned short>(filter.size() / sizeof(sock_filter));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(filter.data()));
  const long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0)
    fail_setup_errno(
        "the kernel refuses the seccomp filter (it needs Linux 5.5 with user notification, and no other supervisor of "
        "the "
        "same kind around this process)");
  Report report;
  report.message = Message::Started;
  send_report(report, static_cast<int>(listener));
  close(static_cast<int>(listener));
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become_the_program(const wire::Config& config) {
  const std::vector<char*> argv = pointers_to(config.argv);
  const std::vector<char*> env = pointers_to(config.env);
  setsid();
  if (chdir(config.working_directory.c_str()) != 0)
    fail_setup_errno("cannot enter the working directory " + config.working_directory);
  for (int signal = 1; signal < SIGRTMAX; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  arrange_fds(config);
  set_limits(config);
  if (!config.isolated) {
    Report report;
    report.message = Message::Started;
    send_report(report);
  } else {
    install_filter(config.filter);
  }
  execve(argv[0], argv.data(), env.data());
  fail_setup_errno("cannot execute " + config.argv[0] + " inside the sandbox");
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_of_reaped_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Copies a product out through a descriptor of the launcher. Only regular files, no links, bounded.
void copy_out(const std::string& path, int target, uint64_t limit, Report& report) {
  const auto complain = [&](const char* what) {
    report.message = Message::OutputFileError;
    snprintf(report.text, sizeof report.text, "%s: %s", path.c_str(), what);
  };
  const int source = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (source < 0) return complain(strerror(errno));
  struct stat status{};
  if (fstat(source, &status) != 0 || !S_ISREG(status.st_mode)) {
    complain("is not a regular file");
  } else if (static_cast<uint64_t>(status.st_size) > limit) {
    complain("is larger than the limit file_bytes");
  } else {
    static char buffer[1 << 18];
    uint64_t total = 0;
    ssize_t size = 0;
    while (total <= limit && (size = read(source, buffer, sizeof buffer)) > 0) {
      total += static_cast<uint64_t>(size);
      for (ssize_t done = 0; done < size;) {
        const ssize_t written = write(target, buffer + done, static_cast<size_t>(size - done));
        if (written <= 0) {
          close(source);
          return complain(strerror(errno));
        }
        done += written;
      }
    }
    if (size < 0) complain(strerror(errno));
  }
  close(source);
}

class Watcher {
 public:
  Watcher(const wire::Config& config, pid_t program) : config_(config), program_(program) {
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, program, 0));
    if (pidfd_ < 0) fail_setup_errno("pidfd_open (needs Linux 5.3)");
  }

  [[noreturn]] void watch() {
    while (true) {
      pollfd polled[2] = {{pidfd_, POLLIN, 0}, {wire::kControlFd, 0, 0}};
      poll(polled, 2, kPollMilliseconds);
      if (polled[1].revents != 0) end();  // the launcher is gone
      reap();
      check_usage();
      if (ended_) finish();
    }
  }

 private:
  // Collects whoever has ended. Orphans come to us, so as long as anybody lives we have a living child: that is exact,
  // where a walk through /proc can miss a process that forks and ends all the time.
  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
      if (pid == program_) {
        ended_ = true;
        wait_status_ = status;
      }
    anybody_alive_ = pid == 0;
  }

  void check_usage() {
    const GroupUsage usage = measure_group(config_.isolated);
    cpu_seconds_ = std::max(cpu_seconds_, cpu_of_reaped_children() + usage.cpu_seconds);
    peak_memory_ = std::max(peak_memory_, usage.memory_bytes);
    if (usage.memory_bytes > config_.memory_bytes) report_and_end(Message::MemoryLimit);
    if (usage.tasks > config_.processes) report_and_end(Message::ProcessLimit);
    if (cpu_seconds_ >= static_cast<double>(config_.cpu_seconds)) report_and_end(Message::CpuLimit);
  }

  [[noreturn]] void finish() {
    for (int waited = 0; anybody_alive_ && waited < kGraceMilliseconds; waited += 5) {
      usleep(5000);
      reap();
    }
    Report report;
    report.message = Message::Ended;
    if (anybody_alive_) {
      report.message = Message::LeftBehind;
      const std::string survivor = name_of_survivor(config_.isolated);
      snprintf(report.text, sizeof report.text, "%s", survivor.c_str());
    } else if (WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0) {
      int target = wire::kFirstFd + static_cast<int>(config_.fds.size());
      for (const std::string& path : config_.output_files) {
        if (report.message == Message::Ended) copy_out(path, target, config_.file_bytes, report);
        ++target;
      }
    }
    report_and_end(report);
  }

  [[noreturn]] void report_and_end(Message message) {
    Report report;
    report.message = message;
    report_and_end(report);
  }

  [[noreturn]] void report_and_end(Report report) {
    report.wait_status = wait_status_;
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    report.cpu_seconds = std::max(cpu_seconds_, cpu_of_reaped_children());
    report.peak_memory_bytes = std::max(peak_memory_, static_cast<uint64_t>(usage.ru_maxrss) * 1024);
    send_report(report);
    end();
  }

  // In a pid namespace the kernel kills everybody when pid 1 ends.
  [[noreturn]] void end() {
    if (!config_.isolated) kill_descendants();
    _exit(0);
  }

  const wire::Config& config_;
  pid_t program_;
  int pidfd_ = -1;
  bool ended_ = false;  // the program itself
  bool anybody_alive_ = true;
  int wait_status_ = 0;
  double cpu_seconds_ = 0;
  uint64_t peak_memory_ = 0;
};

[[noreturn]] void run_init() {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  const std::optional<wire::Config> config = wire::decode(read_config());
  if (!config) fail_setup("the sandbox's configuration is damaged");
  if (config->isolated && getpid() != 1) fail_setup("the sandbox's first process is not alone in its pid namespace");
  if (!config->isolated) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t program = fork();
  if (program < 0) fail_setup_errno("cannot fork inside the sandbox");
  if (program == 0) become_the_program(*config);
  // The program's standard streams are not ours: the launcher waits for their end.
  for (int fd : {0, 1, 2}) close(fd);
  Watcher(*config, program).watch();
}

}  // namespace
}  // namespace hipbench::sandbox

int main() { hipbench::sandbox::run_init(); }
