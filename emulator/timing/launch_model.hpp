#pragma once
// From the trace of a launch to its modelled time: one XCD is modelled, the one that gets the first and so never the
// fewest workgroups; where it has too many to trace, the rounds that are left are reckoned from those that were
// modelled. Witnesses from all XCDs tell whether the others are as fast.

#include "emulator/memory/address_space.hpp"
#include "emulator/timing/xcd_model.hpp"

namespace hipbench::emulator {

struct LaunchShape {
  u64 workgroups = 1;
  u32 workgroups_per_cu = 1;  // the occupancy
  u32 scratch_bytes_per_lane = 0;
  u64 touched_bytes = 0;  // of the buffers that the launch uses
};

struct ModelledLaunch {
  f64 seconds = 0;         // launch overhead included
  f64 kernel_seconds = 0;  // without
  f64 sampling_error = 0;  // relative, one standard error; 0 when nothing was extrapolated
  f64 beyond_sample = 1;   // how many times as much as a traced one an average workgroup does, or as long as XCD 0's
                           // workgroups those of another take; the time has grown by it
  f64 of_sample = 0;       // how many times as many bytes as the traced workgroups all of them move
  bool waited = false;     // waves waited for other workgroups: their waiting is not modelled
  u64 workgroups = 0, traced_workgroups = 0, xcd_workgroups = 0;
  u64 code_offset = 0;  // load-relative, of op index 0 in xcd.stalls
  XcdResult xcd;
};

ModelledLaunch model_launch(const TimingParameters& parameters, LaunchTracer& tracer, const LaunchShape& shape,
                            std::span<const std::unique_ptr<WorkgroupTrace>> traces,
                            std::span<const LaunchTracer::Traces> witnesses);

// How many times as much an average workgroup of the launch did as one of the sample, in what grew most; at least 1.
// Who chooses which workgroups do the work could else have it done where the model does not look. Infinite: the sample
// did none of something.
f64 beyond_sample(const Effort& all, const Effort& sample);

// Sizes of the allocations that the traces touch.
u64 touched_bytes(const AddressSpace& memory, std::span<const std::unique_ptr<WorkgroupTrace>> traces);

// Workgroups that one XCD holds at once.
u64 resident_workgroups(const TimingParameters& parameters, u32 workgroups_per_cu);

}  // namespace hipbench::emulator
