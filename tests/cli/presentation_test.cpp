// What people and programs see of an evaluation, on literal values.
#include <gmock/gmock.h>

#include "cli/choices.hpp"
#include "cli/evaluate_files.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/occupancy.hpp"
#include "cli/time_breakdown.hpp"
#include "cli/work_estimate.hpp"
#include "problems/registry.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Painter kPlain(false);

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

TEST(EvaluationText, DoesNotRepeatTheReasonAsEvidence) {
  Evaluation evaluation;
  evaluation.verdict = {VerdictKind::CompileError, "a.hip:3:1: error: no", "a.hip:3:1: error: no\n  3 | x\n"};
  const std::string text = evaluation_text(evaluation, "", kPlain);
  EXPECT_THAT(text, HasSubstr("compile_error: a.hip:3:1: error: no\n      3 | x\n"));
}

TEST(EvaluationText, HasALineAShapeThenVerdictEvidenceAndHowToRepeat) {
  Evaluation evaluation = results::sample_evaluation();
  evaluation.check = false;
  evaluation.sandboxed = true;
  EXPECT_EQ(evaluation_text(evaluation, "hipbench replay 7", kPlain),
            "shape             verdict             error/allowed  rows checked  rounds  wave instructions  emulation   "
            "           time\n"
            "m=64,n=64,k=128   passed                      0.500      16 of 64       3             1.23 M     0.75 s  "
            "4.25 µs modelled\n"
            "m=96,n=576,k=512  wrong_result  1024 of 55296 wrong           all       1                  -          -   "
            "              -\n"
            "\n"
            "wrong_result at m=96,n=576,k=512: 1024 of 55296 elements are wrong\n"
            "    " +
                evaluation.shapes[1].comparison.sentence() +
                "\n"
                "    each sign is 64 rows\n"
                "    row 0   ..\n"
                "    row 64  ##\n"
                "    worst at (70, 3)\n"
                "    every row >= 64 is wrong\n"
                "warning: v_strange_b32 has no row (gemm.hip:12)\n"
                "host track on the emulated device, seed 18364758544493064720, 3.25 s in all, compiled before\n"
                "modelled by the timing model mi300x-1.7012c48a; docs/timing-model.md says how far to trust it\n"
                "again: hipbench replay 7\n");
}

TEST(EvaluationText, SpeedUpsAreAColumnAndASentence) {
  Evaluation evaluation = results::sample_evaluation();
  evaluation.check = false;
  evaluation.shapes.resize(1);
  evaluation.verdict = Verdict::pass();
  results::SourceTimes baseline;
  baseline.us = {{"m=64,n=64,k=128", 8.5}};
  const results::Speedups speedups = results::speedups_over(evaluation, "00ff", baseline);
  const std::string text = evaluation_text(evaluation, "", kPlain, &speedups);
  EXPECT_THAT(text, HasSubstr("4.25 µs modelled     2.00x\n"));
  EXPECT_THAT(text, HasSubstr("speed-up 2.00x over the baseline of fp8_gemm"));
  EXPECT_EQ(evaluation_json(evaluation, {}, &speedups)["speedup"], 2.0);
  const results::Speedups none = results::speedups_over(evaluation, "00ff", {});
  EXPECT_THAT(evaluation_text(evaluation, "", kPlain, &none),
              HasSubstr("no speed-up: the baseline has not been evaluated"));
  EXPECT_TRUE(evaluation_json(evaluation, {}, &none)["speedup"].is_null());
  EXPECT_THAT(results::speedups_over(evaluation, "", {}).why_none, HasSubstr("has no baseline yet"));
}

TEST(EvaluationText, WhatNeverCameToAShapeShowsTheVerdictAlone) {
  Evaluation evaluation;
  evaluation.verdict = {VerdictKind::CompileError, "clang found 1 error",
                        "g.hip:3:1: error: unknown type name 'flot'\n  flot x;\n"};
  EXPECT_THAT(
      evaluation_text(evaluation, "", kPlain),
      StartsWith(
          "compile_error: clang found 1 error\n    g.hip:3:1: error: unknown type name 'flot'\n      flot x;\n"));
}

