#include "evaluator/printed.hpp"

#include <gmock/gmock.h>

namespace hipbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string evidence_of(const Printed& printed, std::string before = "") {
  Verdict verdict{VerdictKind::Crashed, "reason", std::move(before)};
  printed.append_to(verdict);
  return verdict.evidence;
}

TEST(Printed, ALineOfEveryLaneIsShownOnceWithItsCount) {
  Printed printed;
  for (int lane = 0; lane < 6400; ++lane) printed.add_output("k.hip:3: gemm: Device-side assertion `m > 0' failed.\n");
  printed.add_output("done\n");
  EXPECT_EQ(evidence_of(printed),
            "printed by the candidate:\n  k.hip:3: gemm: Device-side assertion `m > 0' failed. (6400 times)\n  done\n");
}

TEST(Printed, LinesMayComeInPieces) {
  Printed printed;
  for (const char* piece : {"a", "b\nab\n", "\n", "c"}) printed.add_output(piece);
  EXPECT_EQ(evidence_of(printed), "printed by the candidate:\n  ab (2 times)\n  \n  c\n");
}

TEST(Printed, OnlyTheBeginningIsKept) {
  Printed printed;
  for (int line = 0; line < 100000; ++line) printed.add_output(std::to_string(line) + " some text\n");
  const std::string evidence = evidence_of(printed);
  EXPECT_LT(evidence.size(), 6000u);
  EXPECT_THAT(evidence, HasSubstr("  0 some text\n  1 some text\n"));
  EXPECT_THAT(evidence, HasSubstr("only the first 4096 bytes are kept"));
  Printed one_line;
  for (int piece = 0; piece < 100000; ++piece) one_line.add_output("é");
  EXPECT_LT(evidence_of(one_line).size(), 4300u);
}

TEST(Printed, AFaultReportThatTheRuntimeRepeatsIsNotShownTwice) {
  Printed printed;
  printed.add_errors("hipbench: memory fault: past the end\n  kernel     k\n  where      here\nmine\n");
  const std::string evidence = evidence_of(printed, "memory fault: past the end\n  kernel     k\n  where      here\n");
  EXPECT_EQ(
      evidence,
      "memory fault: past the end\n  kernel     k\n  where      here\nstandard error of the candidate:\n  mine\n");
}

TEST(Printed, EmptyLinesAroundARepeatedReportAreNotKept) {
  Printed printed;
  printed.add_errors("hipbench: fault\n\n");
  EXPECT_EQ(evidence_of(printed, "fault\n"), "fault\n");
}

TEST(Printed, AWarningQuotesTheFirstLine) {
  Printed printed;
  printed.add_output("here\n");
  EXPECT_THAT(printed.warning(), HasSubstr(": here (docs"));
  printed.add_output("there\n");
  EXPECT_THAT(printed.warning(), HasSubstr(": here … (docs"));
}

}  // namespace
}  // namespace hipbench
