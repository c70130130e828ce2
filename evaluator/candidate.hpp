#pragma once
// A compiled candidate on the emulated device, ready to be called: one class a track behind one interface.

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "emulator/protocol/device_server.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/plan.hpp"
#include "evaluator/printed.hpp"
#include "evaluator/verdict.hpp"

namespace hipbench {

// Everything about the launches of a shape that does not change between calls.
struct CallLimits {
  uint64_t wave_instructions = 0;  // of one call, all its launches
  bool check = false;              // with the device's memory and race checks
  bool time = false;               // with the time that the timing model gives it
  uint64_t timing_secret = 0;      // where the timing model looks
  bool eight_bit_math = true;      // false: instructions of 8-bit types fault when they are executed
};

// What both tracks need to make their candidate. It outlives the candidate.
struct CandidateSetup {
  const Problem& problem;
  const Compiled& compiled;
  emulator::DeviceServer& server;
  Printed& printed;  // where the candidate's output goes
  std::string file;  // as the user named it, for messages
  bool unsafe_no_sandbox = false;
  std::chrono::milliseconds host_patience{};  // how long host code may keep an idle device waiting
  std::stop_token stop;                       // once asked to stop, host code is not waited for any more
  uint64_t& peak_memory_bytes;                // raised to what the candidate's process had
};

class Candidate {
 public:
  virtual ~Candidate() = default;

  // Begins a session: the code afresh (kernel globals have their initial values, the host track has a new process), for
  // calls of one shape. What a candidate keeps lives until end(). Empty = ready.
  virtual std::optional<Verdict> begin(const Shape& shape, const CallLimits& limits) = 0;
  // One call. `field_addresses`: one device address a pointer field. The Verdict says what failed. Device faults are
  // found by the caller (Client::drain_log). Only after end() is it certain that nothing of the candidate still runs.
  virtual std::optional<Verdict> call(std::span<const uint64_t> field_addresses) = 0;
  // Ends the session: afterwards nothing of the candidate runs anywhere, and its memory is gone.
  virtual void end() = 0;
};

std::unique_ptr<Candidate> make_kernel_candidate(const CandidateSetup& setup, const LaunchPlan& plan);
std::unique_ptr<Candidate> make_host_candidate(const CandidateSetup& setup);

// What a launch plan has to fit.
KernelFacts facts_of(const emulator::KernelInfo& kernel);

// What a fault on the device means for the candidate.
Verdict verdict_of_fault(const emulator::FaultReport& fault);

}  // namespace hipbench
