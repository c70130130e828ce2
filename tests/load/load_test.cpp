// A batch of good, wrong, crashing, hanging and hostile candidates: every verdict right, nothing left behind, the
// database intact. Then the same with the judge killed by SIGKILL at random moments and started again: nothing lost,
// nothing double. HIPBENCH_LOAD_CANDIDATES and HIPBENCH_LOAD_KILLS say how much; scripts/load-test sets them to the
// full load.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "common/files.hpp"
#include "common/unique_fd.hpp"
#include "results/store.hpp"
#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

struct Specimen {
  std::string name, source, expected;
};

// All candidates of the corpus, and kinds that it lacks.
std::vector<Specimen> specimens() {
  std::vector<Specimen> all;
  for (const char* folder : {"problems/fp8_gemm/candidates", "tests/exploits/must_fail", "tests/exploits/must_pass",
                             "tests/wrong_candidates"})
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(HIPBENCH_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".hip") continue;
      const std::string source = read_source(std::string(folder) + "/" + entry.path().filename().string());
      auto header = header_of(source);
      if (header.contains("problem") && header["problem"] != "fp8_gemm") continue;
      all.push_back({entry.path().stem().string(), source, header.contains("expect") ? header["expect"] : "passed"});
    }
  const std::string right = "args.c[index] = to_bf16(value);";
  all.push_back({"does_not_compile", kernel_source("args.c[index] = nobody_declared_this;"), "compile_error"});
  all.push_back({"host_code_does_not_compile", host_source("return launch(args, stream"), "compile_error"});
  all.push_back({"unknown_kernel_in_plan",
                 "/* hipbench-plan 1\nproblem = \"fp8_gemm\"\n[[step]]\nkernel = \"none\"\ngrid = [1]\nblock = "
                 "[64]\nargs = []\n*/\n",
                 "rejected"});
  all.push_back({"host_code_hangs", host_source("for (;;) {}"), "timed_out"});
  all.push_back({"host_code_sleeps", host_source("for (;;) pause();", "#include <unistd.h>\n"), "timed_out"});
  all.push_back({"null_pointer_in_host_code", host_source("*(volatile int*)nullptr = 1; return 0;"), "crashed"});
  all.push_back({"exits", host_source("_exit(0);", "#include <unistd.h>\n"), "crashed"});
  all.push_back(
      {"forks", host_source("fork(); return launch(args, stream);", "#include <unistd.h>\n"), "sandbox_violation"});
  all.push_back({"kills_everybody",
                 host_source("kill(-1, SIGKILL); return launch(args, stream);", "#include <signal.h>\n"),
                 "sandbox_violation"});
  all.push_back({"traps", kernel_source("__builtin_trap();"), "crashed"});
  all.push_back({"right", kernel_source(right), "passed"});
  std::sort(all.begin(), all.end(), [](const Specimen& a, const Specimen& b) { return a.name < b.name; });
  std::shuffle(all.begin(), all.end(), std::mt19937(1));
  return all;
}

// What a machine shows of programs that did not tidy up.
struct Traces {
  std::set<std::string> mounts, shared_memory;

  static Traces now() {
    Traces traces;
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) traces.mounts.insert(line);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/dev/shm", ignored))
      if (entry.path().filename().string().find("hipbench") != std::string::npos)
        traces.shared_memory.insert(entry.path());
    std::ifstream segments("/proc/sysvipc/shm");
    for (std::string line; std::getline(segments, line);) traces.shared_memory.insert(line.substr(0, 21));
    return traces;
  }
};

