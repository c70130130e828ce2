// Asking a model, against a server that is honest, slow, broken, lying or hostile.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "agents/chat_client.hpp"
#include "agents/secret.hpp"
#include "common/files.hpp"
#include "tests/agents/http_server.hpp"

namespace hipbench::agents {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class MemoryLog : public ExchangeLog {
 public:
  Result<std::optional<Exchange>> find(int ordinal) override {
    const auto found = kept.find(ordinal);
    return found == kept.end() ? std::optional<Exchange>() : found->second;
  }
  Result<void> keep(int ordinal, const Exchange& exchange) override {
    kept[ordinal] = exchange;
    return {};
  }
  Result<void> keep_failure(const std::string& what, const Amount& cost) override {
    failures.push_back(what);
    failure_cost += cost.nano_usd;
    return {};
  }
  bool may_ask() const override { return !closed; }

  std::map<int, Exchange> kept;
  std::vector<std::string> failures;
  int64_t failure_cost = 0;
  bool closed = false;
};

constexpr Protocol kProtocols[] = {Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini};
Speak speak(Protocol protocol) { return static_cast<Speak>(protocol); }

class Providers : public testing::Test {
 protected:
  static ChatRequest hello() {
    return {.model = "m",
            .system = "be brief",
            .messages = {{Role::User, "hello"}},
            .most_tokens = 1000,
            .temperature = {}};
  }
  ChatOptions options(Protocol protocol, const std::string& url) const {
    ChatOptions made;
    made.endpoint = {protocol, url};
    made.first_backoff = 1ms;
    made.longest_backoff = 4ms;
    made.price = Price{3000, 15000};
    made.limits.silence = 60s;
    return made;
  }
  ChatAnswer ask(const ChatOptions& chat_options, const ChatRequest& request) {
    http_ = HttpClient::create("", Secret(key_)).value();
    Budget budget(limits_);
    ChatClient client(chat_options, http_.get(), budget);
    ChatAnswer answer = client.ask(request, log_, {}).value();
    spent_ = budget.spent();
    return answer;
  }
  // One answer of a server, in each protocol the same.
  ChatAnswer answer_to(Protocol protocol, const ServedReply& reply) {
    log_ = {};
    HttpServer server([&](const ServedRequest&) { return reply; });
    return ask(options(protocol, server.url()), hello());
  }

