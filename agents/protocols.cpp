#include "agents/protocols.hpp"

#include <fmt/format.h>

#include <array>

#include "common/json.hpp"

namespace hipbench::agents {

namespace {

struct ProtocolWords {
  std::string_view name, url, key_variable;
};
constexpr std::array<ProtocolWords, 3> kProtocols = {{
    {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY"},
    {"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
    {"gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"},
}};

Json messages_json(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role == Role::User ? "user" : "assistant"}, {"content", message.text}});
  return messages;
}

// OpenAI's newer models take only max_completion_tokens; most compatible servers know only max_tokens.
HttpRequest openai_request(const Endpoint& endpoint, const ChatRequest& request) {
  Json messages = messages_json(request);
  if (!request.system.empty()) messages.insert(messages.begin(), Json{{"role", "system"}, {"content", request.system}});
  const bool is_openai = endpoint.url.starts_with("https://api.openai.com");
  Json body = {{"model", request.model},
               {"messages", std::move(messages)},
               {is_openai ? "max_completion_tokens" : "max_tokens", request.most_tokens},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  if (request.temperature) body["temperature"] = *request.temperature;
  return {.url = endpoint.url + "/chat/completions",
          .headers = {"content-type: application/json"},
          .key_header = "authorization: Bearer ",
          .body = json_text(body)};
}

HttpRequest anthropic_request(const Endpoint& endpoint, const ChatRequest& request) {
  Json body = {{"model", request.model}, {"max_tokens", request.most_tokens}, {"stream", true}};
  if (!request.system.empty()) body["system"] = request.system;
  body["messages"] = messages_json(request);
  if (request.temperature) body["temperature"] = *request.temperature;
  return {.url = endpoint.url + "/messages",
          .headers = {"content-type: application/json", "anthropic-version: 2023-06-01"},
          .key_header = "x-api-key: ",
          .body = json_text(body)};
}

HttpRequest gemini_request(const Endpoint& endpoint, const ChatRequest& request) {
  Json contents = Json::array();
  for (const ChatMessage& message : request.messages) {
    contents.push_back(
        {{"role", message.role == Role::User ? "user" : "model"}, {"parts", Json::array({{{"text", message.text}}})}});
  }
  Json body = {{"contents", std::move(contents)}, {"generationConfig", {{"maxOutputTokens", request.most_tokens}}}};
  if (!request.system.empty()) body["systemInstruction"] = {{"parts", Json::array({{{"text", request.system}}})}};
  if (request.temperature) body["generationConfig"]["temperature"] = *request.temperature;
  return {.url = fmt::format("{}/models/{}:streamGenerateContent?alt=sse", endpoint.url, request.model),
          .headers = {"content-type: application/json"},
          .key_header = "x-goog-api-key: ",
          .body = json_text(body)};
}

// Steps into a document of unknown shape: where something is missing or of another kind, the result is null.
const Json& at(const Json& json, std::string_view key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}
const Json& at(const Json& json, size_t index) {
  static const Json kNull;
  return json.is_array() && index < json.size() ? json[index] : kNull;
}
std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : ""; }
// Counts that make no sense are 0.
uint64_t count_of(const Json& json) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (!json.is_number_integer()) return 0;
  const uint64_t count = json.is_number_unsigned() ? json.get<uint64_t>() : 0;
  return count <= kMost ? count : 0;
}

void add_error(const Json& error, ReadAnswer& answer) {
  answer.error = text_of(at(error, "message"));
  if (answer.error.empty()) answer.error = json_text(error).substr(0, 500);
  const std::string kind = text_of(at(error, "type")) + text_of(at(error, "status")) + text_of(at(error, "code"));
  const uint64_t code = count_of(at(error, "code"));
  answer.try_again = code == 429 || code >= 500;
  for (const char* word : {"overloaded", "rate_limit", "server_error", "api_error", "timeout", "UNAVAILABLE",
                           "RESOURCE_EXHAUSTED", "INTERNAL"})
    answer.try_again |= kind.find(word) != std::string::npos;
}

void set_stop(const std::string& word, StopReason reason, ReadAnswer& answer) {
  if (word.empty()) return;
  answer.stop_word = word.substr(0, 100);
  answer.stop = reason;
}

