#pragma once
// The command line of bubblewrap, which builds the namespaces and the file system of a sandbox, and what its failures
// mean.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

// Errors name the package to install.
Result<std::string> find_bubblewrap();

class BubblewrapCommand {
 public:
  explicit BubblewrapCommand(uint64_t scratch_bytes);
  void mount(const std::string& source, const std::string& inside, Access access);
  void input_file(int fd, const std::string& inside);
  std::vector<std::string> finish();

 private:
  std::vector<std::string> arguments_;
};

// What to do about a sandbox that could not be built, from bubblewrap's own words.
std::string remedy_for(std::string_view bubblewrap_message);

}  // namespace hipbench::sandbox
