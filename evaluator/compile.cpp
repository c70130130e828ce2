#include "evaluator/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "common/files.hpp"
#include "emulator/loader/code_object.hpp"
#include "evaluator/compile_cache.hpp"
#include "sandbox/launch.hpp"

namespace hipbench {

namespace {

constexpr const char* kFolder = "/candidate";           // where the source lies inside the sandbox
constexpr const char* kHeaders = "/hipbench-include";   // -I for "hipbench/ID.h"
constexpr const char* kProduct = "/tmp/product";
constexpr size_t kMaxSourceBytes = size_t{1} << 20;
constexpr size_t kMaxMessageBytes = size_t{64} << 10;
constexpr size_t kMaxCodeBytes = size_t{256} << 20;

// Kernels are found by their place in the source, not by guessing at names: for each name the plan gives, a device variable
// template is instantiated with the kernel's address. The variable's mangled name holds the kernel's symbol. This also
// instantiates kernel templates. Appended after the source, so that its line numbers stay.
constexpr std::string_view kProbe = "hipbench_kernel_probe";

std::string probe_source(const std::vector<std::string>& kernels) {
  std::string text = fmt::format("\n#line 1 \"(the kernels named by the plan)\"\ntemplate <auto* kernel> __device__ int {} = 0;\n", kProbe);
  for (const std::string& kernel : kernels) text += fmt::format("template __device__ int {}<&{}>;\n", kProbe, kernel);
  return text;
}

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

// "void ns::gate_up<256>(float*)" → "ns::gate_up<256>": what a plan writes.
std::string kernel_expression(std::string_view demangled) {
  std::string_view text = demangled.substr(0, demangled.rfind('('));
  // The return type is there for templates only; it ends at the first blank outside of template arguments.
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '<') ++depth;
    if (text[at] == '>') --depth;
    if (text[at] == ' ' && depth == 0) {
      text.remove_prefix(at + 1);
      break;
    }
  }
  return without_spaces(text);
}

// The kernel that the plan calls `kernel`, among those the probes refer to; empty when there is none or more than one.
std::string find_symbol(const emulator::CodeObject& code, const std::string& kernel) {
  if (code.find_kernel(kernel) != nullptr) return kernel;  // extern "C"
  std::vector<std::string> probed;
  for (const emulator::Kernel& candidate : code.kernels()) {
    if (kernel_expression(candidate.demangled) == without_spaces(kernel)) return candidate.name;
    const std::string argument = "L" + candidate.name + "E";
    for (const emulator::GlobalSymbol& global : code.globals())
      if (global.name.find(kProbe) != std::string::npos && global.name.find(argument) != std::string::npos) probed.push_back(candidate.name);
  }
  // The plan may spell an expression differently from the demangler ("scan<(int)4>"); one probe leaves no doubt.
  return probed.size() == 1 ? probed.front() : std::string();
}

std::string cache_key(const Toolchain& toolchain, const CompileRequest& request, const std::string& source) {
  std::string text = fmt::format("hipbench 1\n{}\n{}\n{}\n{}\n", toolchain.identity(), to_string(request.track), request.file_name,
                                 request.problem->header());
  for (const std::string& option : request.options) text += option + "\n";
  return sha256_hex(text + source);
}

// "x.hip:12:5: error: …" → that line; else the first line.
std::string first_error(const std::string& messages) {
  size_t start = 0;
  while (start < messages.size()) {
    const size_t end = std::min(messages.find('\n', start), messages.size());
    const std::string line = messages.substr(start, end - start);
    if (line.find("error:") != std::string::npos) return line;
    start = end + 1;
  }
  return messages.substr(0, messages.find('\n'));
}

std::string shortened(std::string text) {
  if (text.size() > kMaxMessageBytes) {
    text.resize(kMaxMessageBytes);
    text += "\n[… the rest of the compiler's messages is cut off]";
  }
  return text;
}

