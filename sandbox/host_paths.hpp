#pragma once
// For unsafe_no_sandbox only: the places on the host of the paths that a policy names inside.

#include <string>
#include <utility>
#include <vector>

#include "common/files.hpp"
#include "common/result.hpp"
#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

class HostPaths {
 public:
  // The sandbox itself provides the paths: nothing is rewritten.
  static HostPaths inside_the_sandbox() { return {}; }
  // Writes the input files into a fresh folder, which also stands for /tmp, and rewrites accordingly.
  static Result<HostPaths> on_the_host(const Policy& policy, std::vector<TemporaryDirectory>& folders);

  // Replaces each path of the policy in an argument or a value, also behind a prefix such as -I.
  std::string rewrite(std::string text) const;

 private:
  std::vector<std::pair<std::string, std::string>> replacements_;  // longest first
};

}  // namespace hipbench::sandbox