  std::string key_ = "sk-secret-1234567890";
  BudgetLimits limits_;
  Amount spent_;
  MemoryLog log_;
  std::unique_ptr<HttpClient> http_;
};

TEST_F(Providers, EachProtocolAsksAsItsDocumentsSayAndReadsText) {
  for (const Protocol protocol : kProtocols) {
    ServedRequest seen;
    HttpServer server([&](const ServedRequest& request) {
      seen = request;
      return say(speak(protocol), {.text = "w\u00f6rld \u2713"});
    });
    log_ = {};
    ChatRequest request = hello();
    request.messages.push_back({Role::Model, "hi"});
    request.messages.push_back({Role::User, "again"});
    const ChatAnswer answer = ask(options(protocol, server.url()), request);
    EXPECT_EQ(answer.kind, AnswerKind::Answer) << answer.detail;
    EXPECT_EQ(answer.text, "w\u00f6rld \u2713");
    EXPECT_EQ(answer.usage.prompt_tokens, 0u + 100);
    EXPECT_EQ(answer.usage.answer_tokens, 50u);
    EXPECT_EQ(answer.nano_usd, 100 * 3000 + 50 * 15000);
    const json body = json::parse(seen.body);
    switch (protocol) {
      case Protocol::OpenAi:
        EXPECT_EQ(seen.path, "/chat/completions");
        EXPECT_EQ(seen.headers["authorization"], "Bearer " + key_);
        EXPECT_EQ(body["messages"][0], (json{{"role", "system"}, {"content", "be brief"}}));
        EXPECT_EQ(body["messages"][2]["role"], "assistant");
        EXPECT_EQ(body["max_tokens"], 1000);
        EXPECT_EQ(body["stream"], true);
        break;
      case Protocol::Anthropic:
        EXPECT_EQ(seen.path, "/messages");
        EXPECT_EQ(seen.headers["x-api-key"], key_);
        EXPECT_EQ(seen.headers["anthropic-version"], "2023-06-01");
        EXPECT_EQ(body["system"], "be brief");
        EXPECT_EQ(body["messages"].size(), 3u);
        EXPECT_EQ(body["max_tokens"], 1000);
        break;
      case Protocol::Gemini:
        EXPECT_EQ(seen.path, "/models/m:streamGenerateContent?alt=sse");
        EXPECT_EQ(seen.headers["x-goog-api-key"], key_);
        EXPECT_EQ(body["systemInstruction"]["parts"][0]["text"], "be brief");
        EXPECT_EQ(body["contents"][1]["role"], "model");
        EXPECT_EQ(body["generationConfig"]["maxOutputTokens"], 1000);
        break;
    }
  }
}

TEST_F(Providers, HoweverTheBytesAreCutTheAnswerIsTheSame) {
  for (const Protocol protocol : kProtocols) {
    const std::string text = "line\n```\nint x; // \u20ac\n```\n";
    std::string all;
    for (const std::string& piece : say(speak(protocol), {.text = text}).pieces) all += piece;
    for (const size_t size : {1u, 2u, 3u, 7u, 100u}) {
      AnswerReader reader(protocol);
      for (size_t at = 0; at < all.size(); at += size) reader.feed(all.substr(at, size));
      const ReadAnswer answer = reader.finish();
      EXPECT_EQ(answer.text, text);
      EXPECT_EQ(answer.stop, StopReason::End);
      EXPECT_TRUE(answer.complete);
      EXPECT_FALSE(answer.malformed);
    }
    // Line ends as other servers write them.
    std::string crlf;
    for (const char c : all) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    AnswerReader reader(protocol);
    reader.feed(crlf);
    EXPECT_EQ(reader.finish().text, text);
  }
}

TEST_F(Providers, AServerThatDoesNotStreamIsUnderstood) {
  const std::pair<Protocol, std::string> documents[] = {
      {Protocol::OpenAi, R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],)"
                         R"("usage":{"prompt_tokens":7,"completion_tokens":2}})"},
      {Protocol::Anthropic, R"({"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",)"
                            R"("usage":{"input_tokens":7,"output_tokens":2}})"},
      {Protocol::Gemini, R"([{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],)"
                         R"("usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}])"}};
  for (const auto& [protocol, document] : documents) {
    const ChatAnswer answer = answer_to(protocol, {.pieces = {document}});
    EXPECT_EQ(answer.text, "hi") << answer.detail;
    EXPECT_EQ(answer.usage.prompt_tokens, 7u);
  }
}

TEST_F(Providers, RefusedEmptyAndMalformedAnswersAreOutcomesOfTheirOwn) {
  const char* refusals[] = {"content_filter", "refusal", "SAFETY"};
  for (const Protocol protocol : kProtocols) {
    const ChatAnswer refused =
        answer_to(protocol, say(speak(protocol), {.text = "I", .stop = refusals[static_cast<size_t>(protocol)]}));
    EXPECT_EQ(refused.kind, AnswerKind::Refused);
    EXPECT_THAT(refused.detail, HasSubstr(refusals[static_cast<size_t>(protocol)]));
    EXPECT_EQ(answer_to(protocol, say(speak(protocol), {.text = " \n"})).kind, AnswerKind::Empty);
    EXPECT_EQ(answer_to(protocol, {.pieces = {"<html>busy</html>"}}).kind, AnswerKind::Malformed);
    EXPECT_EQ(answer_to(protocol, {.pieces = {"data: {\"choices\": 7}\n\ndata: [DONE]\n\n"}}).kind,
              AnswerKind::Malformed);
    EXPECT_EQ(answer_to(protocol, {.pieces = {R"({"choices":[{"message":{"content":{"a":1}}}],"type":3})"}}).kind,
              AnswerKind::Malformed);
    EXPECT_EQ(answer_to(protocol, {.pieces = {std::string(200000, '[')}}).kind, AnswerKind::Malformed);
    EXPECT_EQ(log_.kept.size(), 1u);
  }
  const ChatAnswer blocked = answer_to(Protocol::Gemini, {.pieces = {R"({"promptFeedback":{"blockReason":"OTHER"}})"}});
  EXPECT_EQ(blocked.kind, AnswerKind::Refused);
}

