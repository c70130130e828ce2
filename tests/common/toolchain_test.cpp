#include "common/toolchain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "common/files.hpp"
#include "common/subprocess.hpp"

namespace hipbench {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

// Sets or unsets a variable until the end of the test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~ScopedVariable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

Toolchain example() {
  Toolchain toolchain;
  toolchain.root = "/tc";
  toolchain.clang = "/usr/lib/llvm-19/bin/clang++";
  toolchain.hip_include = "/tc/hip";
  toolchain.device_libs = "/tc/bitcode";
  toolchain.extra_includes = {"/tc/primitives"};
  toolchain.runtime_directory = "/build/lib";
  toolchain.hip_version = "6.4.1";
  toolchain.clang_version = "clang version 19.1.7";
  toolchain.manifest = "libamdhip64-dev 6.4.3-5 sid abc\n";
  return toolchain;
}

Toolchain example_rocm() {
  Toolchain toolchain = example();
  toolchain.root = "/opt/rocm";
  toolchain.is_rocm = true;
  return toolchain;
}

// The words from `first` on, so that a test can look at an order.
Words from(const Words& command, const std::string& first) {
  return Words(std::find(command.begin(), command.end(), first), command.end());
}

bool contains_sequence(const Words& command, const Words& sequence) {
  return std::search(command.begin(), command.end(), sequence.begin(), sequence.end()) != command.end();
}

Words program(const Words& arguments) { return example().program_command(arguments); }

// A folder that looks like one made by scripts/setup.
void make_toolchain_folder(const fs::path& folder, const std::string& major, const std::string& minor) {
  for (const char* name : {"hip/hip", "bitcode"}) fs::create_directories(folder / name);
  const std::string version =
      "#define HIP_VERSION_MAJOR " + major + "\n#define HIP_VERSION_MINOR " + minor + "\n#define HIP_VERSION_PATCH 7\n";
  for (const auto& [name, text] :
       std::initializer_list<std::pair<const char*, std::string>>{{"hip/hip/hip_version.h", version},
                                                                  {"hip/hip/hip_runtime.h", ""},
                                                                  {"bitcode/ocml.bc", ""},
                                                                  {"bitcode/oclc_isa_version_942.bc", ""},
                                                                  {"manifest.txt", "libamdhip64-dev x y z\n"}})
    ASSERT_TRUE(write_file_atomically(folder / name, text));
}

class ToolchainFolder : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> created = TemporaryDirectory::create("hipbench-toolchain");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(created).value());
  }
  const fs::path& path() const { return folder_->path(); }

 private:
  std::optional<TemporaryDirectory> folder_;
};

TEST(ToolchainCommand, HostTrackLinksOurRuntimeAndNotTheSystems) {
  const Words command = example().shared_object_command("/in.hip", "/out.so", Words{"-DN=1"});
  EXPECT_EQ(command.front(), "/usr/lib/llvm-19/bin/clang++");
  EXPECT_THAT(command, Contains("-shared"));
  EXPECT_THAT(command, Contains("--offload-arch=gfx942"));
  EXPECT_THAT(command, Contains("-std=c++20"));
  EXPECT_THAT(command, Contains("-gline-tables-only"));
  EXPECT_THAT(from(command, "-DN=1"), ElementsAre("-DN=1", "-x", "hip", "/in.hip", "-o", "/out.so", "-no-hip-rt",
                                                  "-Xlinker", "/build/lib/libamdhip64.so.6"));
}

TEST(ToolchainCommand, CodeObjectIsDeviceOnlyAndUnbundled) {
  const Words command = example().code_object_command("/in.hip", "/out.co");
  EXPECT_THAT(command, Contains("--cuda-device-only"));
  EXPECT_THAT(command, Contains("--no-gpu-bundle-output"));
  EXPECT_THAT(command, Not(Contains("-shared")));
}

TEST(ToolchainCommand, ClangIsToldWhereEverythingIsAndSearchesForNothing) {
  const Words flags = example().dialect_flags();
  EXPECT_TRUE(contains_sequence(flags, {"--rocm-path=/tc", "--hip-version=6.4", "--rocm-device-lib-path=/tc/bitcode",
                                        "-isystem", "/tc/hip", "-isystem", "/tc/primitives"}));
}

