// hipbench mcp: the problems, the judge and the history as tools of the Model Context Protocol, over standard input and
// output, so that any coding agent can use hipbench as its environment. What it never serves: candidates and references
// that ship with hipbench.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "agents/feedback.hpp"
#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/json.hpp"
#include "cli/line_reader.hpp"
#include "cli/stop_signals.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "evaluator/evaluate.hpp"

namespace hipbench::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestLine = size_t{4} << 20;
constexpr size_t kLongestSource = size_t{256} << 10;
constexpr size_t kMostShapes = 12;
constexpr size_t kMostWaiting = 64;
constexpr std::string_view kVersions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};  // newest first

// JSON-RPC's own codes.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kNoMethod = -32601, kInvalidParams = -32602;

struct McpArguments {
  std::string database = kDefaultDatabase, submit_shapes = "tests";
  std::vector<std::string> problems;  // empty: all
  unsigned most_evaluations = 200, threads = 0;
  double most_minutes = 600;
};

std::string text_of(const Json& json, std::string_view key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Json content(const std::string& text, bool is_error = false) {
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

Json tool(const char* name, const char* description, Json properties, std::vector<std::string> required) {
  return {
      {"name", name},
      {"description", description},
      {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}}}};
}

Json tools_json() {
  const Json problem = {{"type", "string"}, {"description", "the problem's id"}};
  const Json source = {{"type", "string"}, {"description", "the complete HIP source file"}};
  const Json shapes = {{"type", "array"},
                       {"items", {{"type", "string"}}},
                       {"description", "\"quick\" (default), or shapes as KEY=N,KEY=N"}};
  const Json shape = {{"type", "string"}, {"description", "KEY=N,KEY=N; default: the problem's first quick shape"}};
  return Json::array(
      {tool("problem",
            "List the problems, or show one: maths, layouts, header, shapes, tolerance, roofs, a starter that passes.",
            {{"problem", problem}}, {}),
       tool("evaluate",
            "Compile a candidate and judge it on small shapes: verdict, wrong elements, cost of each shape.",
            {{"problem", problem}, {"source", source}, {"shapes", shapes}}, {"problem", "source"}),
       tool("check", "The same with memory, race, uninitialised-read and barrier checks. Slower; takes no time.",
            {{"problem", problem}, {"source", source}, {"shapes", shapes}}, {"problem", "source"}),
       tool("profile", "What one launch did: instructions by class, bytes, registers, what stands out.",
            {{"problem", problem}, {"source", source}, {"shape", shape}}, {"problem", "source"}),
       tool("submit",
            "The candidate that counts: judged on the larger shapes of the tests and recorded as a submission.",
            {{"problem", problem}, {"source", source}}, {"problem", "source"}),
       tool("history", "What was evaluated in this session, newest first.", {{"limit", {{"type", "integer"}}}}, {})});
}

class Session {
 public:
  explicit Session(const McpArguments& arguments) : arguments_(arguments), worker_([this] { work(); }) {}
  ~Session() { end(); }

  Result<void> open_store() {
    store_.emplace(TRY(results::Store::open(arguments_.database)));
    return {};
  }

  void take(const LineReader::Line& line) {
    if (line.too_long)
      return reply_error(nullptr, kInvalidRequest, fmt::format("the line is longer than {} MiB", kLongestLine >> 20));
    const Result<Json> parsed = parse_json(line.text);
    if (!parsed) return reply_error(nullptr, kParseError, "the line is not JSON");
    const Json& message = *parsed;
    if (!message.is_object() || text_of(message, "jsonrpc") != "2.0")
      return reply_error(nullptr, kInvalidRequest, "every line is one JSON-RPC 2.0 object");
    const Json id = message.value("id", Json());
    const std::string method = text_of(message, "method");
    const Json params = message.value("params", Json::object());
    if (method == "notifications/cancelled")
      return cancel(params.is_object() ? params.value("requestId", Json()) : Json());
    if (id.is_null() || method.empty()) return;  // other notifications, and answers to nothing that we asked
    if (method == "initialize") return reply(id, initialized(text_of(params, "protocolVersion")));
    if (method == "ping") return reply(id, Json::object());
    if (method == "tools/list") return reply(id, {{"tools", tools_json()}});
    if (method != "tools/call")
      return reply_error(id, kNoMethod, fmt::format("there is no method \"{}\"", printable_line(method)));
    enqueue(id, params);
  }

