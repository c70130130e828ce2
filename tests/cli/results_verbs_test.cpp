// report, leaderboard, compare, export, import as users start them, on databases made here; and tables that fit.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/standings_text.hpp"
#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "emulator/timing/parameters.hpp"
#include "results/comparability.hpp"
#include "results/run_store.hpp"
#include "results/store.hpp"

namespace hipbench::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

// Passed on made-up shapes, so that nothing of a real problem plays a part.
Evaluation passed(const std::string& source, std::vector<double> times_us) {
  Evaluation e;
  e.problem = "made_up";
  e.file = source + ".hip";
  e.source = source;
  e.shape_set = "quick";
  e.toolchain = "clang 19; timing model mi300x-1.7012c48a";
  e.started_at = "2026-11-30T09:00:00Z";
  e.verdict = Verdict::pass();
  for (size_t i = 0; i < times_us.size(); ++i) {
    ShapeResult shape;
    shape.shape = {fmt::format("n={}", i), {static_cast<int32_t>(i)}};
    shape.verdict = Verdict::pass();
    shape.time_us = times_us[i];
    shape.timing_model = "mi300x-1.7012c48a";
    e.shapes.push_back(shape);
  }
  return e;
}

class ResultsVerbs : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string database() const { return path("results.db"); }
  ProcessResult hipbench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), HIPBENCH_BINARY_DIR "/hipbench");
    arguments.insert(arguments.end(), {"--db", database()});
    return run_process(arguments).value();
  }
  void record(const Evaluation& e) const { ASSERT_TRUE(results::Store::open(database())->record(e)); }
  void record_run(const std::string& name, std::vector<bool> samples) const {
    Result<results::RunStore> runs = results::RunStore::open(database());
    const std::string options =
        fmt::format(R"({{"problems": [{{"id": "made_up", "shape_set": "quick"}}], "samples": {}, "track": "kernel"}})",
                    samples.size());
    const int64_t run = runs->begin_run(name, options, "single", "model <script>alert(1)</script>")->id;
    for (size_t i = 0; i < samples.size(); ++i) {
      Evaluation e = passed(fmt::format("{} {}", name, i), {10, 20});
      if (!samples[i]) e.verdict = e.shapes[1].verdict = {VerdictKind::WrongResult, "wrong", ""};
      results::StoredTurn turn;
      turn.step = "write";
      turn.source = e.source;
      turn.rung = samples[i] ? "passed" : "wrong";
      turn.feedback = "[]";
      ASSERT_TRUE(runs->record_turn({run, "made_up", static_cast<int64_t>(i)}, 0, turn, &e));
    }
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("results_verbs_test").value();
};

void expect_refused(const ProcessResult& result, const std::string& message) {
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr(message));
  EXPECT_EQ(result.output, "");
}

TEST_F(ResultsVerbs, WithoutADatabaseEachSaysSo) {
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{{"report"},
                                                                                    {"leaderboard"},
                                                                                    {"compare", "a", "b"},
                                                                                    {"compare", "1", "2"},
                                                                                    {"export"},
                                                                                    {"reverify", "monday"},
                                                                                    {"report", "--integrity"}})
    expect_refused(hipbench(verb), "there is no database");
  expect_refused(hipbench({"import", path("none.db")}), "there is no database");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(ResultsVerbs, TheLeaderboardRanksByTimeWhereThereIsNoBaseline) {
  record(passed("slow", {40, 90}));
  record(passed("fast", {10, 20}));
  Evaluation unsafe = passed("unsafe", {1, 1});
  unsafe.sandboxed = false;
  record(unsafe);
  const ProcessResult text = hipbench({"leaderboard"});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("made_up, quick shapes, kernel track, modelled"));
  EXPECT_THAT(text.output, HasSubstr("no speed-ups: made_up has no baseline yet"));
  EXPECT_LT(text.output.find("1  fast.hip"), text.output.find("2  slow.hip"));
  EXPECT_LT(text.output.find("slow.hip"), text.output.find("unsafe.hip"));
  EXPECT_THAT(text.output, HasSubstr("unranked: ran without a sandbox"));
  const Json json = Json::parse(hipbench({"leaderboard", "--json"}).output);
  EXPECT_EQ(json["schema"], "hipbench.leaderboard/1");
  EXPECT_EQ(json["tables"][0]["entries"][0]["file"], "fast.hip");
  EXPECT_TRUE(json["tables"][0]["entries"][0]["speedup"].is_null());
  EXPECT_THAT(hipbench({"leaderboard", "--track", "host"}).output, HasSubstr("nothing to rank"));
}

