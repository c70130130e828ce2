#include "tests/agents/scripted_model.hpp"

#include "common/files.hpp"
#include "problems/registry.hpp"

namespace hipbench::agents {

namespace {

std::string problem_of(const std::string& body) {
  const std::string mark = "for the problem `";
  const size_t at = body.find(mark) + mark.size();
  return body.substr(at, body.find('`', at) - at);
}

std::string file_of(const std::string& problem, const std::string& name) {
  return read_file(HIPBENCH_SOURCE_DIR "/problems/" + problem + "/" + name).value();
}

std::string fast(const std::string& problem) {
  const Problem& known = *find_problem(problem).value();
  if (const ReferenceSolution* baseline = known.reference(ReferenceRole::Baseline))
    return std::string(baseline->source);
  return file_of(problem, "candidates/vector_kernel.hip");
}

// The starter with the one thing replaced.
std::string starter_with(const std::string& problem, const std::string& what, const std::string& by) {
  std::string source = file_of(problem, "starter_kernel.hip");
  const size_t at = source.rfind(what);
  CHECK(at != std::string::npos, what);
  return source.replace(at, what.size(), by);
}

// One is added to every element of the output.
std::string wrong(const std::string& problem) {
  if (problem == "identity") return starter_with(problem, "args.x[i]", "args.x[i] + 1");
  if (problem == "fp8_gemm") return starter_with(problem, "__float2bfloat16(sum)", "__float2bfloat16(sum + 1)");
  if (problem == "moe") return starter_with(problem, "_Float16(y)", "_Float16(y + 1)");
  return starter_with(problem, "to_bf16(sum)", "to_bf16(sum + 1)");
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

ServedReply scripted_answer(Speak protocol, const ServedRequest& request) {
  const std::string& body = request.body;
  const std::string problem = problem_of(body);
  const auto answer = [&](const std::string& words, const std::string& source) {
    return say(protocol,
               {.text = words + "\n```cpp\n" + source + "```\nGood luck.",
                .prompt_tokens = body.size() / 4,
                .answer_tokens = source.size() / 4},
               1000);
  };
  // The last thing that the judge said.
  const std::string last = body.substr(std::min(body.rfind("The judge says:"), body.size() - 1));
  if (has(last, "Verdict: compile_error")) return answer("A letter was missing.", wrong(problem));
  if (has(last, "Verdict: wrong_result")) return answer("Now it is right.", file_of(problem, "starter_kernel.hip"));
  if (has(last, "It passed")) return answer("And fast.", fast(problem));
  return answer("Here it is.", starter_with(problem, ";\n", "\n"));
}

}  // namespace hipbench::agents
