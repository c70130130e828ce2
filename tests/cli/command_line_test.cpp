// The program as users start it: exit status and messages. No candidate is run here.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "results/store.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class CommandLine : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file_atomically(path(name), content));
    return path(name);
  }
  static ProcessResult hipbench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HIPBENCH_BINARY_DIR "/hipbench");
    return run_process(arguments).value();
  }
  static ProcessResult eval(const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"eval", file, "--problem", "fp8_gemm", "--no-db"});
    return hipbench(more);
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("command_line_test").value();
};

void expect_usage_error(const ProcessResult& result, const std::string& message) {
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr(message));
  EXPECT_EQ(result.output, "");
}

TEST_F(CommandLine, HelpAndVersionSucceed) {
  EXPECT_THAT(hipbench({"--version"}).output, HasSubstr("hipbench 0."));
  EXPECT_THAT(hipbench({"--help"}).output, HasSubstr("hipbench eval gemm.hip"));
  for (const char* verb : {"problems", "init", "eval", "check", "profile", "report", "replay", "oracle", "leaderboard",
                           "compare", "export", "import", "reverify", "serve"}) {
    const ProcessResult result = hipbench({verb, "--help"});
    EXPECT_EQ(result.exit_code, 0) << verb;
    EXPECT_THAT(result.output, HasSubstr("Example")) << verb;
  }
}

TEST_F(CommandLine, AReportAsAPageIsOneFile) {
  const std::string database = path("results.db"), page = path("report.html");
  ASSERT_TRUE(results::Store::open(database)->record(results::sample_evaluation()));
  const ProcessResult made = hipbench({"report", "--db", database, "--html", page});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("wrote " + page));
  EXPECT_THAT(read_file(page).value(), HasSubstr("hipbench.page/1"));
  EXPECT_EQ(hipbench({"report", "--db", path("none.db"), "--html", page}).exit_code, 2);
  EXPECT_EQ(hipbench({"report", "--db", database, "--html", path("none/report.html")}).exit_code, 3);
}

TEST_F(CommandLine, WrongVerbsAndOptionsAreUsageErrors) {
  expect_usage_error(hipbench({}), "subcommand is required");
  expect_usage_error(hipbench({"evla"}), "did you mean \"eval\"?");
  expect_usage_error(hipbench({"eval"}), "FILE is missing");
  expect_usage_error(hipbench({"eval", "x.hip"}), "--problem is missing; the problems are: ");
  expect_usage_error(hipbench({"eval", "x.hip", "--problem", "fp8_gemm", "--sead", "1"}), "did you mean \"--seed\"?");
  expect_usage_error(hipbench({"eval", "x.hip", "--problem", "fp8_gemm", "--jobs", "0"}), "--jobs");
  expect_usage_error(hipbench({"eval", "x.hip", "--problem", "fp8_gemm", "--sede", "1"}), "--sede");
  expect_usage_error(hipbench({"eval", "x.hip", "--problem", "fp8_gemm", "--seed", "-1"}),
                     "--seed: \"-1\" is not a number from 0 to 2^64 - 1");
  expect_usage_error(hipbench({"profile", "x.hip", "--problem", "fp8_gemm"}), "--shape");
}

TEST_F(CommandLine, EveryVerbsUsageErrorHasOneForm) {
  const std::vector<std::vector<std::string>> wrong = {{"evla"},
                                                       {"eval"},
                                                       {"eval", "--nonsense"},
                                                       {"check", "--nonsense"},
                                                       {"profile", "--nonsense"},
                                                       {"problems", "show"},
                                                       {"problems", "--nonsense"},
                                                       {"init", "fp8_gemm"},
                                                       {"report", "--limit", "many"},
                                                       {"replay", "--nonsense"},
                                                       {"doctor", "--nonsense"},
                                                       {"emulate", "--nonsense"},
                                                       {"emulate"},
                                                       {"emulate", "--limit", "-1", "true"},
                                                       {"emulate", "--coverage", "more"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const ProcessResult result = hipbench(arguments);
    SCOPED_TRACE(arguments.front() + ": " + result.errors);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    EXPECT_TRUE(result.errors.starts_with("error: "));
    EXPECT_THAT(result.errors, testing::AnyOf(HasSubstr("--help` shows what is allowed"), HasSubstr("is missing")));
  }
}

TEST_F(CommandLine, WhatGoesWithJsonLinesIsSaid) {
  expect_usage_error(hipbench({"eval", "x.hip", "--jsonl", "in.jsonl"}), "name no FILE");
  expect_usage_error(hipbench({"eval", "x.hip", "--problem", "fp8_gemm", "--batch", "b"}), "--jsonl");
  expect_usage_error(hipbench({"eval", "--jsonl", path("none.jsonl")}), "cannot read");
  expect_usage_error(hipbench({"eval", "--jsonl", "-", "--track", "both"}), "kernel or host");
  expect_usage_error(hipbench({"eval", "--jsonl", "-", "--batch", "b", "--no-db"}), "--no-db");
}

TEST_F(CommandLine, BadFilesAreUsageErrors) {
  expect_usage_error(eval(path("none.hip")), "there is no file");
  expect_usage_error(eval(path("")), "holds no candidates (*.hip)");
  expect_usage_error(eval(write("empty.hip", "")), "is empty");
  expect_usage_error(eval(write("nul.hip", std::string("int x;\0", 7))), "NUL byte at offset 6");
  expect_usage_error(eval(write("huge.hip", std::string(5 << 20, ' '))), "longer than 4 MiB");
  expect_usage_error(eval("/dev/zero"), "longer than 4 MiB");
}

TEST_F(CommandLine, EveryBadFileIsNamed) {
  const ProcessResult result = eval(path("a.hip"), {path("b.hip")});
  EXPECT_THAT(result.errors, HasSubstr("a.hip"));
  EXPECT_THAT(result.errors, HasSubstr("b.hip"));
}

TEST_F(CommandLine, WrongProblemsShapesTracksAndDevices) {
  const std::string file = write("x.hip", "int x;");
  expect_usage_error(hipbench({"eval", file, "--problem", "fp8_gem"}), "did you mean \"fp8_gemm\"?");
  expect_usage_error(eval(file, {"--shapes", "quik"}), "did you mean \"quick\"?");
  expect_usage_error(eval(file, {"--shapes", "m=64,n=64"}), "k is missing");
  expect_usage_error(eval(file, {"--shapes", "m=64,n=64,q=128"}), "no dimension \"q\"");
  expect_usage_error(eval(file, {"--track", "both"}), "kernel or host");
  expect_usage_error(eval(file, {"--device", "cuda"}), "auto, emulated or hip");
  if (std::filesystem::exists("/dev/kfd")) return;
  const ProcessResult hip = eval(file, {"--device", "hip"});
  EXPECT_EQ(hip.exit_code, 3);
  EXPECT_THAT(hip.errors, HasSubstr("no AMD GPU here (no /dev/kfd); use --device emulated"));
}

TEST_F(CommandLine, ADatabaseThatCannotBeUsedIsFoundBeforeTheWork) {
  const std::string file = write("x.hip", "int x;");
  const ProcessResult result =
      hipbench({"eval", file, "--problem", "fp8_gemm", "--db", write("text.db", std::string(4096, 'x'))});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("is not a database"));
}