TEST_F(ResultsVerbs, TheReportBeginsWithTheMetrics) {
  record_run("monday", {true, true, false});
  const ProcessResult text = hipbench({"report"});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_LT(text.output.find("fast_1"), text.output.find("Evaluations, newest first"));
  EXPECT_THAT(text.output, HasSubstr("3 of 3"));
  const Json json = Json::parse(hipbench({"report", "--json"}).output);
  EXPECT_EQ(json["standings"]["tables"][0]["runs"][0]["passed"], 2);
  EXPECT_EQ(json["standings"]["headlines"][0]["run"], "monday");
  EXPECT_EQ(hipbench({"report", "--integrity"}).exit_code, 0);
}

TEST_F(ResultsVerbs, RunsAreComparedWithATest) {
  record_run("bad", {false, false, false, false});
  record_run("good", {true, true, true, true});
  const Json json = Json::parse(hipbench({"compare", "bad", "good", "--json"}).output);
  EXPECT_EQ(json["metrics"][0]["metric"], "passed");
  EXPECT_EQ(json["metrics"][0]["difference"], 1.0);
  EXPECT_NEAR(json["metrics"][0]["p_value"].get<double>(), 2.0 / 70, 1e-9);
  EXPECT_THAT(json["metrics"][1]["why_not"].get<std::string>(), HasSubstr("no baseline"));
  EXPECT_THAT(hipbench({"compare", "bad", "good"}).output, HasSubstr("0.029"));
  expect_refused(hipbench({"compare", "bad", "goood"}), "did you mean \"good\"?");
}

TEST_F(ResultsVerbs, EvaluationsAreComparedOnlyIfTheyWereTimedAlike) {
  record(passed("slow", {40, 90}));
  record(passed("fast", {10, 10}));
  Evaluation other = passed("other", {10, 10});
  other.toolchain = "clang 20";
  record(other);
  Evaluation wrong = passed("wrong", {10, 10});
  wrong.verdict = {VerdictKind::WrongResult, "wrong", ""};
  record(wrong);
  const Json json = Json::parse(hipbench({"compare", "1", "2", "--json"}).output);
  EXPECT_NEAR(json["ratio"].get<double>(), 6, 1e-9);
  EXPECT_EQ(json["faster"], 2);
  EXPECT_THAT(json["trust"].get<std::string>(), HasSubstr("not calibrated for made_up"));
  expect_refused(hipbench({"compare", "1", "3"}), "compiled by different compilers: \"clang 19\" and \"clang 20\"");
  expect_refused(hipbench({"compare", "1", "4"}), "did not pass (wrong_result)");
  expect_refused(hipbench({"compare", "1", "99"}), "there is no evaluation 99");
}

TEST_F(ResultsVerbs, ExportsAreWhatTheDatabaseHolds) {
  Evaluation e = passed("a", {10, 20});
  e.file = "a,\"b\"\n.hip";
  record(e);
  const std::string csv = hipbench({"export", "evaluations", "--format", "csv"}).output;
  EXPECT_THAT(csv, HasSubstr("\"a,\"\"b\"\"\n.hip\""));
  EXPECT_TRUE(csv.starts_with("id,started_at,problem"));
  const ProcessResult lines = hipbench({"export", "shapes"});
  std::istringstream stream(lines.output);
  std::vector<Json> rows;
  for (std::string line; std::getline(stream, line);) rows.push_back(Json::parse(line));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["time_us"], 20.0);
  EXPECT_EQ(rows[1]["timing_model"], "mi300x-1.7012c48a");
  EXPECT_EQ(hipbench({"export", "shapes", "-o", path("shapes.csv")}).exit_code, 0);
  EXPECT_THAT(*read_file(path("shapes.csv")), HasSubstr(",n=1,"));
  expect_refused(hipbench({"export", "everything"}), "everything");
  EXPECT_EQ(hipbench({"export", "-o", path("none/x.csv")}).exit_code, 3);
}

