#include "agents/budget.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>

#include "agents/embedded.hpp"
#include "common/files.hpp"

namespace hipbench::agents {

namespace {

// Dollars a million tokens are thousands of billionths a token.
constexpr double kNanoPerTokenOfDollarsPerMillion = 1000.0;
constexpr double kNanoPerDollar = 1e9;
constexpr double kHighestPrice = 1e6;

// Rounded up: a budget is never exceeded by what rounding hid.
Result<int64_t> read_price(const toml::table& model, std::string_view key, const std::string& where) {
  const std::optional<double> usd = model[key].value<double>();
  if (!usd || !(*usd >= 0 && *usd <= kHighestPrice))
    return Error{fmt::format("{}: {} is missing or no price in dollars a million tokens", where, key)};
  return static_cast<int64_t>(std::ceil(*usd * kNanoPerTokenOfDollarsPerMillion - 1e-9));
}

}  // namespace

int64_t Price::of(const Usage& usage) const {
  return static_cast<int64_t>(usage.prompt_tokens) * prompt_nano_usd +
         static_cast<int64_t>(usage.answer_tokens) * answer_nano_usd;
}

Result<PriceTable> PriceTable::parse(std::string_view text, const std::string& name) {
  PriceTable table;
  try {
    const toml::table document = toml::parse(text);
    const toml::table* models = document["models"].as_table();
    if (models == nullptr) return Error{fmt::format("{}: there is no table [models.\"NAME\"]", name)};
    for (const auto& [key, node] : *models) {
      const std::string model(key.str());
      const std::string where = fmt::format("{}: [models.\"{}\"]", name, model);
      if (!node.is_table()) return Error{where + " is not a table"};
      Price price;
      price.prompt_nano_usd = TRY(read_price(*node.as_table(), "prompt_usd", where));
      price.answer_nano_usd = TRY(read_price(*node.as_table(), "answer_usd", where));
      table.prices_[model] = price;
    }
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("{}:{}: {}", name, error.source().begin.line, error.description())};
  }
  return table;
}

Result<PriceTable> PriceTable::read(const std::filesystem::path& path) {
  return parse(TRY(read_file(path)), path.string());
}

PriceTable PriceTable::shipped() {
  Result<PriceTable> table = parse(embedded_file("prices.toml"), "prices.toml");
  CHECK(table.has_value(), "agents/prices.toml is broken");
  return std::move(*table);
}

std::optional<Price> PriceTable::find(std::string_view model) const {
  const Price* best = nullptr;
  size_t length = 0;
  for (const auto& [name, price] : prices_) {
    if (!model.starts_with(name) || name.size() < length) continue;
    best = &price;
    length = name.size();
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

Budget::Budget(const BudgetLimits& limits, Amount spent_before) : limits_(limits), spent_(spent_before) {}

bool Budget::fits(const Amount& amount) const {
  return (!limits_.nano_usd || amount.nano_usd <= *limits_.nano_usd) &&
         (!limits_.tokens || amount.tokens <= *limits_.tokens);
}

Budget::Decision Budget::reserve(const Amount& most, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return Decision::Cancelled;
    if (wall_left() <= std::chrono::milliseconds(0)) {
      reason_ = fmt::format("the wall time of {} s is used up", limits_.wall->count());
      return Decision::Exhausted;
    }
    const Amount alone{spent_.nano_usd + most.nano_usd, spent_.tokens + most.tokens};
    if (!fits(alone)) {
      const bool money = limits_.nano_usd && alone.nano_usd > *limits_.nano_usd;
      reason_ = money ? fmt::format(
                            "the budget of {:.4f} USD has no room for another request: {:.4f} USD are spent, "
                            "and it may cost {:.4f} USD",
                            static_cast<double>(*limits_.nano_usd) / kNanoPerDollar,
                            static_cast<double>(spent_.nano_usd) / kNanoPerDollar,
                            static_cast<double>(most.nano_usd) / kNanoPerDollar)
                      : fmt::format(
                            "the budget of {} tokens has no room for another request: {} are used, and it may "
                            "take {}",
                            *limits_.tokens, spent_.tokens, most.tokens);
      return Decision::Exhausted;
    }
    if (fits({alone.nano_usd + reserved_.nano_usd, alone.tokens + reserved_.tokens})) {
      reserved_.nano_usd += most.nano_usd;
      reserved_.tokens += most.tokens;
      return Decision::Granted;
    }
    const uint64_t seen = settled_;
    changed_.wait_for(lock, stop, wall_left(), [&] { return settled_ != seen; });
  }
}

void Budget::settle(const Amount& most, const Amount& spent) {
  const std::lock_guard lock(mutex_);
  reserved_.nano_usd -= most.nano_usd;
  reserved_.tokens -= most.tokens;
  spent_.nano_usd += spent.nano_usd;
  spent_.tokens += spent.tokens;
  ++settled_;
  changed_.notify_all();
}

Amount Budget::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

std::chrono::milliseconds Budget::wall_left() const {
  if (!limits_.wall) return std::chrono::hours(24);
  return std::chrono::duration_cast<std::chrono::milliseconds>(begin_ + *limits_.wall -
                                                               std::chrono::steady_clock::now());
}

std::string Budget::exhausted_reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

RateLimiter::RateLimiter(const Rate& rate) : rate_(rate), requests_free_(Clock::now()), tokens_free_(requests_free_) {}

bool RateLimiter::wait(uint64_t tokens, std::stop_token stop) {
  constexpr auto kMinute = std::chrono::duration_cast<Clock::duration>(std::chrono::minutes(1));
  Clock::time_point when = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = when;
    const auto take = [&](Clock::time_point& free, uint64_t count, uint64_t per_minute) {
      if (per_minute == 0) return;
      when = std::max(when, free);
      const auto ticks =
          static_cast<double>(kMinute.count()) * static_cast<double>(count) / static_cast<double>(per_minute);
      free = std::max(free, now) + Clock::duration(static_cast<Clock::rep>(ticks));
    };
    take(requests_free_, 1, rate_.requests_per_minute);
    take(tokens_free_, tokens, rate_.tokens_per_minute);
  }
  return sleep_for(std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::now()), stop);
}

bool sleep_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  if (time <= std::chrono::milliseconds(0)) return true;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace hipbench::agents
