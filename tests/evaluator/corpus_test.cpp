// Every candidate file of the repository ends in the verdict that it names: shipped ones and starters pass, wrong ones and
// exploits fail in the way their header says, honest ones that look suspicious pass.

#include <filesystem>

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(HIPBENCH_SOURCE_DIR) / folder))
    if (entry.path().extension() == ".hip") files.push_back(folder + "/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return fs::path(info.param).stem().string(); }

class CorpusTest : public EvaluateTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(CorpusTest, EndsInTheVerdictItsHeaderNames) {
  const std::string source = read_source(GetParam());
  auto header = header_of(source);
  const std::string expected = header.contains("expect") ? header["expect"] : "passed";
  const Evaluation evaluation = evaluate(fp8_gemm(), GetParam(), source, quick_options());
  EXPECT_EQ(to_string(evaluation.verdict.kind), expected) << described(evaluation);
  if (header.contains("track")) EXPECT_EQ(to_string(evaluation.track), header["track"]);
  if (header.contains("evidence"))
    EXPECT_THAT(evaluation.verdict.reason + "\n" + evaluation.verdict.evidence, ::testing::HasSubstr(header["evidence"]));
  if (expected == "passed") {
    EXPECT_EQ(evaluation.shapes.size(), quick_options().shapes.size());
    for (const ShapeResult& shape : evaluation.shapes) {
      EXPECT_GT(shape.wave_instructions, 0u);
      EXPECT_GE(shape.rounds, 3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, CorpusTest, ::testing::ValuesIn(candidates_in("problems/fp8_gemm/candidates")), test_name);
INSTANTIATE_TEST_SUITE_P(Starter, CorpusTest,
                         ::testing::Values("problems/fp8_gemm/starter_kernel.hip", "problems/fp8_gemm/starter_host.hip"), test_name);
INSTANTIATE_TEST_SUITE_P(Wrong, CorpusTest, ::testing::ValuesIn(candidates_in("tests/wrong_candidates")), test_name);
INSTANTIATE_TEST_SUITE_P(Exploit, CorpusTest, ::testing::ValuesIn(candidates_in("tests/exploits/must_fail")), test_name);
INSTANTIATE_TEST_SUITE_P(Honest, CorpusTest, ::testing::ValuesIn(candidates_in("tests/exploits/must_pass")), test_name);

}  // namespace
}  // namespace hipbench::testing