TEST(EvaluationText, CannotDriveTheTerminal) {
  Evaluation evaluation;
  evaluation.verdict = {VerdictKind::CompileError, "a\033[2Jb",
                        std::string("\033]0;title\007 \xff \xc2\x9b nul \0.", 26)};
  const std::string text = evaluation_text(evaluation, "", kPlain);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\007")));
  EXPECT_THAT(text, HasSubstr("a\\x1b[2Jb"));
  EXPECT_THAT(text, HasSubstr("\ufffd \\x9b nul \\x00"));
}

TEST(EvaluationText, LongEvidenceIsCutAndSaysSo) {
  Evaluation evaluation;
  for (int i = 0; i < 100; ++i) evaluation.verdict.evidence += "line\n";
  EXPECT_THAT(evaluation_text(evaluation, "", kPlain), HasSubstr("    … 60 more lines; --json has them all\n"));
}

TEST(EvaluationText, ColoursAreOnlyThereWhenAskedFor) {
  const Evaluation evaluation = results::sample_evaluation();
  EXPECT_THAT(evaluation_text(evaluation, "", Painter(true)), HasSubstr("\033[32mpassed\033[0m"));
  EXPECT_THAT(evaluation_text(evaluation, "", kPlain), Not(HasSubstr("\033")));
}

TEST(EvaluationJson, HasTheDocumentedKeys) {
  const Json json = evaluation_json(results::sample_evaluation(), 7);
  EXPECT_EQ(json["schema"], "hipbench.evaluation/1");
  EXPECT_EQ(keys(json), (std::vector<std::string>{"schema",           "id",
                                                  "problem",          "track",
                                                  "device",           "file",
                                                  "source_sha256",    "seed",
                                                  "shape_set",        "sandboxed",
                                                  "memory_checks",    "passed",
                                                  "verdict",          "stage",
                                                  "speedup",          "no_speedup",
                                                  "baseline",         "shapes",
                                                  "kernels",          "warnings",
                                                  "compile_seconds",  "compile_was_cached",
                                                  "total_seconds",    "peak_memory_bytes",
                                                  "attempts",         "toolchain",
                                                  "hipbench_version", "started_at"}));
  EXPECT_EQ(keys(json["shapes"][0]),
            (std::vector<std::string>{"shape", "verdict", "checked_rows", "row_count", "rounds", "time", "speedup",
                                      "wave_instructions", "emulation_seconds", "comparison", "launches"}));
  EXPECT_EQ(json["seed"], "18364758544493064720");
  EXPECT_EQ(json["shapes"][0]["time"]["provenance"], "modelled");
  EXPECT_TRUE(json["shapes"][1]["time"].is_null());
  EXPECT_EQ(json["shapes"][0]["launches"][0]["counters"]["valu"], 50);
  EXPECT_EQ(json["kernels"][0]["vgprs"], 128);
}

TEST(EvaluationJson, IsValidWhateverTheStringsAndNumbersAre) {
  Evaluation evaluation = results::sample_evaluation();
  evaluation.file = "\xff\xfe.hip";
  evaluation.verdict.evidence = std::string("\xc3 \0 \xed\xa0\x80", 7);
  const std::string text = evaluation_json(evaluation, {}).dump(2, ' ', false, Json::error_handler_t::replace);
  const Json parsed = Json::parse(text);
  EXPECT_TRUE(parsed["id"].is_null());
  EXPECT_TRUE(parsed["shapes"][1]["comparison"]["worst_ratio"].is_null());  // infinite
}

TEST(ProfileJson, HasInstructionsSecondsAndOccupancy) {
  Evaluation evaluation = results::sample_evaluation();
  evaluation.shapes.resize(1);
  const Json json = profile_json(evaluation);
  EXPECT_EQ(json["schema"], "hipbench.profile/1");
  EXPECT_EQ(json["wave_instructions"], 1'234'567);
  EXPECT_EQ(json["seconds"], 0.75);
  EXPECT_EQ(json["kernels"][0]["launched_occupancy"]["workgroups_per_cu"], 1);  // 34 KiB of the 64 KiB of LDS
  EXPECT_EQ(json["kernels"][0]["launched_occupancy"]["limited_by"], "LDS");
}

