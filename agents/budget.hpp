#pragma once
// What a run may cost, and how fast it may ask. Money is counted in billionths of a dollar, so that sums are exact.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "agents/chat.hpp"
#include "common/result.hpp"

namespace hipbench::agents {

struct Price {
  int64_t prompt_nano_usd = 0, answer_nano_usd = 0;  // a token

  int64_t of(const Usage& usage) const;
};

// From TOML: [models."NAME"] with prompt_usd and answer_usd a million tokens, and a source. The longest name that a
// model's name begins with counts, so that "gpt-4.1" prices "gpt-4.1-2025-04-14".
class PriceTable {
 public:
  static Result<PriceTable> parse(std::string_view toml, const std::string& name);
  static Result<PriceTable> read(const std::filesystem::path& path);
  static PriceTable shipped();  // agents/prices.toml
  std::optional<Price> find(std::string_view model) const;

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

struct Amount {
  int64_t nano_usd = 0;
  uint64_t tokens = 0;
};

struct BudgetLimits {
  std::optional<int64_t> nano_usd;
  std::optional<uint64_t> tokens;
  std::optional<std::chrono::seconds> wall;  // of this program's run
};

// A request begins only when the most that it can cost still fits beside what was spent and what others may come to. So
// the budget holds, however many requests are under way, as long as a provider bills no more than it was asked for.
class Budget {
 public:
  enum class Decision { Granted, Exhausted, Cancelled };

  explicit Budget(const BudgetLimits& limits, Amount spent_before = {});
  // Waits while it is only others' reservations that are in the way.
  Decision reserve(const Amount& most, std::stop_token stop);
  void settle(const Amount& most, const Amount& spent);
  Amount spent() const;
  // What is left of the wall time; a day when it has no limit.
  std::chrono::milliseconds wall_left() const;
  // "the budget of 5.00 USD is used up: …", once something was refused.
  std::string exhausted_reason() const;

 private:
  bool fits(const Amount& amount) const;

  const BudgetLimits limits_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Amount spent_, reserved_;
  uint64_t settled_ = 0;  // requests; a reservation that waits looks again when it grows
  std::string reason_;
};

// At most so many requests and tokens in any minute; 0 = no limit.
struct Rate {
  unsigned requests_per_minute = 0;
  uint64_t tokens_per_minute = 0;
};

// Requests are spaced evenly over the minute: providers count in shorter windows than they say.
class RateLimiter {
 public:
  explicit RateLimiter(const Rate& rate);
  // Waits until a request of so many tokens may be sent. False: asked to stop.
  bool wait(uint64_t tokens, std::stop_token stop);

 private:
  using Clock = std::chrono::steady_clock;

  const Rate rate_;
  std::mutex mutex_;
  Clock::time_point requests_free_, tokens_free_;  // when the next may be sent
};

// Sleeps; false: asked to stop.
bool sleep_for(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace hipbench::agents
