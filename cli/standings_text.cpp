#include "cli/standings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/evaluation_text.hpp"

namespace hipbench::cli {

namespace {

using results::Entry;
using results::RunHeadline;
using results::RunStanding;
using results::Table;

constexpr size_t kGap = 2;  // between columns

std::vector<size_t> widths_of(const std::vector<Column>& columns_, const std::vector<std::vector<Cell>>& rows) {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(columns(column.name));
  for (const std::vector<Cell>& row : rows)
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], columns(row[i].text));
  return widths;
}

size_t total_of(const std::vector<size_t>& widths) {
  size_t total = 0;
  for (const size_t width : widths) total += width + kGap;
  return total - std::min(total, kGap);
}

// One column narrower; false: none may be cut any more.
bool shrink_one(const std::vector<Column>& columns_, std::vector<size_t>& widths) {
  std::optional<size_t> widest;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t least = std::max(columns_[i].shrink_to, columns(columns_[i].name));
    if (columns_[i].shrink_to == 0 || widths[i] <= least) continue;
    if (!widest || widths[i] > widths[*widest]) widest = i;
  }
  if (!widest) return false;
  --widths[*widest];
  return true;
}

std::optional<size_t> next_to_drop(const std::vector<Column>& columns_) {
  std::optional<size_t> next;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].drop > 0 && (!next || columns_[i].drop > columns_[*next].drop)) next = i;
  return next;
}

bool has_nothing(const std::vector<std::vector<Cell>>& rows, size_t column) {
  return std::all_of(rows.begin(), rows.end(), [column](const std::vector<Cell>& row) {
    return column >= row.size() || row[column].text.empty() || row[column].text == "-";
  });
}

void drop_column(std::vector<Column>& columns_, std::vector<std::vector<Cell>>& rows, size_t column) {
  columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(column));
  for (std::vector<Cell>& row : rows)
    if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

// The last `width` columns, with "…" for what was before them.
std::string end_of(const std::string& text, size_t width) {
  if (columns(text) <= width || width == 0) return text;
  size_t skip = columns(text) - width + 1, at = 0;
  while (skip > 0 && at < text.size()) {
    ++at;
    if (at == text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) --skip;
  }
  return "…" + text.substr(at);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string usd_cell(const std::optional<double>& usd) { return usd ? fmt::format("{:.4f}", *usd) : "-"; }

std::string samples_cell(const RunStanding& run) { return fmt::format("{} of {}", run.drawn, run.requested); }

// fast_1 with its 95 % band; where all samples are alike the bootstrap says nothing, and Wilson's interval stands
// there.
std::string banded_cell(const std::optional<double>& share, const results::Band& band,
                        const std::optional<results::Band>& wilson) {
  if (!share) return "-";
  const results::Band& shown = band.is_degenerate && wilson ? *wilson : band;
  if (shown.is_degenerate) return fmt::format("{:.2f}", *share);
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", *share, shown.low, shown.high);
}

results::Band band_at(const std::vector<results::FastPoint>& curve, double p) {
  for (const results::FastPoint& point : curve)
    if (point.p == p) return point.band;
  return {0, 0, true};
}

std::string notes_of(const RunStanding& run) {
  return joined({run.is_finished ? "" : "unfinished", run.aided ? "aided" : "",
                 run.unranked.empty() ? "" : "unranked: " + run.unranked,
                 run.similar == 0 ? "" : fmt::format("{} nearly a shipped kernel", run.similar),
                 run.without_speedup == 0 ? "" : fmt::format("{} passed without a speed-up", run.without_speedup)});
}

}  // namespace

std::string ratio_cell(const std::optional<double>& ratio) {
  if (!ratio) return "-";
  return *ratio >= 99.95 ? fmt::format("{:.0f}x", *ratio) : fmt::format("{:.2f}x", *ratio);
}

std::string share_cell(const std::optional<double>& share) { return share ? fmt::format("{:.2f}", *share) : "-"; }

std::string microseconds_cell(double us) {
  if (!results::is_time(us)) return "-";
  return us < 99.995 ? fmt::format("{:.2f} µs", us) : fmt::format("{:.0f} µs", us);
}

