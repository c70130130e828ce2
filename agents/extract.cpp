#include "agents/extract.hpp"

#include <algorithm>
#include <vector>

#include "agents/chat.hpp"
#include "common/json.hpp"

namespace hipbench::agents {

namespace {

// More than any candidate; what is beyond is not looked at.
constexpr size_t kLongestAnswer = size_t{4} << 20;
constexpr int kDeepestWrapping = 3;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

struct Block {
  std::string info;  // what stands after the fence: "cpp"
  std::string text;
  bool closed = false;
};

size_t fence_length(std::string_view line, char& mark) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
  mark = line[0];
  const size_t length = std::min(line.find_first_not_of(mark), line.size());
  return length >= 3 ? length : 0;
}

// Blocks as CommonMark has them, also indented, as in lists. One that does not end goes to the end of the text.
std::vector<Block> fenced_blocks(std::string_view text) {
  std::vector<Block> blocks;
  size_t open = 0, indent = 0;  // length of the fence that opened the block; 0 = outside
  char open_mark = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t blanks = std::min(line.find_first_not_of(" \t"), line.size());
    char mark = 0;
    const size_t length = fence_length(line.substr(blanks), mark);
    const std::string_view rest = trimmed(line.substr(std::min(blanks + length, line.size())));
    if (open == 0) {
      if (length == 0 || (mark == '`' && has(rest, "`"))) continue;
      blocks.push_back({std::string(rest), {}, false});
      open = length;
      open_mark = mark;
      indent = blanks;
    } else if (length >= open && mark == open_mark && rest.empty()) {
      blocks.back().closed = true;
      open = 0;
    } else {
      (blocks.back().text += line.substr(std::min(blanks, indent))) += '\n';
    }
  }
  return blocks;
}

// How much a text looks like a whole candidate of either track. 0: not at all.
int likeness(std::string_view text) {
  int points = 0;
  if (has(text, "/* hipbench-plan")) points += 8;
  if (has(text, "__global__")) points += 6;
  if (has(text, "extern \"C\" int hb_")) points += 6;
  if (has(text, "#include")) points += 2;
  if (has(text, "hipbench/")) points += 1;
  if (has(text, "extern \"C\"")) points += 1;
  return has(text, "__global__") || has(text, "/* hipbench-plan") || has(text, "hb_") ? points : 0;
}

bool is_search_replace(std::string_view text) { return has(text, "<<<<<<<") && has(text, ">>>>>>>"); }

bool is_diff(const Block& block) {
  if (block.info.starts_with("diff") || block.info.starts_with("patch")) return true;
  return trimmed(block.text).starts_with("--- ") || trimmed(block.text).starts_with("@@ ") ||
         trimmed(block.text).starts_with("diff --git");
}

bool is_plan(const Block& block) {
  return has(block.text, "[[step]]") && has(block.text, "kernel") && !has(block.text, "__global__");
}

// A launch plan in a block of its own, before or without its comment.
std::string as_plan_comment(const std::string& text) {
  return has(text, "/* hipbench-plan") ? text : "/* hipbench-plan 1\n" + text + "*/\n";
}

std::string unescaped(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}};
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const auto found = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                    [&](const auto& escape) { return text.substr(at).starts_with(escape.first); });
    const bool is_escape = found != std::end(kEscapes);
    plain += is_escape ? found->second : text[at];
    at += is_escape ? found->first.size() : 1;
  }
  return plain;
}

std::string tidied(std::string_view text) {
  std::string source;
  source.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') source += text[i];
  // Pages that models learned from show code with its brackets escaped.
  if (!has(source, "<") && has(source, "&lt;")) source = unescaped(source);
  const std::string_view kept = trimmed(source);
  return kept.empty() ? "" : std::string(kept) + "\n";
}

// Thoughts that some servers leave in the text hold drafts.
std::string without_thoughts(std::string_view answer) {
  std::string text(answer);
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}) {
    const size_t end = text.rfind(close);
    if (end == std::string::npos) continue;
    const size_t opened = text.find(open);
    const size_t begin = opened < end ? opened : 0;  // some servers drop the opening mark
    text.erase(begin, end + close.size() - begin);
  }
  return text;
}

Extraction extract(std::string_view answer, std::string_view previous, int depth);

// {"code": "…"}, also one level down.
std::optional<Extraction> from_json(std::string_view text, std::string_view previous, int depth) {
  if (depth >= kDeepestWrapping || text.empty() || text[0] != '{') return std::nullopt;
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  std::string best;
  const auto look = [&](const Json& value) {
    if (!value.is_string()) return;
    const std::string& candidate = value.get_ref<const std::string&>();
    const Extraction inner = extract(candidate, previous, depth + 1);
    if (likeness(inner.source) > likeness(best)) best = inner.source;
  };
  for (const auto& value : *json) {
    look(value);
    if (value.is_object() || value.is_array())
      for (const auto& inner : value) look(inner);
  }
  if (best.empty()) return std::nullopt;
  return Extraction{best, "JSON", ""};
}

