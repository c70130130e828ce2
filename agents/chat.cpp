#include "agents/chat.hpp"

#include <array>

namespace hipbench::agents {

namespace {

constexpr std::array<std::string_view, kAnswerKinds> kAnswerNames = {
    "answer",   "truncated",   "refused",          "empty",        "malformed", "too_large",
    "rejected", "unavailable", "budget_exhausted", "not_recorded", "cancelled",
};

}  // namespace

std::string_view to_string(AnswerKind kind) { return kAnswerNames[static_cast<size_t>(kind)]; }

std::optional<AnswerKind> answer_kind_from(std::string_view name) {
  for (size_t i = 0; i < kAnswerNames.size(); ++i)
    if (kAnswerNames[i] == name) return static_cast<AnswerKind>(i);
  return std::nullopt;
}

bool is_final(AnswerKind kind) { return kind <= AnswerKind::TooLarge; }

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char first = byte(at);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xC2 && first < 0xE0 ? 2
                          : (first & 0xF0) == 0xE0        ? 3
                          : first >= 0xF0 && first < 0xF5 ? 4
                                                          : 0;
    bool valid = length != 0 && at + length <= bytes.size();
    for (size_t i = 1; valid && i < length; ++i) valid = (byte(at + i) & 0xC0) == 0x80;
    if (valid && length >= 3) {  // no overlong forms, no surrogates, nothing beyond U+10FFFF
      const unsigned char second = byte(at + 1);
      valid = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second >= 0xA0) &&
              !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second >= 0x90);
    }
    text += valid ? bytes.substr(at, length) : "\xEF\xBF\xBD";
    at += valid ? length : 1;
  }
  return text;
}

}  // namespace hipbench::agents
