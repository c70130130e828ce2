#pragma once
// The main path: source → compile (sandboxed) → inspect → load → check → time → Evaluation.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluator/check.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench {

class TimedDevice;  // evaluator/timed_device.hpp
// Stands between the protocol of timing and the device.
using WrapTimedDevice = std::function<std::unique_ptr<TimedDevice>(TimedDevice& device)>;

// How DeviceKind::Hip is driven.
struct GpuOptions {
  std::filesystem::path runtime;  // libamdhip64; empty: as find_hip_runtime() says
  int rounds = 50, warm_up_rounds = 5;
  // With a call, before it counts as hanging: any shape takes milliseconds.
  std::chrono::seconds patience = std::chrono::seconds(60);
  // For tests: hipbench's own drop-in library in ROCm's place, and clocks in the place of the device's. What is timed
  // so has no time.
  bool allow_stand_in = false;
  WrapTimedDevice wrap;
};

struct EvaluateOptions {
  std::vector<Shape> shapes;                // in this order; stops at the first that does not pass unless keep_going
  std::string shape_set;                    // for the record
  std::optional<uint64_t> seed;             // none: drawn from the operating system
  std::optional<Track> track;               // none: kernel track iff the source holds a plan block
  DeviceKind device = DeviceKind::Emulated;
  GpuOptions gpu;
  bool keep_going = false;
  bool check = false;                       // run with the device's memory and race checks; no time is taken
  bool unsafe_no_sandbox = false;
  unsigned threads = 0;                     // of the emulated device and the oracle; 0 = one a core
  // Host track: how long host code may keep an idle device waiting before it counts as hanging.
  std::chrono::milliseconds host_patience = std::chrono::seconds(20);
  std::chrono::seconds compile_limit = std::chrono::seconds(120);
  uint64_t wave_instructions =
      0;  // most that a call may execute; 0 = as the problem says, which is also the most allowed
  int attempts = 2;                // in all, while what fails is ours
  // Asked to stop, it ends everything of the candidate at once and returns with Evaluation::cancelled.
  std::stop_token stop;
  const Buffers* inputs = nullptr;          // a user's own, for the one shape asked for; see CheckOptions
  CaseObserver observe;                     // see CheckOptions
  std::function<void(const std::string&)> progress;  // one line each time something long begins or ends
};

// Never fails: what goes wrong on our side is the verdict Infrastructure, after other attempts. Safe to call from many
// threads.
Evaluation evaluate(const Problem& problem, const std::string& file, const std::string& source,
                    const EvaluateOptions& options);

// Kernel track iff the source holds a "/* hipbench-plan" comment.
Track detect_track(std::string_view source);

}  // namespace hipbench
