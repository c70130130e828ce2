// Three kinds of system call:
//   allowed   the list below, in part only with certain arguments;
//   hostile   no honest compiler or kernel launcher makes them: the caller is held (SECCOMP_RET_USER_NOTIF) until the
//   watcher,
//             told which call it was, has killed the whole sandbox. The call itself is never carried out. KILL_PROCESS
//             would not tell the parent which call it was, and a SIGSYS handler (TRAP) belongs to the hostile program;
//   the rest  fail with ENOSYS, which libc takes as "an older kernel" and works around (clone3, openat2, ...).
// A 32-bit or x32 call is killed with SIGSYS. Values that the kernel cuts to 32 bits are compared exactly where that
// allows and masked where that forbids, so that garbage in the upper half gains nothing.

#include "sandbox/seccomp_filter.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "common/unique_fd.hpp"

namespace hipbench::sandbox {
namespace {

constexpr uint32_t kHostile = SCMP_ACT_NOTIFY;
constexpr uint64_t kLow32 = 0xffffffff;

// What libc, the dynamic linker, LLVM, HIP runtimes and ordinary host code need.
// clang-format off: one call a line would bury the structure
constexpr const char* kAllowed[] = {
    // files and directories, as far as the mounts let them
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "open",
    "openat", "creat", "close", "close_range", "stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs",
    "lseek", "access", "faccessat", "faccessat2", "dup", "dup2", "dup3", "fcntl", "flock", "fsync", "fdatasync",
    "sync_file_range", "ftruncate", "truncate", "ioctl", "fallocate", "fadvise64", "copy_file_range", "sendfile",
    "getdents", "getdents64", "getcwd", "chdir", "fchdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat",
    "rmdir", "unlink", "unlinkat", "link", "linkat", "symlink", "symlinkat", "readlink", "readlinkat", "chmod",
    "fchmod", "fchmodat", "umask", "utime", "utimes", "utimensat", "getxattr", "lgetxattr", "fgetxattr", "listxattr",
    "llistxattr", "flistxattr", "futimesat",
    // memory
    "mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "mincore", "msync", "mbind", "get_mempolicy",
    "set_mempolicy", "membarrier",
    // signals to itself, waiting, time
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "pause", "alarm", "setitimer", "getitimer", "timer_create", "timer_settime", "timer_gettime",
    "timer_getoverrun", "timer_delete", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres",
    "gettimeofday", "time", "times", "restart_syscall", "wait4", "waitid",
    // descriptors to wait on, pipes, and the inherited socket
    "pipe", "pipe2", "select", "pselect6", "poll", "ppoll", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "timerfd_create", "timerfd_settime",
    "timerfd_gettime", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown", "getsockopt",
    "setsockopt", "getsockname", "getpeername",
    // threads and identity
    "futex", "futex_waitv", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "arch_prctl",
    "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_getscheduler",
    "sched_get_priority_max", "sched_get_priority_min", "getpriority", "getpid", "gettid", "getppid", "getpgrp",
    "getpgid", "getsid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getrusage",
    "getrlimit", "setrlimit", "uname", "sysinfo", "getcpu", "getrandom", "exit", "exit_group",
};
// clang-format on

// Reaching into other processes, the kernel, or out of the namespaces.
// clang-format off: one call a line would bury the structure
constexpr const char* kHostileCalls[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "mount", "umount2",
    "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "unshare", "setns", "bpf", "seccomp", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "swapon",
    "swapoff", "reboot", "acct", "iopl", "ioperm", "modify_ldt", "sethostname", "setdomainname", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "syslog", "mknod", "mknodat", "vhangup", "bind", "listen",
    "connect", "accept", "accept4",
};
// clang-format on

constexpr int kHostilePrctls[] = {PR_SET_DUMPABLE, PR_SET_PTRACER, PR_SET_SECCOMP,
                                  PR_SET_MM,       PR_CAP_AMBIENT, PR_SET_SECUREBITS};
constexpr int kAllowedPrctls[] = {PR_SET_NAME,        PR_GET_NAME,      PR_GET_DUMPABLE,
                                  PR_SET_PDEATHSIG,   PR_GET_PDEATHSIG, PR_CAPBSET_READ,
                                  PR_SET_THP_DISABLE, 0x53564d41 /* PR_SET_VMA: names */};

// The namespaces that clone() can make.
constexpr uint64_t kNamespaceFlags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

// The program is the first child of pid 1, hence 2. A worker has no other process that it could signal.
constexpr uint64_t kProgramPid = 2;

class Rules {
 public:
  explicit Rules(scmp_filter_ctx context) : context_(context) {}

