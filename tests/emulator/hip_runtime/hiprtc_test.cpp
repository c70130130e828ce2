// libhiprtc.so.6 through its own interface, as programs use it. Nothing here needs a device.

#include "emulator/hip_runtime/hip_api.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hiprtc.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::Not;

class Program {
 public:
  explicit Program(const char* source, const char* name = "affine.hip", std::vector<const char*> headers = {},
                   std::vector<const char*> names = {}) {
    created =
        hiprtcCreateProgram(&handle, source, name, static_cast<int>(headers.size()), headers.data(), names.data());
  }
  ~Program() {
    if (handle != nullptr) EXPECT_EQ(hiprtcDestroyProgram(&handle), HIPRTC_SUCCESS);
  }
  hiprtcResult compile(std::vector<const char*> options = {}) {
    return hiprtcCompileProgram(handle, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    size_t size = 0;
    EXPECT_EQ(hiprtcGetProgramLogSize(handle, &size), HIPRTC_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(hiprtcGetProgramLog(handle, text.data()), HIPRTC_SUCCESS);
    return text.c_str();
  }
  std::string code() const {
    size_t size = 0;
    EXPECT_EQ(hiprtcGetCodeSize(handle, &size), HIPRTC_SUCCESS);
    std::string bytes(size, '\0');
    EXPECT_EQ(hiprtcGetCode(handle, bytes.data()), HIPRTC_SUCCESS);
    return bytes;
  }
  std::string lowered(const char* expression) const {
    const char* name = nullptr;
    return hiprtcGetLoweredName(handle, expression, &name) == HIPRTC_SUCCESS ? name : "(none)";
  }

  hiprtcProgram handle = nullptr;
  hiprtcResult created;
};

TEST(Hiprtc, NameExpressionsGiveTheSymbolsOfKernelsAndVariables) {
  Program program(R"(
namespace ns {
template <int kN, class T> __global__ void fill(T* p) { p[threadIdx.x] = kN; }
namespace { __global__ void hidden(int* p) { *p = 1; } }
}
extern "C" __global__ void plain(float* p) { *p = 2; }
__device__ int counter;
__constant__ float table[4];)");
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"ns::fill<3, float>", "_ZN2ns4fillILi3EfEEvPT0_"},
      {"&ns::fill<(1 << 4), unsigned char>", "_ZN2ns4fillILi16EhEEvPT0_"},
      {"ns::hidden", "_ZN2ns12_GLOBAL__N_16hiddenEPi"},
      {"plain", "plain"},
      {"&counter", "counter"},
      {"table", "table"}};
  for (const auto& [expression, symbol] : expected)
    EXPECT_EQ(hiprtcAddNameExpression(program.handle, expression), HIPRTC_SUCCESS);
  ASSERT_EQ(program.compile({"-std=c++14"}), HIPRTC_SUCCESS) << program.log();
  for (const auto& [expression, symbol] : expected) EXPECT_EQ(program.lowered(expression), symbol);
  EXPECT_EQ(program.code().substr(0, 4), "\x7f" "ELF");
}

TEST(Hiprtc, OptionsAndHeadersReachTheCompiler) {
  Program program(
      "#include \"lib/scale.h\"\nextern \"C\" __global__ void k(float* p) { *p = scale(OFFSET); "
      "}\nstatic_assert(__cplusplus > 202000L);",
      "k.hip",
      {"#include \"deep/factor.h\"\ninline __device__ float scale(float x) { return x * kFactor; }",
       "constexpr float kFactor = 3;"},
      {"lib/scale.h", "deep/factor.h"});
  EXPECT_EQ(program.compile(
                {"--gpu-architecture=gfx942:sramecc+:xnack-", "-D", "OFFSET=4", "--std=c++20", "-O1", "-ffast-math"}),
            HIPRTC_SUCCESS)
      << program.log();
}

TEST(Hiprtc, SmallFloatTypesAndCooperativeMathNeedNoInclude) {
  Program program(R"(extern "C" __global__ void k(float* p, __hip_bfloat16 b, __half h, __hip_fp8_e4m3_fnuz f) {
  *p = float(b) + __half2float(h) + float(f) + sqrtf(*p) + __shfl_xor(*p, 1) + float(uint64_t(*p)); })");
  EXPECT_EQ(program.compile(), HIPRTC_SUCCESS) << program.log();
}

TEST(Hiprtc, TheLogNamesTheProgramAndItsLine) {
  Program program("extern \"C\" __global__ void k() {\n  undeclared = 1;\n}", "kernels/broken.cu");
  hiprtcAddNameExpression(program.handle, "k");
  EXPECT_EQ(program.compile(), HIPRTC_ERROR_COMPILATION);
  EXPECT_THAT(program.log(), HasSubstr("kernels/broken.cu:2:3: error: use of undeclared identifier 'undeclared'"));
  EXPECT_THAT(program.log(), Not(HasSubstr("/tmp")));
  EXPECT_EQ(program.lowered("k"), "(none)");
  size_t size = 0;
  EXPECT_EQ(hiprtcGetCodeSize(program.handle, &size), HIPRTC_ERROR_INVALID_PROGRAM);
}

TEST(Hiprtc, AMissingBraceIsReportedInTheSourceAndABadExpressionAsSuch) {
  Program brace("extern \"C\" __global__ void k() {\n", "brace.hip");
  hiprtcAddNameExpression(brace.handle, "k");
  EXPECT_EQ(brace.compile(), HIPRTC_ERROR_COMPILATION);
  EXPECT_THAT(brace.log(), HasSubstr("brace.hip:1:"));
  Program unknown("extern \"C\" __global__ void k() {}", "k.hip");
  hiprtcAddNameExpression(unknown.handle, "k");
  hiprtcAddNameExpression(unknown.handle, "no_such_kernel<4>");
  EXPECT_EQ(unknown.compile(), HIPRTC_ERROR_COMPILATION);
  EXPECT_THAT(unknown.log(), HasSubstr("(name expressions):2:"));
}