std::string fitted_table(std::vector<Column> columns_, std::vector<std::vector<Cell>> rows, size_t width,
                         const Painter& paint) {
  for (size_t i = columns_.size(); i-- > 0;)
    if (columns_[i].drop > 0 && has_nothing(rows, i)) drop_column(columns_, rows, i);
  std::vector<size_t> widths = widths_of(columns_, rows);
  std::vector<std::string> dropped;
  while (width > 0 && total_of(widths) > width) {
    if (shrink_one(columns_, widths)) continue;
    const std::optional<size_t> next = next_to_drop(columns_);
    if (!next) break;
    dropped.push_back(columns_[*next].name);
    drop_column(columns_, rows, *next);
    widths = widths_of(columns_, rows);
  }
  std::vector<std::string> header;
  std::string right;
  for (const Column& column : columns_) {
    header.push_back(column.name);
    right += column.right ? 'r' : 'l';
  }
  for (std::vector<Cell>& row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      row[i].text = columns_[i].keep_end ? end_of(row[i].text, widths[i]) : shortened(row[i].text, widths[i]);
  std::string text = table(header, rows, right, paint);
  if (!dropped.empty())
    text += paint(Color::Dim, fmt::format("left out: {} (a wider terminal or --json has all)", joined(dropped))) + "\n";
  return text;
}

std::string title_of(const Table& table) {
  const std::string set = printable_line(table.shape_set);
  return fmt::format("{}, {}{}, {} track, {}", printable_line(table.key.problem), shortened(set, 60),
                     set.find('=') == std::string::npos ? " shapes" : "", printable_line(table.key.track),
                     printable_line(table.key.provenance));
}

std::string conditions_text(const Table& table, const Painter& paint) {
  std::string text;
  const auto line = [&](const std::string& words) { text += "  " + paint(Color::Dim, printable_line(words)) + "\n"; };
  line(fmt::format(
      "{}; {} device{}", table.key.toolchain.empty() ? "compiler not recorded" : table.key.toolchain, table.key.device,
      table.timed.empty() ? "" : fmt::format("; {} shape{}", table.timed.size(), table.timed.size() == 1 ? "" : "s")));
  line(table.trust);
  if (!table.no_speedups.empty()) {
    text += "  " + paint(Color::Yellow, "no speed-ups: " + printable_line(table.no_speedups)) + "\n";
  } else {
    line(fmt::format("speed-ups over the baseline {}, evaluation {}", table.baseline.sha256.substr(0, 12),
                     table.baseline.evaluations.back()));
  }
  return text;
}

std::string verdicts_text(const std::map<VerdictKind, size_t>& verdicts) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : verdicts) parts.push_back(fmt::format("{} {}", to_string(kind), count));
  return joined(parts);
}

std::string headlines_text(std::span<const RunHeadline> headlines, size_t width, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  for (const RunHeadline& h : headlines) {
    std::string problems;
    for (size_t i = 0; i < h.problems.size(); ++i) {
      problems += fmt::format("{}{} {} of {}", i == 0 ? "" : ", ", printable_line(h.problems[i]),
                              share_cell(h.fast_1[i]), h.requested[i]);
    }
    rows.push_back({{printable_line(h.run)},
                    {printable_line(h.model)},
                    {printable_line(h.strategy)},
                    {fmt::format("{}, {}, {}", printable_line(h.shape_set), h.track, h.provenance)},
                    {problems},
                    {share_cell(h.mean_fast_0)},
                    {banded_cell(h.mean_fast_1, band_at(h.curve, 1), std::nullopt), Color::Bold},
                    {share_cell(h.mean_fast_2)},
                    {share_cell(h.mean_fast_5)},
                    {fmt::format("{:.4f}", h.usd)},
                    {joined({h.is_finished ? "" : "unfinished", h.aided ? "aided" : "",
                             h.unranked.empty() ? "" : "unranked: " + h.unranked})}});
  }
  return fitted_table({{"run", false, 10},
                       {"model", false, 10},
                       {"strategy", false, 0, 5},
                       {"kind", false, 12},
                       {"fast_1 of each problem, of so many samples", false, 24},
                       {"fast_0", true},
                       {"fast_1", true},
                       {"fast_2", true, 0, 3},
                       {"fast_5", true, 0, 4},
                       {"USD", true, 0, 2},
                       {"notes", false, 10}},
                      std::move(rows), width, paint);
}

