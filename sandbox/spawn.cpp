// The child between fork and exec. Our process has other threads, so here are only system calls on data that was made
// before the fork: no allocation, no locks, no exceptions. glibc's setuid functions signal all threads, hence the raw
// calls. Each step can fail, and then nothing runs: the child reports the step and errno through a pipe.

#include "sandbox/spawn.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/init/wire.hpp"

namespace hipbench::sandbox {
namespace {

enum class Step : int {
  DieWithParent,
  MountNamespace,
  PrivateMounts,
  OpenSource,
  StagingFolder,
  BindSource,
  ChangeUser,
  PlaceDescriptors,
  Execute,
};

const char* describe(Step step) {
  switch (step) {
    case Step::DieWithParent:
      return "cannot bind the sandbox's life to ours";
    case Step::MountNamespace:
      return "cannot make a mount namespace (root without CAP_SYS_ADMIN, as in a container: start the container with "
             "--cap-add SYS_ADMIN --security-opt seccomp=unconfined, or run as an ordinary user)";
    case Step::PrivateMounts:
      return "cannot make the mounts private";
    case Step::OpenSource:
      return "cannot open a mount source";
    case Step::StagingFolder:
      return "cannot stage a mount source";
    case Step::BindSource:
      return "cannot bind a mount source";
    case Step::ChangeUser:
      return "cannot become the job's unprivileged user (root of a container that maps too few user ids: give it "
             "65536, or "
             "run as an ordinary user)";
    case Step::PlaceDescriptors:
      return "cannot place the sandbox's descriptors";
    case Step::Execute:
      return "cannot execute bubblewrap";
  }
  return "unknown step";
}

struct SpawnError {
  Step step;
  int error;
  int index;  // of the mount source
};

// All that the child needs, as plain pointers into the Preparation.
struct ChildView {
  const char* executable;
  char* const* argv;
  const int* fds;
  int* copies;
  int fd_count;
  const char* const* sources;
  const char* const* targets;
  const char* const* source_links;  // /proc/self/fd/N for the N-th source
  int first_source_fd;  // where the sources' descriptors go, so that the links can be spelled before the fork
  int source_count;
  bool change_user;
  uid_t uid;
  const gid_t* groups;
  size_t group_count;
  int error_fd;
  pid_t parent;
};

[[noreturn]] void give_up(const ChildView& view, Step step, int index = 0) {
  const SpawnError error{step, errno, index};
  [[maybe_unused]] const ssize_t written = write(view.error_fd, &error, sizeof error);
  _exit(127);
}

void die_with_parent(const ChildView& view) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) give_up(view, Step::DieWithParent);
  if (getppid() != view.parent) _exit(127);  // it died before we asked
}

