// The judge itself: what it draws, what it says and where, what it leaves behind, and that its own failures are never
// the candidate's.

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/toolchain.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/inspect.hpp"
#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kRight = "args.c[index] = to_bf16(value);";

// The children of this process that have a name.
std::vector<pid_t> children_named(const std::string& name) {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      std::string command;
      std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), command);
      if (name.empty() || name.starts_with(command)) found.push_back(child);
    }
  }
  return found;
}

std::set<std::string> temporary_files() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    if (const std::string name = entry.path().filename().string(); name.starts_with("hipbench-")) names.insert(name);
  return names;
}

class JudgeTest : public EvaluateTest {};

TEST_F(JudgeTest, ABadPlanIsRejectedWithLineAndColumn) {
  std::string source = kernel_source(kRight);
  source.replace(source.find("n / 64"), 6, "n / hm");
  const Evaluation evaluation = evaluate(fp8_gemm(), "a folder/k.hip", source, small_options());
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Rejected);
  EXPECT_THAT(evaluation.verdict.reason, StartsWith("rule `plan`: a folder/k.hip:6:")) << described(evaluation);
}

TEST_F(JudgeTest, ACompileErrorNamesTheCandidatesFileAndLine) {
  const Evaluation evaluation =
      evaluate(fp8_gemm(), "folder/k.hip", "#include <hip/hip_runtime.h>\nint broken(\n", small_options());
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::CompileError);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("k.hip:")) << described(evaluation);
  const Evaluation kernel = evaluate_kernel("args.c[index] = undeclared;");
  EXPECT_EQ(kernel.verdict.kind, VerdictKind::CompileError);
  EXPECT_THAT(kernel.verdict.reason, HasSubstr("kernel.hip:")) << described(kernel);
  EXPECT_THAT(kernel.verdict.reason, HasSubstr("undeclared"));
}

TEST_F(JudgeTest, AnotherLibraryIsNotThereToBeOpened) {
  const Evaluation evaluation =
      evaluate_host("return dlopen(\"librocblas.so\", RTLD_NOW) ? launch(args, stream) : 9;", "#include <dlfcn.h>\n");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("returned 9"));
}

TEST_F(JudgeTest, LinkingAnotherLibraryIsRejected) {
  CompileRequest request;
  request.problem = &fp8_gemm();
  request.track = Track::Host;
  request.file_name = "host.hip";
  request.source = host_source("return launch(args, stream);");
  auto result = compile(*Toolchain::locate(), request);
  ASSERT_TRUE(std::holds_alternative<Compiled>(result));
  Compiled compiled = std::get<Compiled>(result);
  EXPECT_TRUE(std::holds_alternative<std::vector<KernelResources>>(inspect(compiled, Track::Host)));
  const size_t name = compiled.code.find("libamdhip64.so.6");
  ASSERT_NE(name, std::string::npos);
  compiled.code.replace(name, 16, "libhipblaslt.so.");
  const auto verdict = inspect(compiled, Track::Host);
  ASSERT_TRUE(std::holds_alternative<Verdict>(verdict));
  EXPECT_THAT(std::get<Verdict>(verdict).reason, HasSubstr("rule `libraries`: the candidate links libhipblaslt.so."));
}

TEST_F(JudgeTest, AFaultNamesBufferOffsetAndTheUsersSourceLine) {
  const Evaluation evaluation = evaluate_kernel("args.c[index + args.m * args.n] = to_bf16(value);");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("past the end of 'c' (")) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("my folder/kernel.hip:"));
  EXPECT_THAT(evaluation.verdict.evidence, Not(HasSubstr("/candidate/")));
  EXPECT_EQ(evaluation.shapes.front().verdict.evidence, evaluation.verdict.evidence);
}

TEST_F(JudgeTest, ANullPointerIsCalledThat) {
  const Evaluation evaluation = evaluate_kernel("args.c[index] = *(volatile uint16_t *)16;");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("read of 2 bytes at 0x10: a null pointer")) << described(evaluation);
}

TEST_F(JudgeTest, AFailedAssertShowsItsConditionFileAndLine) {
  const Evaluation evaluation =
      evaluate_kernel("assert(args.m == 1234567); args.c[index] = to_bf16(value);", "#include <cassert>\n");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Crashed);
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("printed by the candidate:\n  ")) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("args.m == 1234567")) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, Not(HasSubstr(".toolchain"))) << described(evaluation);
}

TEST_F(JudgeTest, TheFirstPartOfWhatAWrongKernelPrintsIsShown) {
  const Evaluation evaluation =
      evaluate_kernel("if (index % 64 == 0) printf(\"index %d\\n\", int(index)); args.c[index] = 0;");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::WrongResult) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("printed by the candidate:\n  index ")) << described(evaluation);
  EXPECT_LT(evaluation.verdict.evidence.size(), 8000u);
}

