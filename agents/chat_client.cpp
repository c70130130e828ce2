#include "agents/chat_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "common/files.hpp"

namespace hipbench::agents {

namespace {

constexpr std::string_view kContinue =
    "Your answer was cut off. Continue it exactly where it stopped, with the very next character. Repeat nothing and "
    "open no new code block.";

// No tokeniser makes more tokens than bytes; roles and separators take a few a message.
constexpr uint64_t kTokensAMessage = 16;
constexpr size_t kReplyBytesAToken = 1024;  // an event a token, with its frame

uint64_t request_bytes(const ChatRequest& request) {
  uint64_t bytes = request.system.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return bytes;
}

uint64_t most_prompt_tokens(const ChatRequest& request) {
  return request_bytes(request) + kTokensAMessage * (request.messages.size() + 2);
}

// What a provider did not report is estimated; what it reported beyond the possible is not believed.
Usage plausible(Usage usage, const ChatRequest& request, size_t answer_bytes) {
  if (!usage.reported) {
    usage.prompt_tokens = request_bytes(request) / kBytesAToken + kTokensAMessage;
    usage.answer_tokens = answer_bytes / kBytesAToken;
  }
  usage.prompt_tokens = std::min(usage.prompt_tokens, most_prompt_tokens(request));
  usage.answer_tokens = std::min<uint64_t>(usage.answer_tokens, request.most_tokens);
  return usage;
}

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

AnswerKind kind_of(const ReadAnswer& answer) {
  if (answer.stop == StopReason::Refusal) return AnswerKind::Refused;
  if (answer.malformed && is_blank(answer.text)) return AnswerKind::Malformed;
  if (answer.stop == StopReason::Length) return AnswerKind::Truncated;
  return is_blank(answer.text) ? AnswerKind::Empty : AnswerKind::Answer;
}

bool passes_by_itself(long status) { return status == 408 || status == 425 || status == 429 || status >= 500; }

}  // namespace

// How one request, or one after its retries, ended.
struct ChatClient::Attempt {
  AnswerKind kind = AnswerKind::Cancelled;
  bool try_again = false;
  std::optional<std::chrono::seconds> retry_after;
  std::string detail;
  Exchange exchange;
  ReadAnswer read;
  int requests = 0;
};

std::string ChatClient::detail_of(const Attempt& attempt) {
  switch (attempt.kind) {
    case AnswerKind::Malformed:
      return "the reply is not what the protocol says: " + error_text(attempt.exchange.reply);
    case AnswerKind::Refused:
      return "refused: " + attempt.read.stop_word;
    case AnswerKind::Empty:
      return "the answer has no text";
    case AnswerKind::TooLarge:
      return "the answer did not end";
    default:
      return "";
  }
}

ChatClient::ChatClient(const ChatOptions& options, HttpClient* http, Budget& budget)
    : options_(options),
      http_(http),
      budget_(budget),
      rate_limiter_(options.rate),
      slots_(static_cast<std::ptrdiff_t>(std::max(1u, options.requests_at_once))) {}

Amount ChatClient::most(const ChatRequest& request) const {
  const Usage usage{most_prompt_tokens(request), request.most_tokens, false};
  return {options_.price ? options_.price->of(usage) : 0, usage.tokens()};
}

ChatClient::Attempt ChatClient::send_once(const ChatRequest& request, const HttpRequest& http_request,
                                          std::stop_token stop) {
  HttpLimits limits = options_.limits;
  limits.bytes = std::max(limits.bytes, size_t{request.most_tokens} * kReplyBytesAToken);
  limits.whole = std::clamp(budget_.wall_left(), std::chrono::milliseconds(1), limits.whole);
  // While the reply comes, this reader only finds its end; what counts is read from the bytes that are kept.
  AnswerReader end_finder(options_.endpoint.protocol);
  HttpReply reply =
      http_->post(http_request, limits, [&](std::string_view bytes) { return end_finder.feed(bytes); }, stop);
  Attempt attempt;
  attempt.requests = 1;
  attempt.retry_after = reply.retry_after;
  attempt.exchange.seconds = reply.seconds;
  bool came = reply.end == HttpReply::End::Complete;
  if (reply.status == 200 || reply.status == 0) {
    AnswerReader reader(options_.endpoint.protocol);
    reader.feed(reply.body);
    attempt.read = reader.finish();
    // A request that never reached the server costs nothing; one whose answer broke off is billed all the same.
    if (reply.status == 200) attempt.exchange.usage = plausible(attempt.read.usage, request, attempt.read.text.size());
    // Some servers give no end mark and keep the connection.
    came |= reply.status == 200 && attempt.read.stop != StopReason::None && reply.end != HttpReply::End::TooLarge;
  }
  if (options_.price) attempt.exchange.nano_usd = options_.price->of(attempt.exchange.usage);
  if (reply.end == HttpReply::End::Cancelled) {
    attempt.detail = "cancelled";
  } else if (reply.end == HttpReply::End::TooLarge) {
    attempt.kind = AnswerKind::TooLarge;
  } else if (!came) {
    attempt.kind = AnswerKind::Unavailable;
    attempt.try_again = true;
    attempt.detail = reply.error;
  } else if (reply.status != 200) {
    attempt.try_again = passes_by_itself(reply.status);
    attempt.kind = attempt.try_again ? AnswerKind::Unavailable : AnswerKind::Rejected;
    attempt.detail = fmt::format("HTTP status {}: {}", reply.status, error_text(reply.body));
  } else if (!attempt.read.error.empty()) {
    attempt.try_again = attempt.read.try_again;
    attempt.kind = attempt.try_again ? AnswerKind::Unavailable : AnswerKind::Rejected;
    attempt.detail = "the provider broke off: " + attempt.read.error;
  } else if (!attempt.read.complete && !attempt.read.malformed && !reply.body.empty()) {
    attempt.kind = AnswerKind::Unavailable;
    attempt.try_again = true;
    attempt.detail = "the connection was closed in the middle of the answer";
  } else {
    attempt.kind = kind_of(attempt.read);
  }
  // A key that comes back in pieces was not seen in the bytes.
  if (http_->key_is_in(attempt.read.text)) {
    attempt.kind = AnswerKind::Malformed;
    attempt.detail = "the answer repeats the key; it was thrown away";
    attempt.read = {};
    reply.body.clear();
  }
  if (attempt.kind == AnswerKind::TooLarge) reply.body.resize(std::min<size_t>(reply.body.size(), 65536));
  attempt.exchange.reply = std::move(reply.body);
  if (attempt.detail.empty()) attempt.detail = detail_of(attempt);
  return attempt;
}

// Full jitter: many clients that were refused together do not come back together.
std::chrono::milliseconds ChatClient::backoff(int attempt, const Attempt& failed) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto step = options_.first_backoff * (int64_t{1} << std::min(attempt, 20));
  const auto most = std::max<int64_t>(1, std::min(step, options_.longest_backoff).count());
  auto time = std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(most / 2, most)(random));
  if (failed.retry_after) time += std::chrono::milliseconds(*failed.retry_after);
  return time;
}

