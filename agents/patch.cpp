// Diffs as models write them: with line numbers that are wrong and context that is nearly right. The place of a hunk is
// where its old lines stand, exactly or but for the blanks at the ends of lines; the numbers only choose between
// several such places.
#include <algorithm>
#include <charconv>
#include <vector>

#include "agents/extract.hpp"

namespace hipbench::agents {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_end_blanks(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r");
  return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

struct Hunk {
  std::vector<std::string_view> before, after;
  size_t line = 0;  // where it says that it begins, from 0
};

// The place of `part` in `lines` that is nearest to `wanted`.
std::optional<size_t> find_lines(const std::vector<std::string_view>& lines, const std::vector<std::string_view>& part,
                                 size_t wanted) {
  if (part.empty() || part.size() > lines.size()) return std::nullopt;
  std::optional<size_t> best;
  const auto distance = [&](size_t at) { return at > wanted ? at - wanted : wanted - at; };
  for (size_t at = 0; at + part.size() <= lines.size(); ++at) {
    const bool here = std::equal(
        part.begin(), part.end(), lines.begin() + static_cast<std::ptrdiff_t>(at),
        [](std::string_view a, std::string_view b) { return without_end_blanks(a) == without_end_blanks(b); });
    if (here && (!best || distance(at) < distance(*best))) best = at;
  }
  return best;
}

std::optional<std::string> apply_hunks(const std::vector<Hunk>& hunks, std::string_view previous, std::string& why) {
  constexpr size_t kMostHunks = 200;  // who changes more writes it anew
  if (hunks.size() > kMostHunks) {
    why = "it has more than 200 parts";
    return std::nullopt;
  }
  std::vector<std::string_view> lines = lines_of(previous);
  std::ptrdiff_t moved = 0;  // by the hunks before
  for (size_t i = 0; i < hunks.size(); ++i) {
    const Hunk& hunk = hunks[i];
    const auto wanted =
        static_cast<size_t>(std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(hunk.line) + moved));
    const std::optional<size_t> at = find_lines(lines, hunk.before, wanted);
    if (!at) {
      why = "part " + std::to_string(i + 1) + " of " + std::to_string(hunks.size()) +
            (hunk.before.empty() ? " has no old lines that say where it belongs"
                                 : " changes lines that are not in the last version");
      return std::nullopt;
    }
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(*at);
    lines.insert(lines.erase(begin, begin + static_cast<std::ptrdiff_t>(hunk.before.size())), hunk.after.begin(),
                 hunk.after.end());
    moved += static_cast<std::ptrdiff_t>(hunk.after.size()) - static_cast<std::ptrdiff_t>(hunk.before.size());
  }
  std::string text;
  for (const std::string_view line : lines) (text += line) += '\n';
  return text;
}

// The first number after '-' of "@@ -12,3 +12,4 @@".
size_t hunk_line(std::string_view header) {
  const size_t minus = header.find('-');
  size_t line = 0;
  if (minus != std::string_view::npos) std::from_chars(header.data() + minus + 1, header.data() + header.size(), line);
  return line == 0 ? 0 : line - 1;
}

}  // namespace

std::optional<std::string> apply_diff(std::string_view diff, std::string_view previous, std::string& why) {
  std::vector<Hunk> hunks;
  for (const std::string_view line : lines_of(diff)) {
    if (line.starts_with("@@")) {
      hunks.push_back({{}, {}, hunk_line(line)});
    } else if (line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ") ||
               line.starts_with("index ") || line.starts_with("\\ ")) {
      continue;
    } else if (hunks.empty()) {
      if (!line.starts_with("+") && !line.starts_with("-")) continue;  // prose before a diff without "@@"
      hunks.push_back({});
    }
    if (line.starts_with("@@")) continue;
    Hunk& hunk = hunks.back();
    const std::string_view rest = line.empty() ? line : line.substr(1);
    if (line.starts_with("-")) {
      hunk.before.push_back(rest);
    } else if (line.starts_with("+")) {
      hunk.after.push_back(rest);
    } else {  // context; models forget the blank before it on empty lines
      hunk.before.push_back(line.starts_with(" ") ? rest : line);
      hunk.after.push_back(hunk.before.back());
    }
  }
  // An empty line at the end of a hunk is mostly the end of the block.
  for (Hunk& hunk : hunks) {
    while (!hunk.before.empty() && !hunk.after.empty() && hunk.before.back().empty() && hunk.after.back().empty()) {
      hunk.before.pop_back();
      hunk.after.pop_back();
    }
  }
  if (hunks.empty()) {
    why = "it has no changes";
    return std::nullopt;
  }
  return apply_hunks(hunks, previous, why);
}

std::optional<std::string> apply_search_replace(std::string_view blocks, std::string_view previous, std::string& why) {
  std::vector<Hunk> hunks;
  enum class Part { Outside, Search, Replace } part = Part::Outside;
  for (const std::string_view line : lines_of(blocks)) {
    if (line.starts_with("<<<<<<<")) {
      hunks.emplace_back();
      part = Part::Search;
    } else if (line.starts_with("=======") && part == Part::Search) {
      part = Part::Replace;
    } else if (line.starts_with(">>>>>>>")) {
      part = Part::Outside;
    } else if (part != Part::Outside) {
      (part == Part::Search ? hunks.back().before : hunks.back().after).push_back(line);
    }
  }
  if (hunks.empty() || part != Part::Outside) {
    why = hunks.empty() ? "it has no changes" : "its last block does not end";
    return std::nullopt;
  }
  return apply_hunks(hunks, previous, why);
}

}  // namespace hipbench::agents
