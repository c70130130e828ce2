#include "evaluator/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/files.hpp"
#include "evaluator/compile_cache.hpp"
#include "evaluator/compile_stage.hpp"
#include "evaluator/rtc_headers.hpp"

namespace hipbench {

namespace {

constexpr const char* kHeaders = "/hipbench-include";  // -I for "hipbench/ID.h"
constexpr int kWallPerCpuTime = 10;
constexpr size_t kMaxSourceBytes = size_t{1} << 20;
constexpr size_t kMaxMessageBytes = size_t{64} << 10;
constexpr size_t kMaxCodeBytes = size_t{256} << 20;

// Everything that decides what comes out. Raise the number when the way we compile changes.
std::string cache_key(const Toolchain& toolchain, const CompileRequest& request) {
  std::string text = fmt::format("hipbench 3\n{}\n{}\n{}\n{}\n", toolchain.identity(), to_string(request.track),
                                 request.file_name, request.problem->header());
  for (const std::string& option : request.options) text += "option " + option + "\n";
  for (const std::string& kernel : request.kernels) text += "kernel " + kernel + "\n";
  if (request.track == Track::Kernel)
    for (const EmbeddedFile& header : rtc_headers()) text += fmt::format("{}\n{}", header.name, header.text);
  return sha256_hex(text + request.source);
}

std::variant<Compiled, Verdict> compile_shared_object(const Toolchain& toolchain, const CompileRequest& request) {
  // The linker would blame the candidate.
  std::error_code ignored;
  if (!toolchain.is_rocm && !std::filesystem::exists(toolchain.runtime_library(), ignored))
    return Verdict{VerdictKind::Infrastructure,
                   fmt::format("{} is missing: run scripts/build", toolchain.runtime_library().string()),
                   {}};
  sandbox::Policy policy = compile_policy(toolchain, request, request.source);
  policy.argv = toolchain.shared_object_command(candidate_path(request), kCompileProduct, candidate_flags(request));
  policy.output_files = {kCompileProduct};
  sandbox::Outcome outcome = run_compiler(policy, request);
  const auto product = outcome.files.find(kCompileProduct);
  if (!outcome.ok() || product == outcome.files.end()) return verdict_of_failed_compile(outcome);
  Compiled compiled;
  compiled.code = std::move(product->second);
  compiled.warnings = shortened(std::move(outcome.errors));
  compiled.seconds = outcome.wall_seconds;
  compiled.peak_memory_bytes = outcome.peak_memory_bytes;
  return compiled;
}

}  // namespace

std::string candidate_path(const CompileRequest& request) {
  return fmt::format("{}/{}", kCandidateFolder, request.file_name);
}

std::vector<std::string> candidate_flags(const CompileRequest& request) {
  std::vector<std::string> flags = request.options;
  flags.insert(flags.end(), {"-I", kHeaders, "-fno-color-diagnostics"});
  return flags;
}

sandbox::Policy compile_policy(const Toolchain& toolchain, const CompileRequest& request, const std::string& source) {
  sandbox::Policy policy;
  policy.profile = sandbox::Profile::Compiler;
  policy.unsafe_no_sandbox = request.unsafe_no_sandbox;
  policy.working_directory = "/tmp";
  policy.env = {{"PATH", "/usr/bin:/bin"}, {"TMPDIR", "/tmp"}, {"LANG", "C.UTF-8"}};
  for (const std::filesystem::path& path : toolchain.paths())
    policy.mounts.push_back({path, path, sandbox::Access::ReadOnly});
  policy.input_files[candidate_path(request)] = source;
  policy.input_files[std::filesystem::path(kHeaders) / request.problem->header_name()] =
      std::string(request.problem->header());
  policy.limits.file_bytes = kMaxCodeBytes;
  // Of CPU time: on a machine with too much to do, the same compile must not fail. Compilers do not sleep.
  policy.limits.cpu = request.time_limit;
  policy.limits.wall = kWallPerCpuTime * request.time_limit;
  return policy;
}

namespace {

// "3 warnings and 1 error generated when compiling for gfx942."
bool is_summary(std::string_view line) {
  return !line.empty() && line[0] >= '0' && line[0] <= '9' && line.find(" generated") != std::string_view::npos &&
         (line.find(" warning") != std::string_view::npos || line.find(" error") != std::string_view::npos);
}

// The first line of a message; notes and source lines follow it.
bool begins_message(std::string_view line) {
  return line.starts_with("In file included from ") || line.find(": warning: ") != std::string_view::npos ||
         line.find(": error: ") != std::string_view::npos || line.find(": fatal error: ") != std::string_view::npos;
}

}  // namespace

std::string without_repeats(const std::string& messages) {
  std::string text, block;
  std::set<std::string> seen;
  bool in_head = false;  // of "In file included from" lines, which the message itself follows
  const auto finish = [&] {
    if (seen.insert(block).second) text += block;
    block.clear();
  };
  for (std::string_view left = messages; !left.empty();) {
    const size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (is_summary(line)) continue;
    if (begins_message(line) && !in_head) finish();
    in_head = line.starts_with("In file included from ");
    block += std::string(line) + "\n";
  }
  finish();
  return text;
}

sandbox::Outcome run_compiler(const sandbox::Policy& policy, const CompileRequest& request) {
  sandbox::Outcome outcome = sandbox::run(policy, request.stop);
  const std::string inside = candidate_path(request);
  std::string& messages = outcome.errors;
  for (size_t at = messages.find(inside); at != std::string::npos;
       at = messages.find(inside, at + request.file_name.size()))
    messages.replace(at, inside.size(), request.file_name);
  messages = without_repeats(messages);
  return outcome;
}

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

std::variant<Compiled, Verdict> compile(const Toolchain& toolchain, const CompileRequest& request) {
  if (request.source.size() > kMaxSourceBytes)
    return Verdict{VerdictKind::Rejected,
                   fmt::format("rule `source size`: the source has {} bytes, at most {} are taken",
                               request.source.size(), kMaxSourceBytes),
                   {}};
  const std::string key = cache_key(toolchain, request);
  if (std::optional<Compiled> cached = CompileCache::load(key)) return std::move(*cached);
  auto result =
      request.track == Track::Kernel ? compile_kernels(toolchain, request) : compile_shared_object(toolchain, request);
  if (const Compiled* compiled = std::get_if<Compiled>(&result)) CompileCache::store(key, *compiled);
  return result;
}

}  // namespace hipbench
