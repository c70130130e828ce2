#pragma once
// From whatever a model says to a candidate's source: fenced blocks, several of them, prose around, a diff against the
// last version, JSON around the code, no fences at all. Any bytes may come in; it never fails, it only finds nothing.

#include <optional>
#include <string>
#include <string_view>

namespace hipbench::agents {

struct Extraction {
  std::string source;  // empty: there is no candidate in it
  // How it was found: "fenced block", "block 2 of 3", "diff", "search and replace", "JSON", "unfenced", "joined
  // blocks".
  std::string how;
  std::string note;  // what was wrong with it: "the diff does not apply: …"
};

// `previous` is the version that a diff would be against; empty = none.
Extraction extract_candidate(std::string_view answer, std::string_view previous);

// A unified diff or search-and-replace blocks, found by their context wherever it stands now. Nothing if a part of it
// has no place; then `why` says which.
std::optional<std::string> apply_diff(std::string_view diff, std::string_view previous, std::string& why);
std::optional<std::string> apply_search_replace(std::string_view blocks, std::string_view previous, std::string& why);

}  // namespace hipbench::agents
