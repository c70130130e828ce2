// hipbench eval --jsonl as the program that users start.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/line_reader.hpp"
#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "common/toolchain.hpp"
#include "results/store.hpp"

namespace hipbench::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Rejected without a compiler.
constexpr const char* kRejected = "/* hipbench-plan 1\nproblem = \"none\"\n*/\n";
constexpr const char* kHangs =
    "#include <hip/hip_runtime.h>\n#include \"hipbench/fp8_gemm.h\"\n"
    "__global__ void unused() {}\nextern \"C\" int hb_fp8_gemm_run(const hb_fp8_gemm*, void*, size_t, hipStream_t) { "
    "for (;;) {} }\n";

class JsonLines : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", HIPBENCH_BINARY_DIR "/tests/cache", 1);
    if (const Result<Toolchain> toolchain = Toolchain::locate(); !toolchain) GTEST_SKIP() << toolchain.error().message;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  static json candidate(const std::string& id, const std::string& source) {
    return {{"id", id}, {"problem", "fp8_gemm"}, {"source", source}};
  }
  static std::string starter() {
    return read_file(HIPBENCH_SOURCE_DIR "/problems/fp8_gemm/starter_kernel.hip").value();
  }

  struct Run {
    int exit_code;
    std::string errors;
    std::vector<json> lines;
    const json& of(const json& id) const {
      static const json none;
      const auto found = std::find_if(lines.begin(), lines.end(), [&](const json& line) { return line["id"] == id; });
      return found == lines.end() ? none : *found;
    }
  };
  Run run(const std::vector<std::string>& input, std::vector<std::string> more = {}) const {
    std::string text;
    for (const std::string& line : input) text += line + "\n";
    EXPECT_TRUE(write_file_atomically(path("in.jsonl"), text));
    std::vector<std::string> words = {HIPBENCH_BINARY_DIR "/hipbench",
                                      "eval",
                                      "--jsonl",
                                      path("in.jsonl"),
                                      "--db",
                                      path("results.db"),
                                      "--shapes",
                                      "m=64,n=64,k=128"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = run_process(words).value();
    return {result.exit_code, result.errors, parsed(result.output)};
  }
  static std::vector<json> parsed(const std::string& output) {
    std::vector<json> lines;
    std::istringstream text(output);
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
  size_t stored() const { return results::Store::open(path("results.db"))->list()->size(); }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("jsonl_test").value();
};

TEST_F(JsonLines, EveryCandidateHasALineWithWhatTheDocumentsSay) {
  const Run result = run(
      {candidate("good", starter()).dump(), candidate("bad", kRejected).dump(), candidate("broken", "int x").dump()});
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_EQ(result.lines.size(), 3u);
  const json& good = result.of("good");
  EXPECT_EQ(good["schema"], "hipbench.result/1");
  EXPECT_EQ(good["verdict"], "passed");
  EXPECT_EQ(good["fault"], "none");
  EXPECT_EQ(good["stage"], "done");
  EXPECT_EQ(good["match"], 1.0);
  EXPECT_EQ(good["shapes"][0]["shape"], "m=64,n=64,k=128");
  EXPECT_GT(good["cost"]["seconds"], 0.0);
  EXPECT_GT(good["cost"]["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(good["cost"]["attempts"], 1);
  EXPECT_TRUE(good["evaluation"].is_number_integer());
  EXPECT_THAT(good["versions"]["toolchain"], HasSubstr("clang"));
  EXPECT_EQ(result.of("bad")["verdict"], "rejected");
  EXPECT_EQ(result.of("bad")["fault"], "candidate");
  EXPECT_EQ(result.of("bad")["stage"], "plan");
  EXPECT_EQ(result.of("bad")["match"], 0.0);
  EXPECT_EQ(result.of("broken")["stage"], "compile");
  EXPECT_EQ(stored(), 3u);

  // Nobody has evaluated the baseline yet; then somebody does, and from then on its times are found.
  EXPECT_TRUE(good["speedup"].is_null());
  EXPECT_THAT(good["no_speedup"].get<std::string>(), HasSubstr("--with-baseline"));
  const Run with = run({candidate("again", starter()).dump()}, {"--with-baseline"});
  ASSERT_TRUE(with.of("again")["speedup"].is_number()) << with.errors;
  EXPECT_EQ(stored(), 5u);
  const Run after = run({candidate("later", starter()).dump()});
  EXPECT_EQ(after.of("later")["speedup"], with.of("again")["speedup"]);
  EXPECT_EQ(after.of("later")["shapes"][0]["speedup"], after.of("later")["speedup"]);
  EXPECT_EQ(after.of("later")["baseline_sha256"], with.of("again")["baseline_sha256"]);
  EXPECT_EQ(stored(), 6u);
}

TEST_F(JsonLines, ALineThatMakesNoSenseIsAnsweredAndNeverStopsTheBatch) {
  const json good = candidate("good", kRejected);
  const auto with = [&](const char* id, const char* key, json value) {
    json line = candidate(id, kRejected);
    line[key] = std::move(value);
    return line.dump();
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"{\"id\": ", "not JSON"},
      {"[1, 2]", "JSON object"},
      {"{\"problem\": \"fp8_gemm\", \"source\": \"x\"}", "\"id\" is missing"},
      {with("a", "id", 1.5), "\"id\" is a string or an integer, not 1.5"},
      {with("a", "id", std::string(1000, 'x')), "1 to 256"},
      {with("b", "problem", "fp8_gem"), "did you mean \"fp8_gemm\"?"},
      {with("c", "sorce", "x"), "there is no key \"sorce\"; did you mean \"source\"?"},
      {with("d", "path", "x.hip"), "either \"source\""},
      {with("e", "source", nullptr), "either \"source\""},
      {with("f", "source", ""), "\"source\" is empty"},
      {with("g", "shapes", "m=1"), "is missing"},
      {with("h", "shapes", json::array()), "not empty"},
      {with("i", "track", "both"), "kernel or host"},
      {with("j", "seed", -1), "\"seed\" is a number from 0"},
      {with("k", "limits", json{{"host_seconds", 0}}), "above 0 and up to 600"},
      {with("l", "limits", json{{"seconds", 1}}), "there is no key \"seconds\""},
      {with("m", "source", std::string("a\0b", 3)), "NUL byte"},
      {"{\"cancel\": null, \"id\": \"n\"}", "\"problem\" is missing"},
      {"{\"cancel\": \"x\", \"id\": \"n\"}", "no other keys"},
      {"\xff\xfe", "not JSON"},
      {std::string(100'000, '['), "not JSON"},
      {good.dump(), "given before"},
  };
  std::vector<std::string> lines = {good.dump(), "", "  \t"};
  for (const auto& [line, reason] : wrong) lines.push_back(line);
  lines.push_back(candidate("last", kRejected).dump());
  const Run result = run(lines);
  EXPECT_EQ(result.exit_code, 2) << result.errors;
  ASSERT_EQ(result.lines.size(), wrong.size() + 2);
  std::map<size_t, json> by_number;
  for (const json& line : result.lines)
    if (line["verdict"] == "invalid_request") by_number[line["line"]] = line;
  for (size_t k = 0; k < wrong.size(); ++k) {
    ASSERT_TRUE(by_number.contains(k + 4)) << wrong[k].first.substr(0, 100);
    EXPECT_THAT(by_number[k + 4]["reason"], HasSubstr(wrong[k].second)) << wrong[k].first.substr(0, 100);
    EXPECT_EQ(by_number[k + 4]["fault"], "infrastructure");
  }
  EXPECT_EQ(by_number[9]["id"], "b");
  EXPECT_EQ(result.of("last")["verdict"], "rejected");
}

TEST_F(JsonLines, TheSameBatchAgainGivesTheSameLinesWithoutWork) {
  const std::vector<std::string> input = {candidate("1", kRejected).dump(),
                                          json({{"id", 2}, {"problem", "fp8_gemm"}, {"source", kRejected}}).dump()};
  const Run first = run({input[0]}, {"--batch", "b"});
  const Run second = run(input, {"--batch", "b"});
  const Run third = run(input, {"--batch", "b"});
  ASSERT_EQ(second.lines.size(), 2u);
  EXPECT_EQ(second.of("1"), first.of("1"));
  EXPECT_EQ(third.lines, second.lines);
  EXPECT_EQ(third.of(2)["verdict"], "rejected");
  EXPECT_THAT(third.errors, HasSubstr("2 of them answered by an earlier run"));
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(run(input).lines.size(), 2u);
  EXPECT_EQ(stored(), 4u);
}

TEST_F(JsonLines, AnotherCandidateUnderAKnownIdIsNotMistakenForIt) {
  static_cast<void>(run({candidate("1", kRejected).dump()}, {"--batch", "b"}));
  const Run changed = run({candidate("1", std::string(kRejected) + "// changed\n").dump()}, {"--batch", "b"});
  EXPECT_EQ(changed.of("1")["verdict"], "invalid_request");
  EXPECT_THAT(changed.of("1")["reason"], HasSubstr("another candidate of this id"));
  EXPECT_EQ(stored(), 1u);
}

TEST_F(JsonLines, ACandidateIsCancelledById) {
  const Run result = run({candidate("hangs", kHangs).dump(), candidate("good", kRejected).dump(),
                          "{\"cancel\": \"hangs\"}", "{\"cancel\": \"unknown\"}"},
                         {"--jobs", "2", "--batch", "b"});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_EQ(result.of("hangs")["verdict"], "cancelled");
  EXPECT_EQ(result.of("hangs")["fault"], "none");
  EXPECT_EQ(result.of("good")["verdict"], "rejected");
  EXPECT_THAT(result.errors, HasSubstr("nothing to cancel: unknown"));
  EXPECT_EQ(result.lines.size(), 2u);
  EXPECT_EQ(stored(), 1u);
}

TEST_F(JsonLines, LimitsOfALineAreKept) {
  json hangs = candidate("hangs", kHangs), loops = candidate("loops", starter());
  hangs["limits"] = {{"host_seconds", 0.3}};
  loops["limits"] = {{"wave_instructions", 10}};
  const Run result = run({hangs.dump(), loops.dump()});
  EXPECT_EQ(result.of("hangs")["verdict"], "timed_out");
  EXPECT_THAT(result.of("hangs")["reason"], HasSubstr("0.3 s"));
  EXPECT_EQ(result.of("loops")["verdict"], "timed_out") << result.of("loops").dump();
}

// A batch on a pipe: begun, stopped by a signal, gone on with.
TEST_F(JsonLines, SigtermEndsWhatRunsAndALaterRunGoesOn) {
  int to[2], from[2];
  ASSERT_EQ(::pipe(to), 0);
  ASSERT_EQ(::pipe(from), 0);
  const pid_t judge = ::fork();
  if (judge == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
    ::execl(HIPBENCH_BINARY_DIR "/hipbench", "hipbench", "eval", "--jsonl", "-", "--db", path("results.db").c_str(),
            "--batch", "b", "--jobs", "1", "--shapes", "m=64,n=64,k=128", nullptr);
    ::_exit(99);
  }
  ::close(to[0]);
  ::close(from[1]);
  const std::string first = candidate("1", kRejected).dump() + "\n", second = candidate("2", kHangs).dump() + "\n";
  ASSERT_EQ(::write(to[1], first.data(), first.size()), static_cast<ssize_t>(first.size()));
  std::string output(1 << 16, '\0');
  const ssize_t got = ::read(from[0], output.data(), output.size());  // though the input has not ended
  ASSERT_GT(got, 0);
  EXPECT_EQ(parsed(output.substr(0, static_cast<size_t>(got))).at(0)["id"], "1");
  ASSERT_EQ(::write(to[1], second.data(), second.size()), static_cast<ssize_t>(second.size()));
  std::this_thread::sleep_for(500ms);
  ::kill(judge, SIGTERM);
  int status = 0;
  ASSERT_EQ(::waitpid(judge, &status, 0), judge);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM) << status;
  EXPECT_EQ(::read(from[0], output.data(), output.size()), 0);
  ::close(to[1]);
  ::close(from[0]);
  EXPECT_EQ(run({candidate("1", kRejected).dump(), candidate("3", kRejected).dump()}, {"--batch", "b"}).lines.size(),
            2u);
  EXPECT_EQ(stored(), 2u);
}

TEST_F(JsonLines, AReaderThatGoesAwayEndsTheBatch) {
  EXPECT_TRUE(write_file_atomically(path("in.jsonl"),
                                    candidate("1", kRejected).dump() + "\n" + candidate("2", kHangs).dump() + "\n"));
  const ProcessResult result = run_process({"/bin/sh", "-c",
                                            "{ '" HIPBENCH_BINARY_DIR "/hipbench' eval --jsonl '" + path("in.jsonl") +
                                                "' --no-db; echo status $? >&2; } | true"})
                                   .value();
  EXPECT_THAT(result.errors, HasSubstr("status 3"));
}

TEST(LineReaderTest, LinesOfEveryLength) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "one\n\n" + std::string(100, 'x') + "\ntwo\n" + std::string(200'000, 'y') + "\nlast";
  std::thread writer([&] {
    for (std::string_view left = text; !left.empty();) {
      const ssize_t put = ::write(ends[1], left.data(), std::min<size_t>(left.size(), 1000));
      if (put <= 0) break;
      left.remove_prefix(static_cast<size_t>(put));
    }
    ::close(ends[1]);
  });
  int never[2];
  ASSERT_EQ(::pipe(never), 0);
  LineReader reader(ends[0], never[0], 50);
  std::vector<std::string> lines;
  for (;;) {
    const auto line = reader.next().value();
    if (!line) break;
    lines.push_back(line->too_long ? "too long" : line->text);
    EXPECT_EQ(line->number, lines.size());
  }
  writer.join();
  EXPECT_THAT(lines, ElementsAre("one", "", "too long", "two", "too long", "last"));
  for (const int fd : {ends[0], never[0], never[1]}) ::close(fd);
}

}  // namespace
}  // namespace hipbench::cli