void read_openai(const Json& event, ReadAnswer& answer) {
  if (!at(event, "error").is_null()) return add_error(at(event, "error"), answer);
  const Json& usage = at(event, "usage");
  if (usage.is_object())
    answer.usage = {count_of(at(usage, "prompt_tokens")), count_of(at(usage, "completion_tokens")), true};
  if (!at(event, "choices").is_array()) answer.malformed |= !usage.is_object();
  const Json& choice = at(at(event, "choices"), 0);
  for (const char* part : {"delta", "message"}) {
    const Json& content = at(at(choice, part), "content");
    answer.malformed |= !content.is_null() && !content.is_string();
    answer.text += text_of(content);
    if (at(at(choice, part), "refusal").is_string()) set_stop("refusal", StopReason::Refusal, answer);
  }
  const std::string word = text_of(at(choice, "finish_reason"));
  if (answer.stop == StopReason::Refusal) return;
  set_stop(word,
           word == "stop"             ? StopReason::End
           : word == "length"         ? StopReason::Length
           : word == "content_filter" ? StopReason::Refusal
                                      : StopReason::Other,
           answer);
}

void read_anthropic_stop(const Json& source, ReadAnswer& answer) {
  const std::string word = text_of(at(source, "stop_reason"));
  set_stop(word,
           word == "end_turn" || word == "stop_sequence"                     ? StopReason::End
           : word == "max_tokens" || word == "model_context_window_exceeded" ? StopReason::Length
           : word == "refusal"                                               ? StopReason::Refusal
                                                                             : StopReason::Other,
           answer);
}

void read_anthropic_usage(const Json& usage, ReadAnswer& answer) {
  if (!usage.is_object()) return;
  answer.usage.reported = true;
  const uint64_t prompt = count_of(at(usage, "input_tokens")) + count_of(at(usage, "cache_creation_input_tokens")) +
                          count_of(at(usage, "cache_read_input_tokens"));
  if (prompt != 0) answer.usage.prompt_tokens = prompt;
  if (const uint64_t tokens = count_of(at(usage, "output_tokens")); tokens != 0) answer.usage.answer_tokens = tokens;
}

void read_anthropic(const Json& event, ReadAnswer& answer) {
  const std::string type = text_of(at(event, "type"));
  if (type == "error") return add_error(at(event, "error"), answer);
  if (type == "message_start") return read_anthropic_usage(at(at(event, "message"), "usage"), answer);
  if (type == "content_block_delta") {
    if (text_of(at(at(event, "delta"), "type")) != "text_delta") return;  // thinking, signatures, tools
    answer.malformed |= !at(at(event, "delta"), "text").is_string();
    answer.text += text_of(at(at(event, "delta"), "text"));
  } else if (type == "message_delta") {
    read_anthropic_stop(at(event, "delta"), answer);
    read_anthropic_usage(at(event, "usage"), answer);
  } else if (type == "message_stop") {
    answer.complete = true;
  } else if (type == "message") {
    for (const Json& block : at(event, "content"))
      if (text_of(at(block, "type")) == "text") answer.text += text_of(at(block, "text"));
    read_anthropic_stop(event, answer);
    read_anthropic_usage(at(event, "usage"), answer);
  } else if (type.empty()) {
    answer.malformed = true;
  }
}

void read_gemini(const Json& event, ReadAnswer& answer) {
  if (event.is_array()) {
    for (const Json& part : event) read_gemini(part.is_array() ? Json() : part, answer);
    return;
  }
  if (!at(event, "error").is_null()) return add_error(at(event, "error"), answer);
  const Json& usage = at(event, "usageMetadata");
  if (usage.is_object()) {
    answer.usage = {count_of(at(usage, "promptTokenCount")),
                    count_of(at(usage, "candidatesTokenCount")) + count_of(at(usage, "thoughtsTokenCount")), true};
  }
  set_stop(text_of(at(at(event, "promptFeedback"), "blockReason")), StopReason::Refusal, answer);
  const Json& candidate = at(at(event, "candidates"), 0);
  answer.malformed |=
      !event.is_object() || (!usage.is_object() && candidate.is_null() && answer.stop == StopReason::None);
  const Json& parts = at(at(candidate, "content"), "parts");
  for (size_t i = 0; parts.is_array() && i < parts.size(); ++i) {
    if (at(parts[i], "thought") == true) continue;
    answer.text += text_of(at(parts[i], "text"));
  }
  const std::string word = text_of(at(candidate, "finishReason"));
  const bool filtered =
      word == "SAFETY" || word == "RECITATION" || word == "PROHIBITED_CONTENT" || word == "BLOCKLIST" || word == "SPII";
  set_stop(word,
           word == "STOP"         ? StopReason::End
           : word == "MAX_TOKENS" ? StopReason::Length
           : filtered             ? StopReason::Refusal
                                  : StopReason::Other,
           answer);
}

}  // namespace

