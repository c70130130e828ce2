// What asking costs us: many requests at once against a local server that takes a fixed time for each answer. Prints
// the time that a request took beyond the server's, requests a second and this process's memory. The server is a
// process of its own.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "agents/chat_client.hpp"
#include "tests/agents/http_server.hpp"

namespace {

using namespace hipbench;
using namespace hipbench::agents;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kAtOnce = 64, kRounds = 10;
constexpr auto kServerTime = 250ms;
constexpr size_t kAnswerBytes = 12000;  // a long kernel, in pieces as a model streams them

class NoLog : public ExchangeLog {
 public:
  Result<std::optional<Exchange>> find(int) override { return std::optional<Exchange>(); }
  Result<void> keep(int, const Exchange&) override { return {}; }
  Result<void> keep_failure(const std::string&, const Amount&) override { return {}; }
};

[[noreturn]] void serve(int out) {
  HttpServer server([](const ServedRequest&) {
    ServedReply reply = say(Speak::OpenAi, {.text = std::string(kAnswerBytes, 'x')}, 512);
    reply.before = kServerTime;
    return reply;
  });
  const std::string url = server.url();
  [[maybe_unused]] const ssize_t written = ::write(out, url.data(), url.size());
  for (;;) ::pause();
}

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main() {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return 1;
  const pid_t server = ::fork();
  if (server == 0) serve(pipe_ends[1]);
  std::string url(100, '\0');
  url.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(pipe_ends[0], url.data(), url.size()))));

  const std::unique_ptr<HttpClient> http = HttpClient::create("", Secret()).value();
  Budget budget({});
  ChatOptions options;
  options.endpoint = {Protocol::OpenAi, url};
  ChatClient client(options, http.get(), budget);
  const double memory_before = peak_mib();
  std::vector<double> beyond_ms(kAtOnce * kRounds);
  std::atomic<int> failed = 0;
  const Clock::time_point begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kAtOnce; ++i) {
      threads.emplace_back([&, i] {
        const ChatRequest request{.model = "m",
                                  .system = std::string(1000, 's'),
                                  .messages = {{Role::User, std::string(20000, 'p')}},
                                  .most_tokens = 16384,
                                  .temperature = {}};
        std::this_thread::sleep_for(kServerTime * i / kAtOnce);  // not all in the same moment
        for (int round = 0; round < kRounds; ++round) {
          NoLog log;
          const Clock::time_point sent = Clock::now();
          if (client.ask(request, log, {}).value().text.size() != kAnswerBytes) ++failed;
          beyond_ms[static_cast<size_t>(i * kRounds + round)] =
              std::chrono::duration<double, std::milli>(Clock::now() - sent - kServerTime).count();
        }
      });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double cpu_ms = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                        static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  std::sort(beyond_ms.begin(), beyond_ms.end());
  const auto at = [&](double share) {
    return beyond_ms[static_cast<size_t>(share * static_cast<double>(beyond_ms.size() - 1))];
  };
  fmt::print(
      "{} requests, {} at once, {} failed: {:.0f} a second; beyond the server's {} ms: median {:.2f} ms, 90 % {:.2f} "
      "ms, most {:.2f} ms\n",
      beyond_ms.size(), kAtOnce, failed.load(), static_cast<double>(beyond_ms.size()) / seconds, kServerTime.count(),
      at(0.5), at(0.9), at(1));
  fmt::print("our processor time: {:.2f} ms a request; memory: {:.0f} MiB at the start, {:.0f} MiB at most\n",
             cpu_ms / static_cast<double>(beyond_ms.size()), memory_before, peak_mib());
  return failed == 0 ? 0 : 1;
}