TEST_F(ResultsVerbs, PublishedTimesAreTakenOverOrRefusedWithTheLine) {
  const auto import = [&](const std::string& csv) {
    std::ofstream(path("times.csv")) << csv;
    return hipbench({"import", path("times.csv"), "--published", "a paper"});
  };
  EXPECT_THAT(import("problem,shape,what,device,time_us\nfp8_gemm,\"m=1,n=2,k=3\",theirs,MI300X,12.5\n").output,
              HasSubstr("1 published times are new"));
  const std::string shown = hipbench({"leaderboard"}).output;
  EXPECT_THAT(shown, HasSubstr("Published by others"));
  EXPECT_THAT(shown, HasSubstr("12.50 µs  theirs"));
  expect_refused(import("shape,time\n"), "times.csv:1: the first line must be");
  expect_refused(import("problem,shape,what,device,time_us\na,b,c,d,-1\n"), "times.csv:2: \"-1\" is no time");
  expect_refused(import("problem,shape,what,device,time_us\na,b,c\n"), "times.csv:2: 3 fields instead of 5");
}

TEST_F(ResultsVerbs, ImportSaysWhatIsNew) {
  const std::string other = path("other.db");
  ASSERT_TRUE(results::Store::open(other)->record(passed("theirs", {10, 20})));
  EXPECT_THAT(
      hipbench({"import", other}).output,
      HasSubstr("1 evaluations, 0 runs, 0 turns and 0 answers of batches are new; 0 evaluations were here before"));
  EXPECT_THAT(
      hipbench({"import", other}).output,
      HasSubstr("0 evaluations, 0 runs, 0 turns and 0 answers of batches are new; 1 evaluations were here before"));
  EXPECT_THAT(hipbench({"leaderboard"}).output, HasSubstr("imported"));
}

TEST_F(ResultsVerbs, ReverifyNeedsARunWithWinners) {
  record_run("none", {false});
  EXPECT_THAT(hipbench({"reverify", "none"}).output, HasSubstr("nothing to time again"));
  expect_refused(hipbench({"reverify", "nnoe"}), "there is no run \"nnoe\"");
}

// Who changes a constant validates the model again (scripts/validate-timing) and brings results/comparability.cpp up to
// date.
TEST(TimingModel, TheOneThatIsBuiltIsTheOneWhoseErrorReportsState) {
  EXPECT_THAT(results::calibration_of("fp8_gemm", emulator::timing_model_version()).note,
              Not(HasSubstr("not validated")));
}

TEST(FittedTable, IsNoWiderThanTheTerminal) {
  const std::vector<Column> columns_ = {
      {"id", true}, {"name", false, 8}, {"least needed", false, 0, 2}, {"needed less", true, 0, 1}};
  const std::vector<std::vector<Cell>> rows = {
      {{"1"}, {"a very long name of a candidate"}, {"xxxxxxxxxxxxxxx"}, {"1.00x"}},
      {{"22"}, {"short"}, {"y"}, {"2.00x"}}};
  const std::string whole = fitted_table(columns_, rows, 0, Painter(false));
  EXPECT_THAT(whole, HasSubstr("a very long name of a candidate"));
  for (const size_t width : {70U, 50U, 40U, 30U, 20U}) {
    const std::string text = fitted_table(columns_, rows, width, Painter(false));
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line) && !line.starts_with("left out");)
      EXPECT_LE(columns(line), width) << text;
    EXPECT_THAT(text, HasSubstr("22"));
  }
  EXPECT_THAT(fitted_table(columns_, rows, 40, Painter(false)), HasSubstr("left out: least needed"));
  EXPECT_THAT(fitted_table(columns_, rows, 70, Painter(false)), Not(HasSubstr("left out")));
  const std::vector<std::vector<Cell>> empty = {{{"1"}, {"a"}, {"-"}, {""}}};
  EXPECT_EQ(fitted_table(columns_, empty, 0, Painter(false)), "id  name\n 1  a\n");  // what says nothing takes no place
  const std::vector<Column> paths = {{"file", false, 8, 0, true}};
  EXPECT_THAT(fitted_table(paths, {{{"candidates/a/tï.hip"}}}, 9, Painter(false)), HasSubstr("…a/tï.hip"));
}

}  // namespace
}  // namespace hipbench::cli
