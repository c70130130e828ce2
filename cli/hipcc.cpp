#include "cli/hipcc.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cli/exit_status.hpp"
#include "common/toolchain.hpp"

namespace hipbench {

namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "hipbench hipcc: %s\n", message.c_str());
  return cli::kEnvironmentFailed;
}

}  // namespace

int hipcc_main(std::span<const std::string> args) {
  const Result<Toolchain> toolchain = Toolchain::locate();
  if (!toolchain) return fail(toolchain.error().message);
  // Build systems read the HIP version from here, as they do with ROCm's hipcc.
  if (std::find(args.begin(), args.end(), "--version") != args.end()) {
    std::printf("HIP version: %s\n", toolchain->hip_version.c_str());
    std::fflush(stdout);
  }
  const std::vector<std::string> command = toolchain->program_command(args);
  const std::string library = toolchain->runtime_library().string();
  if (std::find(command.begin(), command.end(), library) != command.end() && !std::filesystem::exists(library))
    return fail("the program would be linked to " + library + ", which is not there: run scripts/build");

  std::vector<char*> pointers;
  for (const std::string& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  return fail("cannot start " + command[0] + ": " + std::strerror(errno));
}

}  // namespace hipbench
