// Candidates through the real compilers in the real sandbox.

#include "evaluator/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "common/files.hpp"
#include "evaluator/compile_stage.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Compile : public testing::Test {
 protected:
  // An empty cache, so that every test compiles.
  Compile() : cache_(TemporaryDirectory::create("hipbench-compile-test")), toolchain_(Toolchain::locate()) {
    EXPECT_TRUE(cache_ && toolchain_);
    ::setenv("XDG_CACHE_HOME", cache_->path().c_str(), 1);
    request_.problem = find_problem("fp8_gemm").value();
    request_.file_name = "mine.hip";
  }
  ~Compile() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::variant<Compiled, Verdict> compile_kernels(const std::string& source, std::vector<std::string> kernels,
                                                  std::vector<std::string> options = {}) {
    request_.track = Track::Kernel;
    request_.source = source;
    request_.kernels = std::move(kernels);
    request_.options = std::move(options);
    return compile(*toolchain_, request_);
  }
  std::variant<Compiled, Verdict> compile_host(const std::string& source) {
    request_.track = Track::Host;
    request_.source = source;
    return compile(*toolchain_, request_);
  }

  Result<TemporaryDirectory> cache_;
  Result<Toolchain> toolchain_;
  CompileRequest request_;
};

std::string said(const std::variant<Compiled, Verdict>& result) {
  const Verdict* verdict = std::get_if<Verdict>(&result);
  return verdict == nullptr ? "compiled"
                            : fmt::format("{}: {}\n{}", to_string(verdict->kind), verdict->reason, verdict->evidence);
}

constexpr const char* kHabits = R"(#include <hip/hip_runtime.h>
#include <cstdint>
#include <type_traits>
#include <limits>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <stdint.h>
#include <math.h>
#include <hip/hip_fp8.h>
#include <hip/amd_detail/amd_hip_fp8.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_cooperative_groups.h>
#include "hipbench/fp8_gemm.h"
template <typename T, int kTile, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
__device__ T reduce(T x) {
  std::array<T, kTile> parts{};
  for (auto& part : parts) part = std::max(x, std::numeric_limits<T>::lowest()) + std::sqrt(x);
  return std::exp(parts[0]) * std::min<T>(parts[1], T(3));
}
extern "C" __global__ void gemm(hb_fp8_gemm g) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  namespace cg = cooperative_groups;
  cg::this_thread_block().sync();
  if (i >= uint32_t(g.m)) return;
  __hip_fp8_e4m3_fnuz x;
  x.__x = g.a[i];
  const __hip_bfloat16 y(reduce<float, 4>(float(x)));
  reinterpret_cast<__hip_bfloat16*>(g.c)[i] = y;
}
)";

TEST_F(Compile, TheHabitsOfTheInternetCompileInBothTracks) {
  const auto kernel = compile_kernels(kHabits, {"gemm"}, {"-O3", "-DUNUSED=1", "-munsafe-fp-atomics"});
  ASSERT_TRUE(std::holds_alternative<Compiled>(kernel)) << said(kernel);
  EXPECT_EQ(std::get<Compiled>(kernel).symbols.at("gemm"), "gemm");
  EXPECT_EQ(std::get<Compiled>(kernel).warnings, "");
  const auto host = compile_host(kHabits);
  EXPECT_TRUE(std::holds_alternative<Compiled>(host)) << said(host);
}

TEST_F(Compile, PrimitivesAndTheStandardLibraryCompileInBothTracks) {
  const std::string source = R"(#include <hip/hip_runtime.h>
#include <rocprim/rocprim.hpp>
#include <hipcub/hipcub.hpp>
#include <tuple>
#include <vector>
extern "C" __global__ void sums(int* data) {
  using Reduce = hipcub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(data[threadIdx.x]);
  rocprim::block_scan<int, 64> scan;
  __shared__ typename rocprim::block_scan<int, 64>::storage_type scan_storage;
  scan.inclusive_scan(sum, sum, scan_storage);
  data[threadIdx.x] = std::get<0>(std::make_tuple(sum, 1));
}
)";
  const auto kernel = compile_kernels(source, {"sums"});
  EXPECT_TRUE(std::holds_alternative<Compiled>(kernel)) << said(kernel);
  const auto host = compile_host(source);
  EXPECT_TRUE(std::holds_alternative<Compiled>(host)) << said(host);
}

