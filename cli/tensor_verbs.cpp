// hipbench oracle and hipbench run: the right answer, and a candidate's, for the user's own tensors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/choices.hpp"
#include "cli/evaluate_files.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/tensor_files.hpp"

namespace hipbench::cli {

namespace {

struct TensorOptions {
  std::string problem, shape, inputs, output;
  uint64_t draw = 0;
  bool has_draw = false;
  unsigned threads = 0;

  unsigned thread_count() const { return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency()); }
};

int oracle(const TensorOptions& options) {
  const Result<const Problem*> found = choose_problem(options.problem);
  if (!found) return fail(kWrongUsage, found.error().message);
  const Problem& problem = **found;
  const Result<Shape> shape =
      options.has_draw ? problem.parse_shape(options.shape) : problem.parse_oracle_shape(options.shape);
  if (!shape) return fail(kWrongUsage, shape.error().message);
  Result<Buffers> inputs = options.has_draw
                               ? problem.generate(*shape, {.seed = options.draw, .threads = options.thread_count()})
                               : read_input_tensors(problem, *shape, options.inputs);
  if (!inputs) return fail(kWrongUsage, inputs.error().message);
  if (options.has_draw) {
    const Result<void> drawn = write_tensors(problem, *shape, *inputs, options.inputs);
    if (!drawn) return fail(kEnvironmentFailed, drawn.error().message);
  }
  const Buffers outputs = problem.expected(*shape, *inputs, {}, options.thread_count());
  const Result<void> written = write_packed_outputs(problem, *shape, outputs, options.output);
  if (!written) return fail(kEnvironmentFailed, written.error().message);
  for (const PointerField& field : problem.pointer_fields()) {
    if (field.access == Access::In) continue;
    fmt::print("wrote {}/{}.npy ({})\n", printable_line(options.output), field.name, npy_type(field.type));
  }
  return kAllPassed;
}

struct RunOptions {
  EvaluateArguments arguments;
  std::string inputs, output;
};

int run(const RunOptions& options) {
  Jobs jobs = make_jobs(options.arguments);
  if (jobs.refused) return *jobs.refused;
  if (jobs.jobs.size() != 1 || jobs.jobs.front().options.shapes.size() != 1)
    return fail(kWrongUsage, "hipbench run takes one candidate and one shape");
  Job& job = jobs.jobs.front();
  const Result<Buffers> inputs = read_input_tensors(*job.problem, job.options.shapes.front(), options.inputs);
  if (!inputs) return fail(kWrongUsage, inputs.error().message);
  Result<void> written = Error{"the candidate gave no output"};
  job.options.inputs = &*inputs;
  job.options.observe = [&](const Shape& shape, const Case&, const Buffers& outputs) {
    written = write_packed_outputs(*job.problem, shape, outputs, options.output);
  };
  const Evaluation evaluation = evaluate_job(job);
  if (options.arguments.json) {
    print_json(evaluation_json(evaluation, std::nullopt));
  } else {
    fmt::print("{}", evaluation_text(evaluation, "", Painter::for_stdout()));
  }
  // Wrong outputs are written as well; where there are none, the verdict says why.
  const bool judged = evaluation.verdict.passed() || evaluation.verdict.kind == VerdictKind::WrongResult ||
                      evaluation.verdict.kind == VerdictKind::Nondeterministic;
  if (!written && judged) return fail(kEnvironmentFailed, written.error().message);
  if (written && !options.arguments.json) fmt::print("outputs are in {}\n", printable_line(options.output));
  return status_of(evaluation.verdict);
}

void add_run(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("run", "A candidate on tensors of your own, as .npy files");
  verb->footer(
      "The outputs are written whether they are right or not, and compared with the oracle; printf and assert work. "
      "Nothing is\n"
      "stored.\nExample:\n  hipbench run gemm.hip --problem fp8_gemm --shape m=64,n=64,k=128 --inputs in --output out");
  auto options = std::make_shared<RunOptions>();
  add_evaluate_options(*verb, options->arguments);
  verb->add_option("--shape", options->arguments.shapes, "The shape, as m=64,n=64,k=128")->required()->expected(1);
  verb->add_option("--inputs", options->inputs, "Folder of the input tensors, FIELD.npy each")->required();
  verb->add_option("--output", options->output, "Folder for what the candidate computes")->required();
  verb->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace

void add_tensor_verbs(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("oracle", "The right answer for tensors of your own, as .npy files");
  verb->footer(
      "Inputs are INPUTS/FIELD.npy, one a pointer field of the problem (see hipbench problems show ID): '<f4', '<f2', "
      "and\n"
      "the raw bits of bf16 ('<u2') and e4m3fnuz ('|u1').\n"
      "Sizes may be any, also such as no candidate gets; docs/compare-with-pytorch.md shows how to make the files.\n"
      "Examples:\n  hipbench oracle fp8_gemm --shape m=64,n=64,k=128 --inputs in --output right\n"
      "  hipbench oracle fp8_gemm --shape m=64,n=64,k=128 --draw 1 --inputs in --output right    (draws the inputs "
      "too)\n"
      "  hipbench oracle moe --shape n_experts=8,bs=1,seq=48,d_hidden=256,d_expert=128 --inputs in --output right");
  auto options = std::make_shared<TensorOptions>();
  verb->add_option("PROBLEM", options->problem, "The problem's id")->required();
  verb->add_option("--shape", options->shape, "The shape, as m=64,n=64,k=128")->required();
  verb->add_option("--inputs", options->inputs, "Folder of the input tensors")->required();
  verb->add_option("--output", options->output, "Folder for the right outputs")->required();
  CLI::Option* draw =
      verb->add_option("--draw", options->draw, "Draw the inputs from this seed and write them to --inputs");
  verb->add_option("--threads", options->threads, "Threads to use; 0 (default) = one a core");
  verb->callback([&action, options, draw] {
    options->has_draw = draw->count() != 0;
    action = [options] { return oracle(*options); };
  });
  add_run(app, action);
}

}  // namespace hipbench::cli
