#include "evaluator/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <random>

#include "common/files.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Problem& fp8_gemm() { return **find_problem("fp8_gemm"); }

// A source whose plan's first TOML line is line 3.
std::string source_with(const std::string& toml) {
  return "// A candidate.\n/* hipbench-plan 1\n" + toml + "\n*/\n#include <hip/hip_runtime.h>\n";
}
std::string source_with_step(const std::string& step) {
  return source_with("problem = \"fp8_gemm\"\n[workspace]\nw = \"m * 4\"\n[[step]]\n" + step);
}

ResolvedPlan resolve(const std::string& source, const std::string& shape = "m=64,n=576,k=256") {
  std::variant<LaunchPlan, PlanError> plan = LaunchPlan::parse(source, fp8_gemm());
  if (const PlanError* error = std::get_if<PlanError>(&plan)) {
    ADD_FAILURE() << error->where_and_what("candidate.hip");
    return {};
  }
  std::variant<ResolvedPlan, PlanError> resolved = std::get<LaunchPlan>(plan).resolve(*fp8_gemm().parse_shape(shape));
  if (const PlanError* error = std::get_if<PlanError>(&resolved)) {
    ADD_FAILURE() << error->where_and_what("candidate.hip");
    return {};
  }
  return std::get<ResolvedPlan>(std::move(resolved));
}

std::string error_of(const std::string& source) {
  const std::variant<LaunchPlan, PlanError> plan = LaunchPlan::parse(source, fp8_gemm());
  const PlanError* error = std::get_if<PlanError>(&plan);
  return error == nullptr ? "accepted" : error->where_and_what("f");
}

constexpr const char* kFullPlan = R"(problem = "fp8_gemm"
options = ["-O3", "-munsafe-fp-atomics", "-DTILE=64", "-mllvm", "-amdgpu-early-inline-all=true", "-mllvm -amdgpu-x=1"]
[let]
tiles = "ceil_div(n, bn) * rows"   # uses names from below
bn = "large ? 256 : 64"
rows = "m / 32"
large = "m >= 1024"
[workspace]
part = "m * n * 4"
flags = 1000
[[step]]
memset = "flags"
value = "7"
[[step]]
memset = "c"
[[step]]
when = "large"
kernel = "big<256>"
[[step]]
kernel = "small"
grid = ["tiles", 2]
block = [64, "2 + 2"]
lds = "bn * 2"
cooperative = true
args = ["@args", "a", "part", "part + m * 4", "i32: -tiles", "u32:4294967295", "i64:m * n * k", "u64:m", "f32:-1.5", "f64: 2.5e10"]
[[step]]
kernel = "small"
)";