TEST_F(Providers, AnAnswerThatWasCutOffIsContinued) {
  const char* lengths[] = {"length", "max_tokens", "MAX_TOKENS"};
  for (const Protocol protocol : kProtocols) {
    std::mutex mutex;
    std::string last;
    HttpServer server([&](const ServedRequest& request) {
      const std::lock_guard lock(mutex);
      last = request.body;
      return say(speak(protocol), request.number < 2 ? Said{.text = "part " + std::to_string(request.number) + ";",
                                                            .stop = lengths[static_cast<size_t>(protocol)],
                                                            .prompt_tokens = 20}
                                                     : Said{.text = "end", .prompt_tokens = 20});
    });
    log_ = {};
    const ChatAnswer answer = ask(options(protocol, server.url()), hello());
    EXPECT_EQ(answer.kind, AnswerKind::Answer);
    EXPECT_EQ(answer.text, "part 0;part 1;end");
    EXPECT_EQ(answer.requests, 3);
    EXPECT_EQ(answer.nano_usd, 3 * (20 * 3000 + 50 * 15000));
    EXPECT_THAT(last, HasSubstr("part 0;part 1;"));
  }
  HttpServer server([&](const ServedRequest&) { return say(Speak::OpenAi, {.text = "x", .stop = "length"}); });
  log_ = {};
  const ChatAnswer answer = ask(options(Protocol::OpenAi, server.url()), hello());
  EXPECT_EQ(answer.kind, AnswerKind::Truncated);
  EXPECT_EQ(answer.text, "xxx");
}

TEST_F(Providers, WhatPassesByItselfIsTriedAgain) {
  for (const Protocol protocol : kProtocols) {
    HttpServer server([&](const ServedRequest& request) -> ServedReply {
      const ServedReply honest = say(speak(protocol), {.text = "at last"});
      switch (request.number) {
        case 0:
          return {.status = 500, .pieces = {"{\"error\":{\"message\":\"oops\"}}"}};
        case 1:
          return {.status = 429, .pieces = {"slow down"}};
        case 2:
          return {.pieces = {honest.pieces[0].substr(0, honest.pieces[0].size() / 3)}, .then = ServedReply::Then::Drop};
        case 3:
          return {.pieces = {honest.pieces[0].substr(0, honest.pieces[0].find("\n\n", 20) + 2)}};
        case 4:
          return {.pieces = {"HTTP/1.1 banana\r\n"}, .without_status = true};
        default:
          return honest;
      }
    });
    log_ = {};
    const ChatAnswer answer = ask(options(protocol, server.url()), hello());
    EXPECT_EQ(answer.kind, AnswerKind::Answer) << answer.detail;
    EXPECT_EQ(answer.text, "at last");
    EXPECT_EQ(answer.requests, 6);
    EXPECT_EQ(log_.failures.size(), 5u);
    EXPECT_THAT(log_.failures[0], HasSubstr("500: oops"));
    // What broke off was billed by the provider, so it counts.
    EXPECT_EQ(spent_.nano_usd, answer.nano_usd + log_.failure_cost);
    EXPECT_GT(log_.failure_cost, 0);
  }
}

