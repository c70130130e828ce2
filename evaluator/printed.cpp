#include "evaluator/printed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hipbench {

namespace {

constexpr size_t kKeptBytes = 4096;
constexpr size_t kQuotedBytes = 100;  // in a warning, which is one line

// A character is not cut in the middle.
size_t whole_characters(std::string_view text, size_t bytes) {
  if (bytes >= text.size()) return text.size();
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return bytes;
}

}  // namespace

void Printed::add(Text& to, std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    add_piece(to, text.substr(0, end), end != std::string_view::npos);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void Printed::add_piece(Text& to, std::string_view piece, bool ends_line) {
  const bool again = ends_line && to.unfinished.empty() && !to.lines.empty() && to.lines.back().text == piece;
  if (again) {
    ++to.lines.back().times;
    return;
  }
  if (to.cut) return;
  const size_t fits = whole_characters(piece, std::min(piece.size(), kKeptBytes - to.bytes));
  to.cut = fits < piece.size() || to.bytes + fits + 1 >= kKeptBytes;
  to.unfinished += piece.substr(0, fits);
  to.bytes = std::min(kKeptBytes, to.bytes + fits + 1);
  if (!ends_line) return;
  if (!to.lines.empty() && to.lines.back().text == to.unfinished)
    ++to.lines.back().times;
  else
    to.lines.push_back({to.unfinished});
  to.unfinished.clear();
}

std::string Printed::section(std::string_view heading, const Text& text) {
  std::string lines = fmt::format("{}:\n", heading);
  for (const Line& line : text.lines)
    lines +=
        line.times == 1 ? fmt::format("  {}\n", line.text) : fmt::format("  {} ({} times)\n", line.text, line.times);
  if (!text.unfinished.empty()) lines += fmt::format("  {}\n", text.unfinished);
  if (text.cut) lines += fmt::format("(only the first {} bytes are kept)\n", kKeptBytes);
  return lines;
}

void Printed::append_to(Verdict& verdict) const {
  Text errors = errors_;
  // The runtime repeats the device's fault report, which the judge has first hand.
  const auto is_known = [&](const Line& line) {
    return !line.text.empty() && ("\n" + verdict.evidence + "\n").find("\n" + line.text + "\n") != std::string::npos;
  };
  const auto repeats_first_line = [&](const Line& line) {
    const std::string first = verdict.evidence.substr(0, verdict.evidence.find('\n'));
    return !first.empty() && line.text.ends_with(first);
  };
  std::erase_if(errors.lines, [&](const Line& line) { return is_known(line) || repeats_first_line(line); });
  // Only the empty lines around it are left.
  if (std::all_of(errors.lines.begin(), errors.lines.end(), [](const Line& line) { return line.text.empty(); }))
    errors.lines.clear();
  const auto append = [&](std::string_view heading, const Text& text) {
    if (text.empty()) return;
    if (!verdict.evidence.empty() && !verdict.evidence.ends_with('\n')) verdict.evidence += '\n';
    verdict.evidence += section(heading, text);
  };
  append("standard error of the candidate", errors);
  append("printed by the candidate", output_);
}

std::string Printed::sections() const {
  Verdict verdict;
  append_to(verdict);
  return std::move(verdict.evidence);
}

std::string Printed::warning() const {
  const std::string line = output_.first_line();
  const std::string quoted = line.substr(0, whole_characters(line, kQuotedBytes));
  return fmt::format(
      "the candidate printed on the device: {}{} (docs/candidate-format.md: printf is for trying things out)", quoted,
      quoted.size() < line.size() || output_.has_more_than_a_line() ? " …" : "");
}

}  // namespace hipbench