// Root only: the job's user may not be able to reach the mount sources (a checkout under /root), so they are bound into
// a tmpfs of our own mount namespace while we still can reach them. Nothing is copied, nothing is visible outside.
void stage_sources(const ChildView& view) {
  if (unshare(CLONE_NEWNS) != 0) give_up(view, Step::MountNamespace);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) give_up(view, Step::PrivateMounts);
  for (int i = 0; i < view.source_count; ++i) {
    const int fd = open(view.sources[i], O_PATH | O_CLOEXEC);
    if (fd < 0) give_up(view, Step::OpenSource, i);
    const int wanted = view.first_source_fd + i;
    if (fd != wanted && dup3(fd, wanted, O_CLOEXEC) < 0) give_up(view, Step::OpenSource, i);
  }
  if (mount("tmpfs", kStaging, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") != 0)
    give_up(view, Step::StagingFolder);
  for (int i = 0; i < view.source_count; ++i) {
    struct stat status{};
    if (fstat(view.first_source_fd + i, &status) != 0) give_up(view, Step::OpenSource, i);
    const int made = S_ISDIR(status.st_mode) ? mkdir(view.targets[i], 0755) : mknod(view.targets[i], S_IFREG | 0644, 0);
    if (made != 0) give_up(view, Step::StagingFolder, i);
    if (mount(view.source_links[i], view.targets[i], nullptr, MS_BIND | MS_REC, nullptr) != 0)
      give_up(view, Step::BindSource, i);
  }
}

void become_job_user(const ChildView& view) {
  if (syscall(SYS_setgroups, view.group_count, view.groups) != 0 ||
      syscall(SYS_setresgid, view.uid, view.uid, view.uid) != 0 ||
      syscall(SYS_setresuid, view.uid, view.uid, view.uid) != 0)
    give_up(view, Step::ChangeUser);
}

void place_descriptors(const ChildView& view) {
  for (int i = 0; i < view.fd_count; ++i) {
    view.copies[i] = fcntl(view.fds[i], F_DUPFD, view.fd_count);
    if (view.copies[i] < 0) give_up(view, Step::PlaceDescriptors);
  }
  for (int i = 0; i < view.fd_count; ++i)
    if (dup2(view.copies[i], i) < 0) give_up(view, Step::PlaceDescriptors);
  fcntl(wire::kErrorFd, F_SETFD, FD_CLOEXEC);
  if (syscall(SYS_close_range, view.fd_count, ~0U, 0) != 0) give_up(view, Step::PlaceDescriptors);
}

[[noreturn]] void run_child(ChildView view) {
  die_with_parent(view);
  if (view.change_user) {
    stage_sources(view);
    become_job_user(view);
    die_with_parent(view);  // the kernel forgets it when the user changes
  }
  if (chdir("/") != 0) give_up(view, Step::ChangeUser);
  umask(022);
  place_descriptors(view);
  view.error_fd = wire::kErrorFd;
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char* const no_environment[] = {nullptr};
  if (view.executable != nullptr)
    execve(view.executable, view.argv, no_environment);
  else
    syscall(SYS_execveat, wire::kImageFd, "", view.argv, no_environment, 0x1000 /* AT_EMPTY_PATH */);
  give_up(view, Step::Execute);
}

}  // namespace

Result<pid_t> spawn(const Preparation& preparation) {
  std::vector<char*> argv;
  for (const std::string& argument : preparation.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int first_source_fd = *std::ranges::max_element(preparation.fds) + 1;
  std::vector<std::string> texts;
  std::vector<const char*> sources, targets, links;
  texts.reserve(2 * preparation.staged.size());
  for (size_t i = 0; i < preparation.staged.size(); ++i) {
    sources.push_back(preparation.staged[i].c_str());
    targets.push_back(texts.emplace_back(fmt::format("{}/{}", kStaging, i)).c_str());
    links.push_back(texts.emplace_back(fmt::format("/proc/self/fd/{}", first_source_fd + static_cast<int>(i))).c_str());
  }
  std::vector<int> copies(preparation.fds.size());
  ChildView view{};
  view.executable = preparation.executable.empty() ? nullptr : preparation.executable.c_str();
  view.argv = argv.data();
  view.fds = preparation.fds.data();
  view.copies = copies.data();
  view.fd_count = static_cast<int>(preparation.fds.size());
  view.sources = sources.data();
  view.targets = targets.data();
  view.source_links = links.data();
  view.first_source_fd = first_source_fd;
  view.source_count = static_cast<int>(sources.size());
  view.change_user = preparation.change_user;
  view.uid = preparation.slot.uid;
  view.groups = preparation.groups.data();
  view.group_count = preparation.groups.size();
  view.error_fd = preparation.fds[wire::kErrorFd];
  view.parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Error{fmt::format("fork: {}", strerror(errno))};
  if (pid == 0) run_child(view);
  return pid;
}

std::string read_spawn_error(const Preparation& preparation) {
  SpawnError error{};
  if (read(preparation.spawn_error.get(), &error, sizeof error) != static_cast<ssize_t>(sizeof error)) return {};
  const bool about_a_source = error.step == Step::OpenSource || error.step == Step::BindSource;
  const std::string source = about_a_source ? " " + preparation.staged[static_cast<size_t>(error.index)] : "";
  return fmt::format("{}{}: {}", describe(error.step), source, strerror(error.error));
}

}  // namespace hipbench::sandbox
