#pragma once
// The judge's side of one worker process (host track): starts it in the sandbox, asks it to call the candidate, notices
// when it dies, hangs or breaks a rule.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "common/unique_fd.hpp"
#include "evaluator/candidate.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/worker_protocol.hpp"

namespace hipbench {

class HostWorker {
 public:
  // On failure the Verdict says whose fault it is.
  static std::variant<std::unique_ptr<HostWorker>, Verdict> start(const CandidateSetup& setup);
  ~HostWorker();
  HostWorker(const HostWorker&) = delete;

  // Bytes of workspace the candidate wants for a shape; args hold null pointers.
  std::variant<uint64_t, Verdict> workspace_bytes(std::span<const std::byte> args);
  // One call of hb_ID_run. Empty = the process says that it returned 0 and the device work is done.
  std::optional<Verdict> run(std::span<const std::byte> args, uint64_t workspace, uint64_t workspace_bytes);

 private:
  HostWorker(sandbox::Child child, UniqueFd control, const CandidateSetup& setup)
      : child_(std::move(child)), control_(std::move(control)), setup_(setup) {}
  std::optional<Verdict> ask(const worker::Ask& ask);
  std::variant<worker::Answer, Verdict> receive();
  Verdict stop(VerdictKind kind, std::string reason);
  // For how long so far the candidate's threads and the device's were ready but had no core.
  std::chrono::nanoseconds starved() const;
  // The device is idle, so the host code is what takes so long. An Error is ours.
  Result<bool> device_is_idle();
  // Threads inside beside the one that serves the judge; -1 when the process is not to be seen.
  int threads_left_behind() const;
  // Waits for the end of the process and keeps what it printed.
  sandbox::Outcome collect();
  // Why the worker is gone; takes its outcome.
  Verdict verdict_of_end();

  std::optional<sandbox::Child> child_;
  UniqueFd control_;
  const CandidateSetup& setup_;
  bool has_workspace_ = false;
};

}  // namespace hipbench