TEST(ToolchainCommand, RocmFindsItsOwnHeadersAndRuntime) {
  const Words command = example_rocm().shared_object_command("/in.hip", "/out.so");
  EXPECT_THAT(command, Contains("--rocm-path=/opt/rocm"));
  EXPECT_THAT(command, Not(Contains("--rocm-device-lib-path=/tc/bitcode")));
  EXPECT_THAT(command, Not(Contains("-no-hip-rt")));
}

TEST(ProgramCommand, EverySourceIsHipButCAndObjectsAreNot) {
  const Words command = program({"a.hip", "b.cpp", "c.c", "d.o", "-o", "prog"});
  EXPECT_TRUE(
      contains_sequence(command, {"-x", "hip", "a.hip", "b.cpp", "-x", "c", "c.c", "-x", "none", "d.o", "-o", "prog"}));
  EXPECT_THAT(command, Not(Contains("-std=c++20"))) << "clang refuses it for C";
}

TEST(ProgramCommand, LinksAgainstOurRuntimeWithARunpath) {
  const Words command = program({"a.hip", "-o", "prog"});
  EXPECT_TRUE(contains_sequence(command, {"-no-hip-rt", "-Xlinker", "/build/lib/libamdhip64.so.6"}));
  EXPECT_TRUE(
      contains_sequence(command, {"-Xlinker", "--enable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", "/build/lib"}));
}

TEST(ProgramCommand, DoesNotLinkWhenTheUserStopsEarlier) {
  for (const char* stop : {"-c", "-S", "-E", "-fsyntax-only", "--genco", "--cuda-device-only"})
    EXPECT_THAT(program({stop, "a.hip"}), Not(Contains("/build/lib/libamdhip64.so.6"))) << stop;
}

TEST(ProgramCommand, UsersFlagsComeAfterOursAndSoWin) {
  const Words command = program({"-O0", "-std=c++17", "-g", "-c", "a.hip"});
  EXPECT_THAT(from(command, "-O3"), Contains("-O0"));
  EXPECT_THAT(from(command, "-std=c++20"), Contains("-std=c++17"));
  EXPECT_THAT(from(command, "-gline-tables-only"), Contains("-g"));
}

TEST(ProgramCommand, ValuesOfOptionsAreNoInputs) {
  const Words command = program({"-I", "dir.cpp", "-include", "x.hip", "-D", "N", "--version"});
  EXPECT_EQ(command,
            (Words{"/usr/lib/llvm-19/bin/clang++", "-I", "dir.cpp", "-include", "x.hip", "-D", "N", "--version"}));
}

TEST(ProgramCommand, UsersArchitecturesReplaceOurs) {
  const Words command = program({"--offload-arch=gfx90a", "-c", "a.hip"});
  EXPECT_THAT(command, Not(Contains("--offload-arch=gfx942")));
  EXPECT_THAT(program({"--amdgpu-target=gfx90a", "-c", "a.hip"}), Contains("--offload-arch=gfx90a"));
  EXPECT_THAT(program({"--offload-arch=native", "-c", "a.hip"}), Contains("--offload-arch=gfx942"));
}

TEST(ProgramCommand, UsersLanguageIsLeftAlone) {
  EXPECT_TRUE(contains_sequence(program({"-x", "c++", "a.cpp", "-x", "none", "b.cpp"}),
                                {"-x", "c++", "a.cpp", "-x", "none", "-x", "hip", "b.cpp"}));
}

TEST(ProgramCommand, LibrariesOfRocmBecomeOurs) {
  const Words command = program({"a.o", "-lamdhip64", "-lhiprtc", "-lm"});
  EXPECT_THAT(command, Not(Contains("-lamdhip64")));
  EXPECT_TRUE(contains_sequence(command, {"a.o", "-Xlinker", "/build/lib/libhiprtc.so.6", "-lm"}));
  EXPECT_THAT(example_rocm().program_command(Words{"a.o", "-lamdhip64"}), Contains("-lamdhip64"));
}

TEST(ToolchainIdentity, ChangesWithCompilerHeadersAndManifest) {
  const std::string identity = example().identity();
  EXPECT_EQ(identity, example().identity());
  for (std::string Toolchain::* part : {&Toolchain::clang_version, &Toolchain::hip_version, &Toolchain::manifest}) {
    Toolchain other = example();
    other.*part += "x";
    EXPECT_NE(other.identity(), identity);
  }
}

