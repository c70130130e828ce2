// hipbench run, oracle and replay --dump on real candidates.
#include <gmock/gmock.h>

#include "common/files.hpp"
#include "common/npy.hpp"
#include "common/subprocess.hpp"

namespace hipbench::cli {
namespace {

using testing::HasSubstr;

class RunVerb : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  static ProcessResult hipbench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HIPBENCH_BINARY_DIR "/hipbench");
    return run_process(arguments).value();
  }
  void draw_inputs() const {
    const ProcessResult drawn = hipbench(
        {"oracle", "fp8_gemm", "--shape", kShape, "--draw", "7", "--inputs", path("in"), "--output", path("right")});
    ASSERT_EQ(drawn.exit_code, 0) << drawn.errors;
  }
  ProcessResult run(const std::string& file) const {
    return hipbench(
        {"run", file, "--problem", "fp8_gemm", "--shape", kShape, "--inputs", path("in"), "--output", path("out")});
  }
  static constexpr const char* kShape = "m=32,n=64,k=128";
  TemporaryDirectory folder_ = TemporaryDirectory::create("run_test").value();
};

TEST_F(RunVerb, TheOutputsOfARightCandidateAreThoseOfTheOracle) {
  draw_inputs();
  const ProcessResult result = run(HIPBENCH_SOURCE_DIR "/kernels/reference_solutions/fp8_gemm/naive.hip");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("passed: 1 of 1 shapes"));
  const NpyTensor got = read_npy(path("out/c.npy")).value(), right = read_npy(path("right/c.npy")).value();
  EXPECT_EQ(got.shape, right.shape);
  // One block of k: products and their sum are exact, so that both round the same number.
  EXPECT_EQ(got.data, right.data);
}

TEST_F(RunVerb, AWrongCandidatesOutputsAndWordsAreShown) {
  draw_inputs();
  const std::string source = R"(/* hipbench-plan 1
problem = "fp8_gemm"
[[step]]
kernel = "one"
block = [64]
args = ["@args"]
*/
#include <hip/hip_runtime.h>
#include "hipbench/fp8_gemm.h"
extern "C" __global__ void one(hb_fp8_gemm args) {
  for (int i = threadIdx.x; i < args.m * args.n; i += 64) args.c[i] = 0x3f80;
  if (threadIdx.x == 0) printf("m is %d\n", args.m);
}
)";
  ASSERT_TRUE(write_file_atomically(path("one.hip"), source));
  const ProcessResult result = run(path("one.hip"));
  EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("m is 32"));
  const NpyTensor got = read_npy(path("out/c.npy")).value();
  std::vector<std::byte> ones(size_t{32} * 64 * 2, std::byte{0x80});
  for (size_t k = 1; k < ones.size(); k += 2) ones[k] = std::byte{0x3f};
  EXPECT_EQ(got.data, ones);
}

TEST_F(RunVerb, AReplayDumpsInputsWhatItGotAndWhatIsRight) {
  const std::string database = path("results.db");
  const std::string wrong = HIPBENCH_SOURCE_DIR "/tests/wrong_candidates/missing_last_k_block.hip";
  ASSERT_EQ(hipbench({"eval", wrong, "--problem", "fp8_gemm", "--shapes", kShape, "--db", database}).exit_code, 1);
  const ProcessResult replay = hipbench({"replay", "1", "--db", database, "--no-db", "--dump", path("dump")});
  ASSERT_EQ(replay.exit_code, 1) << replay.output << replay.errors;
  const std::string folder = path("dump/") + kShape;
  // What was dumped is consistent: the oracle gives the same answer for the dumped inputs.
  ASSERT_EQ(
      hipbench({"oracle", "fp8_gemm", "--shape", kShape, "--inputs", folder + "/inputs", "--output", path("right")})
          .exit_code,
      0);
  const NpyTensor right = read_npy(path("right/c.npy")).value();
  EXPECT_EQ(read_npy(folder + "/expected/c.npy").value().data, right.data);
  EXPECT_NE(read_npy(folder + "/got/c.npy").value().data, right.data);
}

TEST_F(RunVerb, InputsThatDoNotFitAreRefusedBeforeAnythingRuns) {
  const ProcessResult result = run(HIPBENCH_SOURCE_DIR "/kernels/reference_solutions/fp8_gemm/naive.hip");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("lacks a.npy"));
}

}  // namespace
}  // namespace hipbench::cli
