// Acts that no honest program commits: the sandbox ends it and names the act.

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "harness.hpp"

namespace hipbench::sandbox {
namespace {

TEST(Violation, an_internet_socket) {
  for (Profile profile : {Profile::Compiler, Profile::Worker}) {
    const Outcome outcome = run_program("network_internet", {}, profile);
    expect_forbidden(outcome, "socket");
    EXPECT_NE(outcome.reason.find("address family 2"), std::string::npos) << outcome.reason;
  }
}

TEST(Violation, tracing_a_process) { expect_forbidden(run_program("trace_child", {}, Profile::Compiler), "ptrace"); }

TEST(Violation, a_user_namespace_of_its_own) {
  expect_forbidden(run_program("new_namespace", {}, Profile::Compiler), "clone");
  expect_forbidden(run_program("new_namespace"), "clone");
}

TEST(Violation, a_program_or_process_started_by_a_worker) {
  expect_forbidden(run_program("start_program", {"exec"}), "execve");
  expect_forbidden(run_program("start_program", {"fork"}), "clone");
  expect_status(run_program("start_program", {"spawn"}), Status::Violation);
}

TEST(Violation, killing_the_parent_or_everybody) {
  for (Profile profile : {Profile::Compiler, Profile::Worker}) {
    expect_forbidden(run_program("signal_parent", {"parent"}, profile), "kill");
    expect_forbidden(run_program("signal_parent", {"all"}, profile), "kill");
  }
}

TEST(Violation, changing_the_limits_of_the_first_process) {
  expect_forbidden(run_program("change_init_limits"), "prlimit64");
}

TEST(Violation, a_process_left_behind) {
  const Outcome outcome = run_program("leave_process", {}, Profile::Compiler);
  expect_status(outcome, Status::Violation);
  EXPECT_EQ(outcome.evidence.process, "leave_process");
  EXPECT_EQ(outcome.reason, "left the process \"leave_process\" running behind it");
}

TEST(Violation, a_process_left_behind_that_looks_like_a_zombie) {
  const Outcome outcome = run_program("leave_thread", {}, Profile::Compiler);
  expect_status(outcome, Status::Violation);
  EXPECT_EQ(outcome.evidence.process, "leave_thread");
}

TEST(Violation, too_many_processes) {
  const Outcome outcome = run_program("fork_bomb", {}, Profile::Compiler);
  expect_status(outcome, Status::Violation);
  EXPECT_EQ(outcome.evidence.limit, "processes");
  EXPECT_EQ(outcome.reason, "ran more than 16 processes and threads at once");
}

TEST(Violation, too_many_threads) {
  const Outcome outcome = run_program("thread_bomb");
  expect_status(outcome, Status::Violation);
  EXPECT_EQ(outcome.evidence.limit, "processes");
}

TEST(Violation, a_system_call_of_another_architecture) {
  const Outcome x32 = run_program("call_32_bit", {"x32"});
  expect_status(x32, Status::Violation);
  EXPECT_EQ(x32.evidence.signal, SIGSYS);
  // A kernel without 32-bit emulation ends it by itself.
  const Outcome i386 = run_program("call_32_bit", {"i386"});
  EXPECT_TRUE(i386.status == Status::Violation || i386.evidence.signal == SIGSEGV) << describe(i386);
}

struct ForbiddenCall {
  const char* name;
  long number;
};

class ForbiddenCallTest : public testing::TestWithParam<ForbiddenCall> {};

TEST_P(ForbiddenCallTest, ends_the_program_and_is_named) {
  expect_forbidden(run_program("forbidden_call", {std::to_string(GetParam().number)}), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Violation, ForbiddenCallTest,
                         testing::Values(ForbiddenCall{"mount", SYS_mount}, ForbiddenCall{"unshare", SYS_unshare},
                                         ForbiddenCall{"setns", SYS_setns}, ForbiddenCall{"bpf", SYS_bpf},
                                         ForbiddenCall{"keyctl", SYS_keyctl}, ForbiddenCall{"seccomp", SYS_seccomp},
                                         ForbiddenCall{"perf_event_open", SYS_perf_event_open},
                                         ForbiddenCall{"process_vm_readv", SYS_process_vm_readv},
                                         ForbiddenCall{"io_uring_setup", SYS_io_uring_setup},
                                         ForbiddenCall{"userfaultfd", SYS_userfaultfd},
                                         ForbiddenCall{"kexec_load", SYS_kexec_load},
                                         ForbiddenCall{"chroot", SYS_chroot}),
                         [](const auto& test) { return test.param.name; });

TEST(Violation, prctl_that_would_open_it_to_others_or_trap_our_calls) {
  for (int option : {PR_SET_DUMPABLE, PR_SET_PTRACER, PR_SET_SECCOMP, PR_SET_MM})
    expect_forbidden(run_program("forbidden_prctl", {std::to_string(option)}), "prctl");
}

}  // namespace
}  // namespace hipbench::sandbox
