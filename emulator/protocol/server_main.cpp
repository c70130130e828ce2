// hipbench-device: the emulated GPU as a process of its own. Started by a trusted parent (DeviceServer::start) with one
// end of a socket; ends when the parent's end closes.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "emulator/isa/coverage.hpp"
#include "emulator/protocol/server.hpp"

namespace hipbench::emulator {
namespace {

struct Arguments {
  int fd = -1;
  u64 threads = 0, resident_budget = 0;
  bool detach = false;
};

template <typename T>
bool parse_flag(std::string_view argument, std::string_view flag, T& value) {
  if (!argument.starts_with(flag)) return false;
  argument.remove_prefix(flag.size());
  return std::from_chars(argument.data(), argument.data() + argument.size(), value).ptr ==
         argument.data() + argument.size();
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--detach")
      arguments.detach = true;
    else if (!parse_flag(argument, "--fd=", arguments.fd) && !parse_flag(argument, "--threads=", arguments.threads) &&
             !parse_flag(argument, "--resident-budget=", arguments.resident_budget))
      return false;
  }
  int type = 0;
  socklen_t size = sizeof type;
  return arguments.fd > 2 && ::getsockopt(arguments.fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// Of what the parent had open we keep the socket and standard error; a pipe held open here would keep its reader
// waiting.
void close_everything_else(int socket) {
  ::close_range(3, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, 0);
  ::dup2(null, 1);
  ::close(null);
}

int run(const Arguments& arguments) {
  if (arguments.detach && ::fork() != 0) ::_exit(0);
  close_everything_else(arguments.fd);
  // Ctrl-C is meant for the program; we end when it ends.
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_IGN);
  Result<std::unique_ptr<Server>> server =
      Server::create(static_cast<u32>(arguments.threads), arguments.resident_budget);
  if (!server) {
    fmt::print(stderr, "hipbench-device: {}\n", server.error().message);
    ::_exit(1);
  }
  (*server)->serve(UniqueFd(arguments.fd));
  // A kernel may still run for a client; nobody waits for it any more.
  ::_exit(0);
}

// What `hipbench emulate --coverage` prints: the device knows its own instructions.
int print_coverage() {
  Disassembler disassembler;
  const Coverage coverage = instruction_coverage(disassembler);
  fmt::print("{} mnemonics known to LLVM for gfx942, {} with a row, {} not for compute kernels, {} missing\n",
             coverage.known.size(), coverage.known.size() - coverage.left_out.size() - coverage.missing.size(),
             coverage.left_out.size(), coverage.missing.size());
  for (const Coverage::LeftOut& entry : coverage.left_out)
    fmt::print("  not for compute kernels: {}: {}\n", entry.mnemonic, entry.reason);
  for (const std::string& mnemonic : coverage.missing) fmt::print("  missing: {}\n", mnemonic);
  return 0;
}

}  // namespace
}  // namespace hipbench::emulator

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--coverage") return hipbench::emulator::print_coverage();
  hipbench::emulator::Arguments arguments;
  if (!hipbench::emulator::parse(argc, argv, arguments)) {
    std::fputs("hipbench-device is started by hipbench or by libamdhip64 with a socket (--fd=N).\n"
               "To run a HIP program on the emulated device: hipbench emulate -- PROGRAM ARGS\n",
               stderr);
    return 2;
  }
  return hipbench::emulator::run(arguments);
}