TEST(LaunchPlan, ResolvesEveryPartOfTheFormat) {
  const std::variant<LaunchPlan, PlanError> parsed = LaunchPlan::parse(source_with(kFullPlan), fp8_gemm());
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(parsed)) << std::get<PlanError>(parsed).where_and_what("f");
  const LaunchPlan& launch_plan = std::get<LaunchPlan>(parsed);
  EXPECT_THAT(launch_plan.options(), ElementsAre("-O3", "-munsafe-fp-atomics", "-DTILE=64", "-mllvm",
                                                 "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-x=1"));
  EXPECT_THAT(launch_plan.kernel_names(), ElementsAre("big<256>", "small"));

  const ResolvedPlan plan = resolve(source_with(kFullPlan));
  ASSERT_EQ(plan.workspaces.size(), 2u);
  const size_t flags = plan.workspaces[0].name == "flags" ? 0 : 1;
  EXPECT_EQ(plan.workspaces[flags].bytes, 1000u);
  EXPECT_EQ(plan.workspaces[1 - flags].bytes, 64u * 576 * 4);

  ASSERT_EQ(plan.steps.size(), 4u);  // "large" is false here
  const auto& first = std::get<MemsetStep>(plan.steps[0]);
  EXPECT_EQ(first.buffer, (BufferRef{BufferRef::Kind::Workspace, flags}));
  EXPECT_EQ(first.bytes, 1000u);
  EXPECT_EQ(first.value, 7);
  const auto& second = std::get<MemsetStep>(plan.steps[1]);
  EXPECT_EQ(second.buffer, (BufferRef{BufferRef::Kind::Field, 4}));
  EXPECT_EQ(second.bytes, 64u * 576 * 2);
  EXPECT_EQ(second.value, 0);

  const auto& kernel = std::get<KernelStep>(plan.steps[2]);
  EXPECT_EQ(kernel.kernel, "small");
  EXPECT_THAT(kernel.grid, ElementsAre(18, 2, 1));  // ceil(576 / 64) * (64 / 32)
  EXPECT_THAT(kernel.block, ElementsAre(64, 4, 1));
  EXPECT_EQ(kernel.dynamic_lds_bytes, 128u);
  EXPECT_TRUE(kernel.cooperative);
  ASSERT_EQ(kernel.arguments.size(), 10u);
  EXPECT_EQ(kernel.arguments[0].size, 56u);
  EXPECT_EQ(kernel.arguments[1].buffer, (BufferRef{BufferRef::Kind::Field, 0}));
  EXPECT_EQ(kernel.arguments[2].offset, 0u);
  EXPECT_EQ(kernel.arguments[3].buffer, (BufferRef{BufferRef::Kind::Workspace, 1 - flags}));
  EXPECT_EQ(kernel.arguments[3].offset, 256u);
  EXPECT_EQ(kernel.arguments[4].bits, uint64_t{static_cast<uint32_t>(-18)});
  EXPECT_EQ(kernel.arguments[5].bits, 0xffffffffu);
  EXPECT_EQ(kernel.arguments[6].bits, 64u * 576 * 256);
  EXPECT_EQ(kernel.arguments[6].size, 8u);
  EXPECT_EQ(kernel.arguments[8].bits, std::bit_cast<uint32_t>(-1.5f));
  EXPECT_EQ(kernel.arguments[8].size, 4u);
  EXPECT_EQ(kernel.arguments[9].bits, std::bit_cast<uint64_t>(2.5e10));
  EXPECT_THAT(std::get<KernelStep>(plan.steps[3]).grid, ElementsAre(1, 1, 1));
}

TEST(LaunchPlan, StepsFollowTheShape) {
  const ResolvedPlan plan = resolve(source_with(kFullPlan), "m=1024,n=576,k=256");
  ASSERT_EQ(plan.steps.size(), 5u);
  EXPECT_EQ(std::get<KernelStep>(plan.steps[2]).kernel, "big<256>");
  EXPECT_EQ(std::get<KernelStep>(plan.steps[3]).grid[0], 3u * 32);
}

TEST(LaunchPlan, TheStartersPlanIsAccepted) {
  for (const Problem* problem : all_problems()) {
    const auto plan = LaunchPlan::parse(problem->starter(Track::Kernel), *problem);
    EXPECT_TRUE(std::holds_alternative<LaunchPlan>(plan)) << std::get<PlanError>(plan).where_and_what(problem->id());
  }
}

TEST(LaunchPlan, ThePlansOfAllShippedCandidatesAreAccepted) {
  int plans = 0;
  for (const char* folder : {"/kernels/reference_solutions/fp8_gemm", "/tests/wrong_candidates"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(HIPBENCH_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".hip") continue;
      const std::string source = *read_file(entry.path());
      if (source.find("hb_fp8_gemm_run") != std::string::npos) continue;  // host track
      EXPECT_EQ(error_of(source), "accepted") << entry.path();
      ++plans;
    }
  }
  EXPECT_GE(plans, 12);
}

// The format's own example, line by line what docs/candidate-format.md shows.
TEST(LaunchPlan, TheDocumentedExampleIsAccepted) {
  const std::string page = *read_file(std::string(HIPBENCH_SOURCE_DIR) + "/docs/candidate-format.md");
  const size_t begin = page.find("```toml\n") + 8;
  EXPECT_EQ(error_of(page.substr(begin, page.find("```", begin) - begin)), "accepted");
}

