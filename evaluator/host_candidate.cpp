// Host track: the candidate's own host code calls the HIP runtime, in the worker's sandbox.

#include <fmt/format.h>

#include "evaluator/candidate.hpp"
#include "evaluator/host_worker.hpp"
#include "evaluator/inspect.hpp"

namespace hipbench {

namespace {

class HostCandidate final : public Candidate {
 public:
  explicit HostCandidate(const CandidateSetup& setup) : setup_(setup) {}
  ~HostCandidate() override { end(); }

  std::optional<Verdict> begin(const Shape& shape, const CallLimits& limits) override {
    end();
    shape_ = shape;
    limits_ = limits;
    if (std::optional<Verdict> failed = load_code()) return failed;
    if (std::optional<Verdict> failed = allow_one_call()) return failed;
    auto started = HostWorker::start(setup_);
    if (Verdict* failed = std::get_if<Verdict>(&started)) return std::move(*failed);
    worker_ = std::move(std::get<std::unique_ptr<HostWorker>>(started));
    const std::vector<uint64_t> null_pointers(setup_.problem.pointer_fields().size(), 0);
    auto wanted = worker_->workspace_bytes(setup_.problem.make_args(shape, null_pointers));
    if (Verdict* failed = std::get_if<Verdict>(&wanted)) return std::move(*failed);
    workspace_bytes_ = std::get<uint64_t>(wanted);
    if (workspace_bytes_ > kMaxWorkspaceBytes)
      return Verdict{VerdictKind::Rejected,
                     fmt::format("rule `workspace`: {} returned {} bytes, at most {} are allowed",
                                 setup_.problem.workspace_symbol(), workspace_bytes_, kMaxWorkspaceBytes),
                     {}};
    return std::nullopt;
  }

  std::optional<Verdict> call(std::span<const uint64_t> field_addresses) override {
    uint64_t workspace = 0;
    std::optional<Verdict> verdict = allow_one_call();
    if (!verdict) verdict = make_workspace(workspace);
    if (!verdict)
      verdict = worker_->run(setup_.problem.make_args(shape_, field_addresses), workspace, workspace_bytes_);
    if (workspace != 0) static_cast<void>(device().free(workspace));
    return verdict;
  }

  // A process that claims to be done may lie, so it is killed and its connection closed: then nothing of it can still
  // write. What it had queued is dropped; what runs is finished first.
  void end() override {
    worker_.reset();
    static_cast<void>(device().close_clients());
    if (code_.handle != 0) static_cast<void>(device().unload_module(code_.handle));
    code_ = {};
  }

 private:
  emulator::Client& device() { return setup_.server.trusted(); }

  // The code that was inspected, for the device to compare with: the process can load nothing else.
  std::optional<Verdict> load_code() {
    Result<emulator::ModuleInfo> loaded =
        device().load_module(std::as_bytes(std::span(device_code(setup_.compiled, Track::Host))));
    if (!loaded) return Verdict{VerdictKind::Rejected, "rule `code object`: " + loaded.error().message, {}};
    code_ = std::move(*loaded);
    return std::nullopt;
  }

  // The limit counts from here.
  std::optional<Verdict> allow_one_call() {
    const emulator::Limits limits{.instructions_per_launch = limits_.wave_instructions,
                                  .instructions_in_all = limits_.wave_instructions,
                                  .known_code_only = true,
                                  .check = limits_.check,
                                  .time = limits_.time,
                                  .no_eight_bit_math = !limits_.eight_bit_math,
                                  .timing_secret = limits_.timing_secret};
    if (Result<void> set = device().set_limits(limits); !set) return Verdict::our_fault(set.error());
    return std::nullopt;
  }

  // Filled with 0xFF before every call, so that a kernel that counts on zeros fails.
  std::optional<Verdict> make_workspace(uint64_t& workspace) {
    if (workspace_bytes_ == 0) return std::nullopt;
    const Result<uint64_t> allocated = device().allocate(workspace_bytes_, "workspace");
    if (!allocated) return Verdict{VerdictKind::OutOfMemory, allocated.error().message, {}};
    workspace = *allocated;
    if (Result<void> filled = device().fill(workspace, 0xff, 1, workspace_bytes_); !filled)
      return Verdict::our_fault(filled.error());
    const auto failure = device().synchronize();
    if (!failure) return Verdict::our_fault(failure.error());
    if (*failure) return Verdict{VerdictKind::OutOfMemory, (*failure)->text, {}};
    return std::nullopt;
  }

  const CandidateSetup& setup_;
  Shape shape_;
  CallLimits limits_;
  emulator::ModuleInfo code_;
  std::unique_ptr<HostWorker> worker_;
  uint64_t workspace_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Candidate> make_host_candidate(const CandidateSetup& setup) {
  return std::make_unique<HostCandidate>(setup);
}

}  // namespace hipbench
