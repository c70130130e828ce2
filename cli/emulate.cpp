#include "cli/emulate.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cli/json.hpp"
#include "cli/occupancy.hpp"
#include "cli/text.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/subprocess.hpp"
#include "common/unique_fd.hpp"
#include "emulator/protocol/device_server.hpp"

extern char** environ;

namespace hipbench {
namespace {

using emulator::Counters;
using emulator::DeviceServer;
using emulator::Operation;
using emulator::OperationKind;

constexpr int kEnvironmentFailed = cli::kEnvironmentFailed;
constexpr int kCannotExecute = 126, kNotFound = 127;  // as shells say it

constexpr const char* kHelp =
    "usage: hipbench emulate [OPTIONS] -- PROGRAM ARGS\n"
    "       hipbench emulate --coverage\n"
    "Runs a HIP program on the emulated MI300X.\n"
    "  --coverage          instructions that LLVM knows for gfx942, those the emulator has, and the missing ones\n"
    "  --stats             after the program, counters of each kernel on standard error\n"
    "  --json              the same as one JSON object\n"
    "  --output FILE       write the counters to FILE instead\n"
    "  --check             memory and race checks on every launch\n"
    "  --limit N           at most N wave instructions a launch\n"
    "  --threads N         worker threads of the emulator (default: one a core)\n"
    "  --memory-gib N      device memory that may be touched, in GiB (default: 3/4 of the machine's)\n";

struct Options {
  bool stats = false, json = false, check = false;
  std::string output;
  unsigned long long limit = 0, threads = 0, memory_gib = 0;
  std::vector<std::string> program;
};

bool parse_number(const std::string& text, unsigned long long& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

// Our options end at "--" or at the first word that is none.
Result<Options> parse(std::span<const std::string> args) {
  Options options;
  const std::map<std::string, unsigned long long Options::*> numbers = {
      {"--limit", &Options::limit}, {"--threads", &Options::threads}, {"--memory-gib", &Options::memory_gib}};
  size_t i = 0;
  for (; i < args.size() && args[i].starts_with("-"); ++i) {
    if (args[i] == "--") {
      ++i;
      break;
    }
    if (args[i] == "--stats") {
      options.stats = true;
    } else if (args[i] == "--json") {
      options.stats = options.json = true;
    } else if (args[i] == "--check") {
      options.check = true;
    } else if (args[i] == "--output" && i + 1 < args.size()) {
      options.output = args[++i];
      options.stats = true;
    } else if (const auto number = numbers.find(args[i]); number != numbers.end() && i + 1 < args.size()) {
      if (!parse_number(args[i + 1], options.*number->second))
        return Error{fmt::format("{}: \"{}\" is not a number from 0 to 2^64 - 1", args[i], args[i + 1])};
      ++i;
    } else {
      const std::vector<std::string> known = {"--coverage", "--stats", "--json",    "--output",
                                              "--check",    "--limit", "--threads", "--memory-gib"};
      const bool is_known = std::find(known.begin(), known.end(), args[i]) != known.end();
      return Error{is_known ? args[i] + " needs a value"
                            : fmt::format("there is no option {}{}", args[i], cli::suggestion(args[i], known))};
    }
  }
  options.program.assign(args.begin() + static_cast<std::ptrdiff_t>(i), args.end());
  if (options.program.empty()) return Error{"PROGRAM is missing: hipbench emulate [OPTIONS] -- PROGRAM ARGS"};
  if (options.threads > 4096 || options.memory_gib > (1u << 20))
    return Error{"--threads takes 0 to 4096, --memory-gib 0 to 1048576"};
  return options;
}

struct KernelStats {
  unsigned long long launches = 0;
  Counters counters;
  double host_seconds = 0, modelled_seconds = 0;
};

struct Stats {
  std::map<std::string, KernelStats> kernels;
  std::map<OperationKind, unsigned long long> operations;
  unsigned long long bytes_copied = 0, dropped = 0;
  std::vector<std::string> failures;

  void add(const Operation& operation) {
    ++operations[operation.kind];
    bytes_copied += operation.bytes;
    if (operation.kind != OperationKind::Launch) return;
    KernelStats& kernel = kernels[operation.kernel];
    ++kernel.launches;
    kernel.host_seconds += operation.result.host_seconds;
    kernel.modelled_seconds += operation.result.modelled_seconds;
    const Counters& from = operation.result.counters;
    Counters& to = kernel.counters;
    for (const auto field :
         {&Counters::instructions, &Counters::valu, &Counters::salu, &Counters::smem, &Counters::vmem, &Counters::lds,
          &Counters::mfma, &Counters::branch, &Counters::other, &Counters::mfma_flops, &Counters::bytes_read,
          &Counters::bytes_written, &Counters::barriers, &Counters::workgroups, &Counters::waves})
      to.*field += from.*field;
    const std::string name = cli::demangled_name(operation.kernel);
    if (!operation.refused.empty()) failures.push_back(name + ": " + operation.refused);
    if (!operation.result.completed()) failures.push_back(name + ": " + operation.result.fault.message);
  }

  Result<void> drain(emulator::Client& device) {
    const emulator::OperationLog log = TRY(device.drain_log());
    for (const Operation& operation : log.operations) add(operation);
    dropped += log.dropped;
    return {};
  }
};

std::string as_json(const Stats& stats, int exit_status) {
  Json root = {{"schema", "hipbench-emulate-1"}, {"exit_status", exit_status}, {"bytes_copied", stats.bytes_copied},
                                 {"operations_not_logged", stats.dropped}, {"failures", stats.failures}};
  root["kernels"] = Json::array();
  for (const auto& [name, kernel] : stats.kernels) {
    Json entry = {{"kernel", name}, {"name", cli::demangled_name(name)}, {"launches", kernel.launches}};
    entry.update(cli::counters_json(kernel.counters));
    entry["emulation_seconds"] = kernel.host_seconds;
    entry["modelled_seconds"] = kernel.modelled_seconds > 0 ? Json(kernel.modelled_seconds) : Json();
    root["kernels"].push_back(std::move(entry));
  }
  return json_text(root, 2) + "\n";
}

std::string as_table(const Stats& stats) {
  std::string text =
      fmt::format("{:<40} {:>8} {:>14} {:>14} {:>12} {:>12} {:>14} {:>10} {:>12}\n", "kernel", "launches",
                  "instructions", "MFMA flop", "read B", "written B", "workgroups", "emulated s", "modelled us");
  for (const auto& [symbol, kernel] : stats.kernels) {
    const Counters& c = kernel.counters;
    const std::string name = cli::printable_line(cli::demangled_name(symbol));
    const std::string shown = name.size() <= 40 ? name : name.substr(0, 37) + "...";
    text += fmt::format("{:<40} {:>8} {:>14} {:>14} {:>12} {:>12} {:>14} {:>10.3f} {:>12}\n", shown, kernel.launches,
                        c.instructions, c.mfma_flops, c.bytes_read, c.bytes_written, c.workgroups, kernel.host_seconds,
                        kernel.modelled_seconds > 0 ? fmt::format("{:.2f}", kernel.modelled_seconds * 1e6) : "-");
  }
  if (stats.dropped > 0)
    text += fmt::format("{} operations are missing above: the device's log was full\n", stats.dropped);
  for (const std::string& failure : stats.failures) text += "failed: " + failure + "\n";
  return text;
}

// While it exists, the signals that end or steer a program go to it, not to us. Handlers rather than blocked signals:
// libraries have threads of their own, which would take them. One at a time.
class PassedSignals {
 public:
  PassedSignals() {
    program_ = 0;
    early_ = 0;
    struct sigaction action{};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);  // nohup
    }
  }
  ~PassedSignals() {
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  PassedSignals(const PassedSignals&) = delete;

  // From now on to this process, beginning with what came before there was one.
  void to(pid_t program) {
    program_ = program;
    if (const int signal = early_.exchange(0); signal != 0) ::kill(program, signal);
  }

 private:
  static void pass_on(int signal, siginfo_t* info, void*) {
    const int errno_before = errno;
    // What the terminal sends reaches the program by itself.
    const bool from_terminal = (signal == SIGINT || signal == SIGQUIT) && info->si_code == SI_KERNEL;
    if (!from_terminal) {
      early_ = signal;
      if (const pid_t program = program_; program != 0 && early_.exchange(0) != 0) ::kill(program, signal);
    }
    errno = errno_before;
  }

  static constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  static inline std::atomic<pid_t> program_ = 0;
  static inline std::atomic<int> early_ = 0;
  struct sigaction before_[std::size(kSignals)];
};

Result<pid_t> spawn(const Options& options, int device_fd) {
  const char* inherited = std::getenv("LD_LIBRARY_PATH");
  std::string library_path = "LD_LIBRARY_PATH=" + (executable_directory() / "lib").string();
  if (inherited != nullptr && *inherited != 0) library_path += std::string(":") + inherited;
  std::string device = fmt::format("HIPBENCH_DEVICE_FD={}", device_fd);
  std::vector<char*> environment = {library_path.data(), device.data()};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "LD_LIBRARY_PATH=", 16) != 0 && std::strncmp(*entry, "HIPBENCH_DEVICE_FD=", 19) != 0)
      environment.push_back(*entry);
  environment.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& argument : options.program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, device_fd, device_fd);  // inherited in spite of close-on-exec
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return Error{fmt::format("cannot run {}: {}", options.program[0], std::strerror(failed))};
  }
  return pid;
}

