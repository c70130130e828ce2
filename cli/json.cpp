#include "cli/json.hpp"

#include <fmt/format.h>

#include "cli/occupancy.hpp"
#include "cli/time_breakdown.hpp"
#include "problems/registry.hpp"

#ifndef HIPBENCH_VERSION
#error "the build defines HIPBENCH_VERSION"
#endif

namespace hipbench::cli {

namespace {

Json verdict_json(const Verdict& verdict) {
  return {{"kind", to_string(verdict.kind)}, {"reason", verdict.reason}, {"evidence", verdict.evidence}};
}

Json comparison_json(const Comparison& c) {
  if (c.elements == 0) return nullptr;
  Json json = {{"output", c.output},         {"elements", c.elements},   {"mismatches", c.mismatches},
               {"non_finite", c.non_finite}, {"untouched", c.untouched}, {"worst_ratio", c.worst_ratio},
               {"pattern", c.pattern},       {"worst", nullptr},         {"map", nullptr}};
  if (!c.map.empty()) json["map"] = c.map;
  if (c.worst) {
    json["worst"] = {{"row", c.worst->row},           {"column", c.worst->column}, {"got", c.worst->got},
                     {"expected", c.worst->expected}, {"error", c.worst->error},   {"allowed", c.worst->allowed}};
  }
  return json;
}

// Estimated; null when the launch was too short for that.
Json class_seconds_json(const emulator::ClassSeconds& s) {
  if (s.valu + s.salu + s.smem + s.vmem + s.lds + s.mfma + s.branch + s.other <= 0) return {};
  return {{"valu", s.valu}, {"salu", s.salu}, {"smem", s.smem},     {"vmem", s.vmem},
          {"lds", s.lds},   {"mfma", s.mfma}, {"branch", s.branch}, {"other", s.other}};
}

Json size_json(const emulator::Dim3& size) { return Json::array({size.x, size.y, size.z}); }

Json launch_json(const LaunchRecord& launch) {
  return {{"kernel", launch.kernel},
          {"grid", size_json(launch.grid)},
          {"block", size_json(launch.block)},
          {"dynamic_lds_bytes", launch.dynamic_lds_bytes},
          {"emulation_seconds", launch.host_seconds},
          {"thread_seconds", class_seconds_json(launch.class_seconds)},
          {"modelled", time_breakdown_json(launch)},
          {"counters", counters_json(launch.counters)}};
}

Json launches_json(const std::vector<LaunchRecord>& launches) {
  Json json = Json::array();
  for (const LaunchRecord& launch : launches) json.push_back(launch_json(launch));
  return json;
}

Json kernel_json(const KernelResources& k) {
  return {{"name", k.name},
          {"vgprs", k.vgprs},
          {"agprs", k.agprs},
          {"sgprs", k.sgprs},
          {"vgpr_spills", k.vgpr_spills},
          {"sgpr_spills", k.sgpr_spills},
          {"lds_bytes", k.lds_bytes},
          {"scratch_bytes", k.scratch_bytes}};
}

Json shape_result_json(const ShapeResult& s, const std::optional<double>& speedup) {
  Json time = nullptr;
  if (s.time_us > 0) time = {{"us", s.time_us}, {"provenance", s.time_is_modelled ? "modelled" : "measured"}};
  if (!s.timing_model.empty() && s.time_us > 0) {
    time["model"] = s.timing_model;
    time["sampling_error"] = s.time_error;
  }
  if (const std::optional<double> floor = results::noise_floor_of(s); floor && s.time_us > 0)
    time["noise_floor"] = *floor;
  return {{"shape", s.shape.label},
          {"verdict", verdict_json(s.verdict)},
          {"checked_rows", s.checked_rows},
          {"row_count", s.row_count},
          {"rounds", s.rounds},
          {"time", std::move(time)},
          {"speedup", speedup ? Json(*speedup) : Json(nullptr)},
          {"wave_instructions", s.wave_instructions},
          {"emulation_seconds", s.emulation_seconds},
          {"comparison", comparison_json(s.comparison)},
          {"launches", launches_json(s.launches)}};
}

Json listed_shapes_json(const Problem& problem, ShapeSet set) {
  Json json = Json::array();
  for (const ListedShape& listed : problem.shapes(set)) {
    const Roofs roofs = problem.roofs(listed.shape);
    json.push_back({{"shape", listed.shape.label},
                    {"flops", roofs.flops},
                    {"input_bytes", roofs.input_bytes},
                    {"output_bytes", roofs.output_bytes},
                    {"floor_us", roofs.floor_us},
                    {"matrix_roof_us", roofs.matrix_roof_us},
                    {"memory_roof_us", roofs.memory_roof_us},
                    {"challenge_sol_us", listed.challenge_sol_us ? Json(*listed.challenge_sol_us) : Json(nullptr)},
                    {"emulated_check_rows",
                     listed.emulated_check_rows == 0 ? problem.row_count(listed.shape) : listed.emulated_check_rows},
                    {"row_count", problem.row_count(listed.shape)}});
  }
  return json;
}

}  // namespace

Json counters_json(const emulator::Counters& c) {
  return {{"wave_instructions", c.instructions},
          {"valu", c.valu},
          {"salu", c.salu},
          {"smem", c.smem},
          {"vmem", c.vmem},
          {"lds", c.lds},
          {"mfma", c.mfma},
          {"branch", c.branch},
          {"other", c.other},
          {"mfma_flops", c.mfma_flops},
          {"bytes_read", c.bytes_read},
          {"bytes_written", c.bytes_written},
          {"barriers", c.barriers},
          {"workgroups", c.workgroups},
          {"waves", c.waves}};
}

Json baseline_json(const results::Speedups* speedups) {
  if (speedups == nullptr || speedups->baseline_sha256.empty()) return nullptr;
  return {{"sha256", speedups->baseline_sha256}, {"evaluations", speedups->baseline_evaluations}};
}

Json evaluation_json(const Evaluation& e, std::optional<int64_t> id, const results::Speedups* speedups) {
  Json shapes = Json::array(), kernels = Json::array();
  for (size_t i = 0; i < e.shapes.size(); ++i) {
    const bool has_speedup = speedups != nullptr && i < speedups->shapes.size();
    shapes.push_back(shape_result_json(e.shapes[i], has_speedup ? speedups->shapes[i] : std::nullopt));
  }
  for (const KernelResources& kernel : e.kernels) kernels.push_back(kernel_json(kernel));
  return {{"schema", "hipbench.evaluation/1"},
          {"id", id ? Json(*id) : Json(nullptr)},
          {"problem", e.problem},
          {"track", to_string(e.track)},
          {"device", to_string(e.device)},
          {"file", e.file},
          {"source_sha256", e.source_sha256},
          {"seed", std::to_string(e.seed)},
          {"shape_set", e.shape_set},
          {"sandboxed", e.sandboxed},
          {"memory_checks", e.check},
          {"passed", e.verdict.passed()},
          {"verdict", verdict_json(e.verdict)},
          {"stage", to_string(e.stage)},
          {"speedup", speedups != nullptr && speedups->speedup ? Json(*speedups->speedup) : Json(nullptr)},
          {"no_speedup", speedups != nullptr && !speedups->why_none.empty() ? Json(speedups->why_none) : Json(nullptr)},
          {"baseline", baseline_json(speedups)},
          {"shapes", std::move(shapes)},
          {"kernels", std::move(kernels)},
          {"warnings", e.warnings},
          {"compile_seconds", e.compile_seconds},
          {"compile_was_cached", e.compile_was_cached},
          {"total_seconds", e.total_seconds},
          {"peak_memory_bytes", e.peak_memory_bytes},
          {"attempts", e.attempts},
          {"toolchain", e.toolchain},
          {"hipbench_version", HIPBENCH_VERSION},
          {"started_at", e.started_at}};
}

Json problem_json(const Problem& problem) {
  Json fields = Json::array();
  constexpr std::string_view kAccess[] = {"in", "out", "inout"};
  for (const PointerField& field : problem.pointer_fields()) {
    fields.push_back(
        {{"name", field.name}, {"offset", field.offset}, {"access", kAccess[static_cast<size_t>(field.access)]}});
  }
  for (const IntegerField& field : problem.integer_fields()) {
    fields.push_back({{"name", field.name}, {"offset", field.offset}, {"access", "value"}});
  }
  return {{"schema", "hipbench.problem/1"},
          {"id", problem.id()},
          {"title", problem.title()},
          {"dimensions", std::vector<std::string>(problem.dimensions().begin(), problem.dimensions().end())},
          {"tolerance", {{"relative", problem.tolerance().relative}, {"absolute", problem.tolerance().absolute}}},
          {"arguments", {{"bytes", problem.args_size()}, {"fields", std::move(fields)}}},
          {"shapes",
           {{"quick", listed_shapes_json(problem, ShapeSet::Quick)},
            {"tests", listed_shapes_json(problem, ShapeSet::Tests)},
            {"benchmarks", listed_shapes_json(problem, ShapeSet::Benchmarks)}}},
          {"header", problem.header()},
          {"readme", problem.readme()}};
}

Json report_json(std::span<const results::EvaluationSummary> evaluations) {
  Json list = Json::array();
  for (const results::EvaluationSummary& e : evaluations) {
    list.push_back({{"id", e.id},
                    {"started_at", e.started_at},
                    {"problem", e.problem},
                    {"track", to_string(e.track)},
                    {"device", to_string(e.device)},
                    {"file", e.file},
                    {"shape_set", e.shape_set},
                    {"sandboxed", e.sandboxed},
                    {"memory_checks", e.check},
                    {"verdict", to_string(e.verdict)},
                    {"reason", e.reason},
                    {"shapes", e.shapes},
                    {"passed_shapes", e.passed_shapes},
                    {"total_seconds", e.total_seconds}});
  }
  return {{"schema", "hipbench.report/2"}, {"evaluations", std::move(list)}};
}

Json profile_json(const Evaluation& e) {
  Json document = {{"schema", "hipbench.profile/1"},
                   {"problem", e.problem},
                   {"track", to_string(e.track)},
                   {"device", to_string(e.device)},
                   {"file", e.file},
                   {"source_sha256", e.source_sha256},
                   {"seed", std::to_string(e.seed)},
                   {"passed", e.verdict.passed()},
                   {"verdict", verdict_json(e.verdict)}};
  const ShapeResult shape = e.shapes.empty() ? ShapeResult{} : e.shapes.front();
  document["shape"] = e.shapes.empty() ? Json(nullptr) : Json(shape.shape.label);
  document["wave_instructions"] = shape.wave_instructions;
  document["seconds"] = shape.emulation_seconds;
  document["wave_instructions_per_second"] =
      shape.emulation_seconds > 0 ? Json(static_cast<double>(shape.wave_instructions) / shape.emulation_seconds)
                                  : Json(nullptr);
  const Result<const Problem*> problem = find_problem(e.problem);
  document["call"] = problem && !e.shapes.empty() ? call_totals_json(call_totals((*problem)->roofs(shape.shape), shape))
                                                  : Json(nullptr);
  document["launches"] = launches_json(shape.launches);
  Json kernels = Json::array();
  for (const KernelResources& kernel : e.kernels) {
    Json json = kernel_json(kernel);
    json["launched_occupancy"] = nullptr;
    for (const LaunchRecord& launch : shape.launches) {
      if (!names_match(kernel.name, launch.kernel)) continue;
      const Occupancy occupancy = occupancy_of(kernel, launch);
      json["launched_occupancy"] = {{"workgroups_per_cu", occupancy.workgroups},
                                    {"waves_per_simd", occupancy.waves_per_simd},
                                    {"limited_by", occupancy.limited_by}};
      break;
    }
    kernels.push_back(std::move(json));
  }
  document["kernels"] = std::move(kernels);
  document["warnings"] = e.warnings;
  return document;
}

void print_json(const Json& document) {
  fmt::print("{}\n", json_text(document, 2));
}

}  // namespace hipbench::cli
