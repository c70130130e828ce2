#pragma once
#include <string>
#include <vector>

#include "common/result.hpp"

namespace hipbench::cli {

// No kernel that people or models write comes near it; what is longer is another kind of file.
inline constexpr size_t kLongestSource = 4 << 20;

// The text of a candidate. Errors: missing, a folder, unreadable, empty, too long, not text.
Result<std::string> read_candidate(const std::string& file);

// Whether a text can be a candidate's at all; `name` stands for it in the Error.
Result<void> check_candidate_text(std::string_view text, std::string_view name);

// A folder's candidates, its *.hip files by name; a file itself.
Result<std::vector<std::string>> candidate_files(const std::string& file_or_folder);

// Writes a new file; replaces an existing one only when `force`. Errors say what is in the way.
Result<void> write_new_file(const std::string& file, std::string_view content, bool force);

}  // namespace hipbench::cli
