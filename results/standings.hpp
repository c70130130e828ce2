#pragma once
// What a database says, ready to be shown: the one read path of `hipbench report`, `leaderboard`, `compare`, the HTML
// page and `serve`. Everything that is in one Table may be compared with each other; between tables nothing is divided
// or ranked. Numbers are those of results/metrics.hpp; an empty optional is shown as "-", never as 0.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "evaluator/verdict.hpp"
#include "results/comparability.hpp"
#include "results/metrics.hpp"

namespace hipbench::results {

// One shape of one candidate.
struct ShapeStanding {
  std::string shape;  // "m=64,n=64,k=128"
  VerdictKind verdict = VerdictKind::Infrastructure;
  bool is_timed = true;                          // false: a test shape beside benchmark shapes
  double time_us = 0;                            // 0: none
  double baseline_us = 0, expert_us = 0;         // of the same key; 0: not in the database
  double floor_us = 0, roof_us = 0;              // 0: the problem is unknown to this program
  std::optional<double> speedup, roof_fraction;  // t_baseline / t, roof / t
  // The work's FLOPs over the peak of their type, and its inputs and outputs over HBM's peak, in that time.
  std::optional<double> matrix_utilisation, memory_utilisation;
  std::optional<double> noise_floor;  // A/A, of a measured time
  double time_error = 0;              // relative, from sampling workgroups, of a modelled time
};

// A source and how it did, as its newest evaluation under the table's key says.
struct Entry {
  int64_t evaluation = 0;   // Store::load() has source, evidence, launches and kernels
  int64_t evaluations = 0;  // of this source under this key
  std::string source_sha256, file, started_at;
  std::string reference;   // "baseline", "expert", "naive", …: one of ours; empty: a candidate
  std::string run, model;  // that wrote it; empty: evaluated by hand
  int64_t sample = -1, turn = -1;
  VerdictKind verdict = VerdictKind::Infrastructure;
  std::string reason;
  int64_t shapes_asked = 0;  // of the set; shapes may hold fewer, where one failed
  std::vector<ShapeStanding> shapes;
  std::optional<double> time_us;  // geometric mean over the timed shapes, if all passed and have one
  std::optional<double> speedup;  // S
  std::string no_speedup;         // why there is none, in words
  std::optional<double> position, expert_fraction, roof_fraction,
      sol_score;              // of geometric means over the timed shapes
  std::string unranked;       // why it is not ranked; empty: it is
  bool aided = false;         // its prompt had an example of the same problem
  std::string similar_to;     // a shipped kernel that it nearly is
  std::string imported_from;  // empty: evaluated into this database
};

// One turn of a sample's trajectory.
struct TurnPoint {
  int64_t turn = 0;
  std::optional<int64_t> parent, partner, evaluation;
  std::string step, answer, rung, verdict, source_sha256;  // as in the table turns
  double speedup = 0;                                      // S; 0: none
  double best_speedup = 0;                                 // of the turns up to this one
  double time_us = 0;                                      // geometric mean over the shapes; 0: none
  double usd = 0;
  uint64_t tokens = 0;
};

struct SampleStanding {
  int64_t sample = 0;
  std::vector<TurnPoint> turns;
  std::optional<size_t> best;  // of turns: the fastest that passed
  double speedup = 0;          // its S; 0: none
  double usd = 0;
  bool passed = false;
};

struct FastPoint {
  double p = 0, share = 0;
  Band band;  // 95 %, bootstrap over samples
};

// A run of `hipbench generate` on the table's problem.
struct RunStanding {
  int64_t run_id = 0;
  std::string run, model, strategy, started_at;
  bool is_finished = false, aided = false;
  std::string unranked;
  size_t requested = 0, drawn = 0, passed = 0;  // samples
  size_t similar = 0;                           // whose best turn is nearly a shipped kernel
  size_t without_speedup = 0;                   // passed, but S is not defined (no time, no baseline)
  std::vector<SampleStanding> samples;
  std::vector<double> speedups;  // S of the samples requested, 0 for the failed and the missing
  // None where the table has no baseline.
  std::optional<double> fast_0, fast_1, fast_2, fast_5, fast_1_shape;
  std::vector<FastPoint> curve;                          // at curve_thresholds()
  std::optional<Band> fast_1_interval;                   // Wilson, for few samples
  std::map<size_t, double> pass_at, fast_1_at, best_of;  // by k = 1, 2, 4, … up to the samples requested
  std::vector<double> expert_shares;                     // above kExpertShares; empty: no expert
  std::optional<double> median_position;                 // of the samples with S
  double usd = 0;                                        // failed requests included
  uint64_t tokens = 0;
  std::optional<double> usd_to_pass, usd_to_fast_1;  // expected cost to reach
  std::map<VerdictKind, size_t> verdicts;            // of all turns that were evaluated
  size_t no_candidate = 0;                           // turns without one
};

// A reference's times under the table's key.
struct ReferenceTimes {
  std::string sha256;                // empty: the problem has none
  std::map<std::string, double> us;  // by shape
  std::vector<int64_t> evaluations;  // that they come from
};

// Results of one problem, track, kind of time, device, compiler, timing model and set of shapes.
struct Table {
  ComparabilityKey key;
  std::string shape_set;           // "quick", "tests", "benchmarks" or what the user typed
  std::vector<std::string> timed;  // shapes that count for S
  ReferenceTimes baseline, expert;
  std::string no_speedups;  // why the table has none, and what to do; empty: it has
  std::string trust;        // stands beside every ratio
  bool is_calibrated = false;
  std::vector<Entry> entries;              // ranked: by S, then time; then aided; then unranked; then failed
  std::vector<RunStanding> runs;           // by fast_1, then fast_0
  std::map<VerdictKind, size_t> verdicts;  // of all evaluations under the key
  size_t evaluations = 0;
};

// A run over all its problems.
struct RunHeadline {
  std::string run, model, strategy;
  std::string provenance, track, shape_set;
  bool is_finished = false, aided = false;
  std::string unranked;
  std::vector<std::string> problems;          // all that were asked for
  std::vector<std::optional<double>> fast_1;  // one a problem: none where S has no baseline there
  std::vector<size_t> requested;              // samples, one a problem
  // Unweighted means over the problems, if all of them have one.
  std::optional<double> mean_fast_0, mean_fast_1, mean_fast_2, mean_fast_5;
  std::vector<FastPoint> curve;
  double usd = 0;
  uint64_t tokens = 0;
};

// What others published of a problem's shapes: shown, never ranked, never divided with ours.
struct PublishedStanding {
  std::string problem, shape, what, device, source;
  double time_us = 0;
};

struct Standings {
  std::vector<Table> tables;                 // by problem, shape set, track, provenance; those with most results first
  std::vector<RunHeadline> headlines;        // best first within a provenance and track; those are never mixed
  std::vector<PublishedStanding> published;  // by problem and shape, fastest first
  size_t evaluations = 0, candidates = 0;
};

// The hashes that a problem's references are known by. Empty: the problem has none.
struct ReferenceHashes {
  std::string baseline, expert;
  std::map<std::string, std::string> names;  // of each reference, by its hash: "naive"
};

// Of a problem that this program was built with.
ReferenceHashes references_of(const std::string& problem);

struct StandingsOptions {
  std::string problem;  // only of this one; empty: all
  uint64_t seed = 1;    // of the bootstrap
  size_t resamples = kResamples;
  // Where the references come from; default: the problems that this program was built with.
  std::function<ReferenceHashes(const std::string& problem)> references;
};
Result<Standings> read_standings(const std::filesystem::path& database, const StandingsOptions& options = {});

}  // namespace hipbench::results
