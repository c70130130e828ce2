// The tests' main: --as-ordinary-user, given by root, runs them all again as a user without any rights.

#include "harness.hpp"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "common/files.hpp"

namespace hipbench::sandbox {
namespace {

constexpr uid_t kOrdinaryUser = 65533;
constexpr int kSkipped = 78;  // CMakeLists.txt tells ctest

std::filesystem::path& programs() {
  static std::filesystem::path path = std::filesystem::path(HIPBENCH_BINARY_DIR) / "tests/sandbox/programs";
  return path;
}

}  // namespace

std::filesystem::path programs_directory() { return programs(); }

Policy policy_for(const std::string& program, const std::vector<std::string>& arguments, Profile profile) {
  Policy policy;
  policy.argv = {"/programs/" + program};
  policy.argv.insert(policy.argv.end(), arguments.begin(), arguments.end());
  policy.mounts = {{programs_directory(), "/programs", Access::ReadOnly}};
  policy.profile = profile;
  // Generous with time, since machines may be loaded: tests that wait for a limit lower that one.
  policy.limits.wall = std::chrono::seconds(20);
  policy.limits.cpu = std::chrono::seconds(10);
  policy.limits.memory_bytes = 64 << 20;
  policy.limits.output_bytes = 64 << 10;
  policy.limits.file_bytes = 512 << 10;
  policy.limits.scratch_bytes = 4 << 20;
  policy.limits.processes = 16;
  return policy;
}

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments, Profile profile) {
  return run(policy_for(program, arguments, profile));
}

std::string describe(const Outcome& outcome) {
  return std::string(to_string(outcome.status)) + ": " + outcome.reason + " [" + outcome.output.substr(0, 500) + "] [" +
         outcome.errors.substr(0, 500) + "]";
}

namespace {

// The build folder may be out of the user's reach (a checkout under /root): the programs go where everybody can read.
int run_as_ordinary_user() {
  if (geteuid() != 0) {
    std::cout << "not root: these tests have just run as an ordinary user anyway\n";
    return kSkipped;
  }
  auto folder = TemporaryDirectory::create("hipbench-sandbox-test");
  if (!folder) return 1;
  const auto copy = folder->path() / "programs";
  std::filesystem::copy(programs(), copy, std::filesystem::copy_options::recursive);
  std::filesystem::permissions(folder->path(), std::filesystem::perms(0755));
  programs() = copy;
  if (setgroups(0, nullptr) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kOrdinaryUser) != 0 || setuid(kOrdinaryUser) != 0) _exit(1);
    _exit(RUN_ALL_TESTS());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace hipbench::sandbox

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]) == "--as-ordinary-user") return hipbench::sandbox::run_as_ordinary_user();
  return RUN_ALL_TESTS();
}