  void add(uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> comparisons = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;  // unknown to this libseccomp: stays with the default, ENOSYS
    const int error = seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(comparisons.size()),
                                             comparisons.begin());
    if (error != 0 && failure_.empty()) failure_ = fmt::format("seccomp rule for {}: {}", name, strerror(-error));
  }
  const std::string& failure() const { return failure_; }

 private:
  scmp_filter_ctx context_;
  std::string failure_;
};

scmp_arg_cmp equal(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp different(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_NE, value, 0}; }
scmp_arg_cmp masked(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void add_common_rules(Rules& rules) {
  for (const char* name : kAllowed) rules.add(SCMP_ACT_ALLOW, name);
  for (const char* name : kHostileCalls) rules.add(kHostile, name);
  for (int option : kAllowedPrctls) rules.add(SCMP_ACT_ALLOW, "prctl", {equal(0, static_cast<uint64_t>(option))});
  for (int option : kHostilePrctls) rules.add(kHostile, "prctl", {masked(0, kLow32, static_cast<uint64_t>(option))});
  // libc asks a local name service by AF_UNIX now and then; there is none. Any other family is an attempt at the
  // network.
  rules.add(SCMP_ACT_ERRNO(EACCES), "socket", {equal(0, AF_UNIX)});
  rules.add(kHostile, "socket", {different(0, AF_UNIX)});
  // Only its own limits: init's are none of its business.
  rules.add(SCMP_ACT_ALLOW, "prlimit64", {equal(0, 0)});
  rules.add(kHostile, "prlimit64", {different(0, 0), different(2, 0)});
}

void add_compiler_rules(Rules& rules) {
  uint64_t all = 0;
  for (uint64_t flag : kNamespaceFlags) {
    all |= flag;
    rules.add(kHostile, "clone", {masked(0, flag, flag)});
  }
  rules.add(SCMP_ACT_ALLOW, "clone", {masked(0, all, 0)});
  for (const char* name : {"fork", "vfork", "execve", "setpgid", "setsid", "tgkill"}) rules.add(SCMP_ACT_ALLOW, name);
  rules.add(kHostile, "kill");
}

void add_worker_rules(Rules& rules) {
  uint64_t all = CLONE_THREAD | CLONE_VM;
  for (uint64_t flag : kNamespaceFlags) {
    all |= flag;
    rules.add(kHostile, "clone", {masked(0, flag, flag)});
  }
  rules.add(SCMP_ACT_ALLOW, "clone", {masked(0, all, CLONE_THREAD | CLONE_VM)});
  rules.add(kHostile, "clone", {masked(0, CLONE_THREAD, 0)});
  // The watcher lets the first execve pass, which is init's, starting the program.
  for (const char* name : {"fork", "vfork", "execve", "execveat"}) rules.add(kHostile, name);
  for (const char* name : {"kill", "tgkill"}) {
    rules.add(SCMP_ACT_ALLOW, name, {equal(0, kProgramPid)});
    rules.add(kHostile, name, {different(0, kProgramPid)});
  }
}

Result<std::string> compile(Profile profile) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  if (context == nullptr) return Error{"libseccomp cannot make a filter (out of memory)"};
  struct Release {
    scmp_filter_ctx context;
    ~Release() { seccomp_release(context); }
  } release{context};
  seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree: every call of the program passes it
  Rules rules(context);
  add_common_rules(rules);
  profile == Profile::Compiler ? add_compiler_rules(rules) : add_worker_rules(rules);
  if (!rules.failure().empty()) return Error{rules.failure()};
  const UniqueFd file(memfd_create("seccomp", MFD_CLOEXEC));
  if (!file.valid()) return Error{fmt::format("memfd_create: {}", strerror(errno))};
  if (const int error = seccomp_export_bpf(context, file.get()); error != 0)
    return Error{fmt::format("libseccomp cannot compile the filter: {}", strerror(-error))};
  std::string program(static_cast<size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
  if (pread(file.get(), program.data(), program.size(), 0) != static_cast<ssize_t>(program.size()) || program.empty())
    return Error{"cannot read the compiled seccomp filter back"};
  return program;
}

}  // namespace

Result<std::string> seccomp_program(Profile profile) {
  static std::mutex mutex;
  static std::array<std::string, 2> programs;
  const std::lock_guard lock(mutex);
  std::string& program = programs[static_cast<size_t>(profile)];
  if (program.empty()) program = TRY(compile(profile));
  return program;
}

std::string system_call_name(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  if (name == nullptr) return fmt::format("system call {}", number);
  std::string text(name);
  free(name);
  return text;
}

}  // namespace hipbench::sandbox
