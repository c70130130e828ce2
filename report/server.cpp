#include "report/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

#include "report/page.hpp"
#include "results/store.hpp"

namespace hipbench::report {

namespace {

constexpr size_t kMostRequestBytes = 4096;
constexpr std::chrono::seconds kPatience{10};  // with a slow client

std::string now() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// A page of somebody else may make the reader's browser resolve a name of his to 127.0.0.1 and read what we answer; the
// name it asked for tells.
bool is_for_us(const std::string& header, const std::string& own_host) {
  std::string host = header;
  if (const size_t colon = host.rfind(':'); colon != std::string::npos && host.find(']', colon) == std::string::npos)
    host.resize(colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return is_loopback(host) || host == own_host;
}

void answer_text(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + "\n", "text/plain; charset=utf-8");
}

}  // namespace

struct Server::State {
  ServerOptions options;
  httplib::Server http;
  int port = 0;
  std::atomic<bool> is_stopped = false, has_ended = false;
  std::mutex mutex;  // of what follows
  std::shared_ptr<const Page> page;
  std::string stamp;  // of the files that `page` was made from

  // Changes whenever the database does; costs nothing.
  std::string files_stamp() const {
    std::string text;
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::path file = options.database;
      file += suffix;
      std::error_code none;
      const auto size = std::filesystem::file_size(file, none);
      const auto time = std::filesystem::last_write_time(file, none);
      text += none ? "- " : fmt::format("{}/{} ", size, time.time_since_epoch().count());
    }
    return text;
  }

  // What a page is told apart by for its reader: the newest evaluation.
  Result<std::string> revision() const {
    const results::Store store = TRY(results::Store::open(options.database, {.access = results::Access::Read}));
    const std::vector<results::EvaluationSummary> newest =
        TRY(store.list({.problem = options.document.problem, .limit = 1}));
    return newest.empty() ? std::string("0") : std::to_string(newest[0].id);
  }

  Result<std::shared_ptr<const Page>> current_page() {
    const std::lock_guard lock(mutex);
    const std::string current = files_stamp();  // before reading: what is written meanwhile makes the next page
    if (page && current == stamp) return page;
    DocumentOptions document = options.document;
    document.generated_at = now();
    document.revision = TRY(revision());
    page = std::make_shared<const Page>(make_page(TRY(make_document(options.database, document)), true));
    stamp = current;
    return page;
  }

  void answer_page(httplib::Response& response) {
    const Result<std::shared_ptr<const Page>> made = current_page();
    if (!made) return answer_text(response, 500, made.error().message);
    const std::shared_ptr<const Page> current = *made;
    response.set_header("Content-Security-Policy", current->content_security_policy + "; frame-ancestors 'none'");
    // By a provider: the library would compress a body at the slowest setting.
    response.set_content_provider(current->html.size(), "text/html; charset=utf-8",
                                  [current](size_t offset, size_t length, httplib::DataSink& sink) {
                                    return sink.write(current->html.data() + offset, length);
                                  });
  }

  void set_up() {
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      for (const auto& [name, value] : {std::pair{"X-Content-Type-Options", "nosniff"},
                                        {"Referrer-Policy", "no-referrer"},
                                        {"Cache-Control", "no-store"},
                                        {"Cross-Origin-Resource-Policy", "same-origin"}})
        response.set_header(name, value);
      if (is_loopback(options.host) && !is_for_us(request.get_header_value("Host"), options.host)) {
        answer_text(response, 403, "this address is for the machine's own browser: ask for " + options.host);
      } else if (request.method != "GET" && request.method != "HEAD") {
        answer_text(response, 405, "read-only: GET and HEAD are all there is");
      } else {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    http.Get("/", [this](const httplib::Request&, httplib::Response& response) { answer_page(response); });
    http.Get("/revision", [this](const httplib::Request&, httplib::Response& response) {
      const Result<std::string> newest = revision();
      answer_text(response, newest ? 200 : 500, newest ? *newest : newest.error().message);
    });
    http.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) answer_text(response, response.status, "there is nothing here; the page is at /");
    });
    // The library's own default lets two programs share a port, each seeing half of the requests.
    http.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_payload_max_length(kMostRequestBytes);
    http.set_read_timeout(kPatience);
    http.set_write_timeout(kPatience);
    http.set_keep_alive_timeout(2);  // so that stop() need not wait longer
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::open(ServerOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->set_up();
  TRY(state->revision());  // a database that cannot be read is better said now
  const std::string& host = state->options.host;
  errno = 0;
  state->port = state->options.port == 0
                    ? state->http.bind_to_any_port(host.c_str())
                    : (state->http.bind_to_port(host.c_str(), state->options.port) ? state->options.port : -1);
  const int reason = errno;
  if (state->port > 0) return Server(std::move(state));
  const std::string where = fmt::format("{}:{}", host, state->options.port);
  if (reason == EADDRINUSE)
    return Error{fmt::format(
        "{} is taken by another program; choose another port with --port, or 0 for any that is free", where)};
  if (reason == EACCES)
    return Error{fmt::format("{} is not allowed for this user; choose a port above 1023 with --port", where)};
  return Error{fmt::format("cannot listen on {}: {}; --host takes an address of this machine", where,
                           reason == 0 ? "no such address" : std::strerror(reason))};
}

int Server::port() const { return state_->port; }
std::string Server::url() const {
  const std::string& host = state_->options.host;
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host, state_->port)
                                             : fmt::format("http://[{}]:{}/", host, state_->port);
}

void Server::run() {
  if (!state_->is_stopped) state_->http.listen_after_bind();
  state_->has_ended = true;
}

void Server::stop() {
  state_->is_stopped = true;
  // The library takes no notice of a stop that comes before it runs.
  while (!state_->http.is_running() && !state_->has_ended) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  state_->http.stop();
}

}  // namespace hipbench::report
