// hipbench serve: what it answers, to whom, and how it ends.
#include "report/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <httplib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "results/store.hpp"
#include "tests/report/synthetic_database.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_synthetic_database(database(), 1)); }
  std::filesystem::path database() const { return folder_.path() / "results.db"; }
  ServerOptions options(int port = 0) const {
    ServerOptions options;
    options.database = database();
    options.port = port;
    options.document.references = synthetic_references;
    options.document.evaluation_json = [](const Evaluation&, int64_t) { return std::string("{}"); };
    return options;
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("server_test").value();
};

// A server that runs, and a client for it.
struct Running {
  Server server;
  std::thread thread;
  httplib::Client client;

  explicit Running(const ServerOptions& options)
      : server(Server::open(options).value()), thread([this] { server.run(); }), client("127.0.0.1", server.port()) {}
  ~Running() {
    server.stop();
    thread.join();
  }
};

TEST_F(ServerTest, GivesThePageWithItsPolicy) {
  Running running(options());
  const httplib::Result answer = running.client.Get("/");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answer->get_header_value("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(answer->get_header_value("Content-Security-Policy"), HasSubstr("connect-src 'self'"));
  EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(answer->body, HasSubstr("hipbench.page/1"));
  EXPECT_EQ(running.client.Head("/")->body, "");
}

TEST_F(ServerTest, ShowsWhatCameInMeanwhile) {
  Running running(options());
  const std::string before = running.client.Get("/revision")->body;
  const int64_t id = results::Store::open(database())->record(results::sample_evaluation()).value();
  const std::string after = running.client.Get("/revision")->body;
  EXPECT_NE(before, after);
  EXPECT_EQ(after, std::to_string(id) + "\n");
  EXPECT_THAT(running.client.Get("/")->body, HasSubstr(fmt::format("\"revision\":\"{}\"", id)));
}

TEST_F(ServerTest, IsReadOnlyAndHasNothingElse) {
  Running running(options());
  EXPECT_EQ(running.client.Post("/", "x", "text/plain")->status, 405);
  EXPECT_EQ(running.client.Delete("/revision")->status, 405);
  for (const char* path : {"/nothing", "/../../etc/passwd", "/results.db", "/%2e%2e/results.db"})
    EXPECT_EQ(running.client.Get(path)->status, 404) << path;
}

TEST_F(ServerTest, AnswersNoOtherName) {  // DNS rebinding
  Running running(options());
  for (const char* host : {"evil.example", "evil.example:8940", "localhost.evil.example", "128.0.0.1"})
    EXPECT_EQ(running.client.Get("/", {{"Host", host}})->status, 403) << host;
  for (const char* host : {"localhost", "localhost:1234", "127.0.0.1", "[::1]:80"})
    EXPECT_EQ(running.client.Get("/revision", {{"Host", host}})->status, 200) << host;
}

TEST_F(ServerTest, ADatabaseThatBreaksIsSaidAndDoesNotEndIt) {
  Running running(options());
  ASSERT_TRUE(write_file_atomically(database(), "no database any more"));
  std::filesystem::remove(database().string() + "-wal");
  const httplib::Result answer = running.client.Get("/");
  EXPECT_EQ(answer->status, 500);
  EXPECT_THAT(answer->body, HasSubstr("results.db"));
  EXPECT_EQ(running.client.Get("/nothing")->status, 404);
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  Running running(options());
  const Result<Server> second = Server::open(options(running.server.port()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("is taken by another program; choose another port with --port"));
  ServerOptions elsewhere = options();
  elsewhere.host = "192.0.2.1";  // of no machine: RFC 5737
  const Result<Server> third = Server::open(elsewhere);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("--host takes an address of this machine"));
}

TEST_F(ServerTest, AStopThatComesFirstIsNotLost) {
  Server server = Server::open(options()).value();
  std::thread stopper([&] { server.stop(); });
  server.run();
  stopper.join();
}

TEST_F(ServerTest, CtrlCEndsTheProgramInOrder) {
  int out[2];
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    execl(HIPBENCH_BINARY_DIR "/hipbench", "hipbench", "serve", "--port", "0", "--db", database().c_str(), nullptr);
    _exit(99);
  }
  close(out[1]);
  std::string said;
  char byte = 0;
  while (said.find('\n') == std::string::npos && read(out[0], &byte, 1) == 1) said += byte;
  EXPECT_THAT(said, HasSubstr("serving "));
  EXPECT_THAT(said, HasSubstr("http://127.0.0.1:"));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(out[0]);
}

TEST_F(ServerTest, TheProgramSaysWhatIsWrongWithItsArguments) {
  const auto serve = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {HIPBENCH_BINARY_DIR "/hipbench", "serve"});
    return run_process(arguments).value();
  };
  const ProcessResult missing = serve({"--db", "/nowhere/none.db"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("there is no database /nowhere/none.db"));
  EXPECT_EQ(serve({"--db", database(), "--port", "70000"}).exit_code, 2);
}

}  // namespace
}  // namespace hipbench::report
