#pragma once
// Source to code, in the compile sandbox. Kernel track: a gfx942 code object with every kernel the plan names. Host
// track: a shared object that links the HIP runtime and nothing else. Products are cached by content: source, headers,
// flags and toolchain decide the key.

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "common/toolchain.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench {

struct CompileRequest {
  const Problem* problem = nullptr;
  Track track = Track::Kernel;
  std::string file_name;  // for messages: the candidate's base name
  std::string source;
  std::vector<std::string> kernels;  // kernel track: names or name expressions, as the plan writes them
  std::vector<std::string> options;  // kernel track: the plan's options
  bool unsafe_no_sandbox = false;
  std::chrono::seconds time_limit = std::chrono::seconds(120);
  std::stop_token stop;  // kills the compiler; the Verdict then means nothing
};

struct Compiled {
  std::string code;  // kernel track: ELF code object; host track: shared object
  std::map<std::string, std::string> symbols;  // kernel track: the plan's name → symbol
  std::string warnings;                        // clang's, empty when none
  double seconds = 0;
  uint64_t peak_memory_bytes = 0;  // of the compiler; 0 from the cache
  bool from_cache = false;
};

// A Verdict is CompileError (clang's messages with the candidate's own line numbers), Rejected, SandboxViolation, or
// Infrastructure.
std::variant<Compiled, Verdict> compile(const Toolchain& toolchain, const CompileRequest& request);

}  // namespace hipbench
