#include "cli/choices.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "cli/text.hpp"
#include "common/toolchain.hpp"
#include "evaluator/gpu_process.hpp"
#include "problems/registry.hpp"

namespace hipbench::cli {

namespace {

constexpr std::pair<std::string_view, ShapeSet> kShapeSets[] = {
    {"quick", ShapeSet::Quick}, {"tests", ShapeSet::Tests}, {"benchmarks", ShapeSet::Benchmarks}};

Result<std::vector<Shape>> shapes_of_word(const Problem& problem, const std::string& word) {
  std::vector<Shape> shapes;
  for (const auto& [name, set] : kShapeSets) {
    if (word != name) continue;
    for (const ListedShape& listed : problem.shapes(set)) shapes.push_back(listed.shape);
    return shapes;
  }
  if (word.find('=') == std::string::npos) {
    const std::string sets[] = {"quick", "tests", "benchmarks"};
    return Error{fmt::format("\"{}\" is no set of shapes (quick, tests, benchmarks) and no shape ({}=N){}",
                             printable_line(word), fmt::join(problem.dimensions(), "=N,"), suggestion(word, sets))};
  }
  const Result<Shape> shape = problem.parse_shape(word);
  if (!shape) return Error{printable_line(shape.error().message)};
  shapes.push_back(*shape);
  return shapes;
}

}  // namespace

std::vector<std::string> problem_ids() {
  std::vector<std::string> ids;
  for (const Problem* problem : all_problems()) ids.push_back(problem->id());
  return ids;
}

Result<const Problem*> choose_problem(const std::string& id) {
  const std::vector<std::string> known = problem_ids();
  for (const Problem* problem : all_problems()) {
    if (problem->id() == id) return problem;
  }
  return Error{fmt::format("there is no problem \"{}\"; the problems are: {}{}", printable_line(id),
                           fmt::join(known, ", "), suggestion(id, known))};
}

Result<ShapeChoice> choose_shapes(const Problem& problem, const std::vector<std::string>& words) {
  ShapeChoice choice;
  choice.name = words.empty() ? "quick" : fmt::format("{}", fmt::join(words, " "));
  for (const std::string& word : words.empty() ? std::vector<std::string>{"quick"} : words) {
    for (Shape& shape : TRY(shapes_of_word(problem, word))) {
      const bool known = std::any_of(choice.shapes.begin(), choice.shapes.end(),
                                     [&](const Shape& other) { return other.values == shape.values; });
      if (!known) choice.shapes.push_back(std::move(shape));
    }
  }
  return choice;
}

Result<std::optional<Track>> choose_track(const std::string& word) {
  if (word.empty()) return std::optional<Track>();
  for (const Track track : {Track::Kernel, Track::Host}) {
    if (to_string(track) == word) return std::optional<Track>(track);
  }
  return Error{fmt::format("--track is kernel or host, not \"{}\"", printable_line(word))};
}

GpuState look_for_gpu() {
  GpuState gpu;
  gpu.driver = ::access("/dev/kfd", F_OK) == 0;
  // Only where there is a driver: ROCm's library does work when it is loaded.
  if (gpu.driver) {
    void* runtime = ::dlopen(find_hip_runtime().c_str(), RTLD_LAZY | RTLD_LOCAL);
    gpu.runtime = runtime != nullptr;
    if (runtime != nullptr) ::dlclose(runtime);
  }
  return gpu;
}

Result<DeviceChoice> choose_device(const std::string& word, const GpuState& gpu) {
  if (word == "emulated") return DeviceChoice{DeviceKind::Emulated, ""};
  const bool has_gpu = gpu.driver && gpu.runtime;
  if (word == "auto") {
    return DeviceChoice{DeviceKind::Emulated,
                        has_gpu ? "this machine has a GPU; --device hip measures kernel-track candidates on it" : ""};
  }
  if (word != "hip") return Error{fmt::format("--device is auto, emulated or hip, not \"{}\"", printable_line(word))};
  if (has_gpu) {
    return DeviceChoice{DeviceKind::Hip,
                        "nobody has reported a run of hipbench on a real GPU yet; read docs/measurement.md before you "
                        "rely on its times"};
  }
  return Error{fmt::format("--device hip: {}; use --device emulated",
                           !gpu.driver ? "there is no AMD GPU here (no /dev/kfd)"
                                       : "the HIP runtime is missing (no libamdhip64.so.6 of ROCm)")};
}

}  // namespace hipbench::cli
