#pragma once
// What the launcher and the sandbox's first process (init.cpp) say to each other. Both are built together, so the
// format has no versions. The launcher believes what comes this way: the program inside never holds these descriptors.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench::sandbox::wire {

// Descriptors of init, after the three standard ones.
constexpr int kControlFd = 3;  // socket to the launcher
constexpr int kConfigFd = 4;   // the Config
constexpr int kImageFd = 5;    // init's own executable
constexpr int kErrorFd = 6;    // closed on exec: tells that the launcher's child got as far as an exec
constexpr int kInfoFd = 7;     // bubblewrap tells the process id of init here
constexpr int kBlockFd = 8;    // bubblewrap waits here until init is in its cgroup
constexpr int kLockFd = 9;     // the lock of the job's uid, held until the last process is gone
constexpr int kFirstFd = 10;   // Config::fds, then one for each of Config::output_files, then input files

struct Config {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string working_directory;
  std::vector<int> fds;                   // the numbers the program shall see
  std::vector<std::string> output_files;  // copied out when the program has ended well
  std::string filter;                     // the seccomp program; empty without isolation
  uint64_t cpu_seconds = 0;
  uint64_t memory_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t processes = 0;
  uint64_t open_files = 0;
  bool limit_processes = false;  // RLIMIT_NPROC counts this group alone
  bool isolated = true;
};

std::string encode(const Config& config);
std::optional<Config> decode(std::string_view bytes);

// What a message on the control socket begins with.
enum class Message : uint32_t {
  Started,      // carries the seccomp listener; the next call is the program's exec
  SetupFailed,  // text
  Ended,        // wait_status
  CpuLimit,
  MemoryLimit,
  ProcessLimit,
  LeftBehind,       // text: the name of the process
  OutputFileError,  // text: path and what is wrong with it
};

struct Report {
  Message message = Message::SetupFailed;
  int wait_status = 0;
  double cpu_seconds = 0;
  uint64_t peak_memory_bytes = 0;
  char text[256] = {};
};

}  // namespace hipbench::sandbox::wire