class LoadTest : public EvaluateTest {
 protected:
  void SetUp() override {
    EvaluateTest::SetUp();
    // Whatever a killed judge leaves running becomes our child, so that we see it.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    const std::vector<Specimen> kinds = specimens();
    std::ofstream input(path("in.jsonl"));
    for (int k = 0; k < candidates_; ++k) {
      const Specimen& one = kinds[static_cast<size_t>(k) % kinds.size()];
      const std::string id = fmt::format("{:03}-{}", k, one.name);
      expected_[id] = one.expected;
      // Each is a source of its own, so that none is compiled already.
      input << json{{"id", id},
                    {"problem", "fp8_gemm"},
                    {"source", fmt::format("{}\n// candidate {}\n", one.source, k)},
                    {"file", one.name + ".hip"},
                    {"shapes", "quick"},
                    {"limits", {{"host_seconds", 2}, {"wave_instructions", 20'000'000}}}}
                   .dump()
            << "\n";
    }
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // The judge, with temporary files and a cache of its own.
  pid_t start(const std::string& run) {
    fs::create_directories(path("tmp"));
    std::vector<std::string> words = {HIPBENCH_BINARY_DIR "/hipbench",
                                      "eval",
                                      "--jsonl",
                                      path("in.jsonl"),
                                      "--jobs",
                                      "2",
                                      "--batch",
                                      "load",
                                      "--db",
                                      path(run + ".db")};
    std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "TMPDIR=" + path("tmp"),
                                          "XDG_CACHE_HOME=" + path(run + "-cache")};
    for (const char* kept : {"HIPBENCH_TOOLCHAIN", "ROCM_PATH"})
      if (const char* value = std::getenv(kept)) variables.push_back(fmt::format("{}={}", kept, value));
    std::vector<char*> argv, env;
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : variables) env.push_back(variable.data());
    argv.push_back(nullptr);
    env.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, path(run + ".jsonl").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::posix_spawn_file_actions_addopen(&actions, 2, path(run + ".err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), env.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    judges_.insert(pid);
    return pid;
  }

  // Ended by itself: its exit status. Otherwise, at the deadline, nothing.
  static std::optional<int> wait_until(pid_t pid, Clock::time_point deadline) {
    for (; Clock::now() < deadline; std::this_thread::sleep_for(2ms)) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) == pid)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return std::nullopt;
  }

  // Everything that the judge had started ends with it.
  void expect_no_processes() {
    const Clock::time_point deadline = Clock::now() + 20s;
    while (Clock::now() < deadline) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == ECHILD) return;
      if (ended == 0) std::this_thread::sleep_for(5ms);
    }
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
      std::ifstream children(task.path() / "children");
      for (pid_t child; children >> child;) {
        std::string name;
        std::getline(std::ifstream(fmt::format("/proc/{}/comm", child)), name);
        ADD_FAILURE() << "left running: " << name << " (" << child << ")";
      }
    }
  }

  void expect_no_files(const std::string& run) {
    for (const auto& entry : fs::recursive_directory_iterator(path("tmp")))
      ADD_FAILURE() << "left behind: " << entry.path();
    for (const auto& entry : fs::recursive_directory_iterator(path(run + "-cache")))
      if (entry.is_regular_file() && entry.path().extension() != ".bin" && entry.path().extension() != ".json")
        ADD_FAILURE() << "left behind: " << entry.path();
    for (const char* ending : {"-wal", "-shm", "-journal"})
      EXPECT_FALSE(fs::exists(path(run + ".db") + ending)) << ending;
    std::error_code ignored;
    for (const char* hierarchy : {"/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"})
      for (const auto& entry : fs::directory_iterator(hierarchy, ignored))
        for (const pid_t judge : judges_)
          EXPECT_FALSE(entry.path().filename().string().starts_with(fmt::format("hipbench-{}-", judge)))
              << entry.path();
  }

  void expect_right_results(const std::string& run) {
    std::map<std::string, std::string> verdicts;
    std::ifstream lines(path(run + ".jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const json result = json::parse(line, nullptr, false);
      ASSERT_TRUE(result.is_object()) << line;
      const std::string id = result.value("id", "");
      EXPECT_TRUE(verdicts.emplace(id, result.value("verdict", "")).second) << id << " twice";
      EXPECT_EQ(result.value("verdict", ""), expected_[id]) << id << ": " << result.value("reason", "") << "\n"
                                                            << result.value("evidence", "");
      EXPECT_EQ(result.value("fault", ""), expected_[id] == "passed" ? "none" : "candidate") << id;
    }
    EXPECT_EQ(verdicts.size(), expected_.size());
  }

  // Every candidate once, and the file as SQLite wants it.
  void expect_intact_database(const std::string& run) {
    SQLite::Database database(path(run + ".db"));
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    SQLite::Statement foreign_keys(database, "PRAGMA foreign_key_check");
    EXPECT_FALSE(foreign_keys.executeStep());
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM batch_results").getInt(), candidates_);
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM evaluations").getInt(), candidates_);
    EXPECT_EQ(database.execAndGet("SELECT count(DISTINCT source_sha256) FROM evaluations").getInt(), candidates_);
    SQLite::Statement results(database,
                              "SELECT candidate, verdict FROM batch_results JOIN evaluations ON id = evaluation_id");
    while (results.executeStep())
      EXPECT_EQ(results.getColumn(1).getString(), expected_[results.getColumn(0).getString()]);
  }

  void expect_all_is_well(const std::string& run) {
    expect_right_results(run);
    expect_no_processes();
    expect_no_files(run);
    expect_intact_database(run);
    const Traces now = Traces::now();
    EXPECT_EQ(now.mounts, before_.mounts);
    EXPECT_EQ(now.shared_memory, before_.shared_memory);
  }

  const int candidates_ = number_from("HIPBENCH_LOAD_CANDIDATES", 24), kills_ = number_from("HIPBENCH_LOAD_KILLS", 2);
  std::map<std::string, std::string> expected_;  // verdict by id
  std::set<pid_t> judges_;
  const Traces before_ = Traces::now();

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("hipbench-load-test").value();
};

TEST_F(LoadTest, EveryVerdictIsRightAlsoWhenTheJudgeIsKilledAndGoesOn) {
  const Clock::time_point began = Clock::now();
  const std::optional<int> status = wait_until(start("whole"), began + 1h);
  const auto took = Clock::now() - began;
  EXPECT_EQ(status, 1) << read_file(path("whole.err")).value();  // some did not pass, nothing worse
  expect_all_is_well("whole");
  fmt::print("{} candidates in {:.1f} s\n", candidates_, std::chrono::duration<double>(took).count());

  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("kills drawn from {}", seed));
  std::mt19937 random(seed);
  std::optional<int> ended;
  int kills = 0;
  for (; kills < kills_; ++kills) {
    // All kills together fit into the time that the whole takes.
    std::uniform_real_distribution<double> delay(0, 1.0 / (kills_ + 1));
    const pid_t judge = start("killed");
    ended = wait_until(judge, Clock::now() + std::chrono::duration_cast<Clock::duration>(took * delay(random)));
    if (ended) break;
    ::kill(judge, SIGKILL);
    expect_no_processes();
  }
  if (!ended) ended = wait_until(start("killed"), Clock::now() + 1h);
  EXPECT_EQ(ended, 1) << read_file(path("killed.err")).value();
  expect_all_is_well("killed");
  fmt::print("killed {} times, {:.1f} s in all\n", kills, std::chrono::duration<double>(Clock::now() - began).count());
}

}  // namespace
}  // namespace hipbench::testing
