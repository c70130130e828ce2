// hipbench oracle: the right answer for the user's own tensors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/choices.hpp"
#include "cli/evaluate_files.hpp"
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
  const Result<Shape> shape = problem.parse_shape(options.shape);
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

}  // namespace

void add_tensor_verbs(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("oracle", "The right answer for tensors of your own, as .npy files");
  verb->footer(
      "Inputs are INPUTS/FIELD.npy, one a pointer field of the problem (see hipbench problems show ID): '<f4', '<f2', and\n"
      "the raw bits of bf16 ('<u2') and e4m3fnuz ('|u1').\n"
      "Examples:\n  hipbench oracle fp8_gemm --shape m=64,n=64,k=128 --inputs in --output right\n"
      "  hipbench oracle fp8_gemm --shape m=64,n=64,k=128 --draw 1 --inputs in --output right    (draws the inputs too)");
  auto options = std::make_shared<TensorOptions>();
  verb->add_option("PROBLEM", options->problem, "The problem's id")->required();
  verb->add_option("--shape", options->shape, "The shape, as m=64,n=64,k=128")->required();
  verb->add_option("--inputs", options->inputs, "Folder of the input tensors")->required();
  verb->add_option("--output", options->output, "Folder for the right outputs")->required();
  CLI::Option* draw = verb->add_option("--draw", options->draw, "Draw the inputs from this seed and write them to --inputs");
  verb->add_option("--threads", options->threads, "Threads to use; 0 (default) = one a core");
  verb->callback([&action, options, draw] {
    options->has_draw = draw->count() != 0;
    action = [options] { return oracle(*options); };
  });
}

}  // namespace hipbench::cli