Result<ChatClient::Attempt> ChatClient::send_until_answered(const ChatRequest& request, const HttpRequest& http_request,
                                                            ExchangeLog& log, std::stop_token stop) {
  Attempt attempt;
  const Amount reserved = most(request);
  const auto give_up = [&](AnswerKind kind, std::string detail, int requests) {
    Attempt none;
    none.kind = kind;
    none.detail = std::move(detail);
    none.requests = requests;
    return none;
  };
  for (int tried = 0;; ++tried) {
    switch (budget_.reserve(reserved, stop)) {
      case Budget::Decision::Granted:
        break;
      case Budget::Decision::Exhausted:
        return give_up(AnswerKind::BudgetExhausted, budget_.exhausted_reason(), tried);
      case Budget::Decision::Cancelled:
        return give_up(AnswerKind::Cancelled, "cancelled", tried);
    }
    if (!rate_limiter_.wait(reserved.tokens, stop)) {
      budget_.settle(reserved, {});
      return give_up(AnswerKind::Cancelled, "cancelled", tried);
    }
    slots_.acquire();
    attempt = send_once(request, http_request, stop);
    slots_.release();
    attempt.requests = tried + 1;
    const Amount spent{attempt.exchange.nano_usd, attempt.exchange.usage.tokens()};
    budget_.settle(reserved, spent);
    if (is_final(attempt.kind)) return attempt;
    TRY(log.keep_failure(attempt.detail, spent));
    if (!attempt.try_again) return attempt;
    if (tried + 1 >= options_.attempts) {
      attempt.detail = fmt::format("{} (after {} attempts)", attempt.detail, tried + 1);
      return attempt;
    }
    if (attempt.retry_after && *attempt.retry_after > options_.longest_retry_after) {
      attempt.detail = fmt::format("{} (it asks to wait {} s)", attempt.detail, attempt.retry_after->count());
      return attempt;
    }
    if (!sleep_for(std::min(backoff(tried, attempt), budget_.wall_left()), stop))
      return give_up(AnswerKind::Cancelled, "cancelled", tried + 1);
  }
}

