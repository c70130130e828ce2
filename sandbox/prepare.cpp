#include "sandbox/prepare.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "sandbox/bubblewrap.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/init/wire.hpp"
#include "sandbox/seccomp_filter.hpp"

// init's executable, embedded by init_image.S.
extern "C" const char hipbench_sandbox_init_begin[];
extern "C" const char hipbench_sandbox_init_end[];

namespace hipbench::sandbox {
namespace {

constexpr int kHighestInsideFd = 200;

Error errno_error(std::string_view what) { return Error{fmt::format("{}: {}", what, strerror(errno))}; }

// A sealed anonymous file with this content: whoever gets it can neither change nor grow it.
Result<UniqueFd> sealed_file(const char* name, std::string_view content, unsigned flags = 0) {
  UniqueFd file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
  if (!file.valid()) return errno_error("memfd_create");
  for (size_t done = 0; done < content.size();) {
    const ssize_t size = write(file.get(), content.data() + done, content.size() - done);
    if (size <= 0) return errno_error("writing to an anonymous file");
    done += static_cast<size_t>(size);
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return errno_error("lseek");
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return errno_error("sealing an anonymous file");
  return file;
}

// init's executable as a file of this process, made once.
Result<int> init_image() {
  static const Result<UniqueFd> image = [] {
    const std::string_view bytes(hipbench_sandbox_init_begin,
                                 static_cast<size_t>(hipbench_sandbox_init_end - hipbench_sandbox_init_begin));
    constexpr unsigned kExecutable = 0x0010;  // MFD_EXEC, Linux 6.3; older kernels take no such flag and need none
    auto with_flag = sealed_file("hipbench-sandbox-init", bytes, kExecutable);
    return with_flag ? std::move(with_flag) : sealed_file("hipbench-sandbox-init", bytes);
  }();
  if (!image) return image.error();
  return image->get();
}

Result<void> check(const Policy& policy) {
  if (policy.argv.empty() || policy.argv[0].empty() || policy.argv[0][0] != '/')
    return Error{"argv[0] of a sandboxed program must be an absolute path"};
  std::set<int> numbers;
  for (const InheritedFd& fd : policy.fds)
    if (fd.inside_fd < 3 || fd.inside_fd > kHighestInsideFd || !numbers.insert(fd.inside_fd).second)
      return Error{fmt::format("inherited descriptors need distinct numbers from 3 to {}, not {}", kHighestInsideFd,
                               fd.inside_fd)};
  const auto absolute = [](const std::filesystem::path& path) { return path.is_absolute(); };
  if (!absolute(policy.working_directory) || !std::ranges::all_of(policy.output_files, absolute) ||
      !std::ranges::all_of(policy.mounts, [&](const Mount& m) { return absolute(m.host) && absolute(m.inside); }) ||
      !std::ranges::all_of(policy.input_files, [&](const auto& entry) { return absolute(entry.first); }))
    return Error{"paths in a sandbox policy must be absolute"};
  return {};
}

// The job's uid is nobody's: what it shall use must be open to all. Said here, where it can be mended.
Result<void> check_open_to_others(const Mount& mount) {
  struct stat status{};
  if (stat(mount.host.c_str(), &status) != 0) return errno_error(fmt::format("cannot mount {}", mount.host.string()));
  const mode_t needed = S_ISDIR(status.st_mode) ? (S_IROTH | S_IXOTH) : S_IROTH;
  if (mount.access != Access::Device && (status.st_mode & needed) != needed)
    return Error{fmt::format("cannot mount {}: the sandbox's user may not read it (mode {:o}); chmod {} it",
                             mount.host.string(), status.st_mode & 07777u, S_ISDIR(status.st_mode) ? "o+rx" : "o+r")};
  if (mount.access == Access::ReadWrite && (status.st_mode & S_IWOTH) == 0)
    return Error{
        fmt::format("cannot mount {} for writing: the sandbox's user may not write it (mode {:o}); chmod o+w it",
                    mount.host.string(), status.st_mode & 07777u)};
  return {};
}

// Before Linux 5.14 RLIMIT_NPROC of an ordinary user counts all processes of that user, not those of the sandbox.
bool process_limit_counts_the_sandbox_alone() {
  utsname name{};
  int major = 0, minor = 0;
  if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

class Builder {
 public:
  explicit Builder(const Policy& policy) : policy_(policy), paths_(HostPaths::inside_the_sandbox()) {}

  Result<Preparation> build() {
    TRY(check(policy_));
    made_.change_user = geteuid() == 0 && !policy_.unsafe_no_sandbox;
    if (policy_.unsafe_no_sandbox) paths_ = TRY(HostPaths::on_the_host(policy_, made_.host_files));
    TRY(make_channels());
    TRY(make_config_and_image());
    if (made_.change_user) made_.slot = TRY(take_uid_slot());
    TRY(make_early_channels());
    TRY(add_policy_fds());
    if (!policy_.unsafe_no_sandbox) TRY(make_bubblewrap_command());
    if (policy_.unsafe_no_sandbox) made_.argv = {"hipbench-sandbox-init"};
    return std::move(made_);
  }

 private:
  void give(UniqueFd fd) {
    made_.fds.push_back(fd.get());
    made_.child_ends.push_back(std::move(fd));
  }

  Result<void> pipe_to_us(UniqueFd& our_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
    our_end.reset(ends[0]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    give(UniqueFd(ends[1]));
    return {};
  }

  // 0 to 3: the program's streams and init's socket.
  Result<void> make_channels() {
    give(policy_.stdin_data.empty() ? UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC))
                                    : TRY(sealed_file("stdin", policy_.stdin_data)));
    TRY(pipe_to_us(made_.output));
    TRY(pipe_to_us(made_.errors));
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno_error("socketpair");
    made_.control.reset(ends[0]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    give(UniqueFd(ends[1]));
    return {};
  }

  Result<void> make_config_and_image() {
    wire::Config config;
    for (const std::string& argument : policy_.argv) config.argv.push_back(paths_.rewrite(argument));
    for (const auto& [name, value] : policy_.env) config.env.push_back(name + "=" + paths_.rewrite(value));
    config.working_directory = paths_.rewrite(policy_.working_directory.string());
    for (const InheritedFd& fd : policy_.fds) config.fds.push_back(fd.inside_fd);
    for (const auto& path : policy_.output_files) config.output_files.push_back(paths_.rewrite(path.string()));
    config.isolated = !policy_.unsafe_no_sandbox;
    if (config.isolated) config.filter = TRY(seccomp_program(policy_.profile));
    config.cpu_seconds = static_cast<uint64_t>(policy_.limits.cpu.count());
    config.memory_bytes = policy_.limits.memory_bytes;
    config.file_bytes = policy_.limits.file_bytes;
    config.processes = policy_.limits.processes;
    config.open_files = policy_.limits.open_files;
    config.limit_processes = made_.change_user || (config.isolated && process_limit_counts_the_sandbox_alone());
    give(TRY(sealed_file("sandbox-config", wire::encode(config))));
    made_.fds.push_back(TRY(init_image()));
    return {};
  }

  // 6 to 9: what is used before init runs.
  Result<void> make_early_channels() {
    TRY(pipe_to_us(made_.spawn_error));
    TRY(pipe_to_us(made_.info));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
    made_.block.reset(ends[1]);
    give(UniqueFd(ends[0]));
    made_.fds.push_back(made_.slot.lock.valid() ? made_.slot.lock.get() : made_.fds[0]);
    return {};
  }

  Result<void> add_policy_fds() {
    for (const InheritedFd& fd : policy_.fds) {
      UniqueFd copy(fcntl(fd.host_fd, F_DUPFD_CLOEXEC, 3));
      if (!copy.valid()) return errno_error(fmt::format("cannot pass descriptor {} to the sandbox", fd.host_fd));
      give(std::move(copy));
    }
    for (const auto& path : policy_.output_files) {
      UniqueFd file(memfd_create(path.filename().c_str(), MFD_CLOEXEC));
      UniqueFd ours(fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
      if (!ours.valid()) return errno_error("memfd_create");
      made_.output_files.push_back(std::move(ours));
      give(std::move(file));
    }
    return {};
  }

  Result<void> make_bubblewrap_command() {
    BubblewrapCommand command(policy_.limits.scratch_bytes);
    for (const Mount& mount : policy_.mounts) {
      std::string source = mount.host.string();
      if (made_.change_user) {
        TRY(check_open_to_others(mount));
        if (mount.access == Access::Device) add_group_of(source);
        source = fmt::format("{}/{}", kStaging, made_.staged.size());
        made_.staged.push_back(mount.host.string());
      } else if (access(source.c_str(), F_OK) != 0) {
        return errno_error(fmt::format("cannot mount {}", source));
      }
      command.mount(source, mount.inside.string(), mount.access);
    }
    for (const auto& [path, content] : policy_.input_files) {
      command.input_file(static_cast<int>(made_.fds.size()), path.string());
      give(TRY(sealed_file("input", content)));
    }
    made_.executable = TRY(find_bubblewrap());
    made_.argv = command.finish();
    return {};
  }

  void add_group_of(const std::string& device) {
    struct stat status{};
    if (stat(device.c_str(), &status) == 0 && status.st_gid != 0) made_.groups.push_back(status.st_gid);
  }

  const Policy& policy_;
  HostPaths paths_;
  Preparation made_;
};

}  // namespace

Result<Preparation> prepare(const Policy& policy) { return Builder(policy).build(); }

}  // namespace hipbench::sandbox
