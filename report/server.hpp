#pragma once
// The page over HTTP for one's own browser: read-only, made anew when the database has changed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "report/document.hpp"

namespace hipbench::report {

struct ServerOptions {
  std::filesystem::path database;
  std::string host = "127.0.0.1";
  int port = 0;              // 0: any that is free
  DocumentOptions document;  // generated_at and revision are set for each page
};

class Server {
 public:
  // Listens, but answers nobody before run(). Errors say why it cannot: the port is taken, the address is not this
  // machine's.
  static Result<Server> open(ServerOptions options);
  Server(Server&&) noexcept;
  ~Server();

  int port() const;
  std::string url() const;
  // Answers until stop(), which any thread may call.
  void run();
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hipbench::report
