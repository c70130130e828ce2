#pragma once
// Compiled candidates by content, in $XDG_CACHE_HOME/hipbench/compiled. A broken or half-written entry is a miss.

#include <optional>
#include <string>

#include "evaluator/compile.hpp"

namespace hipbench {

class CompileCache {
 public:
  // `key` is a SHA-256 in hex.
  static std::optional<Compiled> load(const std::string& key);
  // Best effort: a full disk or a read-only home only costs the next run its compile.
  static void store(const std::string& key, const Compiled& compiled);
};

}  // namespace hipbench
