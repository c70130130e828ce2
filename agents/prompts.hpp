#pragma once
// Prompts: files with {{placeholders}} in agents/prompts, filled from the problem's folder and what the judge said.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/turn.hpp"
#include "problems/problem.hpp"

namespace hipbench::agents {

using Values = std::map<std::string, std::string, std::less<>>;

class PromptSet {
 public:
  // The shipped files; those of `folder` instead where it has some. Errors name the file and the placeholder that is
  // unknown.
  static Result<PromptSet> load(const std::filesystem::path& folder = {});

  // Values are put in as they are: what looks like a placeholder in them stays.
  std::string render(std::string_view name, const Values& values) const;
  std::string sha256() const;  // of all files

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

struct PromptOptions {
  Track track = Track::Kernel;
  std::vector<Shape> shapes;
  std::vector<const Problem*> examples;  // whose starters are shown
  bool hardware = true;
};

// An example of the problem itself is help that other runs do not have: such runs are ranked apart.
bool is_aided(const Problem& problem, const PromptOptions& options);

// System prompt and messages for a step; model, tokens and temperature are the caller's.
ChatRequest make_chat_request(const PromptSet& prompts, const Problem& problem, const PromptOptions& options,
                              const std::vector<Turn>& turns, const Step& step);

// In a fence that nothing in the text can close.
std::string fenced(std::string_view text, std::string_view info);

}  // namespace hipbench::agents
