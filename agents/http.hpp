#pragma once
// HTTP for many requests at once: one thread drives all of them through curl's multi interface. The only user of curl.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "agents/secret.hpp"
#include "common/result.hpp"

namespace hipbench::agents {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "content-type: application/json"
  std::string key_header;            // name of the header that carries the key, with what stands before it:
                                     // "authorization: Bearer "; unused without a key
  std::string body;
};

struct HttpLimits {
  std::chrono::milliseconds connect = std::chrono::seconds(15);
  std::chrono::milliseconds silence = std::chrono::seconds(180);  // without a byte of the reply
  std::chrono::milliseconds whole = std::chrono::minutes(20);
  size_t bytes = size_t{8} << 20;  // of a reply
};

struct HttpReply {
  enum class End {
    Complete,
    NoConnection,
    TimedOut,  // the whole, or silence
    Broken,    // the connection ended in the middle
    TooLarge,
    Cancelled,
  };
  End end = End::Cancelled;
  long status = 0;  // 0: no status line came
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};
  std::string error = {};  // curl's words, when not Complete
  double seconds = 0;
};

class HttpClient {
 public:
  // `proxy` empty: as the environment says (https_proxy, …). `key` is sent with every request that has a key_header.
  static Result<std::unique_ptr<HttpClient>> create(const std::string& proxy, Secret key);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;

  // Is handed the bytes of a reply with status 200 as they come, in the client's thread; false = it has all it needs,
  // whether the server goes on or not.
  using Sink = std::function<bool(std::string_view bytes)>;
  // Sends it and waits for the end. Any thread may call it; calls run at once. Where the reply repeats the key it says
  // "[key]".
  HttpReply post(const HttpRequest& request, const HttpLimits& limits, const Sink& sink, std::stop_token stop);
  bool key_is_in(std::string_view text) const;

 private:
  struct Driver;
  explicit HttpClient(std::unique_ptr<Driver> driver);
  std::unique_ptr<Driver> driver_;
};

}  // namespace hipbench::agents
