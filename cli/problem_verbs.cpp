// hipbench problems [show ID], hipbench init.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/candidate_file.hpp"
#include "cli/choices.hpp"
#include "cli/evaluate_files.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "problems/registry.hpp"

namespace hipbench::cli {

namespace {

int list_problems(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Problem* problem : all_problems()) list.push_back({{"id", problem->id()}, {"title", problem->title()}});
    print_json({{"schema", "hipbench.problems/1"}, {"problems", std::move(list)}});
    return kAllPassed;
  }
  std::vector<std::vector<Cell>> rows;
  for (const Problem* problem : all_problems()) {
    const auto count = [&](ShapeSet set) { return Cell{std::to_string(problem->shapes(set).size())}; };
    rows.push_back({{problem->id()},
                    {problem->title()},
                    count(ShapeSet::Quick),
                    count(ShapeSet::Tests),
                    count(ShapeSet::Benchmarks)});
  }
  const std::vector<std::string> header = {"problem", "title", "quick", "tests", "benchmarks"};
  fmt::print("{}\nhipbench problems show {} tells all about one.\n",
             table(header, rows, "llrrr", Painter::for_stdout()), all_problems().front()->id());
  return kAllPassed;
}

std::string microseconds(double us) { return fmt::format("{:.2f}", us); }

void print_shapes(const Problem& problem, std::string_view title, ShapeSet set) {
  std::vector<std::vector<Cell>> rows;
  for (const ListedShape& listed : problem.shapes(set)) {
    const Roofs roofs = problem.roofs(listed.shape);
    const int64_t row_count = problem.row_count(listed.shape);
    rows.push_back(
        {{listed.shape.label},
         {quantity(roofs.flops)},
         {quantity(static_cast<double>(roofs.input_bytes + roofs.output_bytes))},
         {microseconds(roofs.floor_us)},
         {microseconds(roofs.matrix_roof_us)},
         {microseconds(roofs.memory_roof_us)},
         {listed.challenge_sol_us ? microseconds(*listed.challenge_sol_us) : "-"},
         {listed.emulated_check_rows == 0 ? "all" : fmt::format("{} of {}", listed.emulated_check_rows, row_count)}});
  }
  const std::vector<std::string> header = {fmt::format("{} shapes", title),
                                           "FLOP",
                                           "bytes",
                                           "floor µs",
                                           "matrix roof µs",
                                           "memory roof µs",
                                           "challenge_sol µs",
                                           "rows checked"};
  fmt::print("{}\n", table(header, rows, "lrrrrrrr", Painter::for_stdout()));
}

void print_references(const Problem& problem) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& list : {problem.references(), problem.ladder()})
    for (const ReferenceSolution& one : list)
      rows.push_back({{one.name}, {one.path}, {one.sha256.substr(0, 12)}, {one.shows}});
  if (rows.empty()) return;
  const std::vector<std::string> header = {"reference", "file", "sha256", "what it shows"};
  fmt::print("{}", table(header, rows, "llll", Painter::for_stdout()));
  if (problem.reference(ReferenceRole::Expert) == nullptr) fmt::print("There is no expert yet.\n");
  fmt::print("Speed-ups are taken over the baseline. hipbench eval --reference NAME --problem {} evaluates one.\n\n",
             problem.id());
}

// Not in problem_json, which `hipbench mcp` serves.
Json references_json(std::span<const ReferenceSolution> references) {
  Json list = Json::array();
  for (const ReferenceSolution& one : references)
    list.push_back({{"name", one.name}, {"file", one.path}, {"sha256", one.sha256}, {"shows", one.shows}});
  return list;
}

int show_problem(const std::string& id, bool json) {
  const Result<const Problem*> found = choose_problem(id);
  if (!found) return fail(kWrongUsage, found.error().message);
  const Problem& problem = **found;
  if (json) {
    Json document = problem_json(problem);
    document["references"] = references_json(problem.references());
    document["ladder"] = references_json(problem.ladder());
    print_json(document);
    return kAllPassed;
  }
  fmt::print("{}\n\n{}\n", problem.title(), problem.readme());
  print_shapes(problem, "quick", ShapeSet::Quick);
  print_shapes(problem, "tests", ShapeSet::Tests);
  print_shapes(problem, "benchmarks", ShapeSet::Benchmarks);
  print_references(problem);
  fmt::print("An element is right when |got - expected| <= {:g} + {:g} * |expected|.\n", problem.tolerance().absolute,
             problem.tolerance().relative);
  fmt::print(
      "floor: no time can be shorter. matrix and memory roof: the shape at the best published rates. challenge_sol: "
      "the\n"
      "speed of light that the challenge printed. rows checked: on the emulated device, by the oracle; the launch is\n"
      "always whole.\n"
      "Any shape {}=N is accepted by --shapes.\n",
      fmt::join(problem.dimensions(), "=N,"));
  return kAllPassed;
}

struct InitOptions {
  std::string problem, file, track = "kernel";
  bool force = false;
};

int init(const InitOptions& options) {
  const Result<const Problem*> problem = choose_problem(options.problem);
  if (!problem) return fail(kWrongUsage, problem.error().message);
  const Result<std::optional<Track>> track = choose_track(options.track);
  if (!track) return fail(kWrongUsage, track.error().message);
  const Result<void> written =
      write_new_file(options.file, (*problem)->starter(track->value_or(Track::Kernel)), options.force);
  if (!written) return fail(kWrongUsage, written.error().message);
  fmt::print("wrote {}; it passes already: hipbench eval {} --problem {}\n", printable_line(options.file),
             shell_word(options.file), options.problem);
  return kAllPassed;
}

}  // namespace

void add_problem_verbs(CLI::App& app, Action& action) {
  CLI::App* problems =
      app.add_subcommand("problems", "List the problems, or show one: maths, layouts, shapes, tolerances, roofs");
  problems->footer(
      "Examples:\n  hipbench problems\n  hipbench problems show fp8_gemm\n  hipbench problems show fp8_gemm --json");
  auto json = std::make_shared<bool>(false);
  auto id = std::make_shared<std::string>();
  problems->add_flag("--json", *json, "Print one JSON document");
  problems->callback([&action, json, id] {
    action = [json, id] { return id->empty() ? list_problems(*json) : show_problem(*id, *json); };
  });
  CLI::App* show = problems->add_subcommand("show", "Everything about one problem");
  show->add_option("ID", *id, "The problem")->required();
  show->add_flag("--json", *json, "Print one JSON document");

  CLI::App* starter = app.add_subcommand("init", "Write a starter candidate that already passes");
  starter->footer("Examples:\n  hipbench init fp8_gemm gemm.hip\n  hipbench init fp8_gemm gemm.hip --track host");
  auto options = std::make_shared<InitOptions>();
  starter->add_option("PROBLEM", options->problem, "The problem's id")->required();
  starter->add_option("FILE", options->file, "The file to write")->required();
  starter->add_option("--track", options->track,
                      "kernel (default): device code and a launch plan. host: HIP with host code");
  starter->add_flag("--force", options->force, "Replace an existing file");
  starter->callback([&action, options] { action = [options] { return init(*options); }; });
}

}  // namespace hipbench::cli
