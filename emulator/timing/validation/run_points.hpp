#pragma once
// Runs one measured configuration of the public FP8 GEMM kernel through the timing model.

#include <memory>
#include <string>

#include "emulator/device/device.hpp"
#include "emulator/timing/parameters.hpp"

namespace hipbench::emulator {

struct MeasuredPoint {
  u64 m = 0, n = 0, k = 0;
  u32 block_m = 0, block_n = 0, threads = 0;
  std::string variant;  // all tile parameters: the name of its code object
  f64 gemm_us = 0;      // measured
};

class PointRunner {
 public:
  static Result<PointRunner> create(const TimingParameters& parameters);
  Result<LaunchResult> run(const std::string& code_path, const MeasuredPoint& point);

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace hipbench::emulator