TEST(PlanBlock, IsFoundOnlyWhereACommentIs) {
  const std::string plan = "problem = \"fp8_gemm\"\n[[step]]\nkernel = \"k\"\n";
  EXPECT_EQ(error_of("/*   hipbench-plan   1\n" + plan + "*/"), "accepted");
  EXPECT_EQ(
      error_of("const char* s = \"/* hipbench-plan 1\"; // /* hipbench-plan 1\n/* hipbench-plan 1\n" + plan + "*/"),
      "accepted");
  EXPECT_EQ(error_of("auto s = R\"x(\"/* hipbench-plan 1 */)x\"; int n = 1'000; char c = '\"';\n/* hipbench-plan 1\n" +
                     plan + "*/"),
            "accepted");
  EXPECT_EQ(error_of("/* hipbench-planner 1 */ /* hipbench-plan-b */ /* hipbench-plan 1\n" + plan + "*/"), "accepted");
  EXPECT_EQ(error_of("#error don't\n/* hipbench-plan 1\r\n" + plan + "*/"), "accepted");
  EXPECT_THAT(error_of("int x;"), HasSubstr("f:1:1: there is no launch plan"));
  EXPECT_THAT(error_of("// /* hipbench-plan 1\n" + plan), HasSubstr("there is no launch plan"));
  EXPECT_THAT(error_of("int x;\n  /* hipbench-plan 2\n" + plan + "*/"),
              HasSubstr("f:2:20: the plan's version must be 1"));
  EXPECT_THAT(error_of("/* hipbench-plan\n" + plan + "*/"), HasSubstr("version must be 1"));
  EXPECT_THAT(error_of(source_with(plan) + "  " + source_with(plan)),
              HasSubstr("f:10:1: this is a second launch plan"));
  EXPECT_THAT(error_of("/* hipbench-plan 1\n" + plan), HasSubstr("f:1:1: the launch plan's comment has no end"));
  EXPECT_THAT(error_of("/* hipbench-plan 1\n#" + std::string(70'000, 'x') + "*/"), HasSubstr("longer than 64 KiB"));
}

TEST(PlanErrors, PointIntoTheSourceFile) {
  EXPECT_EQ(error_of(source_with("problem = \"fp8_gemm\"\n[[step]]\nkernel = \"k\"\ngrid = [\"n / (m - \"]")),
            "f:6:19: the expression ends where a value is expected");
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\n[[step]]\nkernel = \"k\"\ngrid = [\"n / nn\"]")),
              HasSubstr("f:6:14: there is no name \"nn\" here; names are the [let] names and m, n, k, reserved"));
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\nproblem = \"x\"")), HasSubstr("f:4:"));
  EXPECT_THAT(error_of(source_with("problem = ")), HasSubstr("the launch plan is not TOML"));
  EXPECT_THAT(error_of("/* hipbench-plan 1 problem = */"), HasSubstr("f:1:"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\ngrid = [\"m / (n - n)\"]")),
              HasSubstr("f:8:12: division by zero (for m=64,n=64,k=128)"));
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\n[[step]]\nkernel = \"k\"\nargs = [\"i32: m *\"]")),
              HasSubstr("f:6:18: the expression ends"));
}

