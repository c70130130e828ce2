#pragma once
// The compiler of the candidates: clang 19 with the HIP headers and gfx942 bitcode that scripts/setup fetched, or an
// installed ROCm. This is the one place that knows how HIP source becomes gfx942 code; it only builds command lines, it
// runs nothing (the evaluator runs them in the compile sandbox, `hipbench hipcc` for the user).

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace hipbench {

// The only architecture we compile for, and the oldest HIP whose headers have hip_fp8.h with the FNUZ types.
inline constexpr std::string_view kOffloadArch = "gfx942";
inline constexpr int kOldestHipMajor = 6;
inline constexpr int kOldestHipMinor = 2;

struct Toolchain {
  std::filesystem::path root;                         // .toolchain, or ROCm's folder
  std::filesystem::path clang;                        // clang++
  std::filesystem::path offload_bundler;              // clang-offload-bundler
  std::filesystem::path hip_include;                  // contains hip/hip_runtime.h
  std::filesystem::path device_libs;                  // contains ocml.bc: the amdgcn/bitcode folder
  std::vector<std::filesystem::path> extra_includes;  // contain rocprim/ and hipcub/; may be empty
  std::filesystem::path runtime_directory;            // our lib/, where libamdhip64.so.6 lies (it may not be built yet)
  std::string hip_version;                            // "6.4.43484"
  std::string clang_version;                          // the first line of clang --version
  std::string manifest;  // what setup recorded: packages, versions and hashes; empty with ROCm
  bool is_rocm = false;

  // Looks at HIPBENCH_TOOLCHAIN, then ROCM_PATH and /opt/rocm, then .toolchain in the folders above the executable.
  // A library in somebody else's program says where to start instead.
  static Result<Toolchain> locate();
  static Result<Toolchain> locate(std::filesystem::path folder);
  // A toolchain folder made by scripts/setup, with the given clang++ (empty: look for clang++-19).
  static Result<Toolchain> at(const std::filesystem::path& folder, std::filesystem::path clang = {});
  // An installed ROCm.
  static Result<Toolchain> rocm_at(const std::filesystem::path& folder);

  // Hash of everything of the toolchain that decides what a source compiles to: part of every compile cache's key.
  std::string identity() const;

  // What a sandbox must let the compiler read. Only existing paths; some are symbolic links (/lib on a merged /usr).
  std::vector<std::filesystem::path> paths() const;

  std::filesystem::path runtime_library() const { return runtime_directory / "libamdhip64.so.6"; }

  // Host track: a .hip file with host code → a shared object. It names our libamdhip64.so.6 by soname only, so the
  // worker decides (by loading it first) which runtime the candidate gets.
  std::vector<std::string> shared_object_command(const std::filesystem::path& source,
                                                 const std::filesystem::path& output,
                                                 std::span<const std::string> more_flags = {}) const;

  // Kernel track and hipRTC: a source → a plain gfx942 ELF code object, no host code. hipRTC's own dialect
  // (__HIPCC_RTC__ and its in-memory headers) is the caller's business, through more_flags.
  std::vector<std::string> code_object_command(const std::filesystem::path& source, const std::filesystem::path& output,
                                               std::span<const std::string> more_flags = {}) const;

  // hipRTC: a source → a gfx942 ELF code object, in hipRTC's dialect: no standard library headers, -std as clang's
  // default. `folder` must hold "hiprtc_prelude.h" and links to runtime_compile_links(); `more_flags` may name another
  // architecture.
  std::vector<std::string> runtime_compile_command(const std::filesystem::path& source,
                                                   const std::filesystem::path& output,
                                                   const std::filesystem::path& folder,
                                                   std::span<const std::string> more_flags = {}) const;
  // clang's HIP wrapper headers, which define the math functions. Its folder has standard headers too, which hipRTC
  // must not see.
  std::vector<std::filesystem::path> runtime_compile_links() const;

  // `hipbench hipcc`: the user's own clang arguments with our recipe in front. Sources become HIP unless the user says
  // -x; when it links, the program finds the runtime by an rpath that LD_LIBRARY_PATH can override.
  std::vector<std::string> program_command(std::span<const std::string> arguments) const;

  // The flags shared by all three: architecture, dialect, debug lines, headers, bitcode. No -x, no optimisation level.
  std::vector<std::string> dialect_flags() const;
};

}  // namespace hipbench
