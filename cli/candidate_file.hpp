#pragma once
#include <string>

#include "common/result.hpp"

namespace hipbench::cli {

// No kernel that people or models write comes near it; what is longer is another kind of file.
inline constexpr size_t kLongestSource = 4 << 20;

// The text of a candidate. Errors: missing, a folder, unreadable, empty, too long, not text.
Result<std::string> read_candidate(const std::string& file);

// Writes a new file; replaces an existing one only when `force`. Errors say what is in the way.
Result<void> write_new_file(const std::string& file, std::string_view content, bool force);

}  // namespace hipbench::cli
