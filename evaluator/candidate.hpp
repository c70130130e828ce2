#pragma once
// A compiled candidate on the emulated device, ready to be called: one class a track behind one interface.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "emulator/protocol/device_server.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/plan.hpp"
#include "evaluator/verdict.hpp"

namespace hipbench {

// Everything about the launches of a shape that does not change between calls.
struct CallLimits {
  uint64_t wave_instructions = 0;  // of one call, all its launches
  bool check = false;              // with the device's memory and race checks
};

class Candidate {
 public:
  virtual ~Candidate() = default;

  // Loads the code afresh (kernel globals have their initial values) for calls of one shape. Empty = ready.
  virtual std::optional<Verdict> load(const Shape& shape, const CallLimits& limits) = 0;
  // One call. `field_addresses`: one device address a pointer field. On return all device work is done, or the Verdict says
  // why not. Device faults are found by the caller (Client::drain_log).
  virtual std::optional<Verdict> call(std::span<const uint64_t> field_addresses) = 0;
  virtual void unload() = 0;
};

std::unique_ptr<Candidate> make_kernel_candidate(const Problem& problem, const LaunchPlan& plan, const Compiled& compiled,
                                                 emulator::DeviceServer& server);
std::unique_ptr<Candidate> make_host_candidate(const Problem& problem, const Compiled& compiled, emulator::DeviceServer& server,
                                               bool unsafe_no_sandbox);

// What a fault or a refusal on the device means for the candidate.
Verdict verdict_of_fault(const emulator::FaultReport& fault);

}  // namespace hipbench
