#pragma once

namespace hipbench::cli {

// What every verb of ours ends with.
enum ExitStatus : int {
  kAllPassed = 0,
  kCandidateFailed = 1,
  kWrongUsage = 2,         // of the command line or of a file it names
  kEnvironmentFailed = 3,  // this machine or this program, not the candidate
};
// And the signal's number, as shells say it: stopped by Ctrl-C or SIGTERM.
inline constexpr int kSignalReceived = 128;

}  // namespace hipbench::cli