Verdict verdict_of_failed_compile(const sandbox::Outcome& outcome) {
  using sandbox::Status;
  switch (outcome.status) {
    case Status::Exited:
      return {VerdictKind::CompileError, first_error(outcome.errors), shortened(outcome.errors)};
    case Status::TimedOut:
    case Status::OutOfMemory:
    case Status::OutputLimit:
    case Status::Signaled:
      return {VerdictKind::CompileError, "the compiler was stopped: " + outcome.reason, shortened(outcome.errors)};
    case Status::Violation:
      return {VerdictKind::SandboxViolation, "while compiling: " + outcome.reason, shortened(outcome.errors)};
    case Status::SetupError:
      return {VerdictKind::Infrastructure, "the compile sandbox could not be started: " + outcome.reason, {}};
    case Status::Ok:
      break;
  }
  return {VerdictKind::Infrastructure, "the compiler left no product", shortened(outcome.errors)};
}

sandbox::Policy compile_policy(const Toolchain& toolchain, const CompileRequest& request, const std::string& source,
                               const std::string& file) {
  sandbox::Policy policy;
  policy.profile = sandbox::Profile::Compiler;
  policy.unsafe_no_sandbox = request.unsafe_no_sandbox;
  policy.working_directory = "/tmp";
  policy.env = {{"PATH", "/usr/bin:/bin"}, {"TMPDIR", "/tmp"}, {"LANG", "C.UTF-8"}};
  for (const std::filesystem::path& path : toolchain.paths()) policy.mounts.push_back({path, path, sandbox::Access::ReadOnly});
  policy.input_files[file] = source;
  policy.input_files[std::filesystem::path(kHeaders) / request.problem->header_name()] = std::string(request.problem->header());
  policy.output_files = {kProduct};
  const std::vector<std::string> include = {"-I", kHeaders};
  std::vector<std::string> flags = request.options;
  flags.insert(flags.end(), include.begin(), include.end());
  flags.push_back("-fno-color-diagnostics");
  policy.argv = request.track == Track::Kernel ? toolchain.code_object_command(file, kProduct, flags)
                                               : toolchain.shared_object_command(file, kProduct, flags);
  policy.limits.file_bytes = kMaxCodeBytes;
  return policy;
}

// Messages speak of the candidate as the user named it.
std::string with_users_file_name(std::string messages, const std::string& inside, const std::string& name) {
  for (size_t at = messages.find(inside); at != std::string::npos; at = messages.find(inside, at + name.size()))
    messages.replace(at, inside.size(), name);
  return messages;
}

}  // namespace

std::variant<Compiled, Verdict> compile(const Toolchain& toolchain, const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes)
    return Verdict{VerdictKind::Rejected,
                   fmt::format("rule `source size`: the source has {} bytes, at most {} are taken", request.source.size(), kMaxSourceBytes),
                   {}};
  std::string source = request.source;
  if (request.track == Track::Kernel) source += probe_source(request.kernels);
  const std::string key = cache_key(toolchain, request, source);
  if (std::optional<Compiled> cached = CompileCache::load(key)) return std::move(*cached);

  const std::string file = fmt::format("{}/{}", kFolder, request.file_name);
  sandbox::Outcome outcome = sandbox::run(compile_policy(toolchain, request, source, file));
  outcome.errors = with_users_file_name(std::move(outcome.errors), file, request.file_name);
  if (!outcome.ok()) return verdict_of_failed_compile(outcome);
  const auto product = outcome.files.find(kProduct);
  if (product == outcome.files.end()) return verdict_of_failed_compile(outcome);

  Compiled compiled;
  compiled.code = std::move(product->second);
  compiled.warnings = shortened(outcome.errors);
  compiled.seconds = outcome.wall_seconds;
  if (request.track == Track::Kernel) {
    const auto code = emulator::CodeObject::parse(std::as_bytes(std::span(compiled.code)));
    if (!code) return Verdict{VerdictKind::Rejected, "rule `code object`: " + code.error().message, {}};
    for (const std::string& kernel : request.kernels) {
      const std::string symbol = find_symbol(**code, kernel);
      if (symbol.empty())
        return Verdict{VerdictKind::Rejected,
                       fmt::format("rule `plan`: the plan names the kernel `{}`, but no __global__ function of that name came out of the "
                                   "compiler", kernel),
                       {}};
      compiled.symbols[kernel] = symbol;
    }
  }
  CompileCache::store(key, compiled);
  return compiled;
}

}  // namespace hipbench
