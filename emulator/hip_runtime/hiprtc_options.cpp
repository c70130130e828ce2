#include "emulator/hip_runtime/hiprtc_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/toolchain.hpp"

namespace hipbench::hip {

namespace {

constexpr auto kTakesValue = std::to_array<std::string_view>(
    {"-D", "-U", "-I", "-isystem", "-idirafter", "-iquote", "-include", "-imacros", "-mllvm", "-Xclang", "-Xlinker",
     "-Xpreprocessor", "-Xassembler", "-Xarch_device", "-Xoffload-linker", "--param", "-L"});
// They change what comes out, or for whom.
constexpr auto kForbidden = std::to_array<std::string_view>(
    {"-o", "-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-x", "-###", "-v", "-fsyntax-only", "-emit-llvm",
     "--cuda-host-only", "--offload-host-only", "--precompile", "--"});

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

Result<RtcOptions> translate_rtc_options(std::span<const std::string> options) {
  RtcOptions result;
  result.architecture = kOffloadArch;
  for (size_t k = 0; k < options.size(); ++k) {
    const std::string& option = options[k];
    bool names_architecture = false;
    for (const std::string_view spelling : {"--offload-arch=", "--gpu-architecture=", "-arch="})
      if (option.starts_with(spelling)) {
        result.architecture = option.substr(spelling.size());
        names_architecture = true;
      }
    if (names_architecture) {
      if (!result.architecture.starts_with("gfx"))
        return Error{
            fmt::format("option {}: this is no AMD architecture; ask for --offload-arch={}", option, kOffloadArch)};
      continue;
    }
    if (is_one_of(kForbidden, option))
      return Error{fmt::format("option {} is not allowed: hipRTC itself says what clang produces", option)};
    if (!option.starts_with('-') || option == "-")
      return Error{fmt::format(
          "option `{}` does not start with a dash; hipRTC takes its source from hiprtcCreateProgram", option)};
    if (option == "-fgpu-rdc") result.relocatable = true;
    result.clang.push_back(option);
    if (!is_one_of(kTakesValue, option)) continue;
    if (k + 1 == options.size()) return Error{fmt::format("option {} lacks its value", option)};
    result.clang.push_back(options[++k]);
  }
  return result;
}

}  // namespace hipbench::hip
