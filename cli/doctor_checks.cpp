#include "cli/doctor_checks.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "common/toolchain.hpp"
#include "sandbox/launch.hpp"

namespace hipbench::doctor {
namespace fs = std::filesystem;

namespace {

using State = Finding::State;

constexpr uint64_t kMegabyte = 1'000'000;
// One compile may take 4 GB by default; the largest problem's tensors another few.
constexpr uint64_t kComfortableMemoryMegabytes = 8'000;
constexpr uint64_t kComfortableDiskMegabytes = 2'000;
constexpr uint64_t kLeastDiskMegabytes = 200;

// A kernel that needs every part of the recipe: the wrapper header, our HIP headers, the bitcode (for sqrtf's library
// call).
constexpr std::string_view kProbeSource = R"(#include <hip/hip_runtime.h>
#include <hip/hip_fp8.h>
__global__ void probe(const __hip_fp8_e4m3_fnuz* in, float* out) { out[threadIdx.x] = tanf(static_cast<float>(in[threadIdx.x])); }
)";

void add(Findings& findings, std::string part, State state, std::string detail, std::string remedy = {}) {
  findings.push_back({std::move(part), state, std::move(detail), std::move(remedy)});
}

std::string text_of(const fs::path& path) {
  Result<std::string> text = read_file(path);
  if (!text) return {};
  while (!text->empty() && std::isspace(static_cast<unsigned char>(text->back()))) text->pop_back();
  return std::move(text).value();
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// clang's first complaint, without the chain of includes before it.
std::string first_error_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error:") != std::string::npos) return line;
  return text.substr(0, text.find('\n'));
}

void examine_compile(Findings& findings, const Toolchain& toolchain) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create("hipbench-doctor");
  if (!folder)
    return add(findings, "test compile", State::Broken, folder.error().message, "set TMPDIR to a folder with space");
  const fs::path source = folder->path() / "probe.hip";
  if (const Result<void> written = write_file_atomically(source, kProbeSource); !written)
    return add(findings, "test compile", State::Broken, written.error().message, "set TMPDIR to a folder with space");
  const Result<ProcessResult> run =
      run_process(toolchain.code_object_command(source, folder->path() / "probe.co"), std::chrono::minutes(2));
  if (!run) return add(findings, "test compile", State::Broken, run.error().message, "scripts/setup");
  if (run->exit_code != 0)
    return add(findings, "test compile", State::Broken, fmt::format("clang failed: {}", first_error_line(run->errors)),
               toolchain.is_rocm ? "reinstall ROCm's compiler and device libraries" : "scripts/setup --update");
  add(findings, "test compile", State::Fine, fmt::format("a kernel with hip_fp8.h becomes {} code", kOffloadArch));
}

