#pragma once
// Standings as JSON: hipbench.leaderboard/1 and hipbench.comparison/1, described in docs/json.md.

#include "cli/json.hpp"
#include "results/standings.hpp"

namespace hipbench::cli {

struct StandingsDetail {
  bool entries = true;        // the candidates of each table
  bool trajectories = false;  // the turns of each sample
};
Json standings_json(const results::Standings& standings, const StandingsDetail& detail);

}  // namespace hipbench::cli
