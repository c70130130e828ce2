#include "evaluator/plan_block.hpp"

#include <algorithm>
#include <optional>

namespace hipbench {
namespace {

constexpr std::string_view kOpening = "hipbench-plan";
constexpr size_t kMaxPlanBytes = 64 * 1024;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// As much of C++'s lexical grammar as is needed to tell comments from text that only looks like one.
class CommentScanner {
 public:
  explicit CommentScanner(std::string_view source) : source_(source) {}

  // Calls visit(begin, end) for each block comment: the offsets of its text, without /* and */. An unterminated comment
  // has end = npos.
  template <typename Visit>
  void for_each_comment(Visit visit) {
    while (at_ < source_.size()) {
      if (starts_with("//")) {
        skip_line();
      } else if (starts_with("/*")) {
        const size_t begin = at_ + 2;
        const size_t end = source_.find("*/", begin);
        visit(begin, end);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
      } else if (source_[at_] == '"' || source_[at_] == '\'') {
        skip_quoted(source_[at_]);
      } else if (is_word(source_[at_])) {
        skip_word();
      } else {
        ++at_;
      }
    }
  }

 private:
  bool starts_with(std::string_view token) const { return source_.substr(at_, token.size()) == token; }

  void skip_line() {
    while (at_ < source_.size() && source_[at_] != '\n')
      at_ += source_[at_] == '\\' ? 2 : 1;  // a backslash continues it
  }

  // To the closing quote, or the end of the line: text after #error may hold a lone apostrophe.
  void skip_quoted(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != '\n'; ++at_) {
      if (source_[at_] == '\\') {
        ++at_;
      } else if (source_[at_] == quote) {
        ++at_;
        return;
      }
    }
  }

  // A name, a number with its digit separators (1'000), or the prefix of a raw string.
  void skip_word() {
    const size_t begin = at_;
    const bool number = source_[at_] >= '0' && source_[at_] <= '9';
    while (at_ < source_.size() &&
           (is_word(source_[at_]) ||
            (number && source_[at_] == '\'' && at_ + 1 < source_.size() && is_word(source_[at_ + 1])))) {
      ++at_;
    }
    const std::string_view word = source_.substr(begin, at_ - begin);
    const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
    if (raw && at_ < source_.size() && source_[at_] == '"') skip_raw_string();
  }

  void skip_raw_string() {
    const size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) return skip_quoted('"');
    const std::string closing = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
    if (closing.size() > 18) return skip_quoted('"');  // a delimiter has at most 16 characters
    const size_t end = source_.find(closing, open);
    at_ = end == std::string_view::npos ? source_.size() : end + closing.size();
  }

  std::string_view source_;
  size_t at_ = 0;
};

[[noreturn]] void fail(std::string_view source, size_t offset, std::string message) {
  const SourcePosition at = position_of(source, offset);
  throw PlanError{at.line, at.column, std::move(message)};
}

// Offset of the plan's TOML if the comment opens with the marker.
std::optional<size_t> plan_text_begin(std::string_view source, size_t begin, size_t end) {
  size_t at = begin;
  while (at < source.size() && is_blank(source[at])) ++at;
  if (source.substr(at, kOpening.size()) != kOpening) return std::nullopt;
  at += kOpening.size();
  if (at < source.size() && (is_word(source[at]) || source[at] == '-')) return std::nullopt;  // some other word
  while (at < source.size() && is_blank(source[at])) ++at;
  const size_t version = at;
  while (at < std::min(source.size(), end) && is_word(source[at])) ++at;
  if (source.substr(version, at - version) != "1") {
    fail(source, version, "the plan's version must be 1: the comment opens with \"/* hipbench-plan 1\"");
  }
  return at;
}

}  // namespace

SourcePosition position_of(std::string_view source, size_t offset) {
  const std::string_view before = source.substr(0, offset);
  const size_t newline = before.rfind('\n');
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(newline == std::string_view::npos ? before.size() : before.size() - newline - 1) + 1};
}

PlanBlock find_plan_block(std::string_view source) {
  std::optional<PlanBlock> found;
  CommentScanner(source).for_each_comment([&](size_t begin, size_t end) {
    const std::optional<size_t> text = plan_text_begin(source, begin, end);
    if (!text) return;
    if (found) fail(source, begin - 2, "this is a second launch plan; a candidate has exactly one");
    if (end == std::string_view::npos) fail(source, begin - 2, "the launch plan's comment has no end (\"*/\")");
    if (end - *text > kMaxPlanBytes) fail(source, begin - 2, "the launch plan is longer than 64 KiB");
    found = PlanBlock{source.substr(*text, end - *text), position_of(source, *text)};
  });
  if (!found) {
    throw PlanError{1, 1,
                    "there is no launch plan: a kernel-track candidate has one comment that opens with "
                    "\"/* hipbench-plan 1\" (`hipbench init` writes an example)"};
  }
  return *found;
}

}  // namespace hipbench
