#pragma once
// From rows to tables: which evaluations belong together, what their speed-ups are relative to.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "results/standings.hpp"
#include "results/standings_data.hpp"

namespace hipbench {
class Problem;
}

namespace hipbench::results {

// What this program knows of a shape.
struct ShapeFacts {
  bool is_benchmark = false;
  double floor_us = 0, roof_us = 0;  // 0: not known
  double flops = 0, peak_flops = 0, bytes = 0;
};

// A table and the rows that it is made of.
struct TableRows {
  Table table;
  std::vector<const EvaluationData*> evaluations;  // oldest first
  std::map<std::string, ShapeFacts> facts;         // by shape
};

class TableMaker {
 public:
  TableMaker(const StandingsData& data, const StandingsOptions& options);

  // All tables, with baselines, but without entries and runs.
  std::deque<TableRows>& tables() { return tables_; }
  // The table that an evaluation is in; null: none (memory checks).
  TableRows* table_of(int64_t evaluation);
  // Where a run's results on a problem would be; made if there is none.
  TableRows& table_for(const RunProblemData& asked);
  const EvaluationData* find(int64_t evaluation) const;
  // The newest evaluation that repeated this one in the same table, unless it failed by our fault; else itself.
  const EvaluationData* find_newest(int64_t evaluation) const;
  const ReferenceHashes& references(const std::string& problem);

  // The shapes of an evaluation as its table's metrics see them, the test shapes of other evaluations of the same
  // source included where the set is the benchmarks'.
  struct Outcome {
    std::vector<ShapeOutcome> shapes;
    std::optional<double> speedup;
    std::string no_speedup;
  };
  Outcome outcome(const TableRows& rows, const EvaluationData& evaluation) const;

 private:
  using Place = std::tuple<std::string, std::string, std::string, std::string>;  // problem, track, device, set

  void group_timed();
  void group_untimed();
  TableRows& add_table(const ComparabilityKey& key, const std::string& shape_set);
  void add(size_t table, const EvaluationData& evaluation);
  void fill_facts(TableRows& rows) const;
  void fill_references(TableRows& rows);
  ReferenceTimes reference_times(const ComparabilityKey& key, const std::string& sha256) const;
  std::optional<bool> tests_passed(const EvaluationData& evaluation) const;

  const StandingsData& data_;
  const StandingsOptions& options_;
  std::deque<TableRows> tables_;        // so that tables stay where they are
  std::map<int64_t, size_t> table_of_;  // by evaluation
  std::map<int64_t, const EvaluationData*> by_id_;
  std::map<std::string, std::vector<const EvaluationData*>> by_source_;  // oldest first
  std::map<Place, size_t> latest_;  // the table of the newest timed evaluation there
  std::map<std::string, ReferenceHashes> references_;
};

// "quick", "tests" or "benchmarks" (which the tests belong to), or the shapes that the user typed, in a fixed order.
std::string normal_shape_set(const std::string& shape_set);

}  // namespace hipbench::results
