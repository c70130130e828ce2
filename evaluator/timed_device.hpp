#pragma once
// A device whose clock is real, as evaluator/measure.cpp needs it: an AMD GPU through HIP events and the host's clock,
// or a scripted one in tests. It does single steps; which steps, in which order, and what follows from their times is
// measure()'s.

#include <cstdint>
#include <optional>
#include <variant>

#include "common/result.hpp"
#include "evaluator/telemetry.hpp"
#include "evaluator/verdict.hpp"

namespace hipbench {

// Whose call it is.
enum class Subject { Candidate, Baseline };

// The two clocks of one call.
struct ClockReadings {
  double events_us = 0;  // between two events recorded on the call's own stream, around everything the call submits
  double wall_us = 0;    // the host's clock outside the candidate's process: from before the first event is recorded
                       // until the whole device is idle, the candidate's other streams and threads included
};

class TimedDevice {
 public:
  virtual ~TimedDevice() = default;

  // The subject's code loaded afresh, in a process of its own; what it keeps lives until the next begin().
  virtual std::optional<Verdict> begin(Subject subject) = 0;
  // Returns once nothing runs on the device any more, on whatever stream and of whatever process.
  virtual Result<void> wait_until_idle() = 0;
  // Inputs that the subject has not seen before into its buffers, poison into its outputs and workspaces. `call`
  // numbers the calls of the whole measurement, from 0.
  virtual Result<void> prepare(Subject subject, uint64_t call) = 0;
  // Writes and reads `bytes` that nobody else uses.
  virtual Result<void> flush_caches(uint64_t bytes) = 0;
  // The event time of a kernel of ours that reads `bytes`, always the same ones.
  virtual Result<double> read_canary_us(uint64_t bytes) = 0;
  // An empty kernel of ours in the subject's place, on its stream: what the clocks differ by when there is nothing to
  // hide.
  virtual Result<ClockReadings> time_nothing() = 0;
  // One call, on the subject's own stream. The Verdict says what failed.
  virtual std::variant<ClockReadings, Verdict> time(Subject subject) = 0;
  // Whether the outputs of the subject's last call, and its inputs, are right.
  virtual Verdict verify(Subject subject, uint64_t call) = 0;
  // What the system tells of itself.
  virtual Telemetry telemetry() = 0;
};

}  // namespace hipbench
