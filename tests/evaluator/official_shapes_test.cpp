// Every shipped candidate on every official test shape. Minutes on a small machine: label "slow".

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

class OfficialShapesTest : public EvaluateTest, public ::testing::WithParamInterface<std::tuple<const char*, size_t>> {};

TEST_P(OfficialShapesTest, TheShippedCandidatePasses) {
  const std::string path = std::string("problems/fp8_gemm/candidates/") + std::get<0>(GetParam()) + ".hip";
  EvaluateOptions options = small_options();
  options.shapes = {fp8_gemm().shapes(ShapeSet::Tests)[std::get<1>(GetParam())].shape};
  const Evaluation evaluation = evaluate(fp8_gemm(), path, read_source(path), options);
  EXPECT_TRUE(evaluation.verdict.passed()) << options.shapes.front().label << "\n" << described(evaluation);
}

INSTANTIATE_TEST_SUITE_P(Fp8Gemm, OfficialShapesTest,
                         ::testing::Combine(::testing::Values("mfma_kernel", "tiled_kernel", "tiled_host", "naive_kernel", "naive_host"),
                                            ::testing::Range<size_t>(0, fp8_gemm().shapes(ShapeSet::Tests).size())));

}  // namespace
}  // namespace hipbench::testing