// Waits for the program, emptying the device's log before it fills.
int wait_for(pid_t pid, emulator::Client& device, Stats& stats) {
  constexpr int kDrainMilliseconds = 200;
  const UniqueFd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // without one, poll only waits
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pollfd polled = {ended.get(), POLLIN, 0};
    if (::poll(&polled, 1, kDrainMilliseconds) == 0) (void)stats.drain(device);
  }
}

int run(const Options& options) {
  emulator::DeviceServerOptions server_options;
  server_options.threads = static_cast<emulator::u32>(options.threads);
  server_options.resident_budget = options.memory_gib << 30;
  Result<DeviceServer> server = DeviceServer::start(server_options);
  if (!server) {
    fmt::print(stderr, "hipbench emulate: {}\n", server.error().message);
    return kEnvironmentFailed;
  }
  emulator::Client& device = server->trusted();
  emulator::Limits limits;
  limits.instructions_per_launch = options.limit;
  limits.check = options.check;
  limits.time = options.stats && !options.check;
  const Result<void> limited = device.set_limits(limits);
  Result<UniqueFd> client = server->new_client_fd();
  if (!limited || !client) {
    fmt::print(stderr, "hipbench emulate: {}\n", !limited ? limited.error().message : client.error().message);
    return kEnvironmentFailed;
  }

  PassedSignals signals;
  const Result<pid_t> pid = spawn(options, client->get());
  if (!pid) {
    const int reason = errno;
    fmt::print(stderr, "hipbench emulate: {}\n", pid.error().message);
    return reason == ENOENT ? kNotFound : kCannotExecute;
  }
  signals.to(*pid);
  client->reset();
  Stats stats;
  const int status = wait_for(*pid, device, stats);
  if (status > 128 && status < 128 + NSIG)
    fmt::print(stderr, "hipbench emulate: {} was ended by signal {} ({})\n", options.program[0], status - 128,
               ::strsignal(status - 128));
  if (!options.stats) return status;

  // The program is gone, so its connection has nothing more to run than what it had submitted.
  if (const Result<void> drained = stats.drain(device); !drained) {
    fmt::print(stderr, "hipbench emulate: no counters: {}\n", drained.error().message);
    return kEnvironmentFailed;
  }
  const std::string text = options.json ? as_json(stats, status) : as_table(stats);
  if (options.output.empty()) {
    std::fputs(text.c_str(), stderr);
  } else if (const Result<void> written = write_file_atomically(options.output, text); !written) {
    fmt::print(stderr, "hipbench emulate: {}\n", written.error().message);
    return kEnvironmentFailed;
  }
  return status;
}

}  // namespace

namespace {

// The device knows its instructions; this program does not.
int print_coverage() {
  const Result<ProcessResult> result =
      run_process({(executable_directory() / "hipbench-device").string(), "--coverage"});
  if (!result || result->exit_code != 0) {
    fmt::print(stderr, "hipbench emulate: {}\n", result ? result->errors : result.error().message);
    return kEnvironmentFailed;
  }
  fmt::print("{}", result->output);
  return 0;
}

}  // namespace

namespace {
int wrong_usage(const std::string& message) {
  return cli::fail(cli::kWrongUsage, message + "\n`hipbench emulate --help` shows what is allowed");
}
}  // namespace

int emulate_main(std::span<const std::string> args) {
  if (!args.empty() && (args[0] == "--help" || args[0] == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (!args.empty() && args[0] == "--coverage") {
    if (args.size() == 1) return print_coverage();
    return wrong_usage("--coverage takes no program and no other option");
  }
  const Result<Options> options = parse(args);
  if (!options) return wrong_usage(options.error().message);
  return run(*options);
}

}  // namespace hipbench
