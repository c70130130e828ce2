// The kernel track's compile. First through hipRTC's API, as on a GPU machine: fast, and with small standard headers of
// ours. Where that shows that the source needs the real standard library (rocPRIM and hipCUB do), by clang itself with
// the system's headers.

#include <fmt/format.h>

#include <array>
#include <span>

#include "common/json.hpp"
#include "emulator/hip_runtime/hiprtc_names.hpp"
#include "emulator/loader/code_object.hpp"
#include "evaluator/compile_stage.hpp"
#include "evaluator/rtc_headers.hpp"

namespace hipbench {

namespace {

using Symbols = std::map<std::string, std::string>;

constexpr const char* kRequest = "/hipbench/request.json";
constexpr const char* kRtcProgram = "/hipbench/hipbench-rtc";
constexpr const char* kNames = "/tmp/names.json";
constexpr int kRtcDoesNotCompile = 1;  // of hipbench-rtc's exit status

// A missing header, or a name of namespace std that our headers lack.
bool needs_standard_library(const std::string& messages) {
  constexpr std::array<std::string_view, 2> kSigns = {"' file not found", "in namespace 'std'"};
  for (const std::string_view sign : kSigns)
    if (messages.find(sign) != std::string::npos) return true;
  return false;
}

sandbox::Policy rtc_policy(const Toolchain& toolchain, const CompileRequest& request) {
  sandbox::Policy policy = compile_policy(toolchain, request, request.source);
  std::vector<std::string> options = {fmt::format("--offload-arch={}", kOffloadArch), "-std=c++20",
                                      "-gline-tables-only", "-fno-color-diagnostics"};
  if (toolchain.is_rocm) options.insert(options.end(), {"-I", toolchain.hip_include.string()});
  options.insert(options.end(), request.options.begin(), request.options.end());
  Json headers;
  for (const EmbeddedFile& header : rtc_headers()) headers[std::string(header.name)] = header.text;
  headers[request.problem->header_name()] = request.problem->header();
  const std::filesystem::path library =
      toolchain.is_rocm ? toolchain.root / "lib/libhiprtc.so" : toolchain.runtime_directory / "libhiprtc.so.6";
  policy.input_files[kRequest] = json_text({{"library", library.string()},
                                            {"source", candidate_path(request)},
                                            {"name", request.file_name},
                                            {"headers", headers},
                                            {"options", options},
                                            {"kernels", request.kernels}});
  policy.mounts.push_back(
      {toolchain.runtime_directory.parent_path() / "hipbench-rtc", kRtcProgram, sandbox::Access::ReadOnly});
  policy.env[toolchain.is_rocm ? "ROCM_PATH" : "HIPBENCH_TOOLCHAIN"] = toolchain.root.string();
  if (!toolchain.is_rocm) policy.env["HIPBENCH_CLANG"] = toolchain.clang.string();
  policy.argv = {kRtcProgram, kRequest, kCompileProduct, kNames};
  policy.output_files = {kCompileProduct, kNames};
  return policy;
}

sandbox::Policy standard_library_policy(const Toolchain& toolchain, const CompileRequest& request) {
  sandbox::Policy policy =
      compile_policy(toolchain, request, request.source + hip::name_expression_text(request.kernels));
  policy.argv = toolchain.code_object_command(candidate_path(request), kCompileProduct, candidate_flags(request));
  policy.output_files = {kCompileProduct};
  return policy;
}

// Written inside the sandbox, so anything may stand there; the names are checked against the code object.
Symbols read_names(const std::string& text) {
  Symbols symbols;
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) return symbols;
  for (const auto& [kernel, symbol] : json->items())
    if (symbol.is_string()) symbols[kernel] = symbol;
  return symbols;
}

Verdict no_such_kernel(const std::string& kernel, const std::string& messages) {
  return {VerdictKind::Rejected,
          fmt::format("rule `plan`: the plan names the kernel `{}`, but no __global__ function of that name came out "
                      "of the compiler",
                      kernel),
          shortened(messages)};
}

// An error in the text that asks for the plan's kernels is one of the plan, unless a brace of the source is missing.
Verdict verdict_of_failure(const sandbox::Outcome& outcome, const CompileRequest& request) {
  const std::string error = first_error(outcome.errors);
  const int k = hip::expression_of_message(error);
  if (outcome.status == sandbox::Status::Exited && k >= 0 && static_cast<size_t>(k) < request.kernels.size() &&
      outcome.errors.find("error: expected '}'") == std::string::npos)
    return no_such_kernel(request.kernels[static_cast<size_t>(k)], outcome.errors);
  return verdict_of_failed_compile(outcome);
}

std::variant<Compiled, Verdict> finish(sandbox::Outcome outcome, const CompileRequest& request,
                                       double earlier_seconds) {
  const auto product = outcome.files.find(kCompileProduct);
  if (!outcome.ok() || product == outcome.files.end()) return verdict_of_failure(outcome, request);
  Compiled compiled;
  compiled.code = std::move(product->second);
  compiled.warnings = shortened(std::move(outcome.errors));
  compiled.seconds = earlier_seconds + outcome.wall_seconds;
  compiled.peak_memory_bytes = outcome.peak_memory_bytes;
  const auto bytes = std::as_bytes(std::span(compiled.code));
  const auto names = outcome.files.find(kNames);
  const Symbols symbols =
      names == outcome.files.end() ? hip::lowered_names(bytes, request.kernels) : read_names(names->second);
  const auto code = emulator::CodeObject::parse(bytes);
  if (!code) return Verdict{VerdictKind::Rejected, "rule `code object`: " + code.error().message, {}};
  for (const std::string& kernel : request.kernels) {
    const auto symbol = symbols.find(kernel);
    if (symbol == symbols.end() || (*code)->find_kernel(symbol->second) == nullptr)
      return no_such_kernel(kernel, compiled.warnings);
    compiled.symbols[kernel] = symbol->second;
  }
  return compiled;
}

}  // namespace

std::variant<Compiled, Verdict> compile_kernels(const Toolchain& toolchain, const CompileRequest& request) {
  std::error_code ignored;
  if (const auto program = toolchain.runtime_directory.parent_path() / "hipbench-rtc";
      !std::filesystem::exists(program, ignored))
    return Verdict{VerdictKind::Infrastructure, fmt::format("{} is missing: run scripts/build", program.string()), {}};
  sandbox::Outcome outcome = run_compiler(rtc_policy(toolchain, request), request);
  const bool does_not_compile =
      outcome.status == sandbox::Status::Exited && outcome.evidence.exit_code == kRtcDoesNotCompile;
  if (outcome.status == sandbox::Status::Exited && !does_not_compile)
    return Verdict{VerdictKind::Infrastructure, "hipRTC failed: " + first_error(outcome.errors),
                   shortened(outcome.errors)};
  if (!does_not_compile || !needs_standard_library(outcome.errors)) return finish(std::move(outcome), request, 0);
  const double earlier_seconds = outcome.wall_seconds;
  return finish(run_compiler(standard_library_policy(toolchain, request), request), request, earlier_seconds);
}

}  // namespace hipbench
