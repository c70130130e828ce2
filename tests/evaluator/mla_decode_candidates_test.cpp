// The shipped candidates and starters of mla_decode. Its weights alone are 374 MB, so even the quick shapes take a
// while: label "slow".

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

const Problem& mla_decode() { return **find_problem("mla_decode"); }

Evaluation evaluate_on(const std::string& path, std::vector<Shape> shapes) {
  EvaluateOptions options = small_options();
  options.shapes = std::move(shapes);
  options.host_patience = std::chrono::seconds(60);
  return evaluate(mla_decode(), path, read_source(path), options);
}

class MlaDecodeCandidatesTest : public EvaluateTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(MlaDecodeCandidatesTest, PassesOnQuickShapes) {
  std::vector<Shape> shapes;
  for (const ListedShape& listed : mla_decode().shapes(ShapeSet::Quick)) shapes.push_back(listed.shape);
  const Evaluation evaluation = evaluate_on(std::string("problems/mla_decode/") + GetParam() + ".hip", shapes);
  EXPECT_TRUE(evaluation.verdict.passed()) << described(evaluation);
}

INSTANTIATE_TEST_SUITE_P(Shipped, MlaDecodeCandidatesTest,
                         ::testing::Values("starter_kernel", "starter_host", "candidates/naive_kernel",
                                           "candidates/naive_host", "candidates/mfma_kernel"));

class MlaDecodeOfficialShapeTest : public EvaluateTest {};

TEST_F(MlaDecodeOfficialShapeTest, PassesWithMatrixInstructions) {
  const Evaluation evaluation = evaluate_on("problems/mla_decode/candidates/mfma_kernel.hip",
                                            {mla_decode().shapes(ShapeSet::Tests).front().shape});
  EXPECT_TRUE(evaluation.verdict.passed()) << described(evaluation);
}

}  // namespace
}  // namespace hipbench::testing