TEST(PlanErrors, UnknownKeysAndWrongTypesAreRefused) {
  const std::string step = "\n[[step]]\nkernel = \"k\"";
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\nspeed = 1" + step)),
              HasSubstr("f:4:1: the plan has no key \"speed\""));
  EXPECT_THAT(error_of(source_with("")), HasSubstr("the plan has no key \"problem\""));
  EXPECT_THAT(error_of(source_with("problem = \"moe\"" + step)),
              HasSubstr("f:3:11: the plan is for the problem \"moe\""));
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"")), HasSubstr("no [[step]]"));
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\nstep = []")), HasSubstr("step must be an array of tables"));
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\nstep = 3")), HasSubstr("step must be an array of tables"));
  EXPECT_THAT(error_of(source_with_step("grid = [1]")), HasSubstr("a step has either \"kernel\" or \"memset\""));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\nmemset = \"w\"")),
              HasSubstr("either \"kernel\" or \"memset\""));
  EXPECT_THAT(error_of(source_with_step("memset = \"w\"\ngrid = [1]")), HasSubstr("a memset step has no key \"grid\""));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\nvalue = 1")), HasSubstr("a kernel step has no key \"value\""));
  EXPECT_THAT(error_of(source_with_step("kernel = \"\"")), HasSubstr("kernel must be"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"a\\u0007b\"")), HasSubstr("kernel must be"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\ngrid = 4")), HasSubstr("grid must be an array"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\ngrid = [1,1,1,1]")), HasSubstr("one to three numbers"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\ngrid = [1.5]")),
              HasSubstr("an expression in quotes or an integer"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\ncooperative = 1")), HasSubstr("true or false"));
}

TEST(PlanErrors, OptionsComeFromAnAllowList) {
  const auto with = [](const std::string& options) {
    return error_of(source_with("problem = \"fp8_gemm\"\noptions = [" + options + "]\n[[step]]\nkernel = \"k\""));
  };
  for (const char* good : {"\"-O0\"", "\"-Ofast\"", "\"-DX\"", "\"-DX=a b\"", "\"-ffast-math\"", "\"-fno-fast-math\"",
                           "\"-mno-unsafe-fp-atomics\"", "\"-mllvm\", \"-amdgpu-use-aa=0\""}) {
    EXPECT_EQ(with(good), "accepted") << good;
  }
  for (const char* bad : {"\"-I/\"", "\"-include\"", "\"@file\"", "\"-fplugin=x.so\"", "\"-O4 -I/\"", "\"-D\"",
                          "\"-D1\"", "\"-Xclang\"", "\"-mllvm\", \"-load=x\"", "\"-mllvm -debug\"", "\"-amdgpu-x\"",
                          "\"\"", "\"-o\", \"x\"", "\"-D__X\\u0000\"", "\"-mllvm\"", "\"-mllvm\", \"-mllvm\"", "1"}) {
    EXPECT_NE(with(bad), "accepted") << bad;
  }
  EXPECT_THAT(with("\"-I/\""), HasSubstr("f:4:12: the option \"-I/\" is not allowed"));
}

TEST(PlanErrors, LetNamesMayStandInAnyOrderButNotInCircles) {
  const auto with = [](const std::string& lets) {
    return error_of(source_with("problem = \"fp8_gemm\"\n[let]\n" + lets + "\n[[step]]\nkernel = \"k\""));
  };
  EXPECT_EQ(with("a = \"b + c\"\nb = \"c * 2\"\nc = 5"), "accepted");
  EXPECT_THAT(with("a = \"b\"\nb = \"c\"\nc = \"b + m\""), HasSubstr("in a circle: b -> c -> b"));
  EXPECT_THAT(with("a = \"a\""), HasSubstr("f:5:6: the [let] names depend on each other in a circle: a -> a"));
  EXPECT_THAT(with("m = 1"), HasSubstr("the name m is taken"));
  EXPECT_THAT(with("min = 1"), HasSubstr("the name min is taken"));
  EXPECT_THAT(with("\"a b\" = 1"), HasSubstr("is not a name"));
  EXPECT_THAT(with("a = \"zz\""), HasSubstr("there is no name \"zz\""));
  EXPECT_EQ(with("unused = \"1 / 0\""), "accepted") << "only what is used is evaluated";
}

TEST(PlanErrors, WorkspacesAreBounded) {
  const auto with = [](const std::string& lines) {
    return error_of(source_with("problem = \"fp8_gemm\"\n[workspace]\n" + lines + "\n[[step]]\nkernel = \"k\""));
  };
  EXPECT_EQ(with("w = 8589934592"), "accepted");
  EXPECT_THAT(with("w = 8589934593"), HasSubstr("it must be 0..8589934592"));
  EXPECT_THAT(with("v = 1\nw = 8589934592"), HasSubstr("exceed 8 GiB in all"));
  EXPECT_THAT(with("w = \"0 - m\""), HasSubstr("the workspace w is -64"));
  EXPECT_THAT(with("a = 1"), HasSubstr("the name a is taken"));
  EXPECT_THAT(with("w = \"m * 9223372036854775807\""), HasSubstr("does not fit in 64 bits"));
}

TEST(PlanErrors, ExtentsAndLdsAreBounded) {
  const auto with = [](const std::string& lines) { return error_of(source_with_step("kernel = \"k\"\n" + lines)); };
  EXPECT_THAT(with("grid = [\"m - m\"]"), HasSubstr("grid x is 0, it must be 1..2147483647"));
  EXPECT_THAT(with("grid = [1, 65537]"), HasSubstr("grid y is 65537"));
  EXPECT_THAT(with("grid = [2147483647]\nblock = [1024]"), HasSubstr("grid x is 2147483647, it must be 1..4194303"));
  EXPECT_THAT(with("block = [1025]"), HasSubstr("block x is 1025"));
  EXPECT_THAT(with("block = [32, 33]"), HasSubstr("the block has 1056 work-items"));
  EXPECT_THAT(with("lds = 65537"), HasSubstr("lds is 65537"));
  EXPECT_EQ(with("lds = 65536\nblock = [32, 32]\ngrid = [4, 5, 6]"), "accepted");
}

TEST(PlanErrors, ArgumentsAreCheckedByName) {
  const auto with = [](const std::string& argument) {
    return error_of(source_with_step("kernel = \"k\"\nargs = [\"" + argument + "\"]"));
  };
  EXPECT_EQ(with("w + 4"), "accepted");
  EXPECT_EQ(with(" w+m "), "accepted");
  EXPECT_EQ(with("f32:-0.5"), "accepted");
  EXPECT_THAT(with("nothing"), HasSubstr("\"nothing\" is no argument"));
  EXPECT_THAT(with("m"), HasSubstr("\"m\" is no argument"));
  EXPECT_THAT(with(""), HasSubstr("is no argument"));
  EXPECT_THAT(with("w - 4"), HasSubstr("only \"+ byte expression\" can stand"));
  EXPECT_THAT(with("w + m * 4"), HasSubstr("the offset 256 is outside w, which has 256 bytes"));
  EXPECT_THAT(with("a + -1"), HasSubstr("the offset -1 is outside a"));
  EXPECT_THAT(with("i32:m * 100000000"), HasSubstr("the i32 argument is 6400000000"));
  EXPECT_THAT(with("u32:-1"), HasSubstr("the u32 argument is -1"));
  EXPECT_THAT(with("u64:-1"), HasSubstr("the u64 argument is -1"));
  EXPECT_THAT(with("f32:m"), HasSubstr("is not a finite decimal number"));
  EXPECT_THAT(with("f32:1e39"), HasSubstr("is not a finite decimal number"));
  EXPECT_THAT(with("f64:inf"), HasSubstr("is not a finite decimal number"));
  EXPECT_THAT(with("i8:1"), HasSubstr("is no argument"));
}

TEST(PlanErrors, MemsetsNameAWorkspaceOrAnOutput) {
  EXPECT_THAT(error_of(source_with_step("memset = \"a\"")), HasSubstr("memset: a is an input"));
  EXPECT_THAT(error_of(source_with_step("memset = \"x\"")), HasSubstr("\"x\" is no workspace and no OUT buffer"));
  EXPECT_THAT(error_of(source_with_step("memset = \"w\"\nvalue = 256")), HasSubstr("value is 256, it must be 0..255"));
}

TEST(PlanErrors, StepsAreCountedAndMustNotAllVanish) {
  std::string steps;
  for (int i = 0; i < 65; ++i) steps += "[[step]]\nkernel = \"k\"\n";
  EXPECT_THAT(error_of(source_with("problem = \"fp8_gemm\"\n" + steps)), HasSubstr("at most 64 steps"));
  EXPECT_THAT(error_of(source_with_step("kernel = \"k\"\nwhen = \"m < 1000\"")),
              HasSubstr("no step is left for m=1024"));
}

TEST(PlanErrors, RandomDamageNeverDoesMoreThanGiveAnError) {
  std::mt19937 random(7);
  const std::string good = source_with(kFullPlan);
  for (int round = 0; round < 2000; ++round) {
    std::string source = good;
    for (int edits = 0; edits < 3; ++edits) {
      const size_t at = random() % source.size();
      switch (random() % 3) {
        case 0: source[at] = static_cast<char>(random()); break;
        case 1: source.erase(at, random() % 20); break;
        default: source.insert(at, source.substr(random() % source.size(), random() % 20)); break;
      }
    }
    error_of(source);
  }
  for (size_t length = 0; length < good.size(); ++length) error_of(good.substr(0, length));
}

TEST(CheckKernelStep, ComparesCountSizeKindAndResources) {
  const ResolvedPlan plan =
      resolve(source_with_step("kernel = \"k\"\nlds = 1024\nblock = [256]\nargs = [\"@args\", \"w\", \"i32:m\"]"));
  const auto& step = std::get<KernelStep>(plan.steps[0]);
  const KernelParameter args{0, 56, "by_value"}, pointer{56, 8, "global_buffer"}, number{64, 4, "by_value"};
  const auto message = [&](const KernelFacts& facts) {
    const std::optional<PlanError> error = check_kernel_step(step, facts);
    return error ? error->where_and_what("f") : std::string("fits");
  };
  EXPECT_EQ(message({{args, pointer, number}, 0, 1024}), "fits");
  EXPECT_EQ(message({{args, pointer, number}, 64512, 256}), "fits");
  EXPECT_THAT(message({{args, pointer}, 0, 1024}), HasSubstr("takes 2 arguments, the plan gives 3"));
  EXPECT_THAT(message({{args, number, pointer}, 0, 1024}),
              HasSubstr("f:10:18: argument 2 of the kernel k is a value of 4 bytes, the plan gives a pointer"));
  EXPECT_THAT(message({{{0, 48, "by_value"}, pointer, number}, 0, 1024}),
              HasSubstr("argument 1 of the kernel k is a value of 48 bytes, the plan gives the struct of 56 bytes"));
  EXPECT_THAT(message({{args, pointer, {64, 8, "by_value"}}, 0, 1024}), HasSubstr("a value of 8 bytes"));
  EXPECT_THAT(message({{args, pointer, number}, 64513, 1024}), HasSubstr("65537 bytes of LDS"));
  EXPECT_THAT(message({{args, pointer, number}, 0, 128}), HasSubstr("at most 128 work-items"));
}

TEST(ArgumentBytes, AreWhatTheKernelReads) {
  const ResolvedPlan plan =
      resolve(source_with_step("kernel = \"k\"\nargs = [\"@args\", \"w + 8\", \"b\", \"i32:-2\"]"));
  const auto& arguments = std::get<KernelStep>(plan.steps[0]).arguments;
  const std::vector<std::byte> args(56, std::byte{9});
  const std::vector<uint64_t> fields = {1, 0x2000, 3, 4, 5}, workspaces = {0x7000};
  EXPECT_EQ(argument_bytes(arguments[0], args, fields, workspaces), args);
  uint64_t pointer = 0;
  std::memcpy(&pointer, argument_bytes(arguments[1], args, fields, workspaces).data(), 8);
  EXPECT_EQ(pointer, 0x7008u);
  std::memcpy(&pointer, argument_bytes(arguments[2], args, fields, workspaces).data(), 8);
  EXPECT_EQ(pointer, 0x2000u);
  const std::vector<std::byte> number = argument_bytes(arguments[3], args, fields, workspaces);
  ASSERT_EQ(number.size(), 4u);
  int32_t value = 0;
  std::memcpy(&value, number.data(), 4);
  EXPECT_EQ(value, -2);
}

}  // namespace
}  // namespace hipbench
