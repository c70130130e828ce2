// Every shipped candidate and reference solution on every official test shape. Minutes on a small machine: label
// "slow".

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

std::vector<std::string> shipped() {
  std::vector<std::string> paths;
  for (const char* host : {"tiled_host", "naive_host"})
    paths.push_back(std::string("problems/fp8_gemm/candidates/") + host + ".hip");
  for (const ReferenceSolution& one : fp8_gemm().references()) paths.push_back(one.path);
  return paths;
}

class OfficialShapesTest : public EvaluateTest,
                           public ::testing::WithParamInterface<std::tuple<std::string, size_t>> {};

TEST_P(OfficialShapesTest, TheShippedCandidatePasses) {
  const std::string path = std::get<0>(GetParam());
  EvaluateOptions options = small_options();
  options.shapes = {fp8_gemm().shapes(ShapeSet::Tests)[std::get<1>(GetParam())].shape};
  const Evaluation evaluation = evaluate(fp8_gemm(), path, read_source(path), options);
  EXPECT_TRUE(evaluation.verdict.passed()) << options.shapes.front().label << "\n" << described(evaluation);
}

// Slowest first; the steps between them are large enough for the model's error.
TEST_F(EvaluateTest, TheTimingModelRanksTheLadder) {
  EvaluateOptions options = small_options();
  options.shapes = {fp8_gemm().parse_shape("m=512,n=1024,k=512").value()};
  double slower = 1e9;
  for (const char* name : {"naive", "lds_tiled", "mfma_bank_conflicts", "baseline", "mfma_prefetch", "expert"}) {
    const ReferenceSolution& rung = *fp8_gemm().find_reference(name).value();
    const Evaluation evaluation = evaluate(fp8_gemm(), rung.path, std::string(rung.source), options);
    ASSERT_TRUE(evaluation.verdict.passed()) << described(evaluation);
    const double time_us = evaluation.shapes.front().time_us;
    EXPECT_LT(time_us, 0.95 * slower) << name;
    slower = time_us;
  }
}

// No hazard, no race, nothing of the wrong scope; what is spilled is spilled outside of loops, and its header says so.
// (moe takes minutes a file: by hand.)
TEST_F(EvaluateTest, TheChecksFindNothingInBaselinesAndExperts) {
  const struct {
    const char *problem, *shape;
    uint32_t expert_spills;
  } cases[] = {// the expert of fp8_gemm with k split, with one tile a workgroup and with several
               {"fp8_gemm", "m=64,n=256,k=2048", 0},
               {"fp8_gemm", "m=1920,n=1280,k=1024", 0},
               {"fp8_gemm", "m=3200,n=3072,k=128", 0},
               {"mla_decode", "bs=1,prefill=128", 9}};
  for (const auto& [id, shape, expert_spills] : cases) {
    const Problem& problem = **find_problem(id);
    EvaluateOptions options = small_options();
    options.check = true;
    options.shapes = {problem.parse_shape(shape).value()};
    for (const ReferenceRole role : {ReferenceRole::Baseline, ReferenceRole::Expert}) {
      const ReferenceSolution& one = *problem.reference(role);
      const Evaluation evaluation = evaluate(problem, one.path, std::string(one.source), options);
      EXPECT_TRUE(evaluation.verdict.passed()) << one.path << " at " << shape << "\n" << described(evaluation);
      for (const KernelResources& kernel : evaluation.kernels)
        EXPECT_LE(kernel.vgpr_spills, role == ReferenceRole::Expert ? expert_spills : 0)
            << one.path << ", " << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fp8Gemm, OfficialShapesTest,
                         ::testing::Combine(::testing::ValuesIn(shipped()),
                                            ::testing::Range<size_t>(0, fp8_gemm().shapes(ShapeSet::Tests).size())));

}  // namespace
}  // namespace hipbench::testing
