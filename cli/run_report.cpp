#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hipbench::cli {

namespace {

double best_speedup(const results::RunSummary& run) {
  return run.speedups.empty() ? 0 : *std::max_element(run.speedups.begin(), run.speedups.end());
}

std::string notes_of(const results::RunSummary& run) {
  std::string notes;
  const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : ", ") + note; };
  if (!run.finished) add("unfinished");
  if (run.aided) add("aided");
  if (run.flagged != 0) add(fmt::format("{} nearly a shipped kernel", run.flagged));
  return notes;
}

}  // namespace

double fast_p(const results::RunSummary& run, double p) {
  if (run.speedups.empty()) return 0;
  const auto fast =
      std::count_if(run.speedups.begin(), run.speedups.end(), [&](double speedup) { return speedup > p; });
  return static_cast<double>(fast) / static_cast<double>(run.speedups.size());
}

std::string runs_text(std::span<const results::RunSummary> runs, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  for (const results::RunSummary& run : runs) {
    const double best = best_speedup(run);
    rows.push_back({{printable_line(run.run)},
                    {printable_line(run.problem)},
                    {printable_line(run.strategy)},
                    {shortened(printable_line(run.model), 30)},
                    {std::to_string(run.samples)},
                    {std::to_string(run.turns)},
                    {fmt::format("{:.2f}", fast_p(run, 0)), best > 0 ? Color::Green : Color::Red},
                    {fmt::format("{:.2f}", fast_p(run, 1))},
                    {fmt::format("{:.2f}", fast_p(run, 2))},
                    {fmt::format("{:.2f}", fast_p(run, 5))},
                    {best > 0 ? fmt::format("{:.2f}x", best) : "-"},
                    {run.by_time ? "time" : "instructions"},
                    {fmt::format("{:.4f}", static_cast<double>(run.nano_usd) * 1e-9)},
                    {quantity(static_cast<double>(run.tokens))},
                    {notes_of(run)}});
  }
  const std::vector<std::string> header = {"run",   "problem", "strategy", "model",  "samples",
                                           "turns", "fast_0",  "fast_1",   "fast_2", "fast_5",
                                           "best",  "by",      "USD",      "tokens", "notes"};
  return table(header, rows, "llllrrrrrrrlrrl", paint);
}

Json runs_json(std::span<const results::RunSummary> runs) {
  Json list = Json::array();
  for (const results::RunSummary& run : runs) {
    list.push_back({{"run", run.run},
                    {"started_at", run.started_at},
                    {"problem", run.problem},
                    {"strategy", run.strategy},
                    {"model", run.model},
                    {"finished", run.finished},
                    {"aided", run.aided},
                    {"samples", run.samples},
                    {"turns", run.turns},
                    {"nearly_shipped", run.flagged},
                    {"usd", static_cast<double>(run.nano_usd) * 1e-9},
                    {"tokens", run.tokens},
                    {"speedups_by", run.by_time ? "time" : "wave_instructions"},
                    {"speedups", run.speedups},
                    {"fast_0", fast_p(run, 0)},
                    {"fast_1", fast_p(run, 1)},
                    {"fast_2", fast_p(run, 2)},
                    {"fast_5", fast_p(run, 5)}});
  }
  return list;
}

}  // namespace hipbench::cli