LaunchRecord timed_launch() {
  LaunchRecord launch = results::sample_evaluation().shapes[0].launches.at(0);
  launch.modelled_seconds = 20e-6;
  launch.counters.mfma_flops = 1'000'000'000;
  emulator::TimeBreakdown& b = launch.time_breakdown;
  b = {.kernel_seconds = 16e-6, .launch_seconds = 4e-6, .mfma_busy = 0.25, .beyond_l2_bytes = 2e6, .lines = {}};
  b.shares[static_cast<size_t>(emulator::TimeCause::Executing)] = 0.3;
  b.shares[static_cast<size_t>(emulator::TimeCause::Memory)] = 0.5;
  b.shares[static_cast<size_t>(emulator::TimeCause::Barrier)] = 0.2;
  b.lines = {{.source = "gemm.hip:12", .share = 0.4, .cause = emulator::TimeCause::Memory}};
  return launch;
}

TEST(TimeBreakdown, SaysWhereTheTimeGoesAndWhatWouldHelp) {
  const std::string text = time_breakdown_text(timed_launch());
  EXPECT_THAT(text, HasSubstr("20.00 µs modelled: kernel 16.00 µs, launch 4.00 µs"));
  EXPECT_THAT(text, HasSubstr("executing 30 %, memory_latency 50 %, barrier 20 %"));
  EXPECT_THAT(text, HasSubstr("40.0 %  gemm.hip:12  memory_latency"));
  EXPECT_THAT(text, HasSubstr("up to 8.00 µs less without memory_latency: load further ahead"));
  EXPECT_LT(text.find("without memory_latency"), text.find("without barrier"));
  EXPECT_EQ(time_breakdown_text(LaunchRecord{}), "") << "no time, nothing to say";
}

TEST(TimeBreakdown, AsJsonHasTheSame) {
  const Json json = time_breakdown_json(timed_launch());
  EXPECT_EQ(json["shares"]["memory_latency"], 0.5);
  EXPECT_EQ(json["hot_lines"][0]["cause"], "memory_latency");
  EXPECT_EQ(json["changes"].size(), 2u);
  EXPECT_TRUE(time_breakdown_json(LaunchRecord{}).is_null());
}

TEST(TimeBreakdown, ACallIsHeldAgainstTheNearerRoof) {
  ShapeResult shape;
  shape.time_us = 40;
  shape.launches = {timed_launch(), timed_launch()};
  shape.launches[1].time_breakdown.lds_busy = 0.5;
  shape.launches[1].time_breakdown.lds_conflicts = 0.25;
  const Roofs roofs{.input_bytes = 5'000'000, .output_bytes = 1'000'000, .matrix_peak_us = 10};
  CallTotals totals = call_totals(roofs, shape);
  EXPECT_DOUBLE_EQ(totals.mfma_busy, 2 * 0.25 * 16 / 40);
  EXPECT_DOUBLE_EQ(totals.lds_conflicts, 0.25);
  EXPECT_DOUBLE_EQ(totals.bytes_beyond_l2, 4e6);
  EXPECT_DOUBLE_EQ(totals.of_roof(), 0.25);
  EXPECT_THAT(call_totals_text(totals), HasSubstr("25 % of the nearer roof (matrix"));
  EXPECT_EQ(call_totals_json(totals)["nearer_roof"], "matrix");
  totals = call_totals({.input_bytes = 300'000'000}, shape);  // more than the Infinity Cache holds
  EXPECT_NEAR(totals.memory_us, 300 / 4.1, 1e-9);
  EXPECT_EQ(call_totals_json(totals)["nearer_roof"], "memory");
  EXPECT_EQ(call_totals_text(call_totals(roofs, ShapeResult{})), "");
  EXPECT_TRUE(call_totals_json(CallTotals{}).is_null());
}

TEST(TimeBreakdown, TheRooflineHasAPointForALaunchWithMatrixProducts) {
  EXPECT_THAT(roofline_svg({timed_launch()}), HasSubstr("<circle"));
  EXPECT_THAT(roofline_svg({LaunchRecord{}}), testing::Not(HasSubstr("<circle")));
}

