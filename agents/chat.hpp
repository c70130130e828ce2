#pragma once
// What is said to a model and what comes of it: plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench::agents {

// English and code come to about four bytes a token.
inline constexpr uint64_t kBytesAToken = 4;

enum class Role { User, Model };

struct ChatMessage {
  Role role = Role::User;
  std::string text;
};

struct ChatRequest {
  std::string model;  // as the provider names it
  std::string system;
  std::vector<ChatMessage> messages;
  uint32_t most_tokens = 16384;       // of one answer, thinking included
  std::optional<double> temperature;  // none: the provider's own
};

struct Usage {
  uint64_t prompt_tokens = 0, answer_tokens = 0;
  bool reported = false;  // by the provider, else estimated from the bytes

  uint64_t tokens() const { return prompt_tokens + answer_tokens; }
};

// How asking ended. Only Answer and Truncated have a text that may hold a candidate.
enum class AnswerKind {
  Answer,
  Truncated,  // still not at its end after all continuations
  Refused,    // by the model or by the provider's filter
  Empty,
  Malformed,        // not what the protocol says
  TooLarge,         // it would not end
  Rejected,         // the provider does not take the request: key, model or parameters
  Unavailable,      // after all attempts
  BudgetExhausted,  // not asked
  NotRecorded,      // a rerun asked something that the recording does not hold
  Cancelled,
};
inline constexpr size_t kAnswerKinds = 11;
std::string_view to_string(AnswerKind kind);  // "answer", "budget_exhausted"
std::optional<AnswerKind> answer_kind_from(std::string_view name);
// It is the model's: asking again later would be another sample. What is not is tried again by a resumed run.
bool is_final(AnswerKind kind);

struct ChatAnswer {
  AnswerKind kind = AnswerKind::Cancelled;
  std::string text;
  std::string detail;  // why it is no answer, in a sentence; holds no key
  Usage usage;         // of all requests that it took
  int64_t nano_usd = 0;
  int requests = 0;  // sent, those that failed included
  double seconds = 0;
};

// Bytes that are not UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view bytes);

}  // namespace hipbench::agents
