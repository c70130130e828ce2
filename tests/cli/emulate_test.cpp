#include "cli/emulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/files.hpp"
#include "common/subprocess.hpp"

namespace hipbench {
namespace {

using testing::HasSubstr;

// The real program, since it finds the library and the device server beside itself.
ProcessResult emulate(std::vector<std::string> args) {
  args.insert(args.begin(), {HIPBENCH_BINARY_DIR "/hipbench", "emulate"});
  Result<ProcessResult> result = run_process(args, std::chrono::seconds(60));
  EXPECT_TRUE(result);
  return result ? std::move(*result) : ProcessResult{};
}

TEST(Emulate, PassesExitStatusAndOutputOn) {
  const ProcessResult result = emulate({"--", "/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(Emulate, TheDoubleDashMayBeLeftOut) { EXPECT_EQ(emulate({"/bin/true"}).exit_code, 0); }

TEST(Emulate, NamesTheSignalThatEndedTheProgram) {
  const ProcessResult result = emulate({"--", "/bin/sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(result.errors, HasSubstr("signal 11"));
}

TEST(Emulate, PassesSignalsOn) {
  const ProcessResult result = emulate(
      {"--", "/bin/sh", "-c", "trap 'echo got it; exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.output, "got it\n");
}

TEST(Emulate, SaysWhatCannotBeRun) {
  EXPECT_EQ(emulate({"--", "/nonexistent/program"}).exit_code, 127);
  EXPECT_EQ(emulate({"--", "/etc"}).exit_code, 126);
  EXPECT_EQ(emulate({"--"}).exit_code, 2);
  EXPECT_EQ(emulate({"--nonsense", "--", "/bin/true"}).exit_code, 2);
  EXPECT_EQ(emulate({"--limit", "many", "--", "/bin/true"}).exit_code, 2);
  EXPECT_THAT(emulate({"--help"}).output, HasSubstr("--stats"));
}

TEST(Emulate, CountersComeAsJson) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::create("emulate_test");
  ASSERT_TRUE(folder);
  const std::string file = (folder->path() / "stats.json").string();
  const ProcessResult result =
      emulate({"--json", "--output", file, "--", HIPBENCH_BINARY_DIR "/tests/emulator_hip_runtime_test",
               "--gtest_filter=Modules.KernelsRunWithTheirParameters"});
  ASSERT_EQ(result.exit_code, 0) << result.output << result.errors;
  const Result<std::string> text = read_file(file);
  ASSERT_TRUE(text);
  const auto stats = nlohmann::json::parse(*text);
  EXPECT_EQ(stats["schema"], "hipbench-emulate-1");
  EXPECT_EQ(stats["exit_status"], 0);
  ASSERT_EQ(stats["kernels"].size(), 1u);
  EXPECT_EQ(stats["kernels"][0]["kernel"], "add_indices");
  EXPECT_EQ(stats["kernels"][0]["workgroups"], 2);
  EXPECT_EQ(stats["kernels"][0]["bytes_written"], 2 * 64 * 4);
}

TEST(Emulate, LimitsEndARunawayKernel) {
  const ProcessResult result =
      emulate({"--limit", "1", "--stats", "--", HIPBENCH_BINARY_DIR "/tests/emulator_hip_runtime_test",
               "--gtest_filter=Modules.KernelsRunWithTheirParameters"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("failed: add_indices"));
}

// Programs that run one after the other (from a script, a test driver) share the connection.
TEST(Emulate, AScriptMayRunSeveralPrograms) {
  const std::string program =
      HIPBENCH_BINARY_DIR "/tests/emulator_hip_runtime_test --gtest_filter=Modules.KernelsRunWithTheirParameters";
  const ProcessResult result = emulate({"--", "/bin/sh", "-c", program + " && " + program});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

}  // namespace
}  // namespace hipbench