std::string runs_of_table_text(const Table& table, size_t width, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  for (const RunStanding& run : table.runs) {
    const auto pass_1 = run.pass_at.find(1);
    const std::optional<double> best = run.speedups.empty() || !table.no_speedups.empty()
                                           ? std::nullopt
                                           : std::optional(*std::max_element(run.speedups.begin(), run.speedups.end()));
    rows.push_back({{printable_line(run.run)},
                    {printable_line(run.model)},
                    {printable_line(run.strategy)},
                    {samples_cell(run)},
                    {share_cell(pass_1 == run.pass_at.end() ? std::nullopt : std::optional(pass_1->second))},
                    {share_cell(run.fast_0)},
                    {banded_cell(run.fast_1, band_at(run.curve, 1), run.fast_1_interval), Color::Bold},
                    {share_cell(run.fast_2)},
                    {share_cell(run.fast_5)},
                    {share_cell(run.fast_1_shape)},
                    {best && *best > 0 ? ratio_cell(best) : "-"},
                    {usd_cell(run.usd)},
                    {usd_cell(run.usd_to_fast_1)},
                    {quantity(static_cast<double>(run.tokens))},
                    {notes_of(run)}});
  }
  return fitted_table({{"run", false, 10},
                       {"model", false, 10},
                       {"strategy", false, 0, 7},
                       {"samples", true},
                       {"pass@1", true},
                       {"fast_0", true, 0, 6},
                       {"fast_1", true},
                       {"fast_2", true},
                       {"fast_5", true, 0, 4},
                       {"fast_1_shape", true, 0, 8},
                       {"best", true},
                       {"USD", true, 0, 2},
                       {"USD to fast_1", true, 0, 5},
                       {"tokens", true, 0, 9},
                       {"notes", false, 10}},
                      std::move(rows), width, paint);
}

