#include "common/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/unique_fd.hpp"

extern char** environ;

namespace hipbench {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::vector<std::string> inherited_environment(std::string_view without) {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (without.empty() || !std::string_view(*entry).starts_with(without)) result.push_back(*entry);
  return result;
}

Result<pid_t> spawn(const ChildProgram& program) {
  CHECK(!program.argv.empty());
  // Above those that the child is to have, so that none overwrites another on its way there.
  int above = STDERR_FILENO + 1;
  for (const ChildProgram::Descriptor& descriptor : program.descriptors) above = std::max(above, descriptor.theirs + 1);
  std::vector<UniqueFd> lifted;
  for (const ChildProgram::Descriptor& descriptor : program.descriptors) {
    lifted.emplace_back(::fcntl(descriptor.ours, F_DUPFD_CLOEXEC, above));
    if (!lifted.back().valid()) return Error{fmt::format("cannot duplicate a descriptor: {}", std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (size_t i = 0; i < lifted.size(); ++i)
    ::posix_spawn_file_actions_adddup2(&actions, lifted[i].get(), program.descriptors[i].theirs);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> argv = pointers(program.argv), environment = pointers(program.environment);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return Error{fmt::format("cannot start {}: {}", argv[0], std::strerror(failed))};
  return pid;
}

Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                                  size_t output_limit) {
  CHECK(!argv.empty());
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return Error{fmt::format("cannot create a pipe: {}", std::strerror(errno))};
  UniqueFd out_read(out[0]), out_write(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return Error{fmt::format("cannot create a pipe: {}", std::strerror(errno))};
  UniqueFd err_read(err[0]), err_write(err[1]);

  const pid_t pid = TRY(spawn({argv, inherited_environment(), {{out_write.get(), 1}, {err_write.get(), 2}}}));
  out_write.reset();
  err_write.reset();

  ProcessResult result;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::array<pollfd, 2> fds = {pollfd{out_read.get(), POLLIN, 0}, pollfd{err_read.get(), POLLIN, 0}};
  std::array<std::string*, 2> sinks = {&result.output, &result.errors};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || result.output_exceeded) {
      ::kill(-pid, SIGKILL);
      result.timed_out = !result.output_exceeded;
      break;
    }
    if (::poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left.count(), 1000))) < 0 && errno != EINTR)
      break;
    for (size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (got > 0) sinks[i]->append(buffer.data(), static_cast<size_t>(got));
      if (sinks[i]->size() > output_limit) result.output_exceeded = true;
      if (got == 0 || (got < 0 && errno != EINTR)) fds[i].fd = -1;
    }
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace hipbench
