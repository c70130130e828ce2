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
  if (to.cut || text.empty()) return;
  const size_t fits = whole_characters(text, std::min(text.size(), kKeptBytes - to.kept.size()));
  to.cut = fits < text.size();
  to.kept += text.substr(0, fits);
}

std::string Printed::section(std::string_view heading, const Text& text) {
  std::string lines = fmt::format("{}:\n", heading);
  for (std::string_view left = text.kept; !left.empty();) {
    const size_t end = std::min(left.find('\n'), left.size());
    lines += fmt::format("  {}\n", left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (text.cut) lines += fmt::format("(only the first {} bytes are kept)\n", kKeptBytes);
  return lines;
}

void Printed::append_to(Verdict& verdict) const {
  Text errors = errors_;
  // The runtime repeats the device's fault report, which the judge has first hand.
  if (const size_t again = verdict.evidence.empty() ? std::string::npos : errors.kept.find(verdict.evidence); again != std::string::npos) {
    const size_t line = errors.kept.rfind('\n', again) == std::string::npos ? 0 : errors.kept.rfind('\n', again) + 1;
    errors.kept.erase(line, std::min(errors.kept.find_first_not_of('\n', again + verdict.evidence.size()), errors.kept.size()) - line);
  }
  const auto append = [&](std::string_view heading, const Text& text) {
    if (text.kept.empty()) return;
    if (!verdict.evidence.empty() && !verdict.evidence.ends_with('\n')) verdict.evidence += '\n';
    verdict.evidence += section(heading, text);
  };
  append("standard error of the candidate", errors);
  append("printed by the candidate", output_);
}

std::string Printed::warning() const {
  const std::string_view text = output_.kept;
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  const std::string_view quoted = line.substr(0, whole_characters(line, kQuotedBytes));
  return fmt::format("the candidate printed on the device: {}{} (docs/candidate-format.md: printf is for trying things out)", quoted,
                     quoted.size() + 1 < text.size() || output_.cut ? " …" : "");
}

}  // namespace hipbench
