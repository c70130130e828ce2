#pragma once
// Asks a model: with retries, rate limits, continuation of answers that were cut off, and the budget. What it does not
// know: where exchanges are kept; an ExchangeLog does.

#include <semaphore>

#include "agents/budget.hpp"
#include "agents/chat.hpp"
#include "agents/http.hpp"
#include "agents/protocols.hpp"

namespace hipbench::agents {

// One request that came to an end that counts (is_final), byte for byte.
struct Exchange {
  std::string request_sha256;  // of the body that was sent
  AnswerKind kind = AnswerKind::Answer;
  std::string reply;  // the body that came with status 200, without the key
  Usage usage;
  int64_t nano_usd = 0;
  double seconds = 0;
};

// Keeps the exchanges of one turn of one sample, so that none is paid twice: they are asked first on a resume, and on a
// rerun they are all there is.
class ExchangeLog {
 public:
  virtual ~ExchangeLog() = default;
  // The `ordinal`-th exchange of the turn, if it is kept.
  virtual Result<std::optional<Exchange>> find(int ordinal) = 0;
  virtual Result<void> keep(int ordinal, const Exchange& exchange) = 0;
  // A request that failed and what it cost all the same. Not repeated by a rerun.
  virtual Result<void> keep_failure(const std::string& what, const Amount& cost) = 0;
  virtual bool may_ask() const { return true; }  // false: only what is kept
};

struct ChatOptions {
  Endpoint endpoint;
  HttpLimits limits;
  Rate rate;
  std::optional<Price> price;  // none: not known, costs nothing
  int attempts = 6;            // of one request
  int continuations = 2;       // of an answer that was cut off
  unsigned requests_at_once = 64;
  std::chrono::milliseconds first_backoff = std::chrono::seconds(1);
  std::chrono::milliseconds longest_backoff = std::chrono::minutes(1);
  // A server that asks to wait longer is unavailable.
  std::chrono::seconds longest_retry_after = std::chrono::minutes(10);
};

class ChatClient {
 public:
  // `http` may be null where nothing is ever asked (a rerun). All outlive the client.
  ChatClient(const ChatOptions& options, HttpClient* http, Budget& budget);

  // An Error is the log's. Any thread may call it.
  Result<ChatAnswer> ask(const ChatRequest& request, ExchangeLog& log, std::stop_token stop);

 private:
  struct Attempt;
  Result<Attempt> exchange(const ChatRequest& request, int ordinal, ExchangeLog& log, std::stop_token stop);
  Result<Attempt> send_until_answered(const ChatRequest& request, const HttpRequest& http_request, ExchangeLog& log,
                                      std::stop_token stop);
  Attempt send_once(const ChatRequest& request, const HttpRequest& http_request, std::stop_token stop);
  std::chrono::milliseconds backoff(int attempt, const Attempt& failed);
  Amount most(const ChatRequest& request) const;
  static std::string detail_of(const Attempt& attempt);

  const ChatOptions options_;
  HttpClient* const http_;
  Budget& budget_;
  RateLimiter rate_limiter_;
  std::counting_semaphore<1 << 16> slots_;
};

}  // namespace hipbench::agents
