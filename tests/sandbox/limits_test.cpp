// Each limit ends the whole group and is named.

#include "harness.hpp"

namespace hipbench::sandbox {
namespace {

TEST(Limits, cpu_time) {
  Policy policy = policy_for("endless_loop");
  policy.limits.cpu = std::chrono::seconds(1);
  const Outcome outcome = run(policy);
  expect_status(outcome, Status::TimedOut);
  EXPECT_EQ(outcome.evidence.limit, "cpu");
  EXPECT_EQ(outcome.reason, "used more than 1 s of CPU time");
  EXPECT_GE(outcome.cpu_seconds, 0.9);
}

TEST(Limits, wall_time) {
  Policy policy = policy_for("endless_sleep");
  policy.limits.wall = std::chrono::milliseconds(300);
  const Outcome outcome = run(policy);
  expect_status(outcome, Status::TimedOut);
  EXPECT_EQ(outcome.evidence.limit, "wall");
  EXPECT_EQ(outcome.reason, "ran longer than 0.3 s");
  EXPECT_GE(outcome.wall_seconds, 0.3);
}

TEST(Limits, memory_however_it_is_held) {
  for (const char* kind : {"private", "shared", "spread"}) {
    const Outcome outcome = run_program("memory_bomb", {kind}, Profile::Compiler);
    expect_status(outcome, Status::OutOfMemory);
    EXPECT_EQ(outcome.evidence.limit, "memory_bytes");
    EXPECT_EQ(outcome.reason, "used more than 64 MiB of memory");
  }
}

TEST(Limits, the_size_of_a_file) {
  const Outcome outcome = run_program("disk_filler", {"one"});
  expect_status(outcome, Status::OutputLimit);
  EXPECT_EQ(outcome.evidence.limit, "file_bytes");
}

TEST(Limits, the_size_of_all_files) {
  const Outcome outcome = run_program("disk_filler", {"many"});
  expect_refused(outcome);
  EXPECT_NE(outcome.output.find("No space left"), std::string::npos) << describe(outcome);
}

TEST(Limits, output) {
  for (const char* stream : {"1", "2"}) {
    const Outcome outcome = run_program("endless_output", {stream});
    expect_status(outcome, Status::OutputLimit);
    EXPECT_EQ(outcome.evidence.limit, "output_bytes");
    EXPECT_EQ(outcome.reason, "wrote more than 65536 bytes of output");
    EXPECT_LE(outcome.output.size() + outcome.errors.size(), 65536u);
  }
}

}  // namespace
}  // namespace hipbench::sandbox
