#pragma once
#include <string>

#include "evaluator/evaluation.hpp"

namespace hipbench::cli {

struct Occupancy {
  unsigned workgroups = 0;    // on one compute unit at once
  double waves_per_simd = 0;  // of at most 8
  std::string limited_by;     // "VGPRs", "LDS", "SGPRs", "the hardware's limit of waves"
};

Occupancy occupancy_of(const KernelResources& kernel, unsigned block_size, unsigned dynamic_lds_bytes);
Occupancy occupancy_of(const KernelResources& kernel, const LaunchRecord& launch);

// Resources name kernels demangled, launches by symbol.
bool names_match(const std::string& demangled, const std::string& symbol);
std::string demangled_name(const std::string& symbol);

}  // namespace hipbench::cli