TEST_F(Providers, AnErrorInTheStreamIsTriedAgainWhenItPasses) {
  HttpServer server([&](const ServedRequest& request) -> ServedReply {
    if (request.number == 0)
      return {
          .pieces = {"event: error\ndata: "
                     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"}};
    return say(Speak::Anthropic, {.text = "ok"});
  });
  EXPECT_EQ(ask(options(Protocol::Anthropic, server.url()), hello()).text, "ok");
  EXPECT_THAT(log_.failures.at(0), HasSubstr("Overloaded"));
}

TEST_F(Providers, WhatDoesNotPassIsNotTriedAgain) {
  for (const int status : {301, 400, 401, 403, 404, 422}) {
    HttpServer server([&](const ServedRequest&) -> ServedReply {
      return {.status = status,
              .headers = {"location: http://127.0.0.1:1/"},
              .pieces = {R"({"error":{"message":"no such model"}})"}};
    });
    log_ = {};
    const ChatAnswer answer = ask(options(Protocol::OpenAi, server.url()), hello());
    EXPECT_EQ(answer.kind, AnswerKind::Rejected);
    EXPECT_EQ(answer.requests, 1);
    EXPECT_THAT(answer.detail, HasSubstr("no such model"));
    EXPECT_TRUE(log_.kept.empty());
  }
}

TEST_F(Providers, RetryAfterIsHonoured) {
  std::vector<std::chrono::steady_clock::time_point> at;
  HttpServer server([&](const ServedRequest& request) -> ServedReply {
    at.push_back(std::chrono::steady_clock::now());
    if (request.number == 0) return {.status = 429, .headers = {"retry-after: 1"}, .pieces = {"wait"}};
    return say(Speak::OpenAi, {.text = "ok"});
  });
  EXPECT_EQ(ask(options(Protocol::OpenAi, server.url()), hello()).text, "ok");
  EXPECT_GE(at.at(1) - at.at(0), 1s);
}

TEST_F(Providers, AServerThatAsksToWaitForHoursIsUnavailable) {
  const ChatAnswer answer =
      answer_to(Protocol::OpenAi, {.status = 503, .headers = {"retry-after: 36000"}, .pieces = {"maintenance"}});
  EXPECT_EQ(answer.kind, AnswerKind::Unavailable);
  EXPECT_EQ(answer.requests, 1);
  EXPECT_THAT(answer.detail, HasSubstr("36000 s"));
}

TEST_F(Providers, NobodyAtTheAddressIsUnavailableAfterAllAttempts) {
  ChatOptions nobody = options(Protocol::OpenAi, "http://127.0.0.1:1");
  nobody.attempts = 3;
  const ChatAnswer answer = ask(nobody, hello());
  EXPECT_EQ(answer.kind, AnswerKind::Unavailable);
  EXPECT_EQ(answer.requests, 3);
  EXPECT_EQ(answer.nano_usd, 0);
  EXPECT_THAT(answer.detail, HasSubstr("after 3 attempts"));
}

TEST_F(Providers, SilenceTimesOutAndAnEndlessAnswerIsTooLarge) {
  HttpServer silent(
      [&](const ServedRequest&) -> ServedReply { return {.pieces = {": x\n\n"}, .then = ServedReply::Then::Stall}; });
  ChatOptions impatient = options(Protocol::OpenAi, silent.url());
  impatient.limits.silence = 100ms;
  impatient.attempts = 1;
  EXPECT_EQ(ask(impatient, hello()).kind, AnswerKind::Unavailable);

  for (const std::string& piece : {std::string(65536, 'x'), "data: {\"choices\":[{\"delta\":{\"content\":\"" +
                                                                std::string(60000, 'y') + "\"}}]}\n\n"}) {
    HttpServer endless(
        [&](const ServedRequest&) -> ServedReply { return {.pieces = {piece}, .then = ServedReply::Then::Endless}; });
    log_ = {};
    const ChatAnswer answer = ask(options(Protocol::OpenAi, endless.url()), hello());
    EXPECT_EQ(answer.kind, AnswerKind::TooLarge);
    EXPECT_LE(log_.kept.at(0).reply.size(), 65536u);
  }
}

TEST_F(Providers, AServerThatKeepsTheConnectionAfterTheEndDoesNotHoldUsUp) {
  for (const Protocol protocol : {Protocol::OpenAi, Protocol::Anthropic}) {
    ServedReply reply = say(speak(protocol), {.text = "ok"});
    reply.then = ServedReply::Then::Stall;
    EXPECT_EQ(answer_to(protocol, reply).text, "ok");
  }
}

TEST_F(Providers, InvalidUtf8BecomesReplacementCharacters) {
  const ChatAnswer answer = answer_to(
      Protocol::OpenAi,
      {.pieces = {"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xc3z\"},\"finish_reason\":\"stop\"}]}\n\n"}});
  EXPECT_EQ(answer.text, "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf ok \xe2\x82\xac"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF"
            "\xBD ok \xe2\x82\xac");
}

TEST_F(Providers, RandomBytesNeverDoWorseThanMalformed) {
  std::minstd_rand random(1);
  for (int round = 0; round < 3000; ++round) {
    const Protocol protocol = kProtocols[random() % 3];
    std::string bytes;
    for (const std::string& piece : say(speak(protocol), {.text = "some text"}).pieces) bytes += piece;
    for (int edit = 0; edit < 6; ++edit) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 3 == 0) bytes = bytes.substr(bytes.find('{'));
    AnswerReader reader(protocol);
    reader.feed(bytes);
    reader.finish();
    error_text(bytes);
  }
}

TEST_F(Providers, TheKeyIsNowhereButInItsHeader) {
  const ServedReply echo = {.status = 401, .pieces = {R"({"error":{"message":"bad key )" + key_ + "\"}}"}};
  EXPECT_THAT(answer_to(Protocol::OpenAi, echo).detail, HasSubstr("bad key [key]"));
  const ChatAnswer answer =
      answer_to(Protocol::OpenAi, say(Speak::OpenAi, {.text = "the key is " + key_ + std::string(60, '!')}));
  EXPECT_THAT(answer.text, HasSubstr("the key is [key]!!"));
  EXPECT_THAT(log_.kept.at(0).reply, Not(HasSubstr(key_)));
  // In two events, each with a half of it.
  const ChatAnswer halves = answer_to(Protocol::OpenAi, say(Speak::OpenAi, {.text = key_}));
  EXPECT_EQ(halves.kind, AnswerKind::Malformed);
  EXPECT_EQ(halves.text, "");
  EXPECT_THAT(log_.kept.at(0).reply, Not(HasSubstr(key_.substr(0, key_.size() / 2))));
}

