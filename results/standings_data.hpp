#pragma once
// A database's rows as standings.cpp needs them: read at once, small, without evidence or sources.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "evaluator/verdict.hpp"

namespace SQLite {
class Database;
}

namespace hipbench::results {

struct ShapeData {
  std::string shape;
  VerdictKind verdict = VerdictKind::Infrastructure;
  double time_us = 0;  // 0: none
  std::string provenance, timing_model;
  double time_error = 0;
  std::optional<double> noise_floor;
};

struct EvaluationData {
  int64_t id = 0;
  std::string started_at, problem, track, device, file, source_sha256, shape_set, reason, toolchain, device_description;
  std::string imported_from;
  VerdictKind verdict = VerdictKind::Infrastructure;
  bool sandboxed = true, check = false;
  std::vector<ShapeData> shapes;
};

struct TurnData {
  int64_t run = 0, sample = 0, turn = 0;
  std::string problem;
  std::optional<int64_t> parent, partner, evaluation;
  std::string step, answer, rung, verdict, source_sha256, similar_to;
  bool aided = false;
  uint64_t tokens = 0;
  double usd = 0, time_us = 0;  // time_us: the judge's, geometric mean over the shapes; 0: none
};

struct RunData {
  int64_t id = 0;
  std::string name, started_at, strategy, model;
  bool is_finished = false;
};

// What a run asked for on one problem.
struct RunProblemData {
  int64_t run = 0;
  std::string problem, shape_set, track;
  size_t samples = 0;
};

struct CostData {
  double usd = 0;
  uint64_t tokens = 0;
};

struct PublishedStanding;  // results/standings.hpp

struct StandingsData {
  std::vector<EvaluationData> evaluations;  // oldest first
  std::vector<TurnData> turns;              // by run, problem, sample, turn
  std::vector<RunData> runs;
  std::vector<RunProblemData> run_problems;
  std::map<std::pair<int64_t, std::string>, CostData> costs;  // by run and problem
  std::map<int64_t, std::vector<int64_t>> reverified;         // evaluations that repeat one, oldest first
};

std::vector<PublishedStanding> read_published(SQLite::Database& database, const std::string& problem);

// `problem`: only of this one; empty: all.
Result<StandingsData> read_standings_data(SQLite::Database& database, const std::string& problem);

}  // namespace hipbench::results
