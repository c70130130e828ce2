#include "emulator/hip_runtime/hiprtc_program.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "common/toolchain.hpp"
#include "emulator/hip_runtime/hiprtc_names.hpp"
#include "emulator/hip_runtime/hiprtc_options.hpp"

namespace hipbench::hip {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxLogBytes = size_t{8} << 20;

// What hipRTC declares without an #include.
constexpr std::string_view kPrelude = R"(#include <hip/hip_runtime.h>
#include <hip/amd_detail/device_library_decls.h>
#include <hip/amd_detail/hip_assert.h>
#include <hip/amd_detail/amd_warp_functions.h>
#include <hip/amd_detail/amd_device_functions.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/amd_detail/amd_hip_unsafe_atomics.h>
#include <hip/amd_detail/amd_hip_atomic.h>
#include <hip/amd_detail/hip_cooperative_groups_helper.h>
#include <hip/amd_detail/amd_hip_cooperative_groups.h>
)";

fs::path library_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&library_directory), &info) == 0 || info.dli_fname == nullptr)
    return executable_directory();
  std::error_code failed;
  const fs::path self = fs::canonical(info.dli_fname, failed);
  return failed ? executable_directory() : self.parent_path();
}

const Result<Toolchain>& toolchain() {
  static const Result<Toolchain> located = Toolchain::locate(library_directory());
  return located;
}

// The program's name as a file of its own folder.
std::string file_name_of(const std::string& name) {
  std::string file = fs::path(name).filename().string();
  if (file.empty() || file == "." || file == ".." || file.front() == '-' || file.size() > 200) file = "program.hip";
  return file;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The first message that is an error, from where its place starts.
std::string_view first_error(std::string_view log) {
  const size_t at = std::min(log.find(": error:"), log.find(": fatal error:"));
  if (at == std::string_view::npos) return {};
  const size_t line = log.rfind('\n', at);
  return log.substr(line == std::string_view::npos ? 0 : line + 1);
}

}  // namespace

// The private folder of one compile and the command lines in it.
class RtcWorkplace {
 public:
  static Result<RtcWorkplace> make(const Toolchain& toolchain, const std::string& source, const std::string& name,
                                   const std::vector<RtcHeader>& headers, std::span<const std::string> expressions) {
    RtcWorkplace place(toolchain, TRY(TemporaryDirectory::create("hiprtc")), name);
    std::error_code failed;
    for (const fs::path& folder : {place.sources(), place.sources() / "alone", place.headers(), place.predefined()})
      if (!fs::create_directory(folder, failed))
        return Error{fmt::format("cannot create {}: {}", folder.string(), failed.message())};
    TRY(write_file_atomically(place.source(), source + name_expression_text(expressions)));
    TRY(write_file_atomically(place.source_alone(), source));
    for (const RtcHeader& header : headers) {
      const fs::path path = place.headers() / header.name;
      fs::create_directories(path.parent_path(), failed);
      TRY(write_file_atomically(path, header.text));
    }
    TRY(write_file_atomically(place.predefined() / "hiprtc_prelude.h", kPrelude));
    for (const fs::path& header : toolchain.runtime_compile_links()) {
      fs::create_symlink(header, place.predefined() / header.filename(), failed);
      if (failed) return Error{fmt::format("cannot link to {}: {}", header.string(), failed.message())};
    }
    // Static kernels have it in their names; clang's own comes from the path, which differs every time.
    place.unit_id_ = sha256_hex(source).substr(0, 16);
    return place;
  }

  fs::path sources() const { return folder_.path() / "source"; }
  fs::path headers() const { return folder_.path() / "include"; }
  fs::path predefined() const { return folder_.path() / "predefined"; }
  fs::path source() const { return sources() / file_name_of(name_); }
  fs::path source_alone() const { return sources() / "alone" / file_name_of(name_); }
  fs::path output() const { return folder_.path() / "output"; }

  Result<ProcessResult> compile(const RtcOptions& options, const fs::path& from,
                                std::vector<std::string> more = {}) const {
    std::vector<std::string> flags = {"--offload-arch=" + options.architecture, "-cuid=" + unit_id_,
                                      "-fdebug-compilation-dir=.",
                                      "-ffile-prefix-map=" + folder_.path().string() + "/source/=",
                                      "-ffile-prefix-map=" + folder_.path().string() + "/include/="};
    flags.insert(flags.end(), options.clang.begin(), options.clang.end());
    flags.insert(flags.end(), more.begin(), more.end());
    std::vector<std::string> command = toolchain_.runtime_compile_command(from, output(), predefined(), flags);
    // Behind HIP's own, so that a program's "hip/hip_runtime.h" (often an empty stand-in) does not take the place of
    // the real one.
    command.insert(command.end(), {"-isystem", headers().string()});
    return run(command);
  }

