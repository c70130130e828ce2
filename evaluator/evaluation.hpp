#pragma once
// The result of evaluating one candidate: plain data, made by evaluate(), stored by results/, printed by cli/.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/device/device.hpp"
#include "evaluator/verdict.hpp"
#include "problems/problem.hpp"

namespace hipbench {

enum class DeviceKind { Emulated, Hip };
std::string_view to_string(DeviceKind kind);  // "emulated", "hip"
std::string_view to_string(Track track);      // "kernel", "host"

// The steps of an evaluation, in order.
enum class Stage { Plan, Compile, Inspect, Load, Check, Done };
std::string_view to_string(Stage stage);  // "plan", …, "done"
std::optional<Stage> stage_from(std::string_view name);

// One kernel of the candidate's code object, as the compiler's metadata describes it.
struct KernelResources {
  std::string name;  // demangled
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t vgpr_spills = 0, sgpr_spills = 0;
  uint32_t lds_bytes = 0, scratch_bytes = 0;  // static; scratch a lane
};

// One launched kernel of the checked launch of a shape.
struct LaunchRecord {
  std::string kernel;
  emulator::Dim3 grid, block;
  uint32_t dynamic_lds_bytes = 0;
  emulator::Counters counters;
  double host_seconds = 0;  // wall time the emulation took
  emulator::ClassSeconds class_seconds = {};
  double modelled_seconds = 0;  // alone; 0 = no time
  emulator::TimeBreakdown time_breakdown = {};
};

struct Measurement;  // evaluator/measure.hpp

struct ShapeResult {
  Shape shape;
  Verdict verdict;
  Comparison comparison;          // of the last comparison made; elements = 0 when it never came to one
  int64_t checked_rows = 0;       // rows compared with the oracle; row_count = all
  int64_t row_count = 0;
  int rounds = 0;                 // launches on fresh inputs that were checked
  // Time of one call, from the start of its first device operation to the end of its last. On the emulated device
  // modelled; 0 = no time (the candidate did not pass, or the device gives none).
  double time_us = 0;
  bool time_is_modelled = true;
  double time_error = 0;     // relative standard error from sampling workgroups, of a modelled time
  std::string timing_model;  // the version of the model that gave it
  std::vector<LaunchRecord> launches;  // of the timed call
  uint64_t wave_instructions = 0;      // of the timed call
  double emulation_seconds = 0;        // wall time of the timed call on the emulated device
  std::shared_ptr<const Measurement> measurement = {};  // how a measured time came about; null: it is not measured.
                                                        // From the database without the summaries
};

struct Evaluation {
  std::string problem;
  Track track = Track::Kernel;
  DeviceKind device = DeviceKind::Emulated;
  std::string file;           // as the user named it
  std::string source;         // the candidate's text
  std::string source_sha256;
  uint64_t seed = 0;          // secret while the candidate runs; stored so that the run can be replayed
  std::string shape_set;      // "quick", "tests", "benchmarks" or the list the user gave
  bool sandboxed = true;      // false: --unsafe-no-sandbox, never ranked
  bool check = false;         // run with the device's memory and race checks; no times
  Verdict verdict;            // passed iff every shape passed; else that of the first shape that did not
  Stage stage = Stage::Plan;  // the one that ended it; Done when passed
  bool cancelled = false;     // asked to stop: nothing is known of the candidate. Such an evaluation is not stored
  int attempts = 1;           // more than one: what failed before was ours
  std::vector<ShapeResult> shapes;
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings;
  double compile_seconds = 0;
  bool compile_was_cached = false;
  double total_seconds = 0;
  uint64_t peak_memory_bytes = 0;  // the largest of its processes: compiler, worker, device
  std::string toolchain;      // versions, for the record
  std::string device_description;  // what ran it, in words: times of different devices are not compared
  std::string started_at;     // UTC, ISO 8601
};

}  // namespace hipbench
