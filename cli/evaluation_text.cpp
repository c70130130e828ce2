#include "cli/evaluation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hipbench::cli {

namespace {

constexpr size_t kMostEvidenceLines = 40;
constexpr size_t kMostWarnings = 5;

std::string shape_table(const Evaluation& evaluation, const results::Speedups* speedups, const Painter& paint) {
  std::vector<std::string> header = {"shape",  "verdict",           "error/allowed", "rows checked",
                                     "rounds", "wave instructions", "emulation",     "time"};
  const bool has_speedups = speedups != nullptr && speedups->speedup;
  if (has_speedups) header.push_back("speed-up");
  std::vector<std::vector<Cell>> rows;
  for (size_t i = 0; i < evaluation.shapes.size(); ++i) {
    const ShapeResult& shape = evaluation.shapes[i];
    const bool ran = shape.wave_instructions > 0;
    rows.push_back({{printable_line(shape.shape.label)},
                    {std::string(to_string(shape.verdict.kind)), color_of(shape.verdict)},
                    {error_cell(shape)},
                    {rows_cell(shape)},
                    {std::to_string(shape.rounds)},
                    {ran ? quantity(static_cast<double>(shape.wave_instructions)) : "-"},
                    {ran ? duration(shape.emulation_seconds) : "-"},
                    {time_cell(shape)}});
    if (has_speedups && speedups->shapes[i]) rows.back().push_back({fmt::format("{:.2f}x", *speedups->shapes[i])});
  }
  return table(header, rows, "llrrrrrrr", paint);
}

std::string verdict_text(const Verdict& verdict, const std::string& where) {
  std::string text(to_string(verdict.kind));
  if (!where.empty()) text += " at " + where;
  if (!verdict.reason.empty()) text += ": " + printable_line(verdict.reason);
  return text;
}

// The comparison in a sentence, where the verdict does not already say it, and the map of what is wrong.
std::string comparison_lines(const ShapeResult& shape) {
  const Comparison& comparison = shape.comparison;
  if (comparison.elements == 0 || comparison.mismatches == 0) return "";
  const std::string sentence = comparison.sentence();
  const Verdict& verdict = shape.verdict;
  const bool is_said =
      verdict.reason.find(sentence) != std::string::npos || verdict.evidence.find(sentence) != std::string::npos;
  return (is_said ? "" : indented(printable(sentence), 4)) + indented(printable(comparison.map), 4);
}

// The evidence without its first line where the reason has that line already.
std::string evidence_lines(const Verdict& verdict) {
  std::string evidence = verdict.evidence;
  const size_t end = std::min(evidence.find('\n'), evidence.size());
  if (verdict.reason.find(evidence.substr(0, end)) != std::string::npos)
    evidence.erase(0, std::min(end + 1, evidence.size()));
  return indented(printable(evidence), 4, kMostEvidenceLines);
}

std::string failures_text(const Evaluation& evaluation, const Painter& paint) {
  std::string text;
  bool shown_at_a_shape = false;
  for (const ShapeResult& shape : evaluation.shapes) {
    if (shape.verdict.passed()) continue;
    shown_at_a_shape = true;
    text += paint(color_of(shape.verdict), verdict_text(shape.verdict, shape.shape.label)) + "\n";
    text += comparison_lines(shape) + evidence_lines(shape.verdict);
  }
  if (shown_at_a_shape) return text;
  return paint(color_of(evaluation.verdict), verdict_text(evaluation.verdict, "")) + "\n" +
         evidence_lines(evaluation.verdict);
}

std::string warnings_text(const Evaluation& evaluation, const Painter& paint) {
  std::string text;
  for (size_t i = 0; i < std::min(evaluation.warnings.size(), kMostWarnings); ++i) {
    text += paint(Color::Yellow, "warning: ");
    std::string warning = indented(printable(evaluation.warnings[i]), 9, kMostEvidenceLines);
    warning.erase(0, std::min(warning.find_first_not_of(' '), warning.size()));
    text += warning.empty() ? "\n" : warning;
  }
  if (evaluation.warnings.size() > kMostWarnings) {
    text += fmt::format("and {} more warnings; --json has them all\n", evaluation.warnings.size() - kMostWarnings);
  }
  return text;
}

std::string facts_text(const Evaluation& evaluation, const Painter& paint) {
  std::string text = fmt::format("{} track on the {} device, seed {}, {} in all", to_string(evaluation.track),
                                 to_string(evaluation.device), evaluation.seed, duration(evaluation.total_seconds));
  if (evaluation.compile_was_cached) {
    text += ", compiled before";
  } else if (evaluation.compile_seconds > 0) {
    text += fmt::format(", of it {} compiling", duration(evaluation.compile_seconds));
  }
  if (evaluation.check) text += "; with memory and race checks, so no times were taken";
  if (!evaluation.sandboxed) text += "; without a sandbox, so never ranked";
  return paint(Color::Dim, text) + "\n";
}

}  // namespace