TEST_F(Providers, AKeyNeverTravelsUnencryptedThroughANetwork) {
  EXPECT_TRUE(check_endpoint({Protocol::OpenAi, "https://api.openai.com/v1"}, true));
  EXPECT_TRUE(check_endpoint({Protocol::OpenAi, "http://127.0.0.1:8080/v1"}, true));
  EXPECT_TRUE(check_endpoint({Protocol::OpenAi, "http://[::1]:8080/v1"}, true));
  EXPECT_TRUE(check_endpoint({Protocol::OpenAi, "http://gpu-box:8000/v1"}, false));
  EXPECT_FALSE(check_endpoint({Protocol::OpenAi, "http://gpu-box:8000/v1"}, true));
  EXPECT_FALSE(check_endpoint({Protocol::OpenAi, "http://localhost.example.com/v1"}, true));
  EXPECT_FALSE(check_endpoint({Protocol::OpenAi, "http://localhost@example.com/v1"}, true));
  EXPECT_FALSE(check_endpoint({Protocol::OpenAi, "file:///etc/passwd"}, false));
}

TEST_F(Providers, AKeyFileIsItsOwnersAlone) {
  const TemporaryDirectory folder = TemporaryDirectory::create("key_test").value();
  const std::filesystem::path file = folder.path() / "key";
  std::ofstream(file) << "sk-abc\n";
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(read_key_file(file).value().reveal(), "sk-abc");
  ::chmod(file.c_str(), 0640);
  EXPECT_THAT(read_key_file(file).error().message, HasSubstr("chmod 600"));
  ::chmod(file.c_str(), 0600);
  std::ofstream(file) << "sk-abc\r\nx-evil: 1";
  EXPECT_THAT(read_key_file(file).error().message, HasSubstr("one word"));
  std::ofstream(file) << "\n";
  EXPECT_THAT(read_key_file(file).error().message, HasSubstr("empty"));
  EXPECT_FALSE(read_key_file(folder.path()));
  ::setenv("HIPBENCH_TEST_KEY", "sk-env", 1);
  EXPECT_EQ(take_key_from_environment("HIPBENCH_TEST_KEY").value().reveal(), "sk-env");
  EXPECT_EQ(::getenv("HIPBENCH_TEST_KEY"), nullptr);
  EXPECT_TRUE(take_key_from_environment("HIPBENCH_TEST_KEY").value().empty());
}

TEST_F(Providers, WhatIsKeptIsReadAgainWithoutANetwork) {
  HttpServer server([&](const ServedRequest& request) {
    return say(Speak::Anthropic,
               {.text = request.number == 0 ? "one " : "two", .stop = request.number == 0 ? "max_tokens" : ""});
  });
  const ChatOptions chat_options = options(Protocol::Anthropic, server.url());
  const ChatAnswer first = ask(chat_options, hello());
  EXPECT_EQ(server.requests(), 2u);
  log_.closed = true;
  const ChatAnswer again = ask(chat_options, hello());
  EXPECT_EQ(server.requests(), 2u);
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.kind, first.kind);
  EXPECT_EQ(again.nano_usd, first.nano_usd);
  EXPECT_EQ(again.requests, 0);
  ChatRequest other = hello();
  other.system = "be verbose";
  EXPECT_EQ(ask(chat_options, other).kind, AnswerKind::NotRecorded);
}

TEST_F(Providers, TheBudgetIsNeverExceededHoweverManyAskAndHoweverTheServerLies) {
  // Every request may cost 1000 answer tokens; the server claims millions.
  HttpServer server([&](const ServedRequest& request) {
    return say(Speak::OpenAi,
               {.text = "x", .prompt_tokens = 1u << 30, .answer_tokens = request.number % 2 == 0 ? 1u << 30 : 900});
  });
  ChatOptions chat_options = options(Protocol::OpenAi, server.url());
  http_ = HttpClient::create("", Secret()).value();
  Budget budget({.nano_usd = 200'000'000, .tokens = {}, .wall = {}});
  ChatClient client(chat_options, http_.get(), budget);
  std::atomic<int> answered = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 32; ++i) {
      threads.emplace_back([&] {
        MemoryLog log;
        const ChatAnswer answer = client.ask(hello(), log, {}).value();
        ++(answer.kind == AnswerKind::BudgetExhausted ? refused : answered);
      });
    }
  }
  EXPECT_LE(budget.spent().nano_usd, 200'000'000);
  EXPECT_GT(budget.spent().nano_usd, 180'000'000);  // and it is used
  EXPECT_EQ(answered + refused, 32);
  EXPECT_GT(answered, 10);
  EXPECT_EQ(static_cast<int>(server.requests()), answered);
  EXPECT_THAT(budget.exhausted_reason(), HasSubstr("0.2000 USD"));
}

