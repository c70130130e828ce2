#pragma once
// A provider's key. It goes into one HTTP header and nowhere else: it cannot be printed, and what a server sends back
// is searched for it before anything is stored or shown.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.hpp"

namespace hipbench::agents {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  bool empty() const { return value_.empty(); }
  const std::string& reveal() const { return value_; }
  bool is_in(std::string_view text) const { return !empty() && text.find(value_) != std::string_view::npos; }
  // The text with "[key]" in place of the key.
  std::string redacted(std::string text) const;

 private:
  std::string value_;
};

// From a file that nobody else may read.
Result<Secret> read_key_file(const std::filesystem::path& path);
// From the environment, where it is removed: what we start does not inherit it. Empty if there is none. Only while the
// program has one thread.
Result<Secret> take_key_from_environment(const std::string& variable);

}  // namespace hipbench::agents
