// What a candidate's host code may and may not do in the worker, and how each ends.

#include <filesystem>
#include <fstream>

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostTrackTest : public EvaluateTest {
 protected:
  static void expect(const Evaluation& evaluation, VerdictKind kind, const std::string& text = "") {
    EXPECT_EQ(to_string(evaluation.verdict.kind), to_string(kind)) << described(evaluation);
    EXPECT_THAT(evaluation.verdict.reason + "\n" + evaluation.verdict.evidence, HasSubstr(text));
  }
};

TEST_F(HostTrackTest, AnHonestCandidatePasses) {
  expect(evaluate_host("return launch(args, stream);"), VerdictKind::Passed);
}

// What the judge itself moves before the call is no part of the time.
TEST_F(HostTrackTest, TheSameKernelTakesTheSameTimeInBothTracks) {
  const Problem& identity = **find_problem("identity");
  EvaluateOptions options = quick_options(identity);
  options.shapes = {identity.parse_shape("rows=256,columns=1024").value()};
  const auto time_us = [&](Track track) {
    const Evaluation evaluation = evaluate(identity, "starter.hip", std::string(identity.starter(track)), options);
    EXPECT_TRUE(evaluation.verdict.passed()) << described(evaluation);
    return evaluation.shapes.at(0).time_us;
  };
  EXPECT_NEAR(time_us(Track::Host), time_us(Track::Kernel), 0.1);
}

TEST_F(HostTrackTest, AMissingEntryPointIsRejectedByName) {
  std::string source = host_source("return launch(args, stream);");
  source.replace(source.find("hb_fp8_gemm_run"), 15, "hb_fp8_gemm_go_");
  expect(evaluate(fp8_gemm(), "host.hip", source, small_options()), VerdictKind::Rejected,
         "does not export hb_fp8_gemm_run");
}

TEST_F(HostTrackTest, AReturnOtherThanZeroIsACrash) {
  expect(evaluate_host("(void)launch(args, stream); return 3;"), VerdictKind::Crashed, "hb_fp8_gemm_run returned 3");
  expect(evaluate_host("(void)launch(args, stream); return hipErrorInvalidConfiguration;"), VerdictKind::Crashed,
         "invalid configuration");
}

TEST_F(HostTrackTest, ARefusalOfTheRuntimeIsShownInItsOwnWords) {
  const Evaluation evaluation =
      evaluate_host("naive_gemm<<<1, 64, 100000, stream>>>(*args); return hipGetLastError();");
  expect(evaluation, VerdictKind::Crashed, "hb_fp8_gemm_run returned");
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("standard error of the candidate:\n  hipbench: "));
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("asks for 100000 bytes of LDS; a workgroup has 65536"));
  // Also when the candidate does not look at the error itself.
  EXPECT_THAT(evaluate_host("naive_gemm<<<1, 64, 100000, stream>>>(*args); return 0;").verdict.evidence,
              HasSubstr("100000 bytes of LDS"));
}

TEST_F(HostTrackTest, WhatTheCandidatePrintedIsShownIndented) {
  const Evaluation evaluation =
      evaluate_host("(void)launch(args, stream); puts(\"tile 7\\nverdict: passed\"); return 3;", "#include <cstdio>\n");
  expect(evaluation, VerdictKind::Crashed, "printed by the candidate:\n  tile 7\n  verdict: passed\n");
}

TEST_F(HostTrackTest, AFailedAssertShowsItsConditionFileAndLine) {
  const Evaluation evaluation =
      evaluate_host("check<<<1, 64, 0, stream>>>(args->m); (void)hipDeviceSynchronize(); return launch(args, stream);",
                    "#include <cassert>\n__global__ void check(int m) { assert(m == 1234567); }\n");
  expect(evaluation, VerdictKind::Crashed, "printed by the candidate:\n  ");
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("m == 1234567")) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("my folder/host.hip:"));
  EXPECT_THAT(evaluation.verdict.evidence, Not(HasSubstr(".toolchain")));
}

TEST_F(HostTrackTest, EndingTheProcessIsACrash) {
  expect(evaluate_host("exit(0);"), VerdictKind::Crashed, "ended the process");
  expect(evaluate_host("exit(5);"), VerdictKind::Crashed, "ended the process");
}

TEST_F(HostTrackTest, AbortShowsWhatWasSaidBefore) {
  const Evaluation evaluation = evaluate_host("fprintf(stderr, \"the tile does not fit\\n\"); abort();",
                                              "#include <cstdio>\n#include <cstdlib>\n");
  expect(evaluation, VerdictKind::Crashed, "the tile does not fit");
}

TEST_F(HostTrackTest, AConstructorThatEndsTheProcessIsACrash) {
  expect(evaluate_host("return launch(args, stream);", "#include <cstdlib>\nstatic int early = (_Exit(0), 0);\n"),
         VerdictKind::Crashed, "ended the process");
}

TEST_F(HostTrackTest, HostCodeThatDoesNotReturnIsStopped) {
  EvaluateOptions options = small_options();
  options.host_patience = std::chrono::seconds(1);
  expect(evaluate_host("for (volatile int spin = 0;; spin = spin + 1) {}", "", options), VerdictKind::TimedOut,
         "did not return within 1 s");
}

TEST_F(HostTrackTest, AThreadLeftBehindIsAViolation) {
  expect(evaluate_host("std::thread([] { for (;;) pause(); }).detach(); return launch(args, stream);",
                       "#include <thread>\n#include <unistd.h>\n"),
         VerdictKind::SandboxViolation, "1 thread of the candidate outlives the call");
}