TEST_F(JudgeTest, AKernelThatPrintsIsNotRanked) {
  const Evaluation evaluation = evaluate_kernel("if (index == 0) printf(\"here\\n\"); args.c[index] = to_bf16(value);");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Rejected) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("rule `hostcall`"));
  EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("here")) << described(evaluation);
}

TEST_F(JudgeTest, ACheckedKernelThatPrintsPassesAndIsToldSoOnce) {
  EvaluateOptions options = quick_options();
  options.check = true;
  const Evaluation evaluation =
      evaluate_kernel("if (index == 0) printf(\"here\\n\"); args.c[index] = to_bf16(value);", "", options);
  EXPECT_TRUE(evaluation.verdict.passed()) << described(evaluation);
  EXPECT_THAT(evaluation.verdict.evidence, ::testing::IsEmpty());
  EXPECT_EQ(std::count_if(evaluation.warnings.begin(), evaluation.warnings.end(),
                          [](const std::string& warning) {
                            return warning.starts_with("the candidate printed on the device: here");
                          }),
            1)
      << described(evaluation);
}

TEST_F(JudgeTest, AnEndlessLoopIsStoppedAndSaysAfterHowManyInstructions) {
  const Evaluation evaluation =
      evaluate_kernel("while (*(volatile uint16_t *)args.c != 0) {} args.c[index] = to_bf16(value);");
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::TimedOut);
  EXPECT_THAT(evaluation.verdict.reason, HasSubstr("wave instructions")) << described(evaluation);
}

TEST_F(JudgeTest, TheLimitOfACallIsSharedByItsLaunches) {
  std::string source = kernel_source(kRight);
  const size_t step = source.find("[[step]]"), end = source.find("*/");
  source.insert(end, source.substr(step, end - step));  // the same again
  EvaluateOptions options = small_options();
  const Evaluation unlimited = evaluate(fp8_gemm(), "k.hip", source, options);
  ASSERT_TRUE(unlimited.verdict.passed()) << described(unlimited);
  ASSERT_EQ(unlimited.shapes[0].launches.size(), 2u);
  options.wave_instructions = unlimited.shapes[0].wave_instructions;
  EXPECT_TRUE(evaluate(fp8_gemm(), "k.hip", source, options).verdict.passed());
  options.wave_instructions = unlimited.shapes[0].wave_instructions * 3 / 4;
  const Evaluation limited = evaluate(fp8_gemm(), "k.hip", source, options);
  EXPECT_EQ(limited.verdict.kind, VerdictKind::TimedOut) << described(limited);
  EXPECT_THAT(limited.verdict.reason, HasSubstr("all launches together executed more than"));
}

// The device's clock goes on from call to call, so it tells repeats of the same inputs apart as chance would. It starts
// at a second. One wave holds the first call up until a time that it cannot reach otherwise, and the second until a
// much later one, so that the clock tells them from each other and from all later ones, whatever instructions and
// launches take.
TEST_F(JudgeTest, SomeRepeatsWithinAndSomeOutOfToleranceIsNondeterministic) {
  const std::string clock =
      "const unsigned long now = __builtin_amdgcn_s_memtime() - 2100000000;"
      "const bool first = now < 100000, second = !first && now < 20000000;"
      "while (index < 64 && __builtin_amdgcn_s_memtime() - 2100000000 < (first ? 200000 : 20000000)) {}";
  const std::string wrong_at_first = clock + "args.c[index] = to_bf16(first ? value + 1000 : value);";
  const std::string wrong_at_the_second_call = clock + "args.c[index] = to_bf16(second ? value + 1000 : value);";
  for (const std::string& store : {wrong_at_first, wrong_at_the_second_call}) {
    const Evaluation evaluation = evaluate_kernel(store);
    EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Nondeterministic) << described(evaluation);
    EXPECT_THAT(evaluation.verdict.reason, HasSubstr("the same inputs gave a right and a wrong result"));
    EXPECT_THAT(evaluation.verdict.evidence, HasSubstr("elements of c are wrong")) << "what was wrong with it";
  }
}

