// hipbench serve, and hipbench report --html.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>

#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/html_report.hpp"
#include "cli/json.hpp"
#include "cli/stop_signals.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "common/files.hpp"
#include "report/page.hpp"
#include "report/server.hpp"

namespace hipbench::cli {

namespace {

constexpr int kDefaultPort = 8940;

struct ServeOptions {
  std::string database = kDefaultDatabase, problem, host = "127.0.0.1";
  int port = kDefaultPort;
};

report::DocumentOptions document_options(const std::string& problem) {
  report::DocumentOptions options;
  options.problem = problem;
  options.evaluation_json = [](const Evaluation& evaluation, int64_t id) {
    return json_text(evaluation_json(evaluation, id));
  };
  return options;
}

std::string now() {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

int fail_on_database(const std::filesystem::path& database, const std::string& message) {
  std::error_code ignored;
  return fail(std::filesystem::exists(database, ignored) ? kEnvironmentFailed : kWrongUsage, message);
}

void say_what_is_missing() {
  if (!report::has_charts())
    fmt::print(stderr,
               "note: the page has tables without charts: this hipbench was built without the chart libraries. Run "
               "scripts/setup with a network, then scripts/build\n");
}

int serve(const ServeOptions& options) {
  report::ServerOptions server_options;
  server_options.database = options.database;
  server_options.host = options.host;
  server_options.port = options.port;
  server_options.document = document_options(options.problem);
  std::error_code ignored;
  if (!std::filesystem::exists(options.database, ignored))
    return fail(kWrongUsage, fmt::format("there is no database {}; --db FILE names one, hipbench eval makes one",
                                         printable_line(options.database)));
  Result<report::Server> server = report::Server::open(std::move(server_options));
  if (!server) return fail(kEnvironmentFailed, server.error().message);
  const StopSignals signals([&] { server->stop(); });
  say_what_is_missing();
  if (options.host != "127.0.0.1" && options.host != "localhost" && options.host != "::1")
    fmt::print(stderr, "note: everybody who reaches {} can read all of {}\n", options.host,
               printable_line(options.database));
  fmt::print("serving {} at {} (read-only; Ctrl-C ends it)\n", printable_line(options.database), server->url());
  std::fflush(stdout);
  server->run();
  fmt::print("ended\n");
  return kAllPassed;
}

}  // namespace

int write_html_report(const std::filesystem::path& database, const std::string& problem,
                      const std::filesystem::path& file) {
  report::DocumentOptions options = document_options(problem);
  options.generated_at = now();
  const Result<report::Document> document = report::make_document(database, options);
  if (!document) return fail_on_database(database, document.error().message);
  const report::Page page = report::make_page(*document, false);
  if (const Result<void> written = write_file_atomically(file, page.html); !written)
    return fail(kEnvironmentFailed, written.error().message);
  say_what_is_missing();
  fmt::print("wrote {} ({:.1f} MB); open it in a browser, it needs nothing else\n", printable_line(file.string()),
             static_cast<double>(page.html.size()) * 1e-6);
  return kAllPassed;
}

void add_serve_verb(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("serve", "The page of `report --html`, live in your browser");
  auto options = std::make_shared<ServeOptions>();
  verb->add_option("--db", options->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->problem, "Only this problem");
  verb->add_option("--port", options->port,
                   fmt::format("Port to listen on; 0: any that is free; default: {}", kDefaultPort))
      ->check(CLI::Range(0, 65535));
  verb->add_option("--host", options->host,
                   "Address to listen on; default: 127.0.0.1, which only this machine reaches");
  verb->footer(
      "The page notices new results and offers to show them. Nothing can be changed through it.\n\nExample:\n  "
      "hipbench serve --db hipbench.db");
  verb->callback([&action, options] { action = [options] { return serve(*options); }; });
}

}  // namespace hipbench::cli