  // Answers what was asked, then ends.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_.empty() && running_.is_null(); });
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      calls_.clear();
      stop_.request_stop();
      changed_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
  }

 private:
  struct Call {
    Json id, params;
  };

  static Json initialized(const std::string& asked) {
    std::string version(kVersions[0]);
    for (const std::string_view known : kVersions)
      if (known == asked) version = asked;
    return {{"protocolVersion", version},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", {{"name", "hipbench"}, {"version", HIPBENCH_VERSION}}},
            {"instructions",
             "Write HIP kernels for AMD MI300X. Read a problem, evaluate candidates on small shapes until one passes, "
             "profile it, make it faster, and submit the best."}};
  }

  void print(const Json& message) {
    const std::lock_guard lock(output_);
    std::fputs((json_text(message) + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  void reply(const Json& id, Json result) { print({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}); }
  void reply_error(const Json& id, int code, const std::string& text) {
    print({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
  }

  void enqueue(const Json& id, const Json& params) {
    const std::lock_guard lock(mutex_);
    if (calls_.size() >= kMostWaiting) return reply_error(id, kInvalidRequest, "too many calls wait already");
    calls_.push_back({id, params});
    changed_.notify_all();
  }

  void cancel(const Json& id) {
    const std::lock_guard lock(mutex_);
    if (!running_.is_null() && running_ == id) stop_.request_stop();
    std::erase_if(calls_, [&](const Call& call) { return call.id == id; });
  }

  void work() {
    for (;;) {
      Call call;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ended_ || !calls_.empty(); });
        if (ended_) return;
        call = std::move(calls_.front());
        calls_.pop_front();
        running_ = call.id;
        stop_ = std::stop_source();
      }
      answer(call);
      const std::lock_guard lock(mutex_);
      running_ = nullptr;
      changed_.notify_all();
    }
  }

  void answer(const Call& call) {
    const std::string name = text_of(call.params, "name");
    const Json arguments = call.params.is_object() ? call.params.value("arguments", Json::object()) : Json::object();
    const Json meta = call.params.is_object() ? call.params.value("_meta", Json::object()) : Json::object();
    progress_token_ = meta.is_object() ? meta.value("progressToken", Json()) : Json();
    Result<Json> result = Error{""};
    if (name == "problem") {
      result = show_problem(text_of(arguments, "problem"));
    } else if (name == "history") {
      result = show_history(arguments);
    } else if (name == "evaluate" || name == "check" || name == "profile" || name == "submit") {
      result = evaluate_source(name, arguments);
    } else {
      return reply_error(call.id, kInvalidParams, fmt::format("there is no tool \"{}\"", printable_line(name)));
    }
    const bool cancelled = stop_.stop_requested();
    if (cancelled) return;  // as the protocol asks: nobody waits for it
    reply(call.id, result ? std::move(*result) : content(result.error().message, true));
  }

  Result<const Problem*> allowed_problem(const std::string& id) const {
    const std::vector<std::string>& allowed = arguments_.problems;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), id) == allowed.end())
      return Error{fmt::format("this session is for the problems: {}", fmt::join(allowed, ", "))};
    return choose_problem(id);
  }

  Result<Json> show_problem(const std::string& id) const {
    if (id.empty()) {
      std::string text;
      for (const std::string& known : arguments_.problems.empty() ? problem_ids() : arguments_.problems)
        text += fmt::format("{}: {}\n", known, TRY(choose_problem(known))->title());
      return content(text);
    }
    const Problem* problem = TRY(allowed_problem(id));
    Json document = problem_json(*problem);
    document["starter"] = problem->starter(Track::Kernel);
    return content(json_text(document, 2));
  }

  Result<ShapeChoice> shapes_of(const std::string& tool_name, const Json& arguments, const Problem& problem) const {
    std::vector<std::string> words;
    if (tool_name == "submit") return choose_shapes(problem, {arguments_.submit_shapes});
    if (tool_name == "profile") {
      const std::string shape = text_of(arguments, "shape");
      words = {shape.empty() ? problem.shapes(ShapeSet::Quick).front().shape.label : shape};
    } else if (const Json shapes = arguments.value("shapes", Json::array()); shapes.is_array()) {
      for (const Json& word : shapes)
        if (word.is_string()) words.push_back(word.get<std::string>());
    }
    ShapeChoice choice = TRY(choose_shapes(problem, words));
    if (choice.shapes.size() > kMostShapes)
      return Error{fmt::format("at most {} shapes a call; submit runs the larger sets", kMostShapes)};
    return choice;
  }

  Result<void> check_limits() const {
    if (evaluations_ >= arguments_.most_evaluations)
      return Error{fmt::format("the session's {} evaluations are used up", arguments_.most_evaluations)};
    if (Clock::now() - begin_ > std::chrono::duration<double>(arguments_.most_minutes * 60))
      return Error{fmt::format("the session's {:g} minutes are used up", arguments_.most_minutes)};
    return {};
  }

  Result<Json> evaluate_source(const std::string& tool_name, const Json& arguments) {
    const std::string source = text_of(arguments, "source");
    if (!arguments.is_object() || source.empty()) return Error{"\"source\" is missing: the complete HIP source file"};
    if (source.size() > kLongestSource)
      return Error{fmt::format("the source is longer than {} KiB", kLongestSource >> 10)};
    const Problem* problem = TRY(allowed_problem(text_of(arguments, "problem")));
    const ShapeChoice choice = TRY(shapes_of(tool_name, arguments, *problem));
    TRY(check_limits());
    ++evaluations_;
    EvaluateOptions options;
    options.shapes = choice.shapes;
    options.shape_set = choice.name;
    options.check = tool_name == "check";
    options.keep_going = tool_name == "submit";
    options.threads = arguments_.threads;
    options.stop = stop_.get_token();
    options.progress = [this](const std::string& line) { show_progress(line); };
    const Evaluation evaluation =
        evaluate(*problem, fmt::format("mcp-{}-{}.hip", tool_name, evaluations_), source, options);
    if (evaluation.cancelled) return Error{"cancelled"};
    if (evaluation.verdict.fault() == Fault::Infrastructure) --evaluations_;  // ours: it costs the agent nothing
    const int64_t id = TRY(store_->record(evaluation));
    history_.push_back({{"evaluation", id},
                        {"tool", tool_name},
                        {"problem", problem->id()},
                        {"shapes", choice.name},
                        {"verdict", to_string(evaluation.verdict.kind)},
                        {"reason", evaluation.verdict.reason}});
    agents::FeedbackOptions parts;
    if (tool_name != "profile") parts.parts.erase(agents::FeedbackPart::Profile);
    std::string text = fmt::format("evaluation {}\n", id);
    for (const agents::FeedbackItem& item : agents::make_feedback(*problem, evaluation, nullptr, parts))
      text += item.text + "\n";
    text += fmt::format("{} of {} evaluations of this session are left\n", arguments_.most_evaluations - evaluations_,
                        arguments_.most_evaluations);
    return content(text);
  }

  // Whoever asks for it is told that the evaluation goes on.
  void show_progress(const std::string& line) {
    if (progress_token_.is_null()) return;
    print({{"jsonrpc", "2.0"},
           {"method", "notifications/progress"},
           {"params", {{"progressToken", progress_token_}, {"progress", ++progress_}, {"message", line}}}});
  }

  Result<Json> show_history(const Json& arguments) const {
    const Json limit = arguments.is_object() ? arguments.value("limit", Json(20)) : Json(20);
    size_t left = limit.is_number_unsigned() ? limit.get<size_t>() : 20;
    Json list = Json::array();
    for (auto entry = history_.rbegin(); entry != history_.rend() && left > 0; ++entry, --left) list.push_back(*entry);
    return content(json_text(list, 2));
  }

  const McpArguments& arguments_;
  const Clock::time_point begin_ = Clock::now();
  std::optional<results::Store> store_;
  std::mutex output_;

  // The worker's alone.
  unsigned evaluations_ = 0;
  uint64_t progress_ = 0;
  Json progress_token_;
  std::vector<Json> history_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Call> calls_;
  Json running_;
  bool ended_ = false;
  std::stop_source stop_;
  std::thread worker_;  // last: it uses all of the above
};

