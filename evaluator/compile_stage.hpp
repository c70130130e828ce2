#pragma once
// What the compile paths share: the sandbox they run in and what a failure means. For compile*.cpp only.

#include <string>
#include <variant>

#include "evaluator/compile.hpp"
#include "sandbox/launch.hpp"

namespace hipbench {

inline constexpr const char* kCandidateFolder = "/candidate";  // where the source lies inside the sandbox
inline constexpr const char* kCompileProduct = "/tmp/product";

// The sandbox of one compiler, without a command; the source lies in kCandidateFolder, "hipbench/ID.h" in a folder
// beside it.
sandbox::Policy compile_policy(const Toolchain& toolchain, const CompileRequest& request, const std::string& source);
std::string candidate_path(const CompileRequest& request);
// clang's flags for the problem's header and plain messages, after the candidate's own options.
std::vector<std::string> candidate_flags(const CompileRequest& request);

// The host track's compiler goes over the source twice, for the device and for the host: what it says both times is
// kept once. How many messages it counted is left out.
std::string without_repeats(const std::string& messages);

// Runs it; messages speak of the candidate as the user named it, each once.
sandbox::Outcome run_compiler(const sandbox::Policy& policy, const CompileRequest& request);
Verdict verdict_of_failed_compile(const sandbox::Outcome& outcome);
std::string first_error(const std::string& messages);  // "x.hip:12:5: error: …", that line
std::string shortened(std::string messages);

// The kernel track: through hipRTC, or with the standard library where the source needs it.
std::variant<Compiled, Verdict> compile_kernels(const Toolchain& toolchain, const CompileRequest& request);

}  // namespace hipbench