Color color_of(const Verdict& verdict) {
  if (verdict.passed()) return Color::Green;
  return verdict.kind == VerdictKind::Infrastructure ? Color::Yellow : Color::Red;
}

std::string error_cell(const ShapeResult& shape) {
  const Comparison& comparison = shape.comparison;
  if (comparison.elements == 0) return "-";
  if (comparison.mismatches > 0) return fmt::format("{} of {} wrong", comparison.mismatches, comparison.elements);
  return fmt::format("{:.3f}", comparison.worst_ratio);
}

std::string rows_cell(const ShapeResult& shape) {
  if (shape.checked_rows == 0) return "-";
  return shape.checked_rows == shape.row_count ? "all" : fmt::format("{} of {}", shape.checked_rows, shape.row_count);
}

std::string time_cell(const ShapeResult& shape) {
  if (!(shape.time_us > 0)) return "-";
  const int decimals = shape.time_us < 100 ? 2 : 0;
  return fmt::format("{:.{}f} µs {}", shape.time_us, decimals, shape.time_is_modelled ? "modelled" : "measured");
}

// The geometric mean where every shape has a time, and how far to trust modelled ones.
std::string times_text(const std::vector<ShapeResult>& shapes, const Painter& paint) {
  double logarithms = 0;
  bool modelled = false, all = !shapes.empty();
  std::string model;
  for (const ShapeResult& shape : shapes) {
    all = all && shape.time_us > 0;
    if (!(shape.time_us > 0)) continue;
    logarithms += std::log(shape.time_us);
    modelled = modelled || shape.time_is_modelled;
    if (!shape.timing_model.empty()) model = " " + shape.timing_model;
  }
  std::string text;
  if (all && shapes.size() > 1)
    text += fmt::format("geometric mean {:.2f} µs {}\n", std::exp(logarithms / static_cast<double>(shapes.size())),
                        modelled ? "modelled" : "measured");
  if (modelled)
    text += paint(Color::Dim,
                  fmt::format("modelled by the timing model{}; docs/timing-model.md says how far to trust it", model)) +
            "\n";
  return text;
}

// Over the baseline; of what did not pass there is nothing to say.
std::string speedup_text(const Evaluation& evaluation, const results::Speedups* speedups, const Painter& paint) {
  if (speedups == nullptr || !evaluation.verdict.passed() || evaluation.check) return "";
  if (speedups->speedup) {
    return fmt::format("speed-up {:.2f}x over the baseline of {}\n", *speedups->speedup, evaluation.problem);
  }
  return paint(Color::Dim, "no speed-up: " + printable_line(speedups->why_none)) + "\n";
}

std::string evaluation_text(const Evaluation& evaluation, const std::string& replay, const Painter& paint,
                            const results::Speedups* speedups) {
  std::string text;
  if (!evaluation.shapes.empty()) text += shape_table(evaluation, speedups, paint) + "\n";
  const auto& shapes = evaluation.shapes;
  const auto passed =
      std::count_if(shapes.begin(), shapes.end(), [](const ShapeResult& s) { return s.verdict.passed(); });
  if (evaluation.verdict.passed()) {
    text += paint(Color::Green, fmt::format("passed: {} of {} shapes", passed, shapes.size())) + "\n";
  } else {
    text += failures_text(evaluation, paint);
  }
  text += warnings_text(evaluation, paint) + facts_text(evaluation, paint);
  text += times_text(shapes, paint) + speedup_text(evaluation, speedups, paint);
  if (!replay.empty()) text += paint(Color::Dim, "again: " + replay) + "\n";
  return text;
}

}  // namespace hipbench::cli
