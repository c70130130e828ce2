// Toolchain::program_command: a user's clang command line, as a Makefile or a person writes it for hipcc, with our
// recipe in front. Only what our recipe must know is read from it (inputs, languages, whether it links); the rest
// passes as given.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "common/toolchain.hpp"

namespace hipbench {
namespace fs = std::filesystem;

namespace {

// Options whose value is the next argument, so that it is not taken for an input.
constexpr std::array kTakesValue = std::to_array<std::string_view>({"-o",
                                                                    "-I",
                                                                    "-L",
                                                                    "-l",
                                                                    "-D",
                                                                    "-U",
                                                                    "-include",
                                                                    "-imacros",
                                                                    "-isystem",
                                                                    "-idirafter",
                                                                    "-iquote",
                                                                    "-isysroot",
                                                                    "-MF",
                                                                    "-MT",
                                                                    "-MQ",
                                                                    "-MJ",
                                                                    "-Xclang",
                                                                    "-Xlinker",
                                                                    "-Xassembler",
                                                                    "-Xpreprocessor",
                                                                    "-Xarch_host",
                                                                    "-Xarch_device",
                                                                    "-Xoffload-linker",
                                                                    "-mllvm",
                                                                    "-T",
                                                                    "-u",
                                                                    "-z",
                                                                    "-e",
                                                                    "-target",
                                                                    "--target",
                                                                    "--sysroot",
                                                                    "-B",
                                                                    "--offload-arch",
                                                                    "--param",
                                                                    "-rpath",
                                                                    "-Xopenmp-target",
                                                                    "-dumpdir",
                                                                    "-working-directory"});
constexpr std::array kStopsBeforeLink =
    std::to_array<std::string_view>({"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "-emit-ast",
                                     "--cuda-device-only", "--offload-device-only", "--genco", "-r"});
// What hipcc takes for HIP: every C++ source, not only .hip.
constexpr std::array kHipSuffixes =
    std::to_array<std::string_view>({".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cp", ".CPP"});

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

struct UserArguments {
  std::vector<std::string> rewritten;
  bool has_input = false;
  bool has_c_source = false;
  bool names_architecture = false;
  bool links = true;
  bool is_relocatable_device_code = false;
};

// The spellings of hipcc and nvcc-minded Makefiles that clang lacks or that would reach for another ROCm.
std::string translated(const Toolchain& toolchain, const std::string& argument) {
  if (argument == "--genco") return "--cuda-device-only";
  for (const std::string_view old : {"--amdgpu-target=", "--targets="})
    if (argument.starts_with(old)) return "--offload-arch=" + argument.substr(old.size());
  if (!toolchain.is_rocm && argument == "--offload-arch=native") return fmt::format("--offload-arch={}", kOffloadArch);
  return argument;
}

// The language that clang must be told for an input; "none" lets it judge by the name.
std::string_view language_of(const std::string& input) {
  const std::string suffix = fs::path(input).extension().string();
  if (contains(kHipSuffixes, suffix)) return "hip";
  return suffix == ".c" ? "c" : "none";  // clang++ would take .c for C++
}

UserArguments read_arguments(const Toolchain& toolchain, std::span<const std::string> arguments) {
  UserArguments user;
  std::string_view in_force = "none";
  bool user_chose_language = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string argument = translated(toolchain, arguments[i]);
    const bool is_option = argument.size() > 1 && argument.starts_with('-');
    if (!is_option) {
      const std::string_view language = language_of(argument);
      user.has_input = true;
      if (!user_chose_language && language != in_force) {
        user.rewritten.emplace_back("-x");
        user.rewritten.emplace_back(language);
        in_force = language;
      }
      user.has_c_source = user.has_c_source || in_force == "c";
      user.rewritten.push_back(argument);
      continue;
    }
    if (argument.starts_with("-x")) {
      const std::string language = argument == "-x" && i + 1 < arguments.size() ? arguments[i + 1] : argument.substr(2);
      user_chose_language = language != "none";
      user.has_c_source = user.has_c_source || language == "c";
      in_force = "none";
    }
    user.names_architecture =
        user.names_architecture || argument.starts_with("--offload-arch") || argument.starts_with("--cuda-gpu-arch");
    user.links = user.links && !contains(kStopsBeforeLink, argument);
    user.is_relocatable_device_code = user.is_relocatable_device_code || argument == "-fgpu-rdc";
    // Our own libraries are named by their full path: the system's may have the same names and older structs.
    if (!toolchain.is_rocm && argument == "-lamdhip64") continue;
    if (!toolchain.is_rocm && argument == "-lhiprtc") {
      user.rewritten.emplace_back("-Xlinker");
      user.rewritten.push_back((toolchain.runtime_directory / "libhiprtc.so.6").string());
      continue;
    }
    user.rewritten.push_back(argument);
    if ((contains(kTakesValue, argument) || argument == "-x") && i + 1 < arguments.size())
      user.rewritten.push_back(arguments[++i]);
  }
  return user;
}

}  // namespace

std::vector<std::string> Toolchain::program_command(std::span<const std::string> arguments) const {
  UserArguments user = read_arguments(*this, arguments);
  std::vector<std::string> command = {clang.string()};
  // Questions such as --version and -print-search-dirs.
  if (!user.has_input) {
    command.insert(command.end(), user.rewritten.begin(), user.rewritten.end());
    return command;
  }
  // Ours come first, so that the user's -O, -std and -g win, and are silent where a step does not use them.
  command.insert(command.end(), {"--start-no-unused-arguments", "-O3", "-D__HIP_PLATFORM_AMD__=1"});
  for (const std::string& flag : dialect_flags()) {
    if (user.names_architecture && flag.starts_with("--offload-arch=")) continue;
    if (user.has_c_source && flag.starts_with("-std=c++")) continue;  // an error for the C source beside it
    command.push_back(flag);
  }
  command.push_back("--end-no-unused-arguments");
  command.insert(command.end(), user.rewritten.begin(), user.rewritten.end());
  if (!user.links) return command;
  const fs::path libraries = is_rocm ? root / "lib" : runtime_directory;
  command.push_back("--start-no-unused-arguments");
  // -Xlinker rather than a plain path: a -x of the user's may still be in force.
  if (!is_rocm) command.insert(command.end(), {"-no-hip-rt", "-Xlinker", runtime_library().string()});
  if (is_rocm || user.is_relocatable_device_code) command.push_back("--hip-link");
  command.insert(command.end(),
                 {"-Xlinker", "--enable-new-dtags", "-Xlinker", "-rpath", "-Xlinker", libraries.string()});
  command.push_back("--end-no-unused-arguments");
  return command;
}

}  // namespace hipbench