TEST_F(CommandLine, InitWritesAStarterAndNeverOverwritesUnasked) {
  const std::string file = path("gemm.hip");
  EXPECT_EQ(hipbench({"init", "fp8_gemm", file}).exit_code, 0);
  EXPECT_THAT(*read_file(file), HasSubstr("hipbench-plan"));
  expect_usage_error(hipbench({"init", "fp8_gemm", file, "--track", "host"}), "already there");
  EXPECT_THAT(*read_file(file), HasSubstr("hipbench-plan"));
  EXPECT_EQ(hipbench({"init", "fp8_gemm", file, "--track", "host", "--force"}).exit_code, 0);
  EXPECT_THAT(*read_file(file), HasSubstr("hb_fp8_gemm_run"));
  expect_usage_error(hipbench({"init", "fp8_gemm", path("none/gemm.hip")}), "No such file");
}

TEST_F(CommandLine, ProblemsAreShownAsTextAndJson) {
  EXPECT_THAT(hipbench({"problems"}).output, HasSubstr("fp8_gemm"));
  const std::string shown = hipbench({"problems", "show", "fp8_gemm"}).output;
  EXPECT_THAT(shown, HasSubstr("m=6144,n=4608,k=7168"));
  EXPECT_THAT(shown, HasSubstr("155.30"));
  EXPECT_EQ(nlohmann::json::parse(hipbench({"problems", "--json"}).output)["schema"], "hipbench.problems/1");
  EXPECT_EQ(nlohmann::json::parse(hipbench({"problems", "show", "fp8_gemm", "--json"}).output)["id"], "fp8_gemm");
  expect_usage_error(hipbench({"problems", "show", "nope"}), "there is no problem \"nope\"");
}

TEST_F(CommandLine, ReportListsADatabase) {
  const std::string database = path("results.db");
  expect_usage_error(hipbench({"report", "--db", database}), "there is no database");
  {
    Result<results::Store> store = results::Store::open(database);
    ASSERT_TRUE(store->record(results::sample_evaluation()));
  }
  const ProcessResult text = hipbench({"report", "--db", database});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output, HasSubstr("wrong_result  1 of 2"));
  EXPECT_THAT(text.output, Not(HasSubstr("\033")));
  const auto json = nlohmann::json::parse(hipbench({"report", "--db", database, "--json"}).output);
  EXPECT_EQ(json["schema"], "hipbench.report/2");
  EXPECT_EQ(json["evaluations"][0]["id"], 1);
  EXPECT_THAT(hipbench({"report", "--db", database, "--problem", "moe"}).output, HasSubstr("no evaluations of moe"));
  expect_usage_error(hipbench({"replay", "99", "--db", database}), "there is no evaluation 99");
}

TEST_F(CommandLine, PassedOnVerbsGetTheirArgumentsUntouched) {
  EXPECT_THAT(hipbench({"doctor", "--no-such-option"}).errors, HasSubstr("doctor takes --json or nothing"));
  EXPECT_EQ(hipbench({"doctor", "--help"}).exit_code, 0);
}

TEST_F(CommandLine, TheOracleAnswersForTensorsFromFiles) {
  const std::vector<std::string> shape = {"oracle", "fp8_gemm", "--shape", "m=32,n=64,k=128"};
  const auto oracle = [&](std::vector<std::string> more) {
    more.insert(more.begin(), shape.begin(), shape.end());
    return hipbench(more);
  };
  const ProcessResult drawn = oracle({"--draw", "1", "--inputs", path("in"), "--output", path("right")});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.errors;
  EXPECT_EQ(oracle({"--inputs", path("in"), "--output", path("again")}).exit_code, 0);
  EXPECT_EQ(read_file(path("right/c.npy")).value(), read_file(path("again/c.npy")).value());
  expect_usage_error(oracle({"--inputs", path("nothing"), "--output", path("right")}), "lacks a.npy");
  expect_usage_error(hipbench({"oracle", "fp8_gemm", "--shape", "m=32", "--inputs", "x", "--output", "y"}), "n");
}

}  // namespace
}  // namespace hipbench::cli