Result<ChatClient::Attempt> ChatClient::exchange(const ChatRequest& request, int ordinal, ExchangeLog& log,
                                                 std::stop_token stop) {
  const HttpRequest http_request = make_http_request(options_.endpoint, request);
  const std::string sha256 = sha256_hex(http_request.body);
  std::optional<Exchange> kept = TRY(log.find(ordinal));
  Attempt attempt;
  if (kept && kept->request_sha256 == sha256) {
    attempt.exchange = std::move(*kept);
    AnswerReader reader(options_.endpoint.protocol);
    reader.feed(attempt.exchange.reply);
    attempt.read = reader.finish();
    attempt.kind = attempt.exchange.kind;
    attempt.detail = detail_of(attempt);
    return attempt;
  }
  if (!log.may_ask() || http_ == nullptr) {
    attempt.kind = AnswerKind::NotRecorded;
    attempt.detail = kept ? "the recording answers another prompt: this version or these options do not repeat it"
                          : "the recording ends before this request";
    return attempt;
  }
  attempt = TRY(send_until_answered(request, http_request, log, stop));
  attempt.exchange.request_sha256 = sha256;
  attempt.exchange.kind = attempt.kind;
  if (is_final(attempt.kind)) TRY(log.keep(ordinal, attempt.exchange));
  return attempt;
}

Result<ChatAnswer> ChatClient::ask(const ChatRequest& request, ExchangeLog& log, std::stop_token stop) {
  ChatAnswer answer;
  ChatRequest now = request;
  for (int part = 0; part <= options_.continuations; ++part) {
    const Attempt attempt = TRY(exchange(now, part, log, stop));
    answer.usage.prompt_tokens += attempt.exchange.usage.prompt_tokens;
    answer.usage.answer_tokens += attempt.exchange.usage.answer_tokens;
    answer.usage.reported = attempt.exchange.usage.reported;
    answer.nano_usd += attempt.exchange.nano_usd;
    answer.requests += attempt.requests;
    answer.seconds += attempt.exchange.seconds;
    // What came before a part that failed for good is still an answer that was cut off.
    if (part > 0 && is_final(attempt.kind) && attempt.kind > AnswerKind::Truncated) return answer;
    answer.kind = attempt.kind;
    answer.detail = attempt.detail;
    if (attempt.kind > AnswerKind::Truncated) return answer;
    answer.text += attempt.read.text;
    if (attempt.kind == AnswerKind::Answer || is_blank(attempt.read.text)) return answer;
    answer.detail = "still cut off by the limit of tokens";
    now = request;
    now.messages.push_back({Role::Model, answer.text});
    now.messages.push_back({Role::User, std::string(kContinue)});
  }
  return answer;
}

}  // namespace hipbench::agents
