// An official shape of mla_decode: bs 128, so label "slow". The quick shapes are in corpus_test.cpp.

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

const Problem& mla_decode() { return **find_problem("mla_decode"); }

class MlaDecodeOfficialShapeTest : public EvaluateTest {};

TEST_F(MlaDecodeOfficialShapeTest, PassesWithMatrixInstructions) {
  const std::string path = "kernels/reference_solutions/mla_decode/baseline.hip";
  EvaluateOptions options = small_options();
  options.shapes = {mla_decode().shapes(ShapeSet::Tests).front().shape};
  const Evaluation evaluation = evaluate(mla_decode(), path, read_source(path), options);
  EXPECT_TRUE(evaluation.verdict.passed()) << described(evaluation);
}

}  // namespace
}  // namespace hipbench::testing