TEST_F(Compile, ANameThatOurStandardHeadersLackIsFoundInTheRealOnes) {
  const auto result = compile_kernels(
      "#include <algorithm>\nextern \"C\" __global__ void k(int* p) { *p = std::max({p[0], p[1], p[2]}) + "
      "*std::lower_bound(p, p + 4, 3); }",
      {"k"});
  EXPECT_TRUE(std::holds_alternative<Compiled>(result)) << said(result);
}

TEST_F(Compile, NameExpressionsWithTemplatesAndNamespaces) {
  const std::string source = R"(namespace ns { namespace {
template <int kN, bool kFast = true> __global__ void k(float* p) { *p = kN + kFast; }
}
__global__ void over(int*) {}
}
static __global__ void local(int* p) { *p = 1; })";
  for (const char* include : {"", "#include <vector>\n"}) {
    const auto result = compile_kernels(include + source, {"ns::k<(1 << 3)>", "ns::k<8, false>", "ns::over", "local"});
    ASSERT_TRUE(std::holds_alternative<Compiled>(result)) << said(result);
    const auto& symbols = std::get<Compiled>(result).symbols;
    EXPECT_THAT(symbols.at("ns::k<(1 << 3)>"), HasSubstr("1kILi8ELb1E"));
    EXPECT_THAT(symbols.at("ns::k<8, false>"), HasSubstr("1kILi8ELb0E"));
    EXPECT_EQ(symbols.at("ns::over"), "_ZN2ns4overEPi");
    EXPECT_THAT(symbols.at("local"), HasSubstr("local"));
  }
}

TEST_F(Compile, AnUnknownKernelIsAnErrorOfThePlan) {
  for (const char* include : {"", "#include <vector>\n"})
    for (const char* name : {"missing", "helper", "kk<3"}) {
      const auto result = compile_kernels(
          std::string(include) + "__device__ int helper() { return 1; }\nextern \"C\" __global__ void k() {}",
          {"k", name});
      ASSERT_THAT(said(result), StartsWith(std::string(to_string(VerdictKind::Rejected)) + ": rule `plan`"));
      EXPECT_THAT(said(result), HasSubstr(fmt::format("`{}`", name)));
    }
}

TEST_F(Compile, ErrorsNameTheCandidatesOwnFileAndLine) {
  const std::string source = "#include <cstdint>\nextern \"C\" __global__ void k(int* p) {\n  *p = undeclared;\n}\n";
  for (const std::string& include : {std::string(), std::string("#include <vector>\n")}) {
    const auto result = compile_kernels(include + source, {"k"});
    EXPECT_THAT(said(result),
                StartsWith(fmt::format("compile_error: mine.hip:{}:8: error: use of undeclared identifier 'undeclared'",
                                       include.empty() ? 3 : 4)));
    EXPECT_THAT(said(result), Not(HasSubstr("/candidate")));
  }
  EXPECT_THAT(said(compile_host(source)), HasSubstr("mine.hip:3:8: error:"));
  EXPECT_THAT(said(compile_kernels("extern \"C\" __global__ void k(int* p) {\n  *p = 1;\n", {"k"})),
              StartsWith("compile_error: mine.hip:"));
}

TEST_F(Compile, TheCacheAnswersForTheSameAndOnlyTheSame) {
  const std::string source = "template <int k> __global__ void f(int* p) { *p = k + N; }";
  const auto compiled = [&](const std::string& text, const char* kernel, const char* option) {
    const auto result = compile_kernels(text, {kernel}, {option});
    EXPECT_TRUE(std::holds_alternative<Compiled>(result)) << said(result);
    return std::holds_alternative<Compiled>(result) ? std::get<Compiled>(result) : Compiled{};
  };
  const Compiled first = compiled(source, "f<1>", "-DN=1"), again = compiled(source, "f<1>", "-DN=1");
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.code, first.code);
  EXPECT_EQ(again.symbols, first.symbols);
  EXPECT_FALSE(compiled(source, "f<2>", "-DN=1").from_cache);
  EXPECT_FALSE(compiled(source, "f<1>", "-DN=2").from_cache);
  EXPECT_FALSE(compiled(source + "\n", "f<1>", "-DN=1").from_cache);
}

