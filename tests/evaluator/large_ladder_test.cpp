// The reference solutions of moe and mla_decode, slowest first: each passes, and the timing model ranks them in that
// order. Minutes on a small machine: label "slow".

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

struct Rung {
  std::string path;
  double time_us;
};

class LargeLadderTest : public EvaluateTest {
 protected:
  // From the baseline over the ladder to the expert.
  static std::vector<Rung> time_all(const Problem& problem, const std::string& shape) {
    std::vector<const ReferenceSolution*> rungs = {problem.reference(ReferenceRole::Baseline)};
    for (const ReferenceSolution& one : problem.ladder()) rungs.push_back(&one);
    rungs.push_back(problem.reference(ReferenceRole::Expert));
    std::vector<Rung> result;
    for (const ReferenceSolution* one : rungs) {
      EvaluateOptions options = small_options();
      options.shapes = {problem.parse_shape(shape).value()};
      const Evaluation evaluation = evaluate(problem, one->path, std::string(one->source), options);
      EXPECT_TRUE(evaluation.verdict.passed()) << one->path << "\n" << described(evaluation);
      result.push_back({one->path, evaluation.shapes.empty() ? 0 : evaluation.shapes.front().time_us});
    }
    return result;
  }
  // Each at least 2 % faster than the one before.
  static void expect_ranked(const std::vector<Rung>& rungs) {
    for (size_t k = 1; k < rungs.size(); ++k)
      EXPECT_LT(rungs[k].time_us * 1.02, rungs[k - 1].time_us) << rungs[k].path << " and " << rungs[k - 1].path;
  }
};

TEST_F(LargeLadderTest, OfMoeIsRanked) {
  expect_ranked(time_all(**find_problem("moe"), "n_experts=4,bs=1,seq=256"));
}

TEST_F(LargeLadderTest, OfMlaDecodeIsRanked) {
  expect_ranked(time_all(**find_problem("mla_decode"), "bs=64,prefill=512"));
}

}  // namespace
}  // namespace hipbench::testing
