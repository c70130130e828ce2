#include "cli/batch_line.hpp"

#include <algorithm>
#include <cmath>

#include "common/json.hpp"
#include "problems/registry.hpp"

#ifndef HIPBENCH_VERSION
#error "the build defines HIPBENCH_VERSION"
#endif

namespace hipbench::cli {

namespace {


constexpr const char* kSchema = "hipbench.result/1";


// The part of a shape's elements that are right. Rows that were not compared do not count.
double match_of(const ShapeResult& shape) {
  const Comparison& c = shape.comparison;
  if (shape.verdict.passed()) return 1;
  return c.elements == 0 ? 0 : static_cast<double>(c.elements - c.mismatches) / static_cast<double>(c.elements);
}

// Of what the chip could do at best: 1 is a kernel that nothing but the hardware's rates holds up.
std::optional<double> roof_fraction(const Problem* problem, const ShapeResult& shape) {
  if (problem == nullptr || !(shape.time_us > 0)) return std::nullopt;
  const Roofs roofs = problem->roofs(shape.shape);
  return std::max(roofs.matrix_roof_us, roofs.memory_roof_us) / shape.time_us;
}

Json number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

Json time_json(const ShapeResult& shape) {
  if (!(shape.time_us > 0)) return nullptr;
  return {{"us", shape.time_us}, {"provenance", shape.time_is_modelled ? "modelled" : "measured"}};
}

Json shapes_json(const Problem* problem, const Evaluation& evaluation, const results::Speedups& speedups) {
  Json shapes = Json::array();
  for (size_t i = 0; i < evaluation.shapes.size(); ++i) {
    const ShapeResult& shape = evaluation.shapes[i];
    shapes.push_back({{"shape", shape.shape.label},
                      {"verdict", to_string(shape.verdict.kind)},
                      {"match", match_of(shape)},
                      {"time", time_json(shape)},
                      {"speedup", number_or_null(i < speedups.shapes.size() ? speedups.shapes[i] : std::nullopt)},
                      {"roof_fraction", number_or_null(roof_fraction(problem, shape))},
                      {"wave_instructions", shape.wave_instructions}});
  }
  return shapes;
}

// The geometric mean over the shapes; none unless every shape has one.
std::optional<double> mean_roof_fraction(const Problem* problem, const Evaluation& evaluation) {
  double sum = 0;
  for (const ShapeResult& shape : evaluation.shapes) {
    const std::optional<double> fraction = roof_fraction(problem, shape);
    if (!fraction || !(*fraction > 0)) return std::nullopt;
    sum += std::log(*fraction);
  }
  if (evaluation.shapes.empty()) return std::nullopt;
  return std::exp(sum / static_cast<double>(evaluation.shapes.size()));
}

// Of the worst shape that was run. Nothing is known where the fault was not the candidate's.
Json match_json(const Evaluation& evaluation) {
  if (evaluation.verdict.fault() == Fault::Infrastructure) return nullptr;
  double match = evaluation.shapes.empty() ? 0 : 1;
  for (const ShapeResult& shape : evaluation.shapes) match = std::min(match, match_of(shape));
  return match;
}

Json versions_json(const Evaluation& evaluation) {
  return {{"hipbench", HIPBENCH_VERSION}, {"toolchain", evaluation.toolchain}};
}

}  // namespace

std::string result_line(const RequestId& id, const Evaluation& e, std::optional<int64_t> stored, double waited_seconds,
                        const results::Speedups& speedups) {
  const Result<const Problem*> found = find_problem(e.problem);
  const Problem* problem = found ? *found : nullptr;
  const auto passed =
      std::count_if(e.shapes.begin(), e.shapes.end(), [](const ShapeResult& s) { return s.verdict.passed(); });
  return json_text(
      {{"schema", kSchema},
       {"id", id},
       {"verdict", e.cancelled ? "cancelled" : std::string(to_string(e.verdict.kind))},
       {"fault", to_string(e.cancelled ? Fault::None : e.verdict.fault())},
       {"stage", to_string(e.stage)},
       {"reason", e.cancelled ? "" : e.verdict.reason},
       {"evidence", e.verdict.evidence},
       {"match", match_json(e)},
       {"speedup", number_or_null(speedups.speedup)},
       {"no_speedup", speedups.why_none.empty() ? Json(nullptr) : Json(speedups.why_none)},
       {"baseline_sha256", speedups.baseline_sha256.empty() ? Json(nullptr) : Json(speedups.baseline_sha256)},
       {"roof_fraction", number_or_null(e.verdict.passed() ? mean_roof_fraction(problem, e) : std::nullopt)},
       {"problem", e.problem},
       {"track", to_string(e.track)},
       {"device", to_string(e.device)},
       {"shape_set", e.shape_set},
       {"passed_shapes", passed},
       {"shapes", shapes_json(problem, e, speedups)},
       {"warnings", e.warnings},
       {"sandboxed", e.sandboxed},
       {"memory_checks", e.check},
       {"source_sha256", e.source_sha256},
       {"seed", std::to_string(e.seed)},
       {"evaluation", stored ? Json(*stored) : Json(nullptr)},
       {"versions", versions_json(e)},
       {"cost",
        {{"seconds", e.total_seconds},
         {"waited_seconds", waited_seconds},
         {"compile_seconds", e.compile_was_cached ? 0.0 : e.compile_seconds},
         {"compile_was_cached", e.compile_was_cached},
         {"peak_memory_bytes", e.peak_memory_bytes},
         {"attempts", e.attempts}}},
       {"started_at", e.started_at}});
}

std::string invalid_line(const InvalidRequest& request, size_t line_number) {
  return json_text({{"schema", kSchema},
                   {"id", request.id},
                   {"verdict", "invalid_request"},
                   {"fault", to_string(Fault::Infrastructure)},
                   {"stage", "request"},
                   {"reason", request.reason},
                   {"line", line_number},
                   {"versions", {{"hipbench", HIPBENCH_VERSION}}}});
}

}  // namespace hipbench::cli