void examine_disk(Findings& findings, const char* part, const fs::path& folder) {
  struct statvfs status{};
  if (::statvfs(folder.c_str(), &status) != 0)
    return add(findings, part, State::Broken, fmt::format("{} cannot be examined", folder.string()),
               "set TMPDIR to an existing folder");
  const uint64_t megabytes = uint64_t{status.f_bavail} * status.f_frsize / kMegabyte;
  if (megabytes >= kComfortableDiskMegabytes && ::access(folder.c_str(), W_OK) == 0)
    return add(findings, part, State::Fine, fmt::format("{} MB free in {}", megabytes, folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    return add(findings, part, State::Broken, fmt::format("{} is not writable", folder.string()),
               "work in a folder you may write; set TMPDIR for /tmp");
  add(findings, part, megabytes < kLeastDiskMegabytes ? State::Broken : State::Limited,
      fmt::format("only {} MB free in {}", megabytes, folder.string()), "free some space");
}

}  // namespace

void examine_toolchain(Findings& findings) {
  const Result<Toolchain> toolchain = Toolchain::locate();
  if (!toolchain) return add(findings, "toolchain", State::Broken, toolchain.error().message, "scripts/setup");
  add(findings, "clang", State::Fine, fmt::format("{} ({})", toolchain->clang_version, toolchain->clang.string()));
  if (is_there(toolchain->offload_bundler))
    add(findings, "offload bundler", State::Fine, toolchain->offload_bundler.string());
  else
    add(findings, "offload bundler", State::Broken, fmt::format("{} is missing", toolchain->offload_bundler.string()),
        "apt-get install clang-tools-19");
  add(findings, "HIP headers", State::Fine,
      fmt::format("HIP {} ({})", toolchain->hip_version, toolchain->hip_include.string()));
  add(findings, "device bitcode", State::Fine, toolchain->device_libs.string());
  std::istringstream manifest(toolchain->manifest);
  for (std::string line; std::getline(manifest, line);)
    if (!line.empty() && line.front() != '#') add(findings, "manifest", State::Fine, line);
  const bool has_primitives =
      toolchain->is_rocm ? is_there(toolchain->hip_include / "rocprim") : !toolchain->extra_includes.empty();
  if (!has_primitives)
    add(findings, "rocPRIM, hipCUB", State::Limited, "no headers: candidates that include them do not compile",
        toolchain->is_rocm ? "install rocprim-dev and hipcub-dev" : "scripts/setup --update");
  examine_compile(findings, *toolchain);
}

void examine_rocm(Findings& findings) {
  const char* named = std::getenv("ROCM_PATH");
  const fs::path folder = named != nullptr && *named != '\0' ? named : "/opt/rocm";
  if (!is_there(folder)) {
    add(findings, "ROCm", State::Fine, "none installed: candidates run on the emulated MI300X");
  } else if (const Result<Toolchain> rocm = Toolchain::rocm_at(folder); rocm) {
    add(findings, "ROCm", State::Fine, fmt::format("HIP {} in {}", rocm->hip_version, folder.string()));
  } else {
    add(findings, "ROCm", State::Limited, rocm.error().message + "; it is not used",
        "install ROCm 6.2 or newer with its compiler, or unset ROCM_PATH");
  }
  if (!is_there("/dev/kfd"))
    add(findings, "GPU", State::Fine, "no /dev/kfd: nothing can be timed on a real MI300X");
  else if (::access("/dev/kfd", R_OK | W_OK) == 0)
    add(findings, "GPU", State::Fine, "/dev/kfd is accessible");
  else
    add(findings, "GPU", State::Limited, "/dev/kfd is there, but not for this user",
        "sudo usermod -aG render,video $USER, then log in again");
}

void examine_sandbox(Findings& findings) {
  for (const sandbox::Layer& layer : sandbox::inspect_layers()) {
    const State missing = layer.required ? State::Broken : State::Limited;
    add(findings, "sandbox: " + layer.name, layer.present ? State::Fine : missing, layer.detail,
        layer.present ? "" : layer.remedy);
  }
}

void examine_cpu_and_memory(Findings& findings) {
  const std::string cpuinfo = text_of("/proc/cpuinfo");
  const size_t flags = cpuinfo.find("\nflags");
  const std::string_view level =
      x86_64_level(flags == std::string::npos
                       ? std::string_view()
                       : std::string_view(cpuinfo).substr(flags + 1, cpuinfo.find('\n', flags + 1) - flags - 1));
  const std::string cores = fmt::format("{} cores, {}", std::thread::hardware_concurrency(), level);
  if (level == "x86-64-v1")
    add(findings, "CPU", State::Broken, cores,
        "use a machine of x86-64-v2 or newer (SSE4.2, POPCNT); in a virtual machine, pass the host's CPU through");
  else if (level == "x86-64-v2")
    add(findings, "CPU", State::Limited, cores + ": the emulator is several times slower than with AVX2",
        "in a virtual machine, pass the host's CPU through");
  else
    add(findings, "CPU", State::Fine, cores);

  uint64_t kilobytes = 0;
  std::istringstream meminfo(text_of("/proc/meminfo"));
  for (std::string key; meminfo >> key;)
    if (key == "MemAvailable:") meminfo >> kilobytes;
  const uint64_t megabytes = kilobytes * 1024 / kMegabyte;
  const bool enough = megabytes >= kComfortableMemoryMegabytes;
  add(findings, "memory", enough ? State::Fine : State::Limited, fmt::format("{} MB available", megabytes),
      enough ? ""
             : fmt::format("large candidates take 1.3 GB to compile and large shapes several GB; {} MB are comfortable",
                           kComfortableMemoryMegabytes));
  examine_disk(findings, "disk, here", fs::current_path());
  examine_disk(findings, "disk, temporary", fs::temp_directory_path());
}

void examine_own_programs(Findings& findings) {
  const fs::path here = executable_directory();
  for (const char* name : {"hipbench-device", "hipbench-device-v3", "hipbench-worker", "hipbench-gpu", "hipbench-rtc",
                           "lib/libamdhip64.so.6", "lib/libhiprtc.so.6"}) {
    const bool found = is_there(here / name);
    add(findings, name, found ? State::Fine : State::Broken,
        found ? (here / name).string() : fmt::format("missing in {}", here.string()), found ? "" : "scripts/build");
  }
  // Which build of the device server this processor gets (emulator/protocol/launcher_main.cpp).
  const Result<ProcessResult> level = run_process({(here / "hipbench-device").string(), "--cpu-level"});
  const bool chosen = level && level->exit_code == 0;
  add(findings, "emulator built for", chosen ? State::Fine : State::Broken,
      chosen ? level->output.substr(0, level->output.find('\n')) : (level ? level->errors : level.error().message),
      chosen ? "" : "scripts/build");
}

}  // namespace hipbench::doctor

namespace hipbench {

std::string_view x86_64_level(std::string_view cpu_flags) {
  const auto has_all = [&](std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
      for (size_t at = cpu_flags.find(name); at != std::string_view::npos; at = cpu_flags.find(name, at + 1)) {
        const bool begins = at == 0 || std::isspace(static_cast<unsigned char>(cpu_flags[at - 1]));
        const size_t end = at + name.size();
        if (begins && (end == cpu_flags.size() || std::isspace(static_cast<unsigned char>(cpu_flags[end]))))
          return true;
      }
      return false;
    });
  };
  // The levels of the x86-64 psABI, in the names of /proc/cpuinfo (pni is SSE3, abm is LZCNT).
  if (!has_all({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})) return "x86-64-v1";
  if (!has_all({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})) return "x86-64-v2";
  if (!has_all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
  return "x86-64-v4";
}

}  // namespace hipbench
