#include "evaluator/source_names.hpp"

#include <filesystem>

namespace hipbench {

namespace {

// In front of a source line in a fault report. Line tables hold the source's place in the compile sandbox: a path (host
// track) or its base name (kernel track).
constexpr std::string_view kPlace = "  source     ";

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A header of the toolchain: "hip/amd_detail/…", wherever that folder was when the candidate was compiled.
void shorten_header_paths(std::string& text) {
  const std::string path_begins = std::string(kPlace) + "/";
  for (size_t at = text.find(path_begins); at != std::string::npos; at = text.find(path_begins, at + 1)) {
    const size_t path = at + kPlace.size(), header = text.substr(0, text.find('\n', path)).rfind("/hip/");
    if (header != std::string::npos && header >= path) text.erase(path, header + 1 - path);
  }
}

}  // namespace

std::string safe_name(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  for (char& c : name)
    if ((c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '-') c = '_';
  return name.empty() || name.front() == '.' || name.front() == '-' ? "candidate.hip" : name;
}

void name_users_file(Evaluation& evaluation) {
  const std::string name = safe_name(evaluation.file), place(kPlace);
  const auto rename = [&](std::string& text) {
    shorten_header_paths(text);
    replace(text, "/candidate/" + name, evaluation.file);
    replace(text, place + name + ":", place + evaluation.file + ":");
  };
  rename(evaluation.verdict.reason);
  rename(evaluation.verdict.evidence);
  for (ShapeResult& shape : evaluation.shapes) {
    rename(shape.verdict.reason);
    rename(shape.verdict.evidence);
  }
  for (std::string& warning : evaluation.warnings) replace(warning, "/candidate/" + name, evaluation.file);
}

}  // namespace hipbench
