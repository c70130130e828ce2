#pragma once
// The kernarg segment: the caller's explicit arguments and the hidden ones that the compiler adds.
// https://llvm.org/docs/AMDGPUUsage.html#amdgpu-amdhsa-code-object-kernel-argument-metadata-map-table-v5

#include <span>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/loader/code_object.hpp"

namespace hipbench::emulator {

struct HiddenValues {
  Dim3 grid, block;  // workgroups; work-items a workgroup
  u32 dynamic_lds = 0;
  u64 printf_buffer = 0, hostcall_buffer = 0, heap = 0, queue = 0;
  u64 grid_sync = 0;  // 0 unless the launch is cooperative
};

// Bytes of the segment that belong to the caller: the end of the last explicit argument.
u32 explicit_kernarg_size(const Kernel& kernel);
bool has_argument(const Kernel& kernel, std::string_view value_kind);

// Refuses explicit arguments that are too few or many for the kernel, and hidden arguments this device does not know.
Result<std::vector<std::byte>> build_kernarg_segment(const Kernel& kernel,
                                                     std::span<const std::byte> explicit_arguments,
                                                     const HiddenValues& values);

}  // namespace hipbench::emulator