TEST(ProblemJson, HasShapesRoofsAndReadme) {
  const Json json = problem_json(*all_problems().front());
  EXPECT_EQ(json["schema"], "hipbench.problem/1");
  EXPECT_GT(json["shapes"]["tests"][0]["flops"], 0);
  EXPECT_FALSE(json["readme"].get<std::string>().empty());
}

TEST(Occupancy, IsThatOfTheDevice) {
  KernelResources kernel;
  kernel.vgprs = 128;
  EXPECT_EQ(occupancy_of(kernel, 256, 0).workgroups, 4U);
  EXPECT_EQ(occupancy_of(kernel, 256, 0).waves_per_simd, 4);
  EXPECT_EQ(occupancy_of(kernel, 256, 0).limited_by, "VGPRs");
  kernel.vgprs = 32;
  EXPECT_EQ(occupancy_of(kernel, 256, 0).limited_by, "the hardware's limit of waves");
  EXPECT_EQ(occupancy_of(kernel, 256, 65536).workgroups, 1U);
  EXPECT_EQ(occupancy_of(kernel, 256, 65536).limited_by, "LDS");
}

TEST(Numbers, AreShortAndHaveUnits) {
  EXPECT_EQ(quantity(0), "0");
  EXPECT_EQ(quantity(999), "999");
  EXPECT_EQ(quantity(999.6), "1.00 k");
  EXPECT_EQ(quantity(1'409'286'144), "1.41 G");
  EXPECT_EQ(quantity(999'600), "1.00 M");
  EXPECT_EQ(duration(0.123), "0.12 s");
  EXPECT_EQ(duration(95), "95 s");
  EXPECT_EQ(duration(600), "10 min");
}

TEST(Choices, ShapesAreTakenOnceAndErrorsGuess) {
  const Problem& problem = **choose_problem("fp8_gemm");
  EXPECT_EQ(choose_shapes(problem, {})->name, "quick");
  EXPECT_EQ(choose_shapes(problem, {"m=64,n=64,k=128", "k=128, m=64, n=64"})->shapes.size(), 1U);
  EXPECT_THAT(choose_shapes(problem, {"test"}).error().message, HasSubstr("did you mean \"tests\"?"));
  EXPECT_THAT(choose_shapes(problem, {"m=63,n=64,k=128"}).error().message, HasSubstr("m=63"));
  EXPECT_THAT(choose_problem("fp8_gem").error().message, HasSubstr("did you mean \"fp8_gemm\"?"));
}

TEST(Choices, ADeviceThatIsNotThereIsNotReplacedSilently) {
  EXPECT_THAT(choose_device("hip", {}).error().message, HasSubstr("no /dev/kfd"));
  EXPECT_THAT(choose_device("hip", {.driver = true}).error().message, HasSubstr("libamdhip64.so.6"));
  EXPECT_EQ(choose_device("hip", {.driver = true, .runtime = true})->device, DeviceKind::Hip);
  EXPECT_THAT(choose_device("hip", {.driver = true, .runtime = true})->note, HasSubstr("docs/measurement.md"));
  EXPECT_EQ(choose_device("auto", {})->note, "");
  EXPECT_EQ(choose_device("auto", {.driver = true, .runtime = true})->device, DeviceKind::Emulated);
  EXPECT_THAT(choose_device("auto", {.driver = true, .runtime = true})->note, HasSubstr("--device hip"));
}

TEST(Estimate, IsShownForLongWorkOnly) {
  const Problem& problem = **choose_problem("fp8_gemm");
  EXPECT_EQ(estimate_text(problem, choose_shapes(problem, {})->shapes, 2), "");
  EXPECT_THAT(estimate_text(problem, choose_shapes(problem, {"benchmarks"})->shapes, 2),
              HasSubstr("18 shapes, 1.31 TFLOP"));
}

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_word("dir/gemm-1.hip"), "dir/gemm-1.hip");
  EXPECT_EQ(shell_word("my gemm's.hip"), "'my gemm'\\''s.hip'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("red\x1b[31m's\\.hip"), "$'red\\x1b[31m\\'s\\\\.hip'");
}

}  // namespace
}  // namespace hipbench::cli
