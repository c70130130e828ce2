#pragma once
// How a sandboxed program ended, as a value to be stored and shown. Only SetupError is our side's fault.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hipbench::sandbox {

enum class Status {
  Ok,           // exit code 0
  Exited,       // another exit code
  Signaled,     // a signal that no limit explains, such as a crash
  TimedOut,     // wall or CPU time
  OutOfMemory,  // resident memory
  OutputLimit,  // standard output, standard error, or a file too large
  Violation,    // a forbidden system call, too many processes, a process left behind
  SetupError,   // the sandbox could not be built; the reason says which layer is missing and what to do
};

std::string_view to_string(Status status);

struct Evidence {
  std::optional<int> exit_code = {};
  std::optional<int> signal = {};
  std::string system_call = {};  // the name of the forbidden call
  std::string limit = {};        // the member of Limits that was exceeded
  std::string process = {};      // the name of the process left behind
  std::string file = {};         // the file that could not be collected
};

struct Outcome {
  Status status = Status::SetupError;
  std::string reason;  // one sentence; empty when Ok
  Evidence evidence;
  std::string output;                                  // standard output, at most Limits::output_bytes
  std::string errors;                                  // standard error, likewise
  std::map<std::filesystem::path, std::string> files;  // Policy::output_files, when Ok
  double wall_seconds = 0;
  double cpu_seconds = 0;
  uint64_t peak_memory_bytes = 0;
  bool isolated = true;  // false: unsafe_no_sandbox

  bool ok() const { return status == Status::Ok; }
};

}  // namespace hipbench::sandbox
