#pragma once
// The three ways in which providers are spoken to: OpenAI-compatible chat completions, Anthropic Messages, Google
// Gemini. From a ChatRequest to an HTTP request, and from the bytes of the reply to an answer. Nothing here does input
// or output.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/chat.hpp"
#include "agents/http.hpp"

namespace hipbench::agents {

enum class Protocol { OpenAi, Anthropic, Gemini };
std::string_view to_string(Protocol protocol);  // "openai", "anthropic", "gemini"
std::optional<Protocol> protocol_from(std::string_view name);
std::string_view default_url(Protocol protocol);
std::string_view key_variable(Protocol protocol);  // "OPENAI_API_KEY"

struct Endpoint {
  Protocol protocol = Protocol::OpenAi;
  std::string url;  // what the protocol's path is added to: "https://api.openai.com/v1", "http://localhost:8080/v1"
};
// An Error where a key would travel unencrypted through a network.
Result<void> check_endpoint(const Endpoint& endpoint, bool has_key);

HttpRequest make_http_request(const Endpoint& endpoint, const ChatRequest& request);

enum class StopReason { None, End, Length, Refusal, Other };

// What the body of a reply with status 200 said.
struct ReadAnswer {
  std::string text;
  Usage usage;  // reported or nothing
  StopReason stop = StopReason::None;
  std::string stop_word;   // the provider's word for it
  std::string error;       // an error that the provider sent in the stream
  bool try_again = false;  // and the error is one that passes
  bool malformed = false;  // some part was not what the protocol says
  bool complete = false;   // the protocol's end mark came, or the reason for stopping
};

// Reads server-sent events, or the one JSON document of a server that does not stream. However the bytes are cut, the
// answer is the same. Hostile bytes end in `malformed`, never worse.
class AnswerReader {
 public:
  explicit AnswerReader(Protocol protocol);
  ~AnswerReader();
  // False once nothing more can matter.
  bool feed(std::string_view bytes);
  ReadAnswer finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The provider's own words in the body of an error reply, else its beginning.
std::string error_text(std::string_view body);

}  // namespace hipbench::agents