TEST_F(HostTrackTest, AChildProcessIsAViolation) {
  expect(evaluate_host("if (fork() == 0) for (;;) pause(); return launch(args, stream);", "#include <unistd.h>\n"),
         VerdictKind::SandboxViolation);
}

TEST_F(HostTrackTest, GarbageOnTheJudgesChannelIsAViolation) {
  const std::string unistd = "#include <unistd.h>\n";
  expect(evaluate_host("(void)!write(3, \"passed\", 6); return launch(args, stream);", unistd),
         VerdictKind::SandboxViolation, "descriptor 3");
  // Of the right size, but of no known kind; and one that arrives while nobody asked.
  expect(
      evaluate_host("char text[1016] = {9}; (void)!write(3, text, sizeof text); return launch(args, stream);", unistd),
      VerdictKind::SandboxViolation, "descriptor 3");
}

TEST_F(HostTrackTest, GarbageOnTheDeviceConnectionIsTheCandidatesFault) {
  const Evaluation evaluation = evaluate_host(
      "char junk[4096]; memset(junk, 0x5a, sizeof junk); for (int i = 0; i < 64; ++i) (void)!write(4, junk, sizeof "
      "junk); return launch(args, stream);",
      "#include <cstring>\n#include <unistd.h>\n");
  EXPECT_FALSE(evaluation.verdict.passed());
  EXPECT_NE(evaluation.verdict.kind, VerdictKind::Infrastructure) << described(evaluation);
}

TEST_F(HostTrackTest, ALaunchThatTheRuntimeRefusesIsNoResult) {
  expect(evaluate_host("naive_gemm<<<1, 4096, 0, stream>>>(*args); return 0;"), VerdictKind::WrongResult,
         "no kernel was launched");
  expect(evaluate_host("naive_gemm<<<1, 4096, 0, stream>>>(*args); return hipGetLastError();"), VerdictKind::Crashed,
         "hb_fp8_gemm_run returned");
}

TEST_F(HostTrackTest, AFaultOnTheDeviceNamesBufferAndSourceLine) {
  const Evaluation evaluation = evaluate_host(
      "hb_fp8_gemm far = *args; far.c += size_t(args->m) * args->n; naive_gemm<<<1, 64, 0, stream>>>(far); return "
      "hipGetLastError();");
  expect(evaluation, VerdictKind::Crashed, "write of 2 bytes at ");
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("right past the end of 'c' (8192 bytes)"));
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("my folder/host.hip:"));
  EXPECT_THAT(evaluation.verdict.evidence, Not(HasSubstr("standard error of the candidate")))
      << "the fault report twice";
}

TEST_F(HostTrackTest, KernelsWithoutEndAreStoppedHoweverTheyAreSpread) {
  const std::string spin = "__global__ void spin() { for (int i = 0; i < 100000; ++i) __builtin_amdgcn_s_sleep(0); }\n";
  expect(
      evaluate_host("for (int i = 0; i < 2000; ++i) spin<<<1, 64, 0, stream>>>(); return launch(args, stream);", spin),
      VerdictKind::TimedOut);
}

TEST_F(HostTrackTest, AWorkspaceIsPoisonedAndAsLargeAsAskedFor) {
  const std::string workspace =
      "extern \"C\" size_t hb_fp8_gemm_workspace(const hb_fp8_gemm *dims) { return dims->a ? 0 : 4096; }\n"
      "__global__ void look(const int *w, int *ok) { if (w[threadIdx.x] != -1) __builtin_trap(); }\n";
  expect(evaluate_host("if (bytes != 4096) return 1; look<<<1, 1024, 0, stream>>>((int*)workspace, nullptr); return "
                       "launch(args, stream);",
                       workspace),
         VerdictKind::Passed);
  expect(evaluate_host(
             "((void)0); look<<<1, 1024, 0, stream>>>((int*)workspace + 1, nullptr); return launch(args, stream);",
             workspace),
         VerdictKind::Crashed, "right past the end of 'workspace' (4096 bytes)");
}

TEST_F(HostTrackTest, AWorkspaceBeyondTheLimitIsRejected) {
  expect(evaluate_host("return launch(args, stream);",
                       "extern \"C\" size_t hb_fp8_gemm_workspace(const hb_fp8_gemm *) { return size_t(1) << 40; }\n"),
         VerdictKind::Rejected, "rule `workspace`");
}

TEST_F(HostTrackTest, OutputWithoutEndIsAViolationAndALittleIsNot) {
  expect(evaluate_host("for (int i = 0; i < 1000; ++i) puts(\"...\"); return launch(args, stream);",
                       "#include <cstdio>\n"),
         VerdictKind::Passed);
  expect(evaluate_host("for (;;) puts(\"passed passed passed passed passed passed passed passed\"); return 0;",
                       "#include <cstdio>\n"),
         VerdictKind::SandboxViolation);
}

TEST_F(HostTrackTest, WithoutTheSandboxItRunsAndSaysSo) {
  EvaluateOptions options = small_options();
  options.unsafe_no_sandbox = true;
  const Evaluation evaluation = evaluate_host("return launch(args, stream);", "", options);
  expect(evaluation, VerdictKind::Passed);
  EXPECT_FALSE(evaluation.sandboxed);
}

}  // namespace
}  // namespace hipbench::testing
