#include "agents/similarity.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <vector>

#include "agents/embedded.hpp"

namespace hipbench::agents {

namespace {

constexpr size_t kRun = 6;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Names become one token each, so that renaming changes nothing; names of the language, of built-ins and numbers stay.
bool stays(std::string_view word) {
  static const std::set<std::string_view> kKept = {
      "for",       "if",       "while",    "return", "float", "int",        "half",       "double",       "extern",
      "threadIdx", "blockIdx", "blockDim", "const",  "else",  "__shared__", "__global__", "__syncthreads"};
  return std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word.starts_with("__builtin") ||
         kKept.contains(word);
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      at += end == std::string_view::npos ? rest.size() : end + 2;
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
      ++at;
    } else {
      size_t length = 1;
      if (is_word(rest[0]))
        while (length < rest.size() && is_word(rest[length])) ++length;
      const std::string_view token = rest.substr(0, length);
      tokens.push_back(is_word(token[0]) && !stays(token) ? std::string_view("name") : token);
      at += length;
    }
  }
  return tokens;
}

std::vector<uint64_t> runs_of(std::string_view text) {
  const std::vector<std::string_view> tokens = tokens_of(text);
  std::vector<uint64_t> runs;
  for (size_t i = 0; i + kRun <= tokens.size(); ++i) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (size_t k = i; k < i + kRun; ++k) {
      for (const char c : tokens[k]) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
      hash = (hash ^ 0xff) * 1099511628211u;
    }
    runs.push_back(hash);
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

}  // namespace

double similarity(std::string_view a, std::string_view b) {
  const std::vector<uint64_t> runs_a = runs_of(a), runs_b = runs_of(b);
  if (runs_a.empty() || runs_b.empty()) return a == b ? 1 : 0;
  std::vector<uint64_t> both;
  std::set_intersection(runs_a.begin(), runs_a.end(), runs_b.begin(), runs_b.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(std::min(runs_a.size(), runs_b.size()));
}

std::string nearly_shipped(const Problem& problem, std::string_view source) {
  std::string nearest;
  double most = kNearlyIdentical;
  const auto look = [&](std::string_view name, std::string_view text) {
    const double alike = similarity(source, text);
    if (alike < most || (alike == most && !nearest.empty())) return;
    most = alike;
    nearest = name;
  };
  look("starter_kernel.hip", problem.starter(Track::Kernel));
  look("starter_host.hip", problem.starter(Track::Host));
  for (const auto& list : {problem.references(), problem.ladder()})
    for (const ReferenceSolution& kernel : list) look(kernel.path, kernel.source);
  for (const EmbeddedFile& kernel : shipped_kernels())
    if (kernel.name.find(problem.id()) != std::string_view::npos) look(kernel.name, kernel.text);
  return nearest;
}

}  // namespace hipbench::agents
