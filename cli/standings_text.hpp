#pragma once
// Standings for people, in tables that fit the terminal.

#include <span>
#include <string>
#include <vector>

#include "cli/text.hpp"
#include "results/standings.hpp"

namespace hipbench::cli {

struct Column {
  std::string name;
  bool right = false;
  size_t shrink_to = 0;  // may be cut to so many columns; 0: never
  int drop =
      0;  // left out when nothing can be cut any more, the largest first, and where no row has anything; 0: never
  bool keep_end = false;  // what is cut is the beginning, as of a path
};
// As table(), but no wider than `width` (0: as wide as it is). The last line names columns that were left out.
std::string fitted_table(std::vector<Column> columns, std::vector<std::vector<Cell>> rows, size_t width,
                         const Painter& paint);

// "fp8_gemm, quick shapes, kernel track, modelled".
std::string title_of(const results::Table& table);
// What the table's numbers are relative to, and how far they can be trusted.
std::string conditions_text(const results::Table& table, const Painter& paint);

// The runs over all their problems.
std::string headlines_text(std::span<const results::RunHeadline> headlines, size_t width, const Painter& paint);
// The runs on one problem: fast_p with its denominator, bands, cost.
std::string runs_of_table_text(const results::Table& table, size_t width, const Painter& paint);
// What who draws k samples gets (pass@k, fast_1@k, best-of-k), and the shares above parts of the expert's speed. Empty:
// no run asked for more than one sample.
std::string draws_of_table_text(const results::Table& table, size_t width, const Painter& paint);
// One run: over its problems, then on each, with what its numbers are relative to.
std::string run_text(results::Standings standings, const std::string& run, size_t width, const Painter& paint);
// "passed 12, wrong_result 3".
std::string verdicts_text(const std::map<VerdictKind, size_t>& verdicts);
// The ranked candidates, `limit` of them; then how many others there are.
std::string leaderboard_text(const results::Table& table, size_t limit, size_t width, const Painter& paint);
// Each shape's times: baseline, expert, and the best candidate.
std::string shapes_of_table_text(const results::Table& table, size_t width, const Painter& paint);

// What others published, apart from all that is ours.
std::string published_text(std::span<const results::PublishedStanding> published, size_t width, const Painter& paint);

// "1.23x", "0.33", "-".
std::string ratio_cell(const std::optional<double>& ratio);
std::string share_cell(const std::optional<double>& share);
std::string microseconds_cell(double us);

}  // namespace hipbench::cli
