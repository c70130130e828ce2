#pragma once
#include <span>
#include <string>

#include "evaluator/evaluate.hpp"

namespace hipbench::cli {

struct WorkEstimate {
  double flops = 0;    // of one launch of every shape
  double seconds = 0;  // order of magnitude, on the emulated device
};
WorkEstimate estimate_work(const Problem& problem, std::span<const Shape> shapes, unsigned threads);
// "18 shapes, 1.7 TFLOP a launch: about 20 min"; empty when it will be over soon.
std::string estimate_text(const Problem& problem, std::span<const Shape> shapes, unsigned threads);

}  // namespace hipbench::cli
