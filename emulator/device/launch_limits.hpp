#pragma once
// What fits on the chip: occupancy of a compute unit and the limits of a launch.

#include "common/result.hpp"
#include "emulator/device/device.hpp"

namespace hipbench::emulator {

// Workgroups of `block_size` work-items that a CU holds at once; 0 when not even one fits.
u32 workgroups_per_cu(const Kernel& kernel, u32 block_size, u32 dynamic_lds);

// Says why a launch cannot start; fine otherwise.
Result<void> check_launch(const Kernel& kernel, const LaunchRequest& request);

// Scratch bytes a lane gets.
u32 scratch_bytes_per_lane(const Kernel& kernel);

}  // namespace hipbench::emulator