TEST(Hiprtc, SameSourceSameCode) {
  const char* source = "static __global__ void k(int* p) { *p = __LINE__; }";
  std::string first;
  for (int k = 0; k < 2; ++k) {
    Program program(source);
    hiprtcAddNameExpression(program.handle, "k");
    ASSERT_EQ(program.compile(), HIPRTC_SUCCESS) << program.log();
    if (k == 0) first = program.code();
    EXPECT_EQ(program.code(), first);
    EXPECT_THAT(program.lowered("k"), HasSubstr("_ZL1kPi"));
  }
}

TEST(Hiprtc, CallsOutOfOrderAndWrongArgumentsAreErrors) {
  Program program("extern \"C\" __global__ void k() {}");
  const char* name = nullptr;
  size_t size = 0;
  EXPECT_EQ(hiprtcGetLoweredName(program.handle, "k", &name), HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  EXPECT_EQ(hiprtcGetProgramLogSize(program.handle, &size), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcCompileProgram(program.handle, 1, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(program.compile({"-o", "/tmp/elsewhere"}), HIPRTC_ERROR_INVALID_OPTION);
  EXPECT_EQ(program.compile({"/etc/passwd"}), HIPRTC_ERROR_INVALID_OPTION);
  EXPECT_EQ(program.compile({"--gpu-architecture=compute_90"}), HIPRTC_ERROR_INVALID_OPTION);
  EXPECT_THAT(program.log(), HasSubstr("--offload-arch=gfx942"));
  EXPECT_EQ(program.compile({"-fno-such-option"}), HIPRTC_ERROR_COMPILATION);
  ASSERT_EQ(program.compile(), HIPRTC_SUCCESS) << program.log();
  EXPECT_EQ(program.compile(), HIPRTC_ERROR_COMPILATION) << "compiled already";
  EXPECT_EQ(hiprtcAddNameExpression(program.handle, "k"), HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT_EQ(hiprtcGetLoweredName(program.handle, "k", &name), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  EXPECT_EQ(hiprtcGetBitcodeSize(program.handle, &size), HIPRTC_ERROR_INVALID_PROGRAM);
  hiprtcProgram stale = program.handle;
  EXPECT_EQ(hiprtcDestroyProgram(&program.handle), HIPRTC_SUCCESS);
  EXPECT_EQ(hiprtcDestroyProgram(&stale), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcCompileProgram(stale, 0, nullptr), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcCreateProgram(nullptr, "", "", 0, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_STREQ(hiprtcGetErrorString(HIPRTC_ERROR_LINKING), "HIPRTC_ERROR_LINKING");
}

TEST(Hiprtc, HeaderNamesCannotLeaveTheirFolder) {
  for (const char* name : {"../escape.h", "/etc/passwd", "a/../../b.h", "", "a//b.h", "./a.h", ".."})
    EXPECT_EQ(Program("", "x.hip", {"text"}, {name}).created, HIPRTC_ERROR_INVALID_INPUT) << name;
  Program clash("#include \"a\"", "x.hip", {"// a file", "// in a folder of that name"}, {"a", "a/b"});
  EXPECT_EQ(clash.compile(), HIPRTC_ERROR_INTERNAL_ERROR) << "said on standard error";
}

TEST(Hiprtc, RelocatableProgramsGiveBitcode) {
  Program program("template <int k> __global__ void f(int* p) { *p = k; }");
  hiprtcAddNameExpression(program.handle, "f<7>");
  ASSERT_EQ(program.compile({"-fgpu-rdc"}), HIPRTC_SUCCESS) << program.log();
  size_t size = 0;
  ASSERT_EQ(hiprtcGetBitcodeSize(program.handle, &size), HIPRTC_SUCCESS);
  std::string bitcode(size, '\0');
  ASSERT_EQ(hiprtcGetBitcode(program.handle, bitcode.data()), HIPRTC_SUCCESS);
  EXPECT_EQ(bitcode.substr(0, 2), "BC");
  EXPECT_EQ(program.lowered("f<7>"), "_Z1fILi7EEvPi");
  EXPECT_EQ(hiprtcGetCodeSize(program.handle, &size), HIPRTC_ERROR_INVALID_PROGRAM);
}

TEST(Hiprtc, LeavesNothingBehind) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "hiprtc_leaves_nothing";
  std::filesystem::create_directories(folder);
  ::setenv("TMPDIR", folder.c_str(), 1);
  Program program("extern \"C\" __global__ void k() {}");
  EXPECT_EQ(program.compile(), HIPRTC_SUCCESS) << program.log();
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(Hiprtc, TheHipRuntimeExportsTheSameFunctions) {
  void* runtime = ::dlopen(HIPBENCH_BINARY_DIR "/lib/libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(runtime, nullptr) << ::dlerror();
  const auto version = reinterpret_cast<hiprtcResult (*)(int*, int*)>(::dlsym(runtime, "hiprtcVersion"));
  ASSERT_NE(version, nullptr);
  int major = 0, minor = 0;
  EXPECT_EQ(version(&major, &minor), HIPRTC_SUCCESS);
  EXPECT_EQ(major, HIP_VERSION_MAJOR);
}

}  // namespace
