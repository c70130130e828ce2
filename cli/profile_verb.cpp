// hipbench profile: what one launch of a candidate did, and what its kernels take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/choices.hpp"
#include "cli/evaluate_options.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/json.hpp"
#include "cli/occupancy.hpp"
#include "cli/text.hpp"
#include "cli/time_breakdown.hpp"
#include "cli/verbs.hpp"
#include "common/files.hpp"
#include "problems/registry.hpp"

namespace hipbench::cli {

namespace {

std::string size_text(const emulator::Dim3& size) {
  if (size.z != 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  return size.y != 1 ? fmt::format("{}x{}", size.x, size.y) : std::to_string(size.x);
}

// One line a class: its count, its share of all instructions and of the emulation's time.
std::string counters_text(const emulator::Counters& c, const emulator::ClassSeconds& s) {
  struct Class {
    const char* name;
    uint64_t count;
    double seconds;
  };
  const Class classes[] = {{"valu", c.valu, s.valu},       {"salu", c.salu, s.salu},   {"smem", c.smem, s.smem},
                           {"vmem", c.vmem, s.vmem},       {"lds", c.lds, s.lds},      {"mfma", c.mfma, s.mfma},
                           {"branch", c.branch, s.branch}, {"other", c.other, s.other}};
  std::string text =
      fmt::format("    {} wave instructions by {} waves in {} workgroups\n", c.instructions, c.waves, c.workgroups);
  for (const auto& [name, count, seconds] : classes) {
    if (count == 0) continue;
    text +=
        fmt::format("      {:<7}{:>14}  {:5.1f} %", name, count,
                    100.0 * static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(c.instructions, 1)));
    if (seconds > 0)
      text += fmt::format("  {:>9} of the emulator's threads, {:.0f} ns each", duration(seconds),
                          seconds * 1e9 / static_cast<double>(count));
    text += '\n';
  }
  if (c.mfma_flops != 0)
    text += fmt::format("    {}FLOP on the matrix units\n", quantity(static_cast<double>(c.mfma_flops)));
  text += fmt::format("    {}B read and {}B written by lanes in global memory, {} barriers\n",
                      quantity(static_cast<double>(c.bytes_read)), quantity(static_cast<double>(c.bytes_written)),
                      c.barriers);
  return text;
}

std::string launch_text(const LaunchRecord& launch) {
  std::string text = fmt::format("  {}  grid {}, block {}", printable_line(demangled_name(launch.kernel)),
                                 size_text(launch.grid), size_text(launch.block));
  if (launch.dynamic_lds_bytes != 0) text += fmt::format(", {} bytes of dynamic LDS", launch.dynamic_lds_bytes);
  return text + fmt::format(", {} emulated\n", duration(launch.host_seconds)) +
         counters_text(launch.counters, launch.class_seconds) + time_breakdown_text(launch);
}

std::string kernels_table(const Evaluation& evaluation, const Painter& paint) {
  const std::vector<std::string> header = {"kernel", "VGPRs",   "of them AGPRs", "SGPRs",      "spilled",
                                           "LDS",    "scratch", "workgroups/CU", "waves/SIMD", "limited by"};
  std::vector<std::vector<Cell>> rows;
  for (const KernelResources& kernel : evaluation.kernels) {
    std::vector<Cell> row = {{printable_line(kernel.name)},
                             {std::to_string(kernel.vgprs)},
                             {std::to_string(kernel.agprs)},
                             {std::to_string(kernel.sgprs)},
                             {std::to_string(kernel.vgpr_spills + kernel.sgpr_spills)},
                             {std::to_string(kernel.lds_bytes)},
                             {std::to_string(kernel.scratch_bytes)}};
    const LaunchRecord* launched = nullptr;
    for (const ShapeResult& shape : evaluation.shapes) {
      for (const LaunchRecord& launch : shape.launches) {
        if (launched == nullptr && names_match(kernel.name, launch.kernel)) launched = &launch;
      }
    }
    if (launched != nullptr) {
      const Occupancy occupancy = occupancy_of(kernel, *launched);
      row.push_back({std::to_string(occupancy.workgroups)});
      row.push_back({fmt::format("{:g}", occupancy.waves_per_simd)});
      row.push_back({occupancy.limited_by});
    } else {
      row.insert(row.end(), {{"-"}, {"-"}, {"not launched", Color::Dim}});
    }
    rows.push_back(std::move(row));
  }
  return table(header, rows, "lrrrrrrrrl", paint);
}

std::string profile_text(const Evaluation& evaluation, const Painter& paint) {
  std::string text = evaluation_text(evaluation, "", paint) + "\n";
  if (!evaluation.kernels.empty()) text += kernels_table(evaluation, paint) + "\n";
  for (const ShapeResult& shape : evaluation.shapes) {
    if (shape.launches.empty()) continue;
    text += fmt::format("launches of one call at {}:\n", shape.shape.label);
    for (const LaunchRecord& launch : shape.launches) text += launch_text(launch);
    if (const Result<const Problem*> problem = find_problem(evaluation.problem); problem)
      text += call_totals_text(call_totals((*problem)->roofs(shape.shape), shape));
    if (shape.emulation_seconds <= 0) continue;
    const double rate = static_cast<double>(shape.wave_instructions) / shape.emulation_seconds;
    text += fmt::format("in all {} wave instructions in {}: {} a second\n",
                        quantity(static_cast<double>(shape.wave_instructions)), duration(shape.emulation_seconds),
                        quantity(rate));
  }
  return text;
}

int profile(const EvaluateArguments& arguments, const std::string& roofline) {
  const Jobs jobs = make_jobs(arguments);
  if (jobs.refused) return *jobs.refused;
  if (jobs.jobs.size() != 1) return fail(kWrongUsage, "profile takes one file");
  const Job& job = jobs.jobs.front();
  if (job.options.shapes.size() != 1)
    return fail(kWrongUsage, "profile takes one shape: --shape " + job.problem->shapes(ShapeSet::Quick)[0].shape.label);
  const Evaluation evaluation = evaluate_job(job);
  if (!roofline.empty()) {
    const Result<void> written = write_file_atomically(
        roofline,
        roofline_svg(evaluation.shapes.empty() ? std::vector<LaunchRecord>{} : evaluation.shapes[0].launches));
    if (!written) return fail(kEnvironmentFailed, written.error().message);
  }
  if (arguments.json) {
    print_json(profile_json(evaluation));
  } else {
    fmt::print("{}", profile_text(evaluation, Painter::for_stdout()));
  }
  return status_of(evaluation.verdict);
}

}  // namespace

void add_profile_verb(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "profile", "Modelled time by cause, hottest lines, what would help; counters, registers, occupancy");
  auto arguments = std::make_shared<EvaluateArguments>();
  add_evaluate_options(*verb, *arguments);
  verb->add_option("--shape,--shapes", arguments->shapes, "One shape: KEY=N,…")->required()->allow_extra_args(false);
  verb->footer(
      "Nothing is stored.\n\nExample:\n  hipbench profile gemm.hip --problem fp8_gemm --shape m=64,n=1536,k=7168 "
      "--json");
  auto roofline = std::make_shared<std::string>();
  verb->add_option("--roofline", *roofline, "Write a roofline figure (SVG) to this file");
  verb->callback(
      [&action, arguments, roofline] { action = [arguments, roofline] { return profile(*arguments, *roofline); }; });
}

}  // namespace hipbench::cli