int serve(const McpArguments& arguments) {
  for (const std::string& id : arguments.problems)
    if (const auto problem = choose_problem(id); !problem) return fail(kWrongUsage, problem.error().message);
  ::signal(SIGPIPE, SIG_IGN);
  Session session(arguments);
  if (const Result<void> opened = session.open_store(); !opened)
    return fail(kEnvironmentFailed, opened.error().message);
  const StopSignals signals([&] { session.end(); });
  LineReader reader(STDIN_FILENO, signals.fd(), kLongestLine);
  for (;;) {
    const Result<std::optional<LineReader::Line>> line = reader.next();
    if (!line) return fail(kEnvironmentFailed, line.error().message);
    if (!*line) break;
    if ((**line).too_long || (**line).text.find_first_not_of(" \t\r") != std::string::npos) session.take(**line);
  }
  if (signals.received() != 0) return kSignalReceived + signals.received();
  session.drain();
  return kAllPassed;
}

}  // namespace

void add_mcp_verb(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("mcp", "Serve problems and the judge to a coding agent (Model Context Protocol, stdio)");
  auto arguments = std::make_shared<McpArguments>();
  verb->add_option("--db", arguments->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", arguments->problems, "Only these problems")->delimiter(',');
  verb->add_option("--max-evaluations", arguments->most_evaluations, "In one session; default: 200");
  verb->add_option("--max-minutes", arguments->most_minutes, "Of one session; default: 600")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--submit-shapes", arguments->submit_shapes,
                   "What submit runs: quick, tests (default) or benchmarks");
  verb->add_option("--threads", arguments->threads, "Threads of one evaluation; default: one a core");
  verb->footer("docs/agents.md shows how agents are told of it.");
  verb->callback([&action, arguments] { action = [arguments] { return serve(*arguments); }; });
}

}  // namespace hipbench::cli
