#include "emulator/device/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hipbench::emulator {

namespace {

using namespace mi300x;

// SGPRs of one SIMD and their allocation granule (CDNA3 ISA §3.6; the HIP runtime computes with the same numbers).
constexpr u32 kSgprsPerSimd = 800;
constexpr u32 kSgprGranule = 16;
// The scratch unit addresses 8 MiB a wave.
constexpr u32 kMostScratchPerLane = 128 * 1024;
// Stack for calls whose depth the compiler does not know (recursion, function pointers), beyond what it counted.
constexpr u32 kDynamicStackBytes = 16 * 1024;

constexpr u32 divide_up(u32 value, u32 unit) { return (value + unit - 1) / unit; }
constexpr u32 round_up(u32 value, u32 unit) { return divide_up(value, unit) * unit; }

u64 lds_bytes(const Kernel& kernel, u32 dynamic_lds) {
  return u64{kernel.descriptor.group_segment_fixed_size} + dynamic_lds;
}

Error refusal(const Kernel& kernel, std::string_view reason) {
  return Error{fmt::format("cannot launch kernel '{}': {}", kernel.demangled, reason)};
}

Result<void> check_shape(const Kernel& kernel, const LaunchRequest& request) {
  const Dim3 &grid = request.grid, &block = request.block;
  if (grid.count() == 0 || block.count() == 0) return refusal(kernel, "a dimension of the grid or block is 0");
  const u32 grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    if (blocks[i] > kMaxWorkgroupSize)
      return refusal(kernel, fmt::format("block dimension {} is over {}", blocks[i], kMaxWorkgroupSize));
    if (u64{grids[i]} * blocks[i] > std::numeric_limits<u32>::max())
      return refusal(kernel, fmt::format("{} workgroups of {} work-items in a dimension are over 2^32 - 1 work-items",
                                         grids[i], blocks[i]));
  }
  const u32 most = std::min(kMaxWorkgroupSize, kernel.max_flat_workgroup_size);
  if (block.count() > most)
    return refusal(kernel,
                   fmt::format("{} work-items a workgroup, the kernel was compiled for at most {} (__launch_bounds__)",
                               block.count(), most));
  const auto& required = kernel.required_workgroup_size;
  if (required[0] != 0 && (required[0] != block.x || required[1] != block.y || required[2] != block.z))
    return refusal(kernel, fmt::format("the block is {}x{}x{}, the kernel requires {}x{}x{}", block.x, block.y, block.z,
                                       required[0], required[1], required[2]));
  return {};
}

}  // namespace

u32 workgroups_per_cu(const Kernel& kernel, u32 block_size, u32 dynamic_lds) {
  const u32 waves_per_workgroup = divide_up(block_size, kWaveSize);
  const u32 sgprs = std::max(kSgprGranule, round_up(kernel.sgpr_count, kSgprGranule));
  const u32 waves_per_simd =
      std::min({kWavesPerSimd, kVgprsPerSimdLane / kernel.allocated_vgprs(), kSgprsPerSimd / sgprs});
  u32 workgroups = waves_per_simd * kSimdsPerCu / waves_per_workgroup;
  const u64 lds = lds_bytes(kernel, dynamic_lds);
  if (lds > kLdsBytes) return 0;
  if (lds != 0) workgroups = std::min(workgroups, kLdsBytes / round_up(static_cast<u32>(lds), kLdsGranule));
  return std::min(workgroups, kMaxWorkgroupsPerCu);
}

Result<void> check_launch(const Kernel& kernel, const LaunchRequest& request) {
  TRY(check_shape(kernel, request));
  const u64 lds = lds_bytes(kernel, request.dynamic_lds);
  if (lds > kLdsBytes)
    return refusal(kernel, fmt::format("{} bytes of LDS ({} static, {} dynamic), a workgroup has at most {}", lds,
                                       kernel.descriptor.group_segment_fixed_size, request.dynamic_lds, kLdsBytes));
  if (kernel.descriptor.private_segment_fixed_size > kMostScratchPerLane)
    return refusal(kernel, fmt::format("{} bytes of scratch a work-item, at most {} are there",
                                       kernel.descriptor.private_segment_fixed_size, kMostScratchPerLane));
  const u32 resident = workgroups_per_cu(kernel, static_cast<u32>(request.block.count()), request.dynamic_lds);
  if (resident == 0)
    return refusal(kernel, fmt::format("a workgroup of {} work-items with {} VGPRs each does not fit on a compute unit",
                                       request.block.count(), kernel.allocated_vgprs()));
  if (request.cooperative && request.grid.count() > u64{resident} * kComputeUnits)
    return refusal(kernel,
                   fmt::format("a cooperative grid must be resident at once: {} workgroups, {} fit ({} on each of {} "
                               "compute units)",
                               request.grid.count(), u64{resident} * kComputeUnits, resident, kComputeUnits));
  return {};
}

u32 scratch_bytes_per_lane(const Kernel& kernel) {
  const u32 counted = kernel.descriptor.private_segment_fixed_size;
  return kernel.uses_dynamic_stack ? std::min(counted + kDynamicStackBytes, kMostScratchPerLane) : counted;
}

}  // namespace hipbench::emulator
