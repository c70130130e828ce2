#pragma once
#include <span>
#include <string_view>

namespace hipbench::agents {

// The files of this folder that the program carries: "prices.toml", "prompts/system.md". An unknown name is a bug:
// CHECK.
std::string_view embedded_file(std::string_view name);

// Kernels that ship with hipbench, to recognise answers that repeat them. Never shown to a model.
struct ShippedKernel {
  std::string_view name;  // "problems/fp8_gemm/candidates/naive_kernel.hip"
  std::string_view text;
};
std::span<const ShippedKernel> shipped_kernels();

}  // namespace hipbench::agents
