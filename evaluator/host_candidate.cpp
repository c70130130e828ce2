// Host track: the candidate's own host code calls the HIP runtime, in the worker's sandbox.

#include <fmt/format.h>

#include "evaluator/candidate.hpp"
#include "evaluator/host_worker.hpp"

namespace hipbench {

namespace {

class HostCandidate final : public Candidate {
 public:
  HostCandidate(const Problem& problem, const Compiled& compiled, emulator::DeviceServer& server, bool unsafe_no_sandbox)
      : problem_(problem), compiled_(compiled), server_(server), unsafe_no_sandbox_(unsafe_no_sandbox) {}

  std::optional<Verdict> load(const Shape& shape, const CallLimits& limits) override {
    shape_ = shape;
    const emulator::Limits device_limits{.instructions_per_launch = limits.wave_instructions,
                                         .instructions_in_all = 0,
                                         .check = limits.check};
    if (Result<void> set = server_.trusted().set_limits(device_limits); !set) return Verdict{VerdictKind::Infrastructure, set.error().message, {}};
    auto started = HostWorker::start(problem_, compiled_.code, server_, unsafe_no_sandbox_);
    if (Verdict* failed = std::get_if<Verdict>(&started)) return std::move(*failed);
    worker_ = std::move(std::get<std::unique_ptr<HostWorker>>(started));
    const std::vector<uint64_t> null_pointers(problem_.pointer_fields().size(), 0);
    auto wanted = worker_->workspace_bytes(problem_.make_args(shape, null_pointers));
    if (Verdict* failed = std::get_if<Verdict>(&wanted)) return std::move(*failed);
    workspace_bytes_ = std::get<uint64_t>(wanted);
    if (workspace_bytes_ > kMaxWorkspaceBytes)
      return Verdict{VerdictKind::Rejected,
                     fmt::format("rule `workspace`: {} returned {} bytes, at most {} are allowed", problem_.workspace_symbol(),
                                 workspace_bytes_, kMaxWorkspaceBytes), {}};
    return std::nullopt;
  }

  std::optional<Verdict> call(std::span<const uint64_t> field_addresses) override {
    emulator::Client& device = server_.trusted();
    uint64_t workspace = 0;
    if (workspace_bytes_ != 0) {
      const Result<uint64_t> allocated = device.allocate(workspace_bytes_, "workspace");
      if (!allocated) return Verdict{VerdictKind::OutOfMemory, allocated.error().message, {}};
      workspace = *allocated;
      if (Result<void> filled = device.fill(workspace, 0xff, 1, workspace_bytes_); !filled) return Verdict{VerdictKind::Infrastructure, filled.error().message, {}};
      if (auto idle = device.synchronize(); !idle) return Verdict{VerdictKind::Infrastructure, idle.error().message, {}};
    }
    std::optional<Verdict> verdict = worker_->run(problem_.make_args(shape_, field_addresses), workspace, workspace_bytes_);
    // Whatever the worker claims: nothing of it is still running when its outputs are read.
    if (Result<void> idle = device.synchronize_all(); !idle) return Verdict{VerdictKind::Infrastructure, idle.error().message, {}};
    if (workspace != 0) static_cast<void>(device.free(workspace));
    return verdict;
  }

  void unload() override {
    worker_.reset();
    static_cast<void>(server_.trusted().close_clients());
  }

 private:
  const Problem& problem_;
  const Compiled& compiled_;
  emulator::DeviceServer& server_;
  const bool unsafe_no_sandbox_;
  Shape shape_;
  std::unique_ptr<HostWorker> worker_;
  uint64_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Candidate> make_host_candidate(const Problem& problem, const Compiled& compiled, emulator::DeviceServer& server,
                                               bool unsafe_no_sandbox) {
  return std::make_unique<HostCandidate>(problem, compiled, server, unsafe_no_sandbox);
}

}  // namespace hipbench
