// Several processes write at once, one of them is killed: nothing is lost, nothing is there twice. And what ten
// thousand evaluations cost. HIPBENCH_WRITER_EVALUATIONS says how many each process writes; the test of the label slow
// takes 5,000.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>

#include "results/database.hpp"
#include "results/standings.hpp"
#include "results/transfer.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::IsEmpty;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class ManyWritersTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }
  std::filesystem::path log(int writer) const { return folder_.path() / fmt::format("writer-{}", writer); }

  // In a process of its own: after each commit the seed goes into a log, so that what was committed is known from
  // outside.
  pid_t start_writer(int writer, int count) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    Result<Store> store = Store::open(file(), {.patience = std::chrono::minutes(5)});
    if (!store) ::_exit(1);
    std::ofstream committed(log(writer));
    Evaluation e = sample_evaluation(fmt::format("source of writer {}", writer));
    for (int i = 0; i < count; ++i) {
      e.seed = static_cast<uint64_t>(writer) * 1'000'000 + static_cast<uint64_t>(i);
      if (!store->record(e)) ::_exit(1);
      committed << e.seed << std::endl;
    }
    ::_exit(0);
  }
  std::vector<uint64_t> committed_by(int writer) const {
    std::ifstream stream(log(writer));
    std::vector<uint64_t> seeds;
    for (uint64_t seed; stream >> seed;) seeds.push_back(seed);
    return seeds;
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("many_writers_test").value();
};

TEST_F(ManyWritersTest, EightProcessesOneOfThemKilledLoseNothingAndDoubleNothing) {
  constexpr int kWriters = 8;
  const char* wanted = std::getenv("HIPBENCH_WRITER_EVALUATIONS");
  const int each = wanted != nullptr ? std::atoi(wanted) : 30;
  ASSERT_TRUE(Store::open(file()));
  const Clock::time_point start = Clock::now();
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) children.push_back(start_writer(writer, each));
  // The last one dies somewhere in the middle, whenever that is.
  while (committed_by(kWriters - 1).size() < static_cast<size_t>(each) / 3 && seconds_since(start) < 240)
    ::usleep(1000);
  ::kill(children.back(), SIGKILL);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && child == children.back();
    EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  std::multiset<uint64_t> stored;
  SQLite::Database database(file().string());
  SQLite::Statement seeds(database, "SELECT seed FROM evaluations");
  while (seeds.executeStep()) stored.insert(std::stoull(seeds.getColumn(0).getString()));
  for (int writer = 0; writer < kWriters; ++writer) {
    const std::vector<uint64_t> committed = committed_by(writer);
    if (writer != kWriters - 1) EXPECT_EQ(committed.size(), static_cast<size_t>(each));
    for (const uint64_t seed : committed) EXPECT_EQ(stored.count(seed), 1U) << seed;
  }
  // The killed one may have committed one more than it could say.
  const size_t known = static_cast<size_t>((kWriters - 1) * each) + committed_by(kWriters - 1).size();
  EXPECT_LE(stored.size(), known + 1);
  EXPECT_EQ(std::set(stored.begin(), stored.end()).size(), stored.size());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM shape_results").getInt64(),
            2 * static_cast<int64_t>(stored.size()));
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM launches").getInt64(), 2 * static_cast<int64_t>(stored.size()));
  EXPECT_THAT(check_integrity(file()).value(), IsEmpty());
  fmt::print("{} evaluations from {} processes in {:.2f} s\n", stored.size(), kWriters, seconds_since(start));
}

TEST_F(ManyWritersTest, TenThousandEvaluationsAreStoredAndReported) {
  const char* wanted = std::getenv("HIPBENCH_WRITER_EVALUATIONS");
  const int count = wanted != nullptr ? 10'000 : 200;
  Result<Store> store = Store::open(file());
  Evaluation e = sample_evaluation();
  e.check = false;
  e.sandboxed = true;
  e.shapes[1] = e.shapes[0];
  e.shapes[1].shape.label = "m=96,n=576,k=512";
  e.shapes[1].launches.clear();
  e.shapes[0].launches.resize(1);
  e.verdict = Verdict::pass();
  Clock::time_point start = Clock::now();
  for (int i = 0; i < count; ++i) {
    e.source = fmt::format("source {}", i % 5000);
    e.seed = static_cast<uint64_t>(i);
    e.shapes[0].time_us = 5 + i % 97;
    ASSERT_TRUE(store->record(e));
  }
  const double stored_seconds = seconds_since(start);
  start = Clock::now();
  const Result<Standings> standings = read_standings(file());
  ASSERT_TRUE(standings) << standings.error().message;
  const double read_seconds = seconds_since(start);
  EXPECT_EQ(standings->evaluations, static_cast<size_t>(count));
  fmt::print("{} evaluations stored in {:.2f} s, read as standings in {:.2f} s\n", count, stored_seconds, read_seconds);
}

}  // namespace
}  // namespace hipbench::results