TEST_F(ToolchainFolder, IsReadWithItsVersions) {
  make_toolchain_folder(path(), "6", "3");
  const Result<Toolchain> toolchain = Toolchain::at(path());
  ASSERT_TRUE(toolchain) << toolchain.error().message;
  EXPECT_EQ(toolchain->hip_version, "6.3.7");
  EXPECT_THAT(toolchain->clang_version, HasSubstr("clang version"));
  EXPECT_TRUE(toolchain->extra_includes.empty());
  EXPECT_THAT(toolchain->paths(), Contains(path()));
  EXPECT_THAT(toolchain->paths(), Not(Contains(path() / "hip"))) << "lies in a listed folder";
}

TEST_F(ToolchainFolder, WithoutManifestIsRefusedWithAdvice) {
  const ScopedVariable variable("HIPBENCH_TOOLCHAIN", path().c_str());
  const Result<Toolchain> toolchain = Toolchain::locate();
  ASSERT_FALSE(toolchain);
  EXPECT_THAT(toolchain.error().message, HasSubstr("scripts/setup"));
}

TEST_F(ToolchainFolder, WithTooOldHeadersIsRefused) {
  make_toolchain_folder(path(), "5", "7");
  const Result<Toolchain> toolchain = Toolchain::at(path());
  ASSERT_FALSE(toolchain);
  EXPECT_THAT(toolchain.error().message, HasSubstr("HIP 5.7"));
}

TEST_F(ToolchainFolder, WithMissingBitcodeNamesTheFile) {
  make_toolchain_folder(path(), "6", "4");
  fs::remove(path() / "bitcode/oclc_isa_version_942.bc");
  const Result<Toolchain> toolchain = Toolchain::at(path());
  ASSERT_FALSE(toolchain);
  EXPECT_THAT(toolchain.error().message, HasSubstr("oclc_isa_version_942.bc is missing"));
}

TEST_F(ToolchainFolder, NamedRocmThatIsUnusableIsAnErrorAndNotSkipped) {
  const ScopedVariable none("HIPBENCH_TOOLCHAIN", nullptr);
  const ScopedVariable variable("ROCM_PATH", path().c_str());
  const Result<Toolchain> toolchain = Toolchain::locate();
  ASSERT_FALSE(toolchain);
  EXPECT_THAT(toolchain.error().message, HasSubstr("ROCM_PATH"));
}

// The recipe itself, on headers that candidates include.
TEST_F(ToolchainFolder, RecipeCompilesCandidateHeadersToACodeObject) {
  const Result<Toolchain> toolchain = Toolchain::locate();
  if (!toolchain) GTEST_SKIP() << toolchain.error().message;
  const fs::path source = path() / "in.hip";
  const fs::path output = path() / "out.co";
  ASSERT_TRUE(write_file_atomically(source, R"(
#include <cstdint>
#include <type_traits>
#include <hip/hip_runtime.h>
#include <hip/hip_fp8.h>
#include <hip/amd_detail/amd_hip_fp8.h>
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <algorithm>
#include <complex>
#include <new>
__global__ void widen(const __hip_fp8_e4m3_fnuz* in, __hip_bfloat16* out) {
  out[threadIdx.x] = __float2bfloat16(std::max(1.0f, static_cast<float>(in[threadIdx.x])));
}
__global__ void construct(int* at) { new (at) int(7); }
)"));
  const Result<ProcessResult> run = run_process(toolchain->code_object_command(source, output));
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->exit_code, 0) << run->errors;
  const Result<std::string> code_object = read_file(output);
  ASSERT_TRUE(code_object);
  EXPECT_EQ(code_object->substr(0, 4),
            "\x7f"
            "ELF");
}

TEST_F(ToolchainFolder, RecipeCompilesRocPrimAndHipCub) {
  const Result<Toolchain> toolchain = Toolchain::locate();
  if (!toolchain) GTEST_SKIP() << toolchain.error().message;
  if (!toolchain->is_rocm && toolchain->extra_includes.empty()) GTEST_SKIP() << "setup found no rocPRIM and hipCUB";
  const fs::path source = path() / "in.hip";
  ASSERT_TRUE(write_file_atomically(source, "#include <rocprim/rocprim.hpp>\n#include <hipcub/hipcub.hpp>\n"));
  const Words only_parse = {"-fsyntax-only"};
  const Result<ProcessResult> run = run_process(toolchain->code_object_command(source, path() / "out.co", only_parse));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->exit_code, 0) << run->errors;
}

}  // namespace
}  // namespace hipbench
