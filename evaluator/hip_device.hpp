#pragma once
// The real device: kernel-track candidates on a GPU, through whatever HIP runtime is there. The candidate, the baseline
// and what is ours (canary, flush, empty kernel) are held by a process each (evaluator/gpu_process.hpp); inputs,
// answers and the clock stay here. docs/measurement.md says what has been run on hardware: nothing yet.

#include "evaluator/compile.hpp"
#include "evaluator/evaluate.hpp"
#include "evaluator/gpu_session.hpp"
#include "evaluator/measure.hpp"

namespace hipbench {

struct HipDeviceOptions {
  const Problem& problem;
  Shape shape;
  const GpuCode& candidate;
  const GpuCode* baseline = nullptr;  // null: there is none
  const Compiled& own_kernels;        // of own_kernels_request()
  std::string file;                   // the candidate's, for messages
  std::filesystem::path runtime;      // libamdhip64
  std::chrono::seconds patience;      // with a call
  uint64_t seed = 0;                  // secret
  unsigned threads = 1;               // of the oracle
  bool allow_stand_in = false;        // for tests: hipbench's own drop-in library instead of ROCm's
  std::stop_token stop;
};

// The kernels of ours: to be compiled like a candidate's.
CompileRequest own_kernels_request(const Problem& problem);

struct MeasuredShape {
  ShapeResult result;       // without a time if the runtime is a stand-in
  std::string description;  // the device in words; empty: there is none
};
// Waits until no other measurement uses the GPU.
MeasuredShape measure_shape(const HipDeviceOptions& options, const MeasureOptions& protocol,
                            const WrapTimedDevice& wrap = {});

}  // namespace hipbench
