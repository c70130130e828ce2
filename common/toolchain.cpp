#include "common/toolchain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "common/files.hpp"
#include "common/subprocess.hpp"

namespace hipbench {
namespace fs = std::filesystem;

namespace {

// Raise when a flag below changes what a source compiles to, so that compile caches forget what they hold.
constexpr std::string_view kRecipeRevision = "3";
// Written last by scripts/setup: a folder without it is half made.
constexpr std::string_view kManifestName = "manifest.txt";
constexpr std::string_view kSetupAdvice =
    "run scripts/setup in the checkout, or point HIPBENCH_TOOLCHAIN at a folder that it made";

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::optional<fs::path> find_in_path(std::string_view program) {
  const std::string search = environment("PATH").value_or("/usr/bin:/bin");
  for (size_t begin = 0; begin <= search.size();) {
    const size_t end = std::min(search.find(':', begin), search.size());
    const fs::path candidate = fs::path(search.substr(begin, end - begin)) / program;
    if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

Result<fs::path> find_clang() {
  if (const auto named = environment("HIPBENCH_CLANG")) {
    if (::access(named->c_str(), X_OK) == 0) return fs::path(*named);
    return Error{fmt::format(
        "HIPBENCH_CLANG names {}, which is no program: let it name clang++ 19 or newer, or unset it", *named)};
  }
  for (const char* path : {"/usr/lib/llvm-19/bin/clang++", "/usr/bin/clang++-19"})
    if (::access(path, X_OK) == 0) return fs::path(path);
  if (const auto found = find_in_path("clang++-19")) return *found;
  return Error{"clang++-19 is not installed: run scripts/setup"};
}

// The bundler lies beside the real clang, with or without the version in its name.
fs::path bundler_beside(const fs::path& clang) {
  std::error_code ignored;
  const fs::path folder = fs::canonical(clang, ignored).parent_path();
  const fs::path plain = folder / "clang-offload-bundler";
  const fs::path versioned = clang.parent_path() / "clang-offload-bundler-19";
  return !is_there(plain) && is_there(versioned) ? versioned : plain;
}

Result<std::string> first_line_of_version(const fs::path& clang) {
  const ProcessResult run = TRY(run_process({clang.string(), "--version"}, std::chrono::seconds(20)));
  if (run.exit_code != 0 || run.output.empty())
    return Error{fmt::format("{} --version failed with status {}: {}", clang.string(), run.exit_code, run.errors)};
  return run.output.substr(0, run.output.find('\n'));
}

// "#define HIP_VERSION_MAJOR 6" → 6.
std::optional<int> defined_number(std::string_view header, std::string_view name) {
  const std::string define = fmt::format("#define {} ", name);
  const size_t at = header.find(define);
  if (at == std::string_view::npos) return std::nullopt;
  size_t digit = header.find_first_not_of(' ', at + define.size());
  int value = 0;
  bool any = false;
  for (; digit < header.size() && std::isdigit(static_cast<unsigned char>(header[digit])) && value < 100'000'000;
       ++digit) {
    value = value * 10 + (header[digit] - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

Result<std::string> read_hip_version(const fs::path& hip_include) {
  const fs::path path = hip_include / "hip/hip_version.h";
  const std::string header = TRY(read_file(path));
  const auto major = defined_number(header, "HIP_VERSION_MAJOR");
  const auto minor = defined_number(header, "HIP_VERSION_MINOR");
  const auto patch = defined_number(header, "HIP_VERSION_PATCH");
  if (!major || !minor || !patch) return Error{fmt::format("{} names no HIP version", path.string())};
  if (std::pair(*major, *minor) < std::pair(kOldestHipMajor, kOldestHipMinor))
    return Error{fmt::format("{} is HIP {}.{}; hipbench needs {}.{} or newer (hip_fp8.h)", path.string(), *major,
                             *minor, kOldestHipMajor, kOldestHipMinor)};
  return fmt::format("{}.{}.{}", *major, *minor, *patch);
}

// lib/ beside the executable; a test program lies one folder below it.
fs::path find_runtime_directory() {
  const fs::path here = executable_directory();
  const fs::path above = here.parent_path() / "lib";
  return !is_there(here / "lib") && is_there(above / "libamdhip64.so.6") ? above : here / "lib";
}

Result<void> finish(Toolchain& toolchain) {
  for (const fs::path& needed : {toolchain.hip_include / "hip/hip_runtime.h", toolchain.device_libs / "ocml.bc",
                                 toolchain.device_libs / "oclc_isa_version_942.bc"})
    if (!is_there(needed)) return Error{fmt::format("{} is missing", needed.string())};
  toolchain.offload_bundler = bundler_beside(toolchain.clang);
  toolchain.runtime_directory = find_runtime_directory();
  toolchain.hip_version = TRY(read_hip_version(toolchain.hip_include));
  toolchain.clang_version = TRY(first_line_of_version(toolchain.clang));
  return {};
}

// ROCm kept its bitcode in three places over time.
fs::path rocm_device_libs(const fs::path& rocm, const fs::path& clang) {
  const fs::path old_place = rocm / "amdgcn/bitcode";
  if (is_there(old_place / "ocml.bc")) return old_place;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator(clang.parent_path().parent_path() / "lib/clang", ignored))
    for (const char* place : {"amdgcn/bitcode", "lib/amdgcn/bitcode"})
      if (is_there(version.path() / place / "ocml.bc")) return version.path() / place;
  return old_place;
}

void append(std::vector<std::string>& command, std::span<const std::string> more) {
  command.insert(command.end(), more.begin(), more.end());
}

}  // namespace

Result<Toolchain> Toolchain::at(const fs::path& folder, fs::path clang) {
  Toolchain toolchain;
  toolchain.root = folder;
  if (!is_there(folder / kManifestName))
    return Error{
        fmt::format("{} is no toolchain folder (it has no {}): {}", folder.string(), kManifestName, kSetupAdvice)};
  toolchain.manifest = TRY(read_file(folder / kManifestName));
  toolchain.clang = clang.empty() ? TRY(find_clang()) : std::move(clang);
  toolchain.hip_include = folder / "hip";
  toolchain.device_libs = folder / "bitcode";
  if (const fs::path primitives = folder / "primitives"; is_there(primitives))
    toolchain.extra_includes.push_back(primitives);
  const Result<void> finished = finish(toolchain);
  if (!finished)
    return Error{fmt::format("the toolchain in {} is unusable: {}; {}", folder.string(), finished.error().message,
                             kSetupAdvice)};
  return toolchain;
}

Result<Toolchain> Toolchain::rocm_at(const fs::path& folder) {
  Toolchain toolchain;
  toolchain.root = folder;
  toolchain.is_rocm = true;
  toolchain.clang = folder / "llvm/bin/clang++";
  if (!is_there(toolchain.clang)) toolchain.clang = folder / "lib/llvm/bin/clang++";
  if (!is_there(toolchain.clang)) return Error{fmt::format("{} has no llvm/bin/clang++", folder.string())};
  toolchain.hip_include = folder / "include";
  toolchain.device_libs = rocm_device_libs(folder, toolchain.clang);
  const Result<void> finished = finish(toolchain);
  if (!finished) return Error{fmt::format("the ROCm in {} is unusable: {}", folder.string(), finished.error().message)};
  return toolchain;
}

Result<Toolchain> Toolchain::locate() { return locate(executable_directory()); }

Result<Toolchain> Toolchain::locate(fs::path folder) {
  const fs::path start = folder;
  if (const auto named = environment("HIPBENCH_TOOLCHAIN"))
    return is_there(fs::path(*named) / kManifestName) || !is_there(fs::path(*named) / "include/hip") ? at(*named)
                                                                                                     : rocm_at(*named);
  // A ROCm that the user names must work; one that merely lies in /opt may be too old, and then ours serves.
  if (const auto named = environment("ROCM_PATH")) {
    Result<Toolchain> rocm = rocm_at(*named);
    if (!rocm) return rocm.error().with_context("ROCM_PATH");
    return rocm;
  }
  std::string rocm_problem;
  if (is_there("/opt/rocm/include/hip")) {
    Result<Toolchain> rocm = rocm_at("/opt/rocm");
    if (rocm) return rocm;
    rocm_problem = fmt::format(" ({})", rocm.error().message);
  }
  for (int level = 0; level < 4; ++level, folder = folder.parent_path())
    if (is_there(folder / ".toolchain" / kManifestName)) return at(folder / ".toolchain");
  return Error{fmt::format("no HIP headers and device bitcode found above {}{}: {}", start.string(),
                           rocm_problem, kSetupAdvice)};
}

std::string Toolchain::identity() const {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n", kRecipeRevision, is_rocm ? "rocm" : "clang", clang_version,
                                hip_version, manifest));
}

std::vector<fs::path> Toolchain::paths() const {
  std::error_code ignored;
  const fs::path compiler = fs::canonical(clang, ignored).parent_path().parent_path();  // …/llvm-19: bin, lib, headers
  std::vector<fs::path> wanted = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"};
  for (const fs::path& path : {compiler, root, hip_include, device_libs, runtime_directory}) wanted.push_back(path);
  wanted.insert(wanted.end(), extra_includes.begin(), extra_includes.end());
  std::vector<fs::path> result;
  for (const fs::path& path : wanted) {
    bool covered = path.empty() || !is_there(path);
    for (const fs::path& other : result) {
      const auto [rest, unused] = std::mismatch(other.begin(), other.end(), path.begin(), path.end());
      covered = covered || rest == other.end();
    }
    if (!covered) result.push_back(path);
  }
  return result;
}

std::vector<std::string> Toolchain::dialect_flags() const {
  // Naming a folder keeps clang from searching the system for a ROCm, whose version would be another.
  std::vector<std::string> flags = {fmt::format("--offload-arch={}", kOffloadArch), "-std=c++20", "-gline-tables-only",
                                    "--rocm-path=" + root.string()};
  if (!is_rocm) {
    // Our folder lacks ROCm's version file, and without a version clang leaves out its wrapper headers (device-side
    // <new>, <algorithm>, math functions).
    flags.push_back("--hip-version=" + hip_version.substr(0, hip_version.rfind('.')));
    flags.push_back("--rocm-device-lib-path=" + device_libs.string());
  }
  // clang itself puts HIP's headers last, behind those of a distribution's own HIP in /usr/include.
  std::vector<fs::path> includes = extra_includes;
  if (hip_include != "/usr/include") includes.insert(includes.begin(), hip_include);
  for (const fs::path& include : includes) append(flags, std::array<std::string, 2>{"-isystem", include.string()});
  return flags;
}

std::vector<std::string> Toolchain::shared_object_command(const fs::path& source, const fs::path& output,
                                                          std::span<const std::string> more_flags) const {
  std::vector<std::string> command = {clang.string(), "-O3", "-fPIC", "-shared"};
  append(command, dialect_flags());
  append(command, more_flags);
  append(command, std::array<std::string, 5>{"-x", "hip", source.string(), "-o", output.string()});
  // Without -no-hip-rt clang links whatever libamdhip64 the system has, possibly with older structs. (-Xlinker, since a
  // plain path would be taken for a HIP source.)
  if (!is_rocm) append(command, std::array<std::string, 3>{"-no-hip-rt", "-Xlinker", runtime_library().string()});
  return command;
}

std::vector<std::string> Toolchain::code_object_command(const fs::path& source, const fs::path& output,
                                                        std::span<const std::string> more_flags) const {
  std::vector<std::string> command = {clang.string(), "-O3", "--cuda-device-only", "--no-gpu-bundle-output"};
  append(command, dialect_flags());
  append(command, more_flags);
  append(command, std::array<std::string, 5>{"-x", "hip", source.string(), "-o", output.string()});
  return command;
}

std::vector<std::string> Toolchain::runtime_compile_command(const fs::path& source, const fs::path& output,
                                                            const fs::path& folder,
                                                            std::span<const std::string> more_flags) const {
  std::vector<std::string> command = {clang.string(),
                                      "-O3",
                                      "--cuda-device-only",
                                      "--no-gpu-bundle-output",
                                      "-gline-tables-only",
                                      "-fno-color-diagnostics",
                                      "--rocm-path=" + root.string()};
  if (!is_rocm) {
    command.push_back("--hip-version=" + hip_version.substr(0, hip_version.rfind('.')));
    command.push_back("--rocm-device-lib-path=" + device_libs.string());
  }
  // The wrapper comes first: HIP's headers then rely on its math functions.
  for (const char* flag : {"-nogpuinc", "-nostdinc", "-D__HIPCC_RTC__=1", "-include", "__clang_hip_runtime_wrapper.h",
                           "-include", "hiprtc_prelude.h"})
    command.push_back(flag);
  append(command, more_flags);
  for (const fs::path& include : {folder, hip_include})
    append(command, std::array<std::string, 2>{"-isystem", include.string()});
  append(command, std::array<std::string, 5>{"-x", "hip", source.string(), "-o", output.string()});
  return command;
}

std::vector<fs::path> Toolchain::runtime_compile_links() const {
  std::vector<fs::path> links;
  std::error_code ignored;
  const fs::path versions = fs::canonical(clang, ignored).parent_path().parent_path() / "lib/clang";
  for (const auto& version : fs::directory_iterator(versions, ignored))
    for (const auto& header : fs::directory_iterator(version.path() / "include", ignored))
      if (header.path().filename().string().starts_with("__clang_hip")) links.push_back(header.path());
  return links;
}

}  // namespace hipbench
