#pragma once
// From the words a user types to a problem, shapes and a device; errors name what there is and guess what was meant.

#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluation.hpp"
#include "problems/problem.hpp"

namespace hipbench::cli {

std::vector<std::string> problem_ids();
Result<const Problem*> choose_problem(const std::string& id);

struct ShapeChoice {
  std::vector<Shape> shapes;  // each once, in the order given
  std::string name;           // what the user typed: "quick", or "m=64,n=64,k=128 m=96,n=64,k=128"
};
// Each word is quick, tests, benchmarks or a shape; no word means quick.
Result<ShapeChoice> choose_shapes(const Problem& problem, const std::vector<std::string>& words);

Result<std::optional<Track>> choose_track(const std::string& word);  // "" = none

// What the machine has; `auto` is decided by it.
struct GpuState {
  bool driver = false;   // /dev/kfd
  bool runtime = false;  // ROCm's libamdhip64.so.6 can be loaded
};
GpuState look_for_gpu();
struct DeviceChoice {
  DeviceKind device = DeviceKind::Emulated;
  std::string note;  // worth telling the user; may be empty
};
// "auto", "emulated" or "hip". An Error is a device that cannot be had here.
Result<DeviceChoice> choose_device(const std::string& word, const GpuState& gpu);

}  // namespace hipbench::cli
