#pragma once
// One subject's code and buffers on a GPU, in a process of its own: what it keeps lives as long as the session. The
// buffers keep their addresses from call to call, and each lies between two red zones.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "emulator/protocol/client.hpp"
#include "evaluator/compile.hpp"
#include "evaluator/gpu_process.hpp"
#include "evaluator/plan.hpp"
#include "evaluator/verdict.hpp"

namespace hipbench {

// Compiled device code with the plan that launches it, and what the emulated device found in it.
struct GpuCode {
  Compiled compiled;
  LaunchPlan plan;
  emulator::ModuleInfo module;
};

class GpuSession {
 public:
  struct Setup {
    const Problem& problem;
    const Shape& shape;
    const GpuCode& code;
    std::string file;               // for messages
    std::filesystem::path runtime;  // libamdhip64
    std::chrono::seconds patience;  // with a call
    std::stop_token stop;
  };
  static std::variant<std::unique_ptr<GpuSession>, Verdict> start(const Setup& setup);

  // Inputs as in `one`, poison in all that is to be written. Done when it returns.
  Result<void> fill(const Case& one);
  std::variant<ClockReadings, Verdict> call();
  // What lies on the device now against the answer of `one`, which fill() was given. `comparison` stays as it is where
  // it does not come to one.
  Verdict compare(const Case& one, Comparison& comparison);
  Result<void> wait_until_idle() { return process_->synchronize(); }

 private:
  // Poison before and behind the bytes that are used.
  struct Block {
    uint64_t base = 0, address = 0, bytes = 0;
  };

  explicit GpuSession(const Setup& setup) : problem_(setup.problem), shape_(setup.shape), stop_(setup.stop) {}
  Result<Block> allocate(uint64_t bytes);
  std::optional<Verdict> allocate_workspaces(const ResolvedPlan& plan);
  Result<void> add_steps(const ResolvedPlan& plan, const GpuCode& code);
  std::optional<Verdict> look_at_red_zones();
  Result<bool> red_zones_hold(const Block& block);
  Verdict verdict_of(const Error& error) const;
  static std::vector<uint64_t> addresses_of(const std::vector<Block>& blocks);

  const Problem& problem_;
  const Shape& shape_;
  std::stop_token stop_;
  std::unique_ptr<GpuProcess> process_;
  std::vector<Block> fields_, workspaces_;
};

}  // namespace hipbench