TEST_F(Providers, TokensAndWallTimeAreBudgetsToo) {
  limits_.tokens = 1500;
  const ServedReply reply = say(Speak::OpenAi, {.text = "x"});
  EXPECT_EQ(answer_to(Protocol::OpenAi, reply).kind, AnswerKind::Answer);
  limits_.tokens = 900;  // an answer may take 1000
  EXPECT_EQ(answer_to(Protocol::OpenAi, reply).kind, AnswerKind::BudgetExhausted);
  limits_ = {.nano_usd = {}, .tokens = {}, .wall = 0s};
  const ChatAnswer late = answer_to(Protocol::OpenAi, reply);
  EXPECT_EQ(late.kind, AnswerKind::BudgetExhausted);
  EXPECT_THAT(late.detail, HasSubstr("wall time"));
}

TEST_F(Providers, RequestsAreSpacedByTheRateLimit) {
  HttpServer server([&](const ServedRequest&) { return say(Speak::OpenAi, {.text = "x"}); });
  ChatOptions chat_options = options(Protocol::OpenAi, server.url());
  chat_options.rate.requests_per_minute = 300;  // one every 200 ms
  http_ = HttpClient::create("", Secret()).value();
  Budget budget({});
  ChatClient client(chat_options, http_.get(), budget);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    MemoryLog log;
    ASSERT_EQ(client.ask(hello(), log, {}).value().kind, AnswerKind::Answer);
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 599ms);
}

TEST_F(Providers, AProxyIsAskedForEverything) {
  std::string path;
  HttpServer proxy([&](const ServedRequest& request) {
    path = request.path;
    return say(Speak::OpenAi, {.text = "by proxy"});
  });
  http_ = HttpClient::create(proxy.url(), Secret()).value();
  Budget budget({});
  ChatClient client(options(Protocol::OpenAi, "http://models.invalid/v1"), http_.get(), budget);
  EXPECT_EQ(client.ask(hello(), log_, {}).value().text, "by proxy");
  EXPECT_EQ(path, "http://models.invalid/v1/chat/completions");
}

TEST_F(Providers, AStopEndsRequestsAndWaitsAtOnce) {
  HttpServer server([&](const ServedRequest& request) -> ServedReply {
    if (request.number == 0) return {.pieces = {": x\n\n"}, .then = ServedReply::Then::Stall};
    return {.status = 429, .headers = {"retry-after: 300"}, .pieces = {"wait"}};
  });
  http_ = HttpClient::create("", Secret()).value();
  Budget budget({});
  ChatClient client(options(Protocol::OpenAi, server.url()), http_.get(), budget);
  for (int i = 0; i < 2; ++i) {
    std::stop_source stop;
    MemoryLog log;
    std::jthread stopper([&] {
      while (server.requests() < static_cast<size_t>(i) + 1) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(20ms);
      stop.request_stop();
    });
    EXPECT_EQ(client.ask(hello(), log, stop.get_token()).value().kind, AnswerKind::Cancelled);
  }
}

TEST(PriceTable, TheLongestNameThatAModelBeginsWithCounts) {
  const PriceTable table = PriceTable::shipped();
  EXPECT_EQ(table.find("gpt-4.1-2025-04-14")->prompt_nano_usd, 2000);
  EXPECT_EQ(table.find("gpt-4.1-mini")->prompt_nano_usd, 400);
  EXPECT_FALSE(table.find("llama"));
  EXPECT_THAT(PriceTable::parse("[models.x]\nprompt_usd = -1\nanswer_usd = 1", "p.toml").error().message,
              HasSubstr("prompt_usd"));
  EXPECT_THAT(PriceTable::parse("\n[", "p.toml").error().message, HasSubstr("p.toml:2"));
  EXPECT_THAT(PriceTable::parse("", "p.toml").error().message, HasSubstr("[models"));
}

}  // namespace
}  // namespace hipbench::agents
