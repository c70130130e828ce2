#pragma once
// Runs the programs of tests/sandbox/programs in a sandbox with small limits.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sandbox/launch.hpp"

namespace hipbench::sandbox {

constexpr int kRefused = 77;  // programs/attempt.hpp

// Where the compiled programs are: the build folder, or a copy that the ordinary user can reach.
std::filesystem::path programs_directory();

// A policy for one of the programs, mounted at /programs.
Policy policy_for(const std::string& program, const std::vector<std::string>& arguments = {},
                  Profile profile = Profile::Worker);

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments = {},
                    Profile profile = Profile::Worker);

// The status, reason and output in one line, for failure messages.
std::string describe(const Outcome& outcome);

inline void expect_status(const Outcome& outcome, Status expected) {
  EXPECT_EQ(to_string(outcome.status), to_string(expected)) << describe(outcome);
}

// The program reported that the system refused what it tried.
inline void expect_refused(const Outcome& outcome) {
  expect_status(outcome, Status::Exited);
  EXPECT_EQ(outcome.evidence.exit_code, kRefused) << describe(outcome);
}

// The program was ended because of this system call.
inline void expect_forbidden(const Outcome& outcome, const std::string& call) {
  expect_status(outcome, Status::Violation);
  EXPECT_EQ(outcome.evidence.system_call, call) << describe(outcome);
  EXPECT_NE(outcome.reason.find(call), std::string::npos) << describe(outcome);
}

}  // namespace hipbench::sandbox
