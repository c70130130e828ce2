#include "agents/http.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace hipbench::agents {

namespace {

using Clock = std::chrono::steady_clock;

// One request under way. The caller's thread makes it and waits; the driver's thread owns it in between.
struct Transfer {
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  const HttpClient::Sink* sink = nullptr;
  size_t most_bytes = 0;
  HttpReply reply;
  bool had_enough = false, too_large = false;
  char error[CURL_ERROR_SIZE] = {};
  std::atomic<bool> cancelled = false;
  Clock::time_point last_byte = Clock::now();
  std::chrono::milliseconds most_silence{};
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;

  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }
};

size_t on_body(char* data, size_t, size_t size, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.reply.body.size() + size > transfer.most_bytes) {
    transfer.too_large = true;
    return 0;
  }
  transfer.reply.body.append(data, size);
  transfer.last_byte = Clock::now();
  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  if (status == 200 && *transfer.sink && !(*transfer.sink)({data, size})) {
    transfer.had_enough = true;
    return 0;
  }
  return size;
}

HttpReply::End end_of(const Transfer& transfer, CURLcode code) {
  if (transfer.cancelled) return HttpReply::End::Cancelled;
  if (code == CURLE_OK || transfer.had_enough) return HttpReply::End::Complete;
  if (transfer.too_large) return HttpReply::End::TooLarge;
  if (code == CURLE_OPERATION_TIMEDOUT) return HttpReply::End::TimedOut;
  return transfer.reply.status == 0 ? HttpReply::End::NoConnection : HttpReply::End::Broken;
}

}  // namespace

struct HttpClient::Driver {
  CURLM* multi = nullptr;
  std::string proxy;
  Secret key;
  std::mutex mutex;
  std::vector<Transfer*> incoming;  // of the mutex
  std::map<CURL*, Transfer*> running;
  std::jthread thread;

  ~Driver() {
    thread.request_stop();
    if (multi != nullptr) curl_multi_wakeup(multi);
    if (thread.joinable()) thread.join();
    curl_multi_cleanup(multi);
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      begin_incoming();
      int active = 0;
      curl_multi_perform(multi, &active);
      finish_complete();
      finish_cancelled_and_silent();
      curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    }
  }

  void begin_incoming() {
    const std::lock_guard lock(mutex);
    for (Transfer* transfer : incoming) {
      running[transfer->easy] = transfer;
      curl_multi_add_handle(multi, transfer->easy);
    }
    incoming.clear();
  }

  void finish_complete() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE) finish(message->easy_handle, message->data.result);
  }

  // Silence is measured here: curl's own measure is an average over seconds.
  void finish_cancelled_and_silent() {
    std::vector<std::pair<CURL*, CURLcode>> ended;
    const Clock::time_point now = Clock::now();
    for (const auto& [easy, transfer] : running) {
      if (transfer->cancelled)
        ended.emplace_back(easy, CURLE_ABORTED_BY_CALLBACK);
      else if (now - transfer->last_byte > transfer->most_silence)
        ended.emplace_back(easy, CURLE_OPERATION_TIMEDOUT);
    }
    for (const auto& [easy, code] : ended) finish(easy, code);
  }

  void finish(CURL* easy, CURLcode code) {
    const auto found = running.find(easy);
    if (found == running.end()) return;
    Transfer& transfer = *found->second;
    running.erase(found);
    HttpReply& reply = transfer.reply;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply.status);
    curl_off_t wait = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
    if (wait > 0) reply.retry_after = std::chrono::seconds(wait);
    reply.end = end_of(transfer, code);
    if (reply.end != HttpReply::End::Complete)
      reply.error = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(code);
    curl_multi_remove_handle(multi, easy);
    const std::lock_guard lock(transfer.mutex);
    transfer.done = true;
    transfer.changed.notify_all();  // under the lock: afterwards the transfer is gone
  }
};

HttpClient::HttpClient(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::create(const std::string& proxy, Secret key) {
  static const CURLcode kInitialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto driver = std::make_unique<Driver>();
  driver->multi = kInitialised == CURLE_OK ? curl_multi_init() : nullptr;
  if (driver->multi == nullptr) return Error{"the HTTP library cannot be started"};
  driver->proxy = proxy;
  driver->key = std::move(key);
  driver->thread = std::jthread([&driver = *driver](const std::stop_token& stop) { driver.run(stop); });
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(driver)));
}

namespace {

void set_headers(Transfer& transfer, const HttpRequest& request, const Secret& key) {
  // Without the empty "expect:", curl waits a second for servers that do not know 100-continue.
  transfer.headers = curl_slist_append(nullptr, "expect:");
  for (const std::string& header : request.headers)
    transfer.headers = curl_slist_append(transfer.headers, header.c_str());
  if (!key.empty() && !request.key_header.empty())
    transfer.headers = curl_slist_append(transfer.headers, (request.key_header + key.reveal()).c_str());
  curl_easy_setopt(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers);
}

void set_options(Transfer& transfer, const HttpRequest& request, const HttpLimits& limits, const std::string& proxy) {
  CURL* easy = transfer.easy;
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.error);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // a key goes to no host that the user did not name
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "hipbench");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.whole.count()));
  if (!proxy.empty()) curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str());
}

}  // namespace

bool HttpClient::key_is_in(std::string_view text) const { return driver_->key.is_in(text); }

HttpReply HttpClient::post(const HttpRequest& request, const HttpLimits& limits, const Sink& sink,
                           std::stop_token stop) {
  const Clock::time_point begin = Clock::now();
  Transfer transfer;
  transfer.easy = curl_easy_init();
  if (transfer.easy == nullptr) return {.end = HttpReply::End::NoConnection, .error = "no memory for a request"};
  transfer.sink = &sink;
  transfer.most_bytes = limits.bytes;
  transfer.most_silence = limits.silence;
  set_headers(transfer, request, driver_->key);
  set_options(transfer, request, limits, driver_->proxy);
  const std::stop_callback cancel(stop, [&] {
    transfer.cancelled = true;
    curl_multi_wakeup(driver_->multi);
  });
  {
    const std::lock_guard lock(driver_->mutex);
    driver_->incoming.push_back(&transfer);
  }
  curl_multi_wakeup(driver_->multi);
  {
    std::unique_lock lock(transfer.mutex);
    transfer.changed.wait(lock, [&] { return transfer.done; });
  }
  HttpReply reply = std::move(transfer.reply);
  reply.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  reply.body = driver_->key.redacted(std::move(reply.body));
  reply.error = driver_->key.redacted(std::move(reply.error));
  return reply;
}

}  // namespace hipbench::agents
