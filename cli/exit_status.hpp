#pragma once

namespace hipbench::cli {

// What every verb of ours ends with.
enum ExitStatus : int {
  kAllPassed = 0,
  kCandidateFailed = 1,
  kWrongUsage = 2,         // of the command line or of a file it names
  kEnvironmentFailed = 3,  // this machine or this program, not the candidate
};

}  // namespace hipbench::cli
