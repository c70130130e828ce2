#pragma once
// The runs of `hipbench generate` in the tables, and each over all its problems.

#include "results/standings_tables.hpp"

namespace hipbench::results {

// Puts each run's results on each of its problems into a table of the maker's.
std::vector<RunHeadline> add_runs(const StandingsData& data, TableMaker& maker, const StandingsOptions& options);

// S of the table's expert; none if a shape lacks its time or the baseline's.
std::optional<double> expert_speedup(const Table& table);

}  // namespace hipbench::results
