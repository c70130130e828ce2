#include "cli/work_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/text.hpp"

namespace hipbench::cli {

namespace {

// What a naive kernel gets on one core, launches and oracle together; one with matrix instructions is up to ten times
// faster.
constexpr double kFlopsPerSecondAndThread = 0.25e9;
constexpr double kWorthSaying = 10;  // seconds

}  // namespace

WorkEstimate estimate_work(const Problem& problem, std::span<const Shape> shapes, unsigned threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  WorkEstimate estimate;
  for (const Shape& shape : shapes) estimate.flops += problem.roofs(shape).flops;
  estimate.seconds = estimate.flops / (kFlopsPerSecondAndThread * threads);
  return estimate;
}

std::string estimate_text(const Problem& problem, std::span<const Shape> shapes, unsigned threads) {
  const WorkEstimate estimate = estimate_work(problem, shapes, threads);
  if (estimate.seconds < kWorthSaying) return "";
  return fmt::format(
      "{} shape{}, {}FLOP a launch in all: up to about {} on the emulated device (a kernel with matrix instructions is "
      "faster)",
      shapes.size(), shapes.size() == 1 ? "" : "s", quantity(estimate.flops), duration(estimate.seconds));
}

}  // namespace hipbench::cli
