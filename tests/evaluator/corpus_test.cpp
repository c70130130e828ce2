// Every candidate file of the repository ends in the verdict that it names: the shipped ones and the starters of all
// problems pass, wrong ones and exploits fail in the way their header says, honest ones that look suspicious pass.

#include <filesystem>

#include "tests/evaluator/evaluate_support.hpp"

namespace hipbench::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code missing;  // a problem may have none
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(HIPBENCH_SOURCE_DIR) / folder, missing))
    if (entry.path().extension() == ".hip") files.push_back(folder + "/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

bool has_large_inputs(const Problem& problem) {
  const Shape& shape = problem.shapes(ShapeSet::Quick).front().shape;
  uint64_t bytes = 0;
  for (size_t field = 0; field < problem.pointer_fields().size(); ++field) bytes += problem.byte_count(shape, field);
  return bytes > uint64_t{64} << 20;
}

// The candidates, starters and reference solutions of every problem. Those of problems with large inputs take minutes:
// they are in corpus_slow_test.
std::vector<std::string> shipped() {
  std::vector<std::string> files;
  for (const Problem* problem : all_problems()) {
    if (has_large_inputs(*problem) != HIPBENCH_SLOW_CORPUS) continue;
    const std::string folder = "problems/" + problem->id();
    for (const char* starter : {"/starter_kernel.hip", "/starter_host.hip"}) files.push_back(folder + starter);
    for (const std::string& more : {folder + "/candidates", "kernels/reference_solutions/" + problem->id()})
      for (std::string& file : candidates_in(more)) files.push_back(std::move(file));
  }
  return files;
}

// The ID of problems/ID/… and kernels/reference_solutions/ID/….
std::string id_in(const fs::path& path) {
  return std::next(path.begin(), *path.begin() == "kernels" ? 2 : 1)->string();
}

// Files elsewhere name their problem in their header.
const Problem& problem_of(const std::string& path, const std::map<std::string, std::string>& header) {
  const auto named = header.find("problem");
  const auto problem = find_problem(named != header.end() ? named->second : id_in(path));
  CHECK(problem.has_value(), path);
  return **problem;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  const fs::path path = info.param;
  const std::string stem = path.stem().string();
  if (info.param.starts_with("kernels/")) return id_in(path) + "_reference_" + stem;
  return info.param.starts_with("problems/") ? id_in(path) + "_" + stem : stem;
}

class CorpusTest : public EvaluateTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(CorpusTest, EndsInTheVerdictItsHeaderNames) {
  const std::string source = read_source(GetParam());
  auto header = header_of(source);
  const std::string expected = header.contains("expect") ? header["expect"] : "passed";
  const Problem& problem = problem_of(GetParam(), header);
  EvaluateOptions options = quick_options(problem);
  if (expected == "timed_out") options.host_patience = std::chrono::seconds(1);  // others may wait for a busy machine
  const Evaluation evaluation = evaluate(problem, GetParam(), source, options);
  EXPECT_EQ(to_string(evaluation.verdict.kind), expected) << described(evaluation);
  if (header.contains("track")) EXPECT_EQ(to_string(evaluation.track), header["track"]);
  if (header.contains("evidence"))
    EXPECT_THAT(evaluation.verdict.reason + "\n" + evaluation.verdict.evidence,
                ::testing::HasSubstr(header["evidence"]));
  if (expected == "passed") {
    EXPECT_EQ(evaluation.shapes.size(), options.shapes.size());
    for (const ShapeResult& shape : evaluation.shapes) {
      EXPECT_GT(shape.wave_instructions, 0u);
      EXPECT_GE(shape.rounds, 2);
    }
  }
}

// The threat model's tables are complete.
TEST(Corpus, EveryExploitStandsInTheThreatModel) {
  const std::string model = read_source("docs/threat-model.md");
  for (const char* folder : {"tests/exploits/must_fail", "tests/exploits/must_pass"})
    for (const std::string& file : candidates_in(folder))
      EXPECT_THAT(model, ::testing::HasSubstr("`" + fs::path(file).stem().string() + "`"))
          << file << " is not in docs/threat-model.md";
}

INSTANTIATE_TEST_SUITE_P(Shipped, CorpusTest, ::testing::ValuesIn(shipped()), test_name);
#if !HIPBENCH_SLOW_CORPUS
INSTANTIATE_TEST_SUITE_P(Wrong, CorpusTest, ::testing::ValuesIn(candidates_in("tests/wrong_candidates")), test_name);
INSTANTIATE_TEST_SUITE_P(Exploit, CorpusTest, ::testing::ValuesIn(candidates_in("tests/exploits/must_fail")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Honest, CorpusTest, ::testing::ValuesIn(candidates_in("tests/exploits/must_pass")), test_name);
#endif

}  // namespace
}  // namespace hipbench::testing
