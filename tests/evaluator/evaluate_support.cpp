#include "tests/evaluator/evaluate_support.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "common/files.hpp"
#include "common/toolchain.hpp"

namespace hipbench::testing {

namespace {

// The products of compiling are kept in the build folder, from run to run.
class CacheInBuildFolder : public ::testing::Environment {
 public:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", HIPBENCH_BINARY_DIR "/tests/cache", 1); }
};
[[maybe_unused]] const auto* const kCache = ::testing::AddGlobalTestEnvironment(new CacheInBuildFolder);

constexpr const char* kHead = R"(#include <hip/hip_runtime.h>
#include "hipbench/fp8_gemm.h"
)";

constexpr const char* kNaiveSum = R"(
__device__ inline uint16_t to_bf16(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0x7fc0;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
__device__ inline float naive_sum(const hb_fp8_gemm& args, unsigned i, unsigned j) {
  const int scale_columns = (args.n + 127) / 128;
  float sum = 0;
  for (int kb = 0; kb < args.k / 128; ++kb) {
    float block_sum = 0;
    for (int kk = kb * 128; kk < kb * 128 + 128; ++kk)
      block_sum += __builtin_amdgcn_cvt_f32_fp8(args.a[size_t(kk) * args.m + i], 0) *
                   __builtin_amdgcn_cvt_f32_fp8(args.b[size_t(kk) * args.n + j], 0);
    sum += block_sum * args.a_scale[kb * args.m + i] * args.b_scale[kb * scale_columns + j / 128];
  }
  return sum;
}
)";

}  // namespace

const Problem& fp8_gemm() {
  const auto problem = find_problem("fp8_gemm");
  CHECK(problem.has_value());
  return **problem;
}

std::string read_source(const std::string& path_in_checkout) {
  const Result<std::string> text = read_file(std::string(HIPBENCH_SOURCE_DIR "/") + path_in_checkout);
  EXPECT_TRUE(text.has_value()) << path_in_checkout;
  return text ? *text : "";
}

std::map<std::string, std::string> header_of(const std::string& source) {
  std::map<std::string, std::string> header;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) header.emplace(line.substr(3, colon - 3), line.substr(colon + 2));
  }
  return header;
}

EvaluateOptions small_options() {
  EvaluateOptions options;
  options.shapes = {fp8_gemm().shapes(ShapeSet::Quick).front().shape};
  options.shape_set = "quick";
  options.seed = 20261130;
  options.threads = 2;
  return options;
}

EvaluateOptions quick_options(const Problem& problem) {
  EvaluateOptions options = small_options();
  options.shapes.clear();
  for (const ListedShape& listed : problem.shapes(ShapeSet::Quick)) options.shapes.push_back(listed.shape);
  return options;
}

std::string described(const Evaluation& evaluation) {
  std::string text = fmt::format("{}: {}\n{}\n", to_string(evaluation.verdict.kind), evaluation.verdict.reason,
                                 evaluation.verdict.evidence);
  for (const std::string& warning : evaluation.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string host_source(const std::string& body, const std::string& declarations) {
  return std::string(kHead) + declarations + kNaiveSum + R"(
__global__ void naive_gemm(hb_fp8_gemm args) {
  const unsigned j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  args.c[size_t(i) * args.n + j] = to_bf16(naive_sum(args, i, j));
}
static int launch(const hb_fp8_gemm* args, hipStream_t stream) {
  naive_gemm<<<dim3(args->n / 64, args->m / 4), dim3(64, 4), 0, stream>>>(*args);
  return hipGetLastError();
}
extern "C" int hb_fp8_gemm_run(const hb_fp8_gemm *args, void *workspace, size_t bytes, hipStream_t stream) {
)" + body + "\n}\n";
}

std::string kernel_source(const std::string& store, const std::string& declarations) {
  return std::string(R"(/* hipbench-plan 1
problem = "fp8_gemm"
options = ["-O3"]
[[step]]
kernel = "gemm"
grid = ["n / 64", "m / 4"]
block = [64, 4]
args = ["@args"]
*/
)") + kHead + declarations + kNaiveSum + R"(
extern "C" __global__ void gemm(hb_fp8_gemm args) {
  const unsigned j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  const size_t index = size_t(i) * args.n + j;
  const float value = naive_sum(args, i, j);
  )" + store + "\n}\n";
}

Evaluation evaluate_host(const std::string& body, const std::string& declarations, const EvaluateOptions& options) {
  return evaluate(fp8_gemm(), "my folder/host.hip", host_source(body, declarations), options);
}

Evaluation evaluate_kernel(const std::string& store, const std::string& declarations, const EvaluateOptions& options) {
  return evaluate(fp8_gemm(), "my folder/kernel.hip", kernel_source(store, declarations), options);
}

void EvaluateTest::SetUp() {
  if (const Result<Toolchain> toolchain = Toolchain::locate(); !toolchain) GTEST_SKIP() << toolchain.error().message;
}

}  // namespace hipbench::testing
