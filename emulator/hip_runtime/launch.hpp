#pragma once
// Launches, however the program asks for them.

#include "emulator/hip_runtime/runtime.hpp"

namespace hipbench::hip {

struct LaunchShape {
  Dim3 grid, block;
  size_t dynamic_lds = 0;
  bool cooperative = false;
};

// Checks a launch against the kernel and the device's limits and packs its arguments as the kernarg segment wants them:
// from `params` (a pointer to each explicit argument) or from `extra` (HIP_LAUNCH_PARAM_BUFFER_*).
hipError_t prepare(Runtime& runtime, hipFunction_t function, const LaunchShape& shape, void** params, void** extra,
                   emulator::LaunchRequest& request);
// The work of a prepared launch.
Work launch_work(emulator::LaunchRequest request);

}  // namespace hipbench::hip
