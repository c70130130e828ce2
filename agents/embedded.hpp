#pragma once
#include <span>

#include "common/embedded.hpp"

namespace hipbench::agents {

// The files of this folder that the program carries: "prices.toml", "prompts/system.md".
std::span<const EmbeddedFile> embedded_files();
// The text of one of them. An unknown name is a bug: CHECK.
std::string_view embedded_file(std::string_view name);
// Candidates that ship with hipbench, to recognise answers that repeat them:
// "problems/fp8_gemm/candidates/naive_host.hip". Never shown to a model. (Reference solutions: Problem::references().)
std::span<const EmbeddedFile> shipped_kernels();

}  // namespace hipbench::agents
