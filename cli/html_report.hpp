#pragma once
// The HTML page of a database: as a file, for `hipbench report --html`.

#include <filesystem>
#include <string>

namespace hipbench::cli {

// Returns the exit status. `problem`: only this one; empty: all.
int write_html_report(const std::filesystem::path& database, const std::string& problem,
                      const std::filesystem::path& file);

}  // namespace hipbench::cli
