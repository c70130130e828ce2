#include "cli/occupancy.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "emulator/device/launch_limits.hpp"

namespace hipbench::cli {

namespace {

using namespace emulator::mi300x;

// The device answers for kernels as its loader describes them.
emulator::Kernel as_loaded(const KernelResources& resources) {
  emulator::Kernel kernel;
  kernel.vgpr_count = resources.vgprs;
  kernel.sgpr_count = resources.sgprs;
  kernel.descriptor.group_segment_fixed_size = resources.lds_bytes;
  // Bits 5:0 of COMPUTE_PGM_RSRC1: VGPRs in granules of 8, minus one.
  const unsigned vgprs = std::clamp(resources.vgprs, 1u, kVgprsPerSimdLane);
  kernel.descriptor.compute_pgm_rsrc1 = (vgprs + kVgprGranule - 1) / kVgprGranule - 1;
  return kernel;
}

unsigned workgroups(const KernelResources& resources, unsigned block_size, unsigned dynamic_lds_bytes) {
  return emulator::workgroups_per_cu(as_loaded(resources), block_size, dynamic_lds_bytes);
}

}  // namespace

Occupancy occupancy_of(const KernelResources& kernel, unsigned block_size, unsigned dynamic_lds_bytes) {
  Occupancy occupancy;
  if (block_size == 0) return occupancy;
  occupancy.workgroups = workgroups(kernel, block_size, dynamic_lds_bytes);
  const unsigned waves = (block_size + emulator::kWaveSize - 1) / emulator::kWaveSize;
  occupancy.waves_per_simd = static_cast<double>(occupancy.workgroups * waves) / kSimdsPerCu;
  // What is in the way is what would admit more workgroups if the kernel took none of it.
  KernelResources fewer_vgprs = kernel, fewer_sgprs = kernel, no_lds = kernel;
  fewer_vgprs.vgprs = 1;
  fewer_sgprs.sgprs = 1;
  no_lds.lds_bytes = 0;
  if (workgroups(fewer_vgprs, block_size, dynamic_lds_bytes) > occupancy.workgroups) {
    occupancy.limited_by = "VGPRs";
  } else if (workgroups(no_lds, block_size, 0) > occupancy.workgroups) {
    occupancy.limited_by = "LDS";
  } else if (workgroups(fewer_sgprs, block_size, dynamic_lds_bytes) > occupancy.workgroups) {
    occupancy.limited_by = "SGPRs";
  } else {
    occupancy.limited_by = "the hardware's limit of waves";
  }
  return occupancy;
}

Occupancy occupancy_of(const KernelResources& kernel, const LaunchRecord& launch) {
  return occupancy_of(kernel, launch.block.x * launch.block.y * launch.block.z, launch.dynamic_lds_bytes);
}

std::string demangled_name(const std::string& symbol) {
  constexpr size_t kLongest = 2048;  // the demangler recurses on hostile names
  if (symbol.size() > kLongest) return symbol;
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && demangled != nullptr ? demangled : symbol;
  std::free(demangled);
  return name;
}

bool names_match(const std::string& demangled, const std::string& symbol) {
  return demangled == symbol || demangled == demangled_name(symbol);
}

}  // namespace hipbench::cli
