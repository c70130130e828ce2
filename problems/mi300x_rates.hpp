#pragma once
// Rates of an MI300X that floors and roofs are computed from. The emulator's timing model has its own, finer constants.

namespace hipbench::mi300x {

// Peaks, from AMD's data sheet at 2.1 GHz: nothing is faster.
constexpr double kPeakFp8Flops = 2614.9e12;
constexpr double kPeakHbmBytes = 5.3e12;
constexpr double kPeakInfinityCacheBytes = 17.2e12;

// What has been reached. FP8: AMD's "maximum achievable FLOPs" note, hipBLASLt in thermal steady state (1.23 GHz); short
// kernels from an idle GPU may clock higher. HBM: BabelStream copy, best published run.
constexpr double kAchievedFp8Flops = 1273e12;
constexpr double kAchievedHbmBytes = 4.35e12;

}  // namespace hipbench::mi300x