// From the first line that can begin a candidate to the last that can end one.
std::string unfenced(std::string_view text) {
  constexpr std::string_view kBegins[] = {"/* hipbench-plan", "#include", "#define", "#pragma", "extern \"C\"",
                                          "__global__",       "template", "//",      "/*"};
  size_t begin = std::string_view::npos, end = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, line_end - at);
    const bool begins = std::any_of(std::begin(kBegins), std::end(kBegins),
                                    [&](std::string_view word) { return line.starts_with(word); });
    if (begin == std::string_view::npos && begins) begin = at;
    const std::string_view stripped = trimmed(line);
    if (stripped == "}" || stripped == "};" || stripped == "*/" || stripped.starts_with("#endif") ||
        (stripped.ends_with("}") && line.starts_with("extern")) || stripped.starts_with("} //") ||
        stripped.starts_with("}  //"))
      end = line_end;
    at = line_end + 1;
  }
  return begin == std::string_view::npos || end <= begin ? "" : std::string(text.substr(begin, end - begin));
}

Extraction from_change(std::string_view change, bool search_replace, std::string_view previous) {
  const char* how = search_replace ? "search and replace" : "diff";
  if (previous.empty()) return {"", how, "there is no last version that it could change"};
  std::string why;
  const std::optional<std::string> source =
      search_replace ? apply_search_replace(change, previous, why) : apply_diff(change, previous, why);
  if (source) return {tidied(*source), how, ""};
  return {"", how, std::string(search_replace ? "search and replace does" : "the diff does") + " not apply: " + why};
}

Extraction from_blocks(const std::vector<Block>& blocks, std::string_view previous, int depth) {
  for (const Block& block : blocks)
    if (std::optional<Extraction> inner = from_json(trimmed(block.text), previous, depth)) return *inner;
  // The last of the best: models show the old version first, and correct themselves below.
  const Block* best = nullptr;
  for (const Block& block : blocks)
    if (!is_diff(block) && !is_search_replace(block.text) && likeness(block.text) > 0 &&
        (best == nullptr || likeness(block.text) >= likeness(best->text)))
      best = &block;
  std::string changes;
  bool search_replace = false;
  for (const Block& block : blocks) {
    if (!is_diff(block) && !is_search_replace(block.text)) continue;
    changes += block.text;
    search_replace |= is_search_replace(block.text);
  }
  // A whole program beside a diff wins: it cannot fail to apply.
  const bool whole = best != nullptr && has(best->text, "__global__") && has(best->text, "#include");
  if (!changes.empty() && !whole) {
    const Extraction changed = from_change(changes, search_replace, previous);
    if (!changed.source.empty() || best == nullptr) return changed;
  }
  if (best != nullptr) {
    std::string source = best->text;
    const size_t number = static_cast<size_t>(best - blocks.data()) + 1;
    std::string how = blocks.size() == 1 ? "fenced block"
                                         : "block " + std::to_string(number) + " of " + std::to_string(blocks.size());
    // The launch plan in one block, the kernels in another.
    if (has(source, "__global__") && !has(source, "/* hipbench-plan") && !has(source, "extern \"C\" int hb_")) {
      for (const Block& block : blocks) {
        if (&block == best || !is_plan(block)) continue;
        source = as_plan_comment(block.text) + "\n" + source;
        how = "joined blocks";
        break;
      }
    }
    return {tidied(source), how, best->closed ? "" : "the code block does not end: the answer may be cut off"};
  }
  return {};
}

Extraction extract(std::string_view answer, std::string_view previous, int depth) {
  if (std::optional<Extraction> inner = from_json(trimmed(answer), previous, depth)) return *inner;
  if (const std::vector<Block> blocks = fenced_blocks(answer); !blocks.empty()) {
    Extraction found = from_blocks(blocks, previous, depth);
    if (!found.source.empty() || !found.note.empty()) return found;
  }
  if (is_search_replace(answer)) return from_change(answer, true, previous);
  if (trimmed(answer).starts_with("--- ") || trimmed(answer).starts_with("diff --git") || has(answer, "\n@@ -"))
    return from_change(answer.substr(std::min({answer.find("--- "), answer.find("@@ -"), answer.size()})), false,
                       previous);
  const std::string plain = tidied(unfenced(answer));
  if (likeness(plain) > 0) return {plain, "unfenced", ""};
  return {"", "", "there is no candidate in the answer"};
}

}  // namespace

Extraction extract_candidate(std::string_view answer, std::string_view previous) {
  const std::string text = without_thoughts(valid_utf8(answer.substr(0, kLongestAnswer)));
  Extraction found = extract(text, previous, 0);
  // Thoughts that never end may be all there is.
  if (found.source.empty() && text.size() < answer.size()) {
    Extraction inside = extract(valid_utf8(answer.substr(0, kLongestAnswer)), previous, 0);
    if (!inside.source.empty()) return inside;
  }
  return found;
}

}  // namespace hipbench::agents
