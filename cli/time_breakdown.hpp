#pragma once
// Where a modelled launch spends its time, as text, JSON and a roofline figure.

#include <string>

#include "common/json.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench::cli {

// Lines for people; empty when the launch has no modelled time.
std::string time_breakdown_text(const LaunchRecord& launch);
// Null when it has none.
Json time_breakdown_json(const LaunchRecord& launch);

// One call in all, against what the timing model's matrix units and memory could do at best.
struct CallTotals {
  double us = 0;             // 0: the call has no modelled time
  double mfma_busy = 0;      // of the whole call, launches included
  double lds_conflicts = 0;  // of the time that LDS banks were busy
  double bytes_least = 0;    // every input read once, every output written once
  double bytes_l2 = 0, bytes_beyond_l2 = 0, bytes_hbm = 0;
  double matrix_us = 0, memory_us = 0;  // the FLOPs at the peak rate; bytes_least at the rate of where they fit
  double of_roof() const { return us > 0 ? (matrix_us > memory_us ? matrix_us : memory_us) / us : 0; }
};
CallTotals call_totals(const Roofs& roofs, const ShapeResult& shape);
std::string call_totals_text(const CallTotals& totals);  // empty without a time
Json call_totals_json(const CallTotals& totals);

// Operations on the matrix units a second over operations a byte that came from behind the L2, below the chip's roofs:
// SVG.
std::string roofline_svg(const std::vector<LaunchRecord>& launches);

}  // namespace hipbench::cli
