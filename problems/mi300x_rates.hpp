#pragma once
// Rates of an MI300X that floors and roofs are computed from. The emulator's timing model has its own, finer constants.

namespace hipbench::mi300x {

// FLOPs a second of the matrix instructions of one type. `peak`: AMD's data sheet, dense, at 2.1 GHz; nothing is
// faster. `achieved`: AMD's "Measuring Max-Achievable FLOPs", hipBLASLt in thermal steady state (1.1 to 1.2 GHz); short
// kernels from an idle GPU may clock higher.
struct MatrixRate {
  double peak_flops = 1, achieved_flops = 1;
};
constexpr MatrixRate kFp8 = {2614.9e12, 1273e12};
constexpr MatrixRate kF16 = {1307.4e12, 654e12};
constexpr MatrixRate kBf16 = {1307.4e12, 708e12};

// Bytes a second. Peaks: data sheet, and AMD's white paper for the Infinity Cache. Achieved: BabelStream copy, best
// published run.
constexpr double kPeakHbmBytes = 5.3e12;
constexpr double kPeakInfinityCacheBytes = 17.2e12;
constexpr double kAchievedHbmBytes = 4.35e12;

}  // namespace hipbench::mi300x
