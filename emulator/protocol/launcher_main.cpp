// hipbench-device: starts the device server that was built for this processor. The instruction rows are loops over 64
// lanes, which the compiler turns into what a level of x86-64 has (v2: SSE4, v3: AVX2, v4: AVX-512). All builds give
// the same bits.
//
// HIPBENCH_CPU_LEVEL=v2 (v3, v4) asks for one of them, for tests and comparisons. --cpu-level prints the one that is
// chosen.

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

bool runs_here(std::string_view level) {
  if (level == "v4") return __builtin_cpu_supports("x86-64-v4") != 0;
  if (level == "v3") return __builtin_cpu_supports("x86-64-v3") != 0;
  return level == "v2" && __builtin_cpu_supports("x86-64-v2") != 0;
}

std::string program_of(std::string_view level) {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  return std::string(self, length > 0 ? static_cast<size_t>(length) : 0) + "-" + std::string(level);
}

}  // namespace

int main(int argc, char** argv) {
  __builtin_cpu_init();
  std::string_view chosen;
  if (const char* wanted = std::getenv("HIPBENCH_CPU_LEVEL"); wanted != nullptr && *wanted != '\0') {
    chosen = wanted;
    if (chosen != "v2" && chosen != "v3" && chosen != "v4") {
      std::fprintf(stderr, "hipbench-device: HIPBENCH_CPU_LEVEL is '%s'; it can be v2, v3 or v4\n", wanted);
      return 2;
    }
    if (!runs_here(chosen)) {
      std::fprintf(stderr, "hipbench-device: HIPBENCH_CPU_LEVEL is '%s', which this processor cannot execute\n",
                   wanted);
      return 2;
    }
  } else {
    for (const std::string_view level : {"v4", "v3", "v2"})
      if (runs_here(level) && ::access(program_of(level).c_str(), X_OK) == 0) {
        chosen = level;
        break;
      }
  }
  if (chosen.empty()) {
    std::fprintf(stderr,
                 "hipbench-device: no build for this processor beside %s: run scripts/build (x86-64-v2 is the least)\n",
                 argv[0]);
    return 1;
  }
  if (argc == 2 && std::strcmp(argv[1], "--cpu-level") == 0) {
    std::printf("x86-64-%s\n", std::string(chosen).c_str());
    return 0;
  }
  const std::string program = program_of(chosen);
  ::execv(program.c_str(), argv);
  std::fprintf(stderr, "hipbench-device: cannot start %s: %s. Run scripts/build.\n", program.c_str(),
               std::strerror(errno));
  return 1;
}
