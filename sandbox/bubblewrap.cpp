#include "sandbox/bubblewrap.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "common/files.hpp"
#include "sandbox/init/wire.hpp"

namespace hipbench::sandbox {
namespace {

// HIP runtimes keep a few semaphores here.
constexpr uint64_t kSharedMemoryFolderBytes = 16u << 20;

// The value of a switch under /proc/sys, or -1 where this kernel has none.
long kernel_switch(const char* path) {
  const auto text = read_file(path);
  return text ? strtol(text->c_str(), nullptr, 10) : -1;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Result<std::string> find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"})
    if (access(path, X_OK) == 0) return std::string(path);
  return Error{"bubblewrap is not installed: apt-get install bubblewrap (0.7 or newer)"};
}

BubblewrapCommand::BubblewrapCommand(uint64_t scratch_bytes) {
  arguments_ = {"bwrap",
                "--unshare-user",
                "--unshare-pid",
                "--unshare-ipc",
                "--unshare-uts",
                "--unshare-net",
                "--unshare-cgroup-try",
                "--uid",
                "1000",
                "--gid",
                "1000",
                "--hostname",
                "sandbox",
                "--new-session",
                "--die-with-parent",
                "--as-pid-1",
                "--cap-drop",
                "ALL",
                "--clearenv",
                "--info-fd",
                std::to_string(wire::kInfoFd),
                "--block-fd",
                std::to_string(wire::kBlockFd),
                "--ro-bind",
                "/usr",
                "/usr"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments_.insert(arguments_.end(), more); };
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (std::filesystem::is_symlink(folder, error))
      add({"--symlink", std::filesystem::read_symlink(folder, error).string(), folder});
    else
      add({"--ro-bind-try", folder, folder});
  }
  for (const char* path : {"/etc/ld.so.cache", "/etc/alternatives"}) add({"--ro-bind-try", path, path});
  // bubblewrap's /dev is a tmpfs without a size: read-only, and the one folder that must be writable gets a small one.
  add({"--dev", "/dev", "--size", std::to_string(kSharedMemoryFolderBytes), "--perms", "1777", "--tmpfs", "/dev/shm",
       "--proc", "/proc", "--size", std::to_string(scratch_bytes), "--perms", "1777", "--tmpfs", "/tmp"});
}

void BubblewrapCommand::mount(const std::string& source, const std::string& inside, Access access) {
  const char* option = access == Access::ReadOnly ? "--ro-bind" : access == Access::ReadWrite ? "--bind" : "--dev-bind";
  for (const std::string& argument : {std::string(option), source, inside}) arguments_.push_back(argument);
}

void BubblewrapCommand::input_file(int fd, const std::string& inside) {
  for (const std::string& argument :
       {std::string("--perms"), std::string("0444"), std::string("--ro-bind-data"), std::to_string(fd), inside})
    arguments_.push_back(argument);
}

std::vector<std::string> BubblewrapCommand::finish() {
  for (const char* argument : {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"})
    arguments_.push_back(argument);
  // The embedded executable, by its descriptor.
  arguments_.push_back(fmt::format("/proc/self/fd/{}", wire::kImageFd));
  return std::move(arguments_);
}

std::string remedy_for(std::string_view message) {
  if (contains(message, "unknown option") || contains(message, "Unknown option"))
    return "bubblewrap is too old: version 0.7 or newer is needed";
  if (contains(message, "mount proc"))
    return "this container hides parts of /proc: start it with --security-opt systempaths=unconfined (Docker) or "
           "procMount: Unmasked (Kubernetes)";
  if (kernel_switch("/proc/sys/kernel/unprivileged_userns_clone") == 0)
    return "user namespaces are forbidden: sysctl -w kernel.unprivileged_userns_clone=1";
  if (kernel_switch("/proc/sys/user/max_user_namespaces") == 0)
    return "user namespaces are forbidden: sysctl -w user.max_user_namespaces=15000";
  if (kernel_switch("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
    return "AppArmor forbids user namespaces to bubblewrap: install an AppArmor profile with `userns,` for "
           "/usr/bin/bwrap, or "
           "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
  if (contains(message, "namespace") || contains(message, "uid map") || contains(message, "Operation not permitted"))
    return "user or mount namespaces are forbidden here, as in most containers: start the container with "
           "--security-opt "
           "seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN, or run on the host";
  return "`hipbench doctor` shows which layer is missing";
}

}  // namespace hipbench::sandbox
