#include "tests/agents/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/result.hpp"

namespace hipbench::agents {

namespace {

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool receive_more(int fd, std::string& buffer) {
  char bytes[16384];
  const ssize_t size = ::recv(fd, bytes, sizeof bytes, 0);
  if (size <= 0) return false;
  buffer.append(bytes, static_cast<size_t>(size));
  return true;
}

// False: the client has gone.
bool read_request(int fd, std::string& buffer, ServedRequest& request) {
  size_t end;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
    if (!receive_more(fd, buffer)) return false;
  const size_t path = buffer.find(' ') + 1;
  request.path = buffer.substr(path, buffer.find(' ', path) - path);
  for (size_t at = buffer.find("\r\n") + 2; at < end;) {
    const size_t line_end = buffer.find("\r\n", at);
    const size_t colon = buffer.find(": ", at);
    std::string name = buffer.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = buffer.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  const size_t size = std::stoul(request.headers["content-length"]);
  while (buffer.size() < end + 4 + size)
    if (!receive_more(fd, buffer)) return false;
  request.body = buffer.substr(end + 4, size);
  buffer.erase(0, end + 4 + size);
  return true;
}

std::string chunk(std::string_view piece) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
  return size + std::string(piece) + "\r\n";
}

}  // namespace

HttpServer::HttpServer(Handler handler)
    : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(::listen(listener_.get(), 256) == 0);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  stopping_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const UniqueFd& connection : connections_) ::shutdown(connection.get(), SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string HttpServer::url() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

void HttpServer::accept_all() {
  for (;;) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (stopping_) return;
    if (!fd.valid()) continue;
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const std::lock_guard lock(mutex_);
    const int number = fd.get();
    connections_.push_back(std::move(fd));
    threads_.emplace_back([this, number] { serve(number); });
  }
}

void HttpServer::serve(int fd) {
  std::string buffer;
  for (;;) {
    ServedRequest request;
    if (!read_request(fd, buffer, request)) break;
    request.number = requests_++;
    if (!send_reply(fd, handler_(request))) break;
  }
  ::shutdown(fd, SHUT_RDWR);
}

bool HttpServer::send_reply(int fd, const ServedReply& reply) {
  std::this_thread::sleep_for(reply.before);
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Said\r\ntransfer-encoding: chunked\r\n";
  for (const std::string& header : reply.headers) head += header + "\r\n";
  if (!reply.without_status && !send_all(fd, head + "\r\n")) return false;
  for (const std::string& piece : reply.pieces)
    if (!send_all(fd, reply.without_status ? piece : chunk(piece))) return false;
  switch (reply.then) {
    case ServedReply::Then::End:
      return !reply.without_status && send_all(fd, "0\r\n\r\n");
    case ServedReply::Then::Drop:
      return false;
    case ServedReply::Then::Stall: {
      std::string ignored;
      while (receive_more(fd, ignored)) {
      }
      return false;
    }
    case ServedReply::Then::Endless:
      while (!stopping_ && send_all(fd, chunk(reply.pieces.back()))) {
      }
      return false;
  }
  return false;
}

ServedReply say(Speak protocol, const Said& said, size_t piece_bytes) {
  using Json = nlohmann::json;
  std::string stream;
  const auto event = [&](const Json& json, const char* name = nullptr) {
    if (name != nullptr) stream += std::string("event: ") + name + "\n";
    stream += "data: " + json.dump() + "\n\n";
  };
  const size_t half = said.text.size() / 2;
  const std::string parts[] = {said.text.substr(0, half), said.text.substr(half)};
  const auto stop = [&](const char* proper) { return said.stop.empty() ? std::string(proper) : said.stop; };
  switch (protocol) {
    case Speak::OpenAi:
      stream += ": keep alive\n\n";
      for (const std::string& part : parts)
        event({{"choices", {{{"index", 0}, {"delta", {{"content", part}}}, {"finish_reason", nullptr}}}}});
      event({{"choices", {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", stop("stop")}}}}});
      event({{"choices", Json::array()},
             {"usage", {{"prompt_tokens", said.prompt_tokens}, {"completion_tokens", said.answer_tokens}}}});
      stream += "data: [DONE]\n\n";
      break;
    case Speak::Anthropic:
      event({{"type", "message_start"}, {"message", {{"usage", {{"input_tokens", said.prompt_tokens}}}}}},
            "message_start");
      event({{"type", "ping"}}, "ping");
      event({{"type", "content_block_delta"}, {"delta", {{"type", "thinking_delta"}, {"thinking", "hm"}}}});
      for (const std::string& part : parts)
        event({{"type", "content_block_delta"}, {"delta", {{"type", "text_delta"}, {"text", part}}}});
      event({{"type", "message_delta"},
             {"delta", {{"stop_reason", stop("end_turn")}}},
             {"usage", {{"output_tokens", said.answer_tokens}}}});
      event({{"type", "message_stop"}}, "message_stop");
      break;
    case Speak::Gemini:
      event(
          {{"candidates", {{{"content", {{"parts", {{{"text", "hm"}, {"thought", true}}, {{"text", parts[0]}}}}}}}}}});
      event({{"candidates", {{{"content", {{"parts", {{{"text", parts[1]}}}}}}, {"finishReason", stop("STOP")}}}},
             {"usageMetadata",
              {{"promptTokenCount", said.prompt_tokens}, {"candidatesTokenCount", said.answer_tokens}}}});
      break;
  }
  ServedReply reply;
  reply.headers = {"content-type: text/event-stream"};
  const size_t size = piece_bytes == 0 ? std::max<size_t>(stream.size(), 1) : piece_bytes;
  for (size_t at = 0; at < stream.size(); at += size) reply.pieces.push_back(stream.substr(at, size));
  return reply;
}

}  // namespace hipbench::agents