// The timing model looks at every eighth workgroup: here they do nothing, and the others all of the work.
TEST_F(JudgeTest, WorkWhereTheTimingModelDoesNotLookIsCounted) {
  const std::string honest = kernel_source(kRight);
  std::string hiding = honest;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = hiding.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    hiding.replace(at, from.size(), to);
  };
  replace("\"n / 64\", \"m / 4\"", "\"n * m / 224 + 2\"");
  replace("const unsigned j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;",
          "const unsigned tile = blockIdx.x - blockIdx.x / 8 - 1;"
          "if (blockIdx.x % 8 == 0 || tile >= args.n * args.m / 256) return;"
          "const unsigned j = tile % (args.n / 64) * 64 + threadIdx.x, i = tile / (args.n / 64) * 4 + threadIdx.y;");
  const Evaluation seen = evaluate(fp8_gemm(), "k.hip", honest, small_options());
  const Evaluation hidden = evaluate(fp8_gemm(), "k.hip", hiding, small_options());
  ASSERT_TRUE(seen.verdict.passed() && hidden.verdict.passed()) << described(seen) << described(hidden);
  ASSERT_GT(seen.shapes[0].time_us, 0);
  if (hidden.shapes[0].time_us > 0) EXPECT_GE(hidden.shapes[0].time_us, 0.9 * seen.shapes[0].time_us);
}

TEST_F(JudgeTest, TheSameSeedDrawsTheSameInputsAndAnotherDrawsOthers) {
  // What is wrong by a fixed amount tells what the right answer was.
  const auto worst = [](std::optional<uint64_t> seed) {
    EvaluateOptions options = small_options();
    options.seed = seed;
    return evaluate_kernel("args.c[index] = to_bf16(value + 1000.f);", "", options)
        .shapes.front()
        .comparison.worst->expected;
  };
  EXPECT_EQ(worst(5), worst(5));
  EXPECT_NE(worst(5), worst(6));
  EXPECT_NE(worst(std::nullopt), worst(std::nullopt));
}

TEST_F(JudgeTest, TheSeedIsStored) {
  EvaluateOptions options = small_options();
  options.seed.reset();
  const uint64_t first = evaluate_kernel(kRight, "", options).seed, second = evaluate_kernel(kRight, "", options).seed;
  EXPECT_NE(first, second);
}

TEST_F(JudgeTest, NoShapesIsNotAPass) {
  EvaluateOptions options = small_options();
  options.shapes.clear();
  EXPECT_EQ(evaluate_kernel(kRight, "", options).verdict.kind, VerdictKind::Infrastructure);
}

TEST_F(JudgeTest, TheFirstWrongShapeEndsTheEvaluationUnlessAskedToGoOn) {
  EvaluateOptions options = quick_options();
  const char* wrong_for_first = "args.c[index] = to_bf16(args.m == 64 && args.n == 64 ? 0 : value);";
  EXPECT_EQ(evaluate_kernel(wrong_for_first, "", options).shapes.size(), 1u);
  options.keep_going = true;
  const Evaluation all = evaluate_kernel(wrong_for_first, "", options);
  ASSERT_EQ(all.shapes.size(), options.shapes.size());
  EXPECT_EQ(all.verdict.kind, VerdictKind::WrongResult);
  EXPECT_FALSE(all.shapes[0].verdict.passed());
  EXPECT_TRUE(all.shapes[1].verdict.passed());
}

TEST_F(JudgeTest, ADeviceThatDiesOnceIsTriedAgain) {
  EvaluateOptions options = small_options();
  int killed = 0;
  options.progress = [&](const std::string& line) {
    if (line.starts_with("checking") && killed++ == 0)
      for (const pid_t server : children_named("hipbench-device")) ::kill(server, SIGKILL);
  };
  const Evaluation evaluation = evaluate_kernel(kRight, "", options);
  EXPECT_EQ(evaluation.verdict.kind, VerdictKind::Passed) << described(evaluation);
  ASSERT_FALSE(evaluation.warnings.empty());
  EXPECT_THAT(evaluation.warnings.back(), HasSubstr("first attempt"));
}

TEST_F(JudgeTest, ADeviceThatDiesIsNeverTheCandidatesFault) {
  EvaluateOptions options = small_options();
  options.progress = [&](const std::string& line) {
    if (line.starts_with("checking"))
      for (const pid_t server : children_named("hipbench-device")) ::kill(server, SIGKILL);
  };
  EXPECT_EQ(evaluate_kernel(kRight, "", options).verdict.kind, VerdictKind::Infrastructure);
  EXPECT_EQ(evaluate_host("return launch(args, stream);", "", options).verdict.kind, VerdictKind::Infrastructure);
}

TEST_F(JudgeTest, NothingIsLeftBehind) {
  const std::set<std::string> before = temporary_files();
  static_cast<void>(evaluate_kernel(kRight));
  static_cast<void>(evaluate_host("return launch(args, stream);"));
  static_cast<void>(evaluate_host("for (;;) {}"));
  EXPECT_TRUE(children_named("").empty());
  for (const std::string& name : temporary_files()) EXPECT_TRUE(before.contains(name)) << name;
}

}  // namespace
}  // namespace hipbench::testing