std::string_view to_string(Protocol protocol) { return kProtocols[static_cast<size_t>(protocol)].name; }
std::string_view default_url(Protocol protocol) { return kProtocols[static_cast<size_t>(protocol)].url; }
std::string_view key_variable(Protocol protocol) { return kProtocols[static_cast<size_t>(protocol)].key_variable; }

std::optional<Protocol> protocol_from(std::string_view name) {
  for (size_t i = 0; i < kProtocols.size(); ++i)
    if (kProtocols[i].name == name) return static_cast<Protocol>(i);
  return std::nullopt;
}

Result<void> check_endpoint(const Endpoint& endpoint, bool has_key) {
  const std::string& url = endpoint.url;
  if (url.starts_with("https://")) return {};
  if (!url.starts_with("http://"))
    return Error{fmt::format("\"{}\" is no address of a provider; it begins with https:// or http://", url)};
  std::string_view host = std::string_view(url).substr(7);
  host = host.substr(0, host.find('/'));
  if (host.find('@') != std::string_view::npos)
    return Error{"the provider's address may not hold a user or password; use the key file"};
  host = host.starts_with("[") ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  if (!has_key || host == "localhost" || host == "[::1]" || host.starts_with("127.")) return {};
  return Error{fmt::format("the key would travel unencrypted to {}; use https://, or give no key", host)};
}

HttpRequest make_http_request(const Endpoint& endpoint, const ChatRequest& request) {
  switch (endpoint.protocol) {
    case Protocol::OpenAi:
      return openai_request(endpoint, request);
    case Protocol::Anthropic:
      return anthropic_request(endpoint, request);
    case Protocol::Gemini:
      return gemini_request(endpoint, request);
  }
  return {};
}

struct AnswerReader::State {
  Protocol protocol;
  std::string line;      // the beginning of a line whose end has not come
  std::string data;      // of the event that is being read
  std::string document;  // all of a reply that is no event stream
  bool any = false, is_document = false, after_return = false;
  ReadAnswer answer;

  void read_json(const std::string& text) {
    const Result<Json> parsed = parse_json(valid_utf8(text));
    if (!parsed || (!parsed->is_object() && !parsed->is_array())) {
      answer.malformed = true;
      return;
    }
    const Json& json = *parsed;
    switch (protocol) {
      case Protocol::OpenAi:
        read_openai(json, answer);
        break;
      case Protocol::Anthropic:
        read_anthropic(json, answer);
        break;
      case Protocol::Gemini:
        read_gemini(json, answer);
        break;
    }
  }

  void end_event() {
    if (data.empty()) return;
    if (data == "[DONE]")
      answer.complete = true;
    else
      read_json(data);
    data.clear();
  }

  void end_line() {
    if (line.empty()) return end_event();
    std::string_view rest = line;
    if (rest.starts_with("data:")) {
      rest.remove_prefix(5);
      if (rest.starts_with(" ")) rest.remove_prefix(1);
      if (!data.empty()) data += '\n';
      data += rest;
    } else if (!rest.starts_with(":") && !rest.starts_with("event:") && !rest.starts_with("id:") &&
               !rest.starts_with("retry:")) {
      answer.malformed = true;
    }
    line.clear();
  }

  void feed_byte(char c) {
    if (c == '\n' && after_return) {
      after_return = false;
      return;
    }
    after_return = c == '\r';
    if (c == '\n' || c == '\r')
      end_line();
    else
      line += c;
  }
};

AnswerReader::AnswerReader(Protocol protocol) : state_(std::make_unique<State>()) { state_->protocol = protocol; }
AnswerReader::~AnswerReader() = default;

bool AnswerReader::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (!state_->any && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    if (!state_->any) state_->is_document = c == '{' || c == '[' || c == '<';
    state_->any = true;
    if (state_->is_document)
      state_->document += c;
    else
      state_->feed_byte(c);
    if (state_->answer.complete) return false;
  }
  return state_->answer.error.empty();
}

ReadAnswer AnswerReader::finish() {
  if (state_->is_document) {
    state_->read_json(state_->document);
  } else {
    if (!state_->line.empty()) state_->end_line();
    state_->end_event();
  }
  ReadAnswer answer = std::move(state_->answer);
  if (answer.stop != StopReason::None) answer.complete = true;
  return answer;
}

std::string error_text(std::string_view body) {
  const std::string text = valid_utf8(body.substr(0, 65536));
  Json json = parse_json(text).value_or(Json());
  if (json.is_array() && !json.empty()) json = Json(json[0]);
  const Json& error = at(json, "error");
  for (const Json* place : {&at(error, "message"), &error, &at(json, "message"), &at(json, "detail")})
    if (place->is_string()) return text_of(*place).substr(0, 500);
  return text.substr(0, 500);
}

}  // namespace hipbench::agents