TEST_F(Compile, FilesOfTheHostAreNotThere) {
  for (const char* file : {"/etc/passwd", "/etc/shadow", "/proc/1/environ", HIPBENCH_SOURCE_DIR "/README.md"}) {
    const auto include =
        compile_kernels(fmt::format("#include \"{}\"\nextern \"C\" __global__ void k() {{}}", file), {"k"});
    EXPECT_THAT(said(include), StartsWith("compile_error")) << file;
    EXPECT_THAT(said(include), Not(HasSubstr("root:"))) << file;
  }
  for (const char* prefix : {"", "#include <vector>\n"}) {
    const auto incbin = compile_kernels(
        std::string(prefix) + "extern \"C\" __global__ void k() { asm volatile(\".incbin \\\"/etc/passwd\\\"\"); }",
        {"k"});
    EXPECT_THAT(said(incbin), StartsWith("compile_error"));
  }
}

TEST_F(Compile, ACompilerThatDoesNotEndIsStopped) {
  request_.time_limit = std::chrono::seconds(4);
  // Two to the power of 100 instantiations.
  const auto result = compile_kernels(
      R"(template <int n, int path> struct Tree { static constexpr int value = Tree<n - 1, path * 2>::value + Tree<n - 1, path * 2 + 1>::value; };
template <int path> struct Tree<0, path> { static constexpr int value = 1; };
extern "C" __global__ void k(int* p) { *p = Tree<30, 0>::value; })",
      {"k"});
  EXPECT_THAT(said(result), StartsWith("compile_error: the compiler was stopped"));
  EXPECT_THAT(said(compile_kernels("template <int n> struct R { static constexpr int v = R<n + 1>::v; };\n__global__ "
                                   "void k(int* p) { *p = R<0>::v; }",
                                   {"k"})),
              StartsWith("compile_error"));
}

TEST(CompilerMessages, WhatIsSaidTwiceIsKeptOnceAndCountsAreLeftOut) {
  const std::string first =
      "x.hip:3:7: warning: unused variable 'a' [-Wunused-variable]\n    3 |   int a;\n      |       ^\n";
  const std::string second =
      "In file included from x.hip:1:\nhipbench/y.h:4:1: warning: deprecated\n    4 | f();\n      | ^\nx.hip:9:1: "
      "note: here\n";
  EXPECT_EQ(without_repeats(first + second + "2 warnings generated when compiling for gfx942.\n" + first + second +
                            "2 warnings generated when compiling for host.\n"),
            first + second);
  EXPECT_EQ(without_repeats(first + second +
                            "x.hip:5:1: error: no\n1 warning and 1 error generated when compiling for gfx942.\n"),
            first + second + "x.hip:5:1: error: no\n");
  EXPECT_EQ(without_repeats(""), "");
  EXPECT_EQ(without_repeats("ld.lld: error: undefined symbol"), "ld.lld: error: undefined symbol\n");
}

TEST_F(Compile, AHostTrackWarningIsSaidOnce) {
  const auto result = compile_host(
      "#include <hip/hip_runtime.h>\n#include \"hipbench/fp8_gemm.h\"\n#warning mind the gap\n"
      "extern \"C\" int hb_fp8_gemm_run(const hb_fp8_gemm*, void*, size_t, hipStream_t) { return 0; }\n");
  ASSERT_TRUE(std::holds_alternative<Compiled>(result)) << said(result);
  const std::string& warnings = std::get<Compiled>(result).warnings;
  EXPECT_THAT(warnings, HasSubstr("mind the gap"));
  EXPECT_EQ(warnings.find("warning: mind the gap"), warnings.rfind("warning: mind the gap")) << warnings;
}

TEST_F(Compile, HugeOutputIsCutOff) {
  std::string source =
      "#define W1 _Pragma(\"message(\\\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\\")\")\n";
  for (int k = 2; k < 14; ++k) source += fmt::format("#define W{} W{} W{}\n", k, k - 1, k - 1);
  const auto result = compile_kernels(source + "W13\nextern \"C\" __global__ void k() {}", {"k"});
  EXPECT_THAT(said(result), StartsWith("compile_error: the compiler was stopped"));
  EXPECT_LT(said(result).size(), 100'000u);
  const auto large =
      compile_kernels("extern \"C\" { __device__ char big[600 << 20] = {1}; __global__ void k() {} }", {"k"});
  EXPECT_THAT(said(large), StartsWith("compile_error"));
  EXPECT_THAT(said(compile_kernels(std::string(2 << 20, '\n'), {"k"})), StartsWith("rejected"));
}

}  // namespace
}  // namespace hipbench