  // Bitcode → a relocatable object, whose symbols can be read.
  Result<ProcessResult> assemble(const RtcOptions& options, const fs::path& object) const {
    const std::string processor = options.architecture.substr(0, options.architecture.find(':'));
    return run({toolchain_.clang.string(), "--target=amdgcn-amd-amdhsa", "-mcpu=" + processor, "-O0", "-nogpulib", "-c",
                "-x", "ir", output().string(), "-o", object.string()});
  }

 private:
  RtcWorkplace(const Toolchain& toolchain, TemporaryDirectory folder, std::string name)
      : toolchain_(toolchain), folder_(std::move(folder)), name_(std::move(name)) {}

  // Messages speak of the program as its author named it.
  Result<ProcessResult> run(const std::vector<std::string>& command) const {
    ProcessResult result = TRY(run_process(command, std::chrono::minutes(10), kMaxLogBytes));
    result.errors = replaced(std::move(result.errors), source().string(), name_);
    result.errors = replaced(std::move(result.errors), source_alone().string(), name_);
    result.errors = replaced(std::move(result.errors), headers().string() + "/", "");
    if (result.timed_out) result.errors += "\nerror: the compiler was stopped after ten minutes\n";
    if (result.output_exceeded)
      result.errors += fmt::format("\nerror: the compiler was stopped after {} bytes of messages\n", kMaxLogBytes);
    return result;
  }

  const Toolchain& toolchain_;
  TemporaryDirectory folder_;
  std::string name_, unit_id_;
};

bool is_valid_header_name(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.size() > 1000) return false;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = std::string_view(name).substr(start, end - start);
    if (part.empty() || part == "." || part == ".." || part.size() > 200) return false;
    start = end + 1;
  }
  return true;
}

hiprtcResult RtcProgram::add_name_expression(const std::string& expression) {
  if (compiled_) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  if (std::find(expressions_.begin(), expressions_.end(), expression) == expressions_.end())
    expressions_.push_back(expression);
  return HIPRTC_SUCCESS;
}

hiprtcResult RtcProgram::lowered_name(const std::string& expression, const char** name) const {
  if (!compiled_) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = lowered_.find(expression);
  if (found == lowered_.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return HIPRTC_SUCCESS;
}

hiprtcResult RtcProgram::compile(std::span<const std::string> options) {
  if (compiled_) return HIPRTC_ERROR_COMPILATION;
  tried_ = true;
  const Result<RtcOptions> translated = translate_rtc_options(options);
  if (!translated) {
    log_ = "hipRTC: " + translated.error().message + "\n";
    return HIPRTC_ERROR_INVALID_OPTION;
  }
  const auto fail = [&](const Error& error) {
    log_ = "hipRTC: " + error.message + "\n";
    std::fputs(log_.c_str(), stderr);
    return HIPRTC_ERROR_INTERNAL_ERROR;
  };
  if (!toolchain()) return fail(toolchain().error());
  const Result<RtcWorkplace> place = RtcWorkplace::make(*toolchain(), source_, name_, headers_, expressions_);
  if (!place) return fail(place.error());
  const Result<hiprtcResult> result = compile_in(*place, *translated);
  if (!result) return fail(result.error());
  compiled_ = *result == HIPRTC_SUCCESS;
  return *result;
}

Result<hiprtcResult> RtcProgram::compile_in(const RtcWorkplace& place, const RtcOptions& options) {
  std::vector<std::string> more;
  if (options.relocatable) more = {"-emit-llvm", "-c"};
  const ProcessResult compiled = TRY(place.compile(options, place.source(), more));
  log_ = compiled.errors;
  if (compiled.exit_code != 0) {
    // A mistake in the source, such as a missing brace, can show in the text after it: then the source alone tells it
    // better.
    if (first_error(log_).starts_with(kNameExpressionsFile)) {
      const ProcessResult alone = TRY(place.compile(options, place.source_alone(), {"-fsyntax-only"}));
      if (alone.exit_code != 0) log_ = alone.errors;
    }
    return HIPRTC_ERROR_COMPILATION;
  }
  std::string product = TRY(read_file(place.output()));
  std::string object;
  if (options.relocatable && !expressions_.empty()) {
    const fs::path path = place.output().string() + ".o";
    const ProcessResult assembled = TRY(place.assemble(options, path));
    if (assembled.exit_code != 0) return Error{"the bitcode cannot be compiled: " + assembled.errors};
    object = TRY(read_file(path));
  }
  const std::string& elf = options.relocatable ? object : product;
  lowered_ = lowered_names(std::as_bytes(std::span(elf)), expressions_);
  (options.relocatable ? bitcode_ : code_) = std::move(product);
  return HIPRTC_SUCCESS;
}

}  // namespace hipbench::hip
