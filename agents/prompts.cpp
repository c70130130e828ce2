#include "agents/prompts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "agents/embedded.hpp"
#include "common/files.hpp"

namespace hipbench::agents {

namespace {

// Every file with the placeholders that it may use.
const std::map<std::string, std::set<std::string>, std::less<>>& known_files() {
  static const std::map<std::string, std::set<std::string>, std::less<>> files = {
      {"system.md", {}},
      {"task.md",
       {"title", "problem", "format", "hardware", "examples", "readme", "header_name", "header", "shapes", "absolute",
        "relative"}},
      {"format_kernel.md", {"problem", "first_field"}},
      {"format_host.md", {"problem"}},
      {"hardware.md", {}},
      {"examples.md", {"list"}},
      {"example.md", {"title", "header", "source"}},
      {"repair.md", {"feedback"}},
      {"improve.md", {"feedback"}},
      {"combine.md", {"feedback", "other", "other_feedback"}},
  };
  return files;
}

Result<void> check_placeholders(const std::string& name, std::string_view text, const std::set<std::string>& known) {
  for (size_t at = 0; (at = text.find("{{", at)) != std::string_view::npos; at += 2) {
    const size_t end = text.find("}}", at);
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    if (end == std::string_view::npos) return Error{fmt::format("{}:{}: \"{{{{\" without \"}}}}\"", name, line)};
    const std::string word(text.substr(at + 2, end - at - 2));
    if (!known.contains(word)) {
      return Error{fmt::format("{}:{}: there is no placeholder {{{{{}}}}} in this file; it may use: {}", name, line,
                               word, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")))};
    }
  }
  return {};
}

constexpr std::string_view kPartTitles[kFeedbackParts] = {
    "Verdict", "Compiler and rules", "Wrong elements", "Faults and checks", "Cost of each shape", "Roofs", "Profile"};

std::string feedback_text(const Feedback& feedback) {
  std::string text;
  for (const FeedbackItem& item : feedback)
    text += fmt::format("{}:\n{}\n", kPartTitles[static_cast<size_t>(item.part)], fenced(item.text, "judge"));
  return text.empty() ? "nothing more" : text;
}

std::string example_text(const PromptSet& prompts, const Problem& problem, Track track) {
  return prompts.render("example.md", {{"title", problem.title()},
                                       {"header", fenced(problem.header(), "cpp")},
                                       {"source", fenced(problem.starter(track), "cpp")}});
}

std::string task_text(const PromptSet& prompts, const Problem& problem, const PromptOptions& options) {
  std::string examples;
  for (const Problem* example : options.examples) examples += example_text(prompts, *example, options.track) + "\n";
  std::vector<std::string> shapes;
  for (const Shape& shape : options.shapes) shapes.push_back("`" + shape.label + "`");
  const std::string format =
      prompts.render(options.track == Track::Kernel ? "format_kernel.md" : "format_host.md",
                     {{"problem", problem.id()},
                      {"first_field", problem.integer_fields().empty() ? "1" : problem.integer_fields()[0].name}});
  return prompts.render("task.md",
                        {{"title", problem.title()},
                         {"problem", problem.id()},
                         {"format", format},
                         {"hardware", options.hardware ? prompts.render("hardware.md", {}) : ""},
                         {"examples", examples.empty() ? "" : prompts.render("examples.md", {{"list", examples}})},
                         {"readme", std::string(problem.readme())},
                         {"header_name", problem.header_name()},
                         {"header", fenced(problem.header(), "cpp")},
                         {"shapes", fmt::format("{}", fmt::join(shapes, ", "))},
                         {"absolute", fmt::format("{:g}", problem.tolerance().absolute)},
                         {"relative", fmt::format("{:g}", problem.tolerance().relative)}});
}

}  // namespace

std::string_view embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return file.text;
  check_failed("a file of agents/", __FILE__, __LINE__, name);
}

Result<PromptSet> PromptSet::load(const std::filesystem::path& folder) {
  PromptSet set;
  for (const auto& [name, known] : known_files()) {
    std::error_code ignored;
    const bool own = !folder.empty() && std::filesystem::exists(folder / name, ignored);
    set.files_[name] = own ? TRY(read_file(folder / name)) : std::string(embedded_file("prompts/" + name));
    TRY(check_placeholders(own ? (folder / name).string() : "agents/prompts/" + name, set.files_[name], known));
  }
  return set;
}

std::string PromptSet::render(std::string_view name, const Values& values) const {
  const auto file = files_.find(name);
  CHECK(file != files_.end(), name);
  const std::string& text = file->second;
  std::string rendered;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find("{{", at), text.size());
    rendered += text.substr(at, open - at);
    if (open == text.size()) break;
    const size_t close = text.find("}}", open);
    const auto value = values.find(std::string_view(text).substr(open + 2, close - open - 2));
    CHECK(value != values.end(), text.substr(open, close - open));
    rendered += value->second;
    at = close + 2;
  }
  return rendered;
}

std::string PromptSet::sha256() const {
  std::string all;
  for (const auto& [name, text] : files_) all += name + '\n' + std::to_string(text.size()) + '\n' + text;
  return sha256_hex(all);
}

bool is_aided(const Problem& problem, const PromptOptions& options) {
  return std::find(options.examples.begin(), options.examples.end(), &problem) != options.examples.end();
}

ChatRequest make_chat_request(const PromptSet& prompts, const Problem& problem, const PromptOptions& options,
                              const std::vector<Turn>& turns, const Step& step) {
  ChatRequest request;
  request.system = prompts.render("system.md", {});
  request.messages.push_back({Role::User, task_text(prompts, problem, options)});
  if (!step.parent) return request;
  const Turn& parent = turns.at(*step.parent);
  request.messages.push_back({Role::Model, fenced(parent.source, "cpp")});
  const std::string feedback = feedback_text(parent.feedback);
  std::string ask;
  switch (step.kind) {
    case StepKind::Write:
    case StepKind::Repair:
      ask = prompts.render("repair.md", {{"feedback", feedback}});
      break;
    case StepKind::Improve:
      ask = prompts.render("improve.md", {{"feedback", feedback}});
      break;
    case StepKind::Combine: {
      const Turn& partner = turns.at(step.partner.value_or(*step.parent));
      ask = prompts.render("combine.md", {{"feedback", feedback},
                                          {"other", fenced(partner.source, "cpp")},
                                          {"other_feedback", feedback_text(partner.feedback)}});
      break;
    }
  }
  request.messages.push_back({Role::User, ask});
  return request;
}

std::string fenced(std::string_view text, std::string_view info) {
  size_t longest = 2;
  for (size_t at = 0; at < text.size();) {
    const size_t run = std::min(text.find_first_not_of('`', at), text.size()) - at;
    longest = std::max(longest, run);
    at += run + 1;
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, info, text, text.ends_with('\n') ? "" : "\n", fence);
}

}  // namespace hipbench::agents
