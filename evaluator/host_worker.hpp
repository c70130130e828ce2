#pragma once
// The judge's side of one worker process (host track): starts it in the sandbox, asks it to call the candidate, notices when it
// dies, hangs or breaks a rule.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "common/unique_fd.hpp"
#include "emulator/protocol/device_server.hpp"
#include "evaluator/verdict.hpp"
#include "problems/problem.hpp"
#include "sandbox/launch.hpp"

namespace hipbench {

class HostWorker {
 public:
  // `shared_object` is the compiled candidate. On failure the Verdict says whose fault it is.
  static std::variant<std::unique_ptr<HostWorker>, Verdict> start(const Problem& problem, const std::string& shared_object,
                                                                  emulator::DeviceServer& server, bool unsafe_no_sandbox);
  ~HostWorker();
  HostWorker(const HostWorker&) = delete;

  // Bytes of workspace the candidate wants for a shape; args hold null pointers.
  std::variant<uint64_t, Verdict> workspace_bytes(std::span<const std::byte> args);
  // One call of hb_ID_run and all the device work it started. Empty = it returned 0.
  std::optional<Verdict> run(std::span<const std::byte> args, uint64_t workspace, uint64_t workspace_bytes);

 private:
  HostWorker(sandbox::Child child, UniqueFd control, emulator::DeviceServer& server)
      : child_(std::move(child)), control_(std::move(control)), server_(server) {}
  struct Reply;
  std::variant<Reply, Verdict> receive();
  // Why the worker is gone; takes its outcome.
  Verdict verdict_of_end();

  std::optional<sandbox::Child> child_;
  UniqueFd control_;
  emulator::DeviceServer& server_;
  bool has_workspace_ = false;
};

}  // namespace hipbench
