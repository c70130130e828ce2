#include "sandbox/verdict.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

namespace hipbench::sandbox {
namespace {

Outcome make(Status status, std::string reason, Evidence evidence = {}) {
  Outcome outcome;
  outcome.status = status;
  outcome.reason = std::move(reason);
  outcome.evidence = std::move(evidence);
  return outcome;
}

std::string cpu_reason(const Limits& limits) {
  return fmt::format("used more than {} s of CPU time", limits.cpu.count());
}

Outcome from_signal(int signal, const wire::Report& report, const Limits& limits) {
  const Evidence evidence{.signal = signal};
  const bool cpu_used_up = report.cpu_seconds >= static_cast<double>(limits.cpu.count());
  switch (signal) {
    case SIGSYS:
      return make(Status::Violation, "made a system call of another architecture (32-bit or x32)", evidence);
    case SIGXFSZ:
      return make(Status::OutputLimit, fmt::format("wrote a file of more than {} bytes", limits.file_bytes),
                  {.signal = signal, .limit = "file_bytes"});
    case SIGXCPU:
      return make(Status::TimedOut, cpu_reason(limits), {.signal = signal, .limit = "cpu"});
    case SIGKILL:
      if (cpu_used_up) return make(Status::TimedOut, cpu_reason(limits), {.signal = signal, .limit = "cpu"});
      break;
    default:
      break;
  }
  return make(Status::Signaled, fmt::format("ended by signal {} ({})", signal, strsignal(signal)), evidence);
}

Outcome from_wait_status(const wire::Report& report, const Limits& limits) {
  if (WIFSIGNALED(report.wait_status)) return from_signal(WTERMSIG(report.wait_status), report, limits);
  const int code = WEXITSTATUS(report.wait_status);
  if (code == 0) return make(Status::Ok, "", {.exit_code = 0});
  return make(Status::Exited, fmt::format("exited with code {}", code), {.exit_code = code});
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::Ok:
      return "ok";
    case Status::Exited:
      return "exited";
    case Status::Signaled:
      return "signaled";
    case Status::TimedOut:
      return "timed_out";
    case Status::OutOfMemory:
      return "out_of_memory";
    case Status::OutputLimit:
      return "output_limit";
    case Status::Violation:
      return "violation";
    case Status::SetupError:
      return "setup_error";
  }
  return "unknown";
}

std::string memory_reason(const Limits& limits) {
  return fmt::format("used more than {} MiB of memory", limits.memory_bytes >> 20);
}

Outcome outcome_from_report(const wire::Report& report, const Limits& limits) {
  switch (report.message) {
    case wire::Message::Ended:
      return from_wait_status(report, limits);
    case wire::Message::CpuLimit:
      return make(Status::TimedOut, cpu_reason(limits), {.limit = "cpu"});
    case wire::Message::MemoryLimit:
      return make(Status::OutOfMemory, memory_reason(limits), {.limit = "memory_bytes"});
    case wire::Message::ProcessLimit:
      return make(Status::Violation, fmt::format("ran more than {} processes and threads at once", limits.processes),
                  {.limit = "processes"});
    case wire::Message::LeftBehind:
      return make(Status::Violation, fmt::format("left the process \"{}\" running behind it", report.text),
                  {.process = report.text});
    case wire::Message::OutputFileError: {
      const std::string text = report.text;
      return make(Status::Exited, "ended well but left no usable output file: " + text,
                  {.exit_code = 0, .file = text.substr(0, text.rfind(": "))});
    }
    case wire::Message::Started:
    case wire::Message::SetupFailed:
      break;
  }
  return make(Status::SetupError, std::string("cannot set up the sandbox: ") + report.text);
}

std::string describe_call(const std::string& name, const unsigned long long* arguments) {
  if (name == "socket") return fmt::format("socket (address family {})", arguments[0]);
  if (name == "prctl") return fmt::format("prctl (option {})", static_cast<unsigned>(arguments[0]));
  if (name == "kill" || name == "tgkill") return fmt::format("{} (process {})", name, static_cast<int>(arguments[0]));
  if (name == "clone") return fmt::format("clone (flags {:#x})", arguments[0]);
  return name;
}

}  // namespace hipbench::sandbox