std::string draws_of_table_text(const Table& table, size_t width, const Painter& paint) {
  const auto at = [](const std::map<size_t, double>& values, size_t k) {
    const auto found = values.find(k);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<std::vector<Cell>> rows;
  for (const RunStanding& run : table.runs) {
    if (run.requested < 2) continue;
    for (const auto& [k, pass] : run.pass_at) {
      rows.push_back({{printable_line(run.run)},
                      {std::to_string(k)},
                      {share_cell(pass)},
                      {share_cell(at(run.fast_1_at, k))},
                      {ratio_cell(at(run.best_of, k))}});
      for (const double share : k == 1 ? run.expert_shares : std::vector<double>(run.expert_shares.size(), -1))
        rows.back().push_back({share < 0 ? "" : share_cell(share)});
      rows.back().resize(5 + std::size(results::kExpertShares));
    }
  }
  if (rows.empty()) return "";
  std::vector<Column> columns_ = {
      {"run", false, 10}, {"k", true}, {"pass@k", true}, {"fast_1@k", true, 0, 6}, {"best of k", true, 0, 5}};
  int drop = 1;
  for (const double share : results::kExpertShares)
    columns_.push_back({fmt::format("above {:g} of expert", share), true, 0, drop++});
  return fitted_table(std::move(columns_), std::move(rows), width, paint);
}

std::string run_text(results::Standings standings, const std::string& run, size_t width, const Painter& paint) {
  std::erase_if(standings.headlines, [&](const RunHeadline& h) { return h.run != run; });
  std::string text;
  const bool several = std::ranges::any_of(standings.headlines, [](const auto& h) { return h.problems.size() > 1; });
  if (several) text += headlines_text(standings.headlines, width, paint) + "\n";
  for (Table& table : standings.tables) {
    std::erase_if(table.runs, [&](const RunStanding& r) { return r.run != run; });
    if (table.runs.empty()) continue;
    text += fmt::format("{}{}\n{}{}{}", text.empty() || text.ends_with("\n\n") ? "" : "\n",
                        paint(Color::Bold, title_of(table)), conditions_text(table, paint),
                        runs_of_table_text(table, width, paint), draws_of_table_text(table, width, paint));
  }
  return text;
}

namespace {

std::string entry_notes(const Entry& entry) {
  return joined({entry.unranked.empty() ? "" : "unranked: " + entry.unranked, entry.aided ? "aided" : "",
                 entry.similar_to.empty() ? "" : "nearly " + entry.similar_to,
                 entry.imported_from.empty() ? "" : "imported", entry.speedup ? "" : entry.no_speedup});
}

std::string noise_cell(const std::optional<double>& floor) {
  return floor ? fmt::format("{:.1f} %", 100 * *floor) : "-";
}

// The worst of its shapes' noise floors: it bounds what is said of all of them.
std::optional<double> noise_floor_of(const Entry& entry) {
  std::optional<double> worst;
  for (const results::ShapeStanding& shape : entry.shapes)
    if (shape.noise_floor) worst = std::max(worst.value_or(0), *shape.noise_floor);
  return worst;
}

std::string entry_name(const Entry& entry) {
  if (!entry.reference.empty()) return "reference: " + entry.reference;
  if (!entry.run.empty()) return fmt::format("{} sample {} turn {}", entry.run, entry.sample, entry.turn);
  return entry.file;
}

}  // namespace

std::string leaderboard_text(const Table& table, size_t limit, size_t width, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  size_t ranks[2] = {0, 0}, passed = 0;  // the aided are ranked apart
  for (const Entry& entry : table.entries) {
    if (entry.verdict != VerdictKind::Passed) continue;
    const bool is_ranked = entry.unranked.empty() && entry.reference.empty() && (entry.speedup || entry.time_us);
    const size_t rank = is_ranked ? ++ranks[entry.aided] : 0;
    if (++passed > limit) continue;
    const bool is_reference = !entry.reference.empty();
    rows.push_back({{is_ranked ? std::to_string(rank) : ""},
                    {printable_line(entry_name(entry)), is_reference ? Color::Dim : Color::Plain},
                    {printable_line(entry.model)},
                    {ratio_cell(entry.speedup), Color::Bold},
                    {noise_cell(noise_floor_of(entry))},
                    {entry.time_us ? microseconds_cell(*entry.time_us) : "-"},
                    {share_cell(entry.expert_fraction)},
                    {share_cell(entry.position)},
                    {share_cell(entry.roof_fraction)},
                    {share_cell(entry.sol_score)},
                    {std::to_string(entry.evaluation)},
                    {printable_line(entry_notes(entry))}});
  }
  std::string text;
  if (!rows.empty()) {
    text = fitted_table({{"", true},
                         {"candidate", false, 20, 0, true},
                         {"model", false, 8, 4},
                         {"speed-up", true},
                         {"A/A", true, 0, 1},
                         {"time", true},
                         {"of expert", true, 0, 3},
                         {"position", true, 0, 6},
                         {"of roof", true},
                         {"SOL score", true, 0, 5},
                         {"evaluation", true, 0, 2},
                         {"notes", false, 10}},
                        std::move(rows), width, paint);
  }
  if (passed > limit)
    text += paint(Color::Dim, fmt::format("and {} more that passed (--limit -1 shows all)", passed - limit)) + "\n";
  text +=
      paint(Color::Dim, fmt::format("of {} evaluations: {}", table.evaluations, verdicts_text(table.verdicts))) + "\n";
  return text;
}

std::string shapes_of_table_text(const Table& table, size_t width, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  for (const std::string& label : table.timed) {
    const Entry* best = nullptr;
    const results::ShapeStanding* best_shape = nullptr;
    for (const Entry& entry : table.entries) {
      if (entry.verdict != VerdictKind::Passed || !entry.unranked.empty() || !entry.reference.empty()) continue;
      for (const results::ShapeStanding& shape : entry.shapes) {
        if (shape.shape != label || !results::is_time(shape.time_us, shape.floor_us)) continue;
        if (best_shape != nullptr && shape.time_us >= best_shape->time_us) continue;
        best = &entry;
        best_shape = &shape;
      }
    }
    const auto time_of = [&](const results::ReferenceTimes& times) {
      const auto found = times.us.find(label);
      return found == times.us.end() ? "-" : microseconds_cell(found->second);
    };
    rows.push_back({{printable_line(label)},
                    {time_of(table.baseline)},
                    {time_of(table.expert)},
                    {best_shape != nullptr ? microseconds_cell(best_shape->time_us) : "-"},
                    {ratio_cell(best_shape != nullptr ? best_shape->speedup : std::nullopt)},
                    {noise_cell(best_shape != nullptr ? best_shape->noise_floor : std::nullopt)},
                    {share_cell(best_shape != nullptr ? best_shape->roof_fraction : std::nullopt)},
                    {best != nullptr ? printable_line(entry_name(*best)) : "-"}});
  }
  return fitted_table({{"shape", false, 16},
                       {"baseline", true},
                       {"expert", true, 0, 1},
                       {"best", true},
                       {"speed-up", true},
                       {"A/A", true, 0, 3},
                       {"of roof", true, 0, 2},
                       {"candidate", false, 16, 0, true}},
                      std::move(rows), width, paint);
}

std::string published_text(std::span<const results::PublishedStanding> published, size_t width, const Painter& paint) {
  std::vector<std::vector<Cell>> rows;
  for (const results::PublishedStanding& p : published)
    rows.push_back({{printable_line(p.problem)},
                    {printable_line(p.shape)},
                    {microseconds_cell(p.time_us)},
                    {printable_line(p.what)},
                    {printable_line(p.device)},
                    {printable_line(p.source)}});
  return fitted_table({{"problem", false, 8},
                       {"shape", false, 12},
                       {"time", true},
                       {"whose", false, 8},
                       {"device", false, 0, 1},
                       {"source", false, 12}},
                      std::move(rows), width, paint);
}

}  // namespace hipbench::cli
