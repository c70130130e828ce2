#pragma once
// A local HTTP server that says what a test wants, also what no honest server says: it drops, stalls, never ends, lies.

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/unique_fd.hpp"

namespace hipbench::agents {

struct ServedRequest {
  size_t number = 0;  // from 0, in order of arrival
  std::string path, body;
  std::map<std::string, std::string> headers;  // names in lower case
};

struct ServedReply {
  enum class Then {
    End,
    Drop,     // the connection, without the end that was announced
    Stall,    // silence for as long as the client stays
    Endless,  // the last piece again and again
  };
  int status = 200;
  std::vector<std::string> headers = {};  // "retry-after: 1"
  std::vector<std::string> pieces = {};   // of the body, each sent by itself
  Then then = Then::End;
  bool without_status = false;         // only the pieces, as they are
  std::chrono::milliseconds before{};  // the reply
};

class HttpServer {
 public:
  using Handler = std::function<ServedReply(const ServedRequest&)>;  // called from many threads

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  size_t requests() const { return requests_; }

 private:
  void accept_all();
  void serve(int fd);
  bool send_reply(int fd, const ServedReply& reply);

  const Handler handler_;
  UniqueFd listener_;
  std::atomic<bool> stopping_ = false;
  std::atomic<size_t> requests_ = 0;
  std::mutex mutex_;
  std::list<UniqueFd> connections_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// What an honest provider says, cut into small pieces at places that do not suit the reader.
enum class Speak { OpenAi, Anthropic, Gemini };
struct Said {
  std::string text;
  std::string stop = {};  // the protocol's word; empty = its word for a proper end
  uint64_t prompt_tokens = 100, answer_tokens = 50;
};
ServedReply say(Speak protocol, const Said& said, size_t piece_bytes = 0);

}  // namespace hipbench::agents
