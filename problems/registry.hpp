#pragma once
// All problems. The build generates the list from the folders that hold a problem.toml (see CMakeLists.txt here), and
// embeds their texts, so that the program needs no files beside it.

#include <memory>
#include <span>
#include <string_view>

#include "common/embedded.hpp"
#include "common/result.hpp"
#include "problems/problem.hpp"

namespace hipbench {

// The texts of a problem's folder.
struct ProblemFiles {
  std::string_view id;                            // the folder's name
  std::string_view toml;                          // problem.toml
  std::string_view header;                        // ID.h
  std::string_view readme;                        // README.md
  std::string_view starter_kernel;                // starter_kernel.hip
  std::string_view starter_host;                  // starter_host.hip
  std::span<const EmbeddedFile> references = {};  // kernels/reference_solutions/ID, by file name
};

// In the order of their ids.
std::span<const Problem* const> all_problems();

// Errors list the ids there are.
Result<const Problem*> find_problem(std::string_view id);

}  // namespace hipbench
