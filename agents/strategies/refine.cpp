// One line of versions. A version that does not pass is repaired, twice at most; then the line goes back to its best. A
// line that makes no progress for `patience` turns is dropped, and a new one begins from nothing. The best of all lines
// counts.
#include "agents/strategy.hpp"

namespace hipbench::agents {

namespace {

constexpr size_t kRepairs = 2;

class Refine : public Strategy {
 public:
  explicit Refine(const StrategyOptions& options) : turns_(options.turns), patience_(options.patience) {}

  std::optional<Step> next(const std::vector<Turn>& turns, uint64_t) const override {
    if (turns.size() >= turns_) return std::nullopt;
    size_t line = turns.size();  // its first turn
    while (line > 0 && turns[--line].step.kind != StepKind::Write) {
    }
    std::optional<size_t> best;
    for (size_t i = line; i < turns.size(); ++i)
      if (!turns[i].source.empty() && (!best || is_better(turns[i].score, turns[*best].score))) best = i;
    if (!best || turns.size() - 1 - *best >= patience_) return Step{};
    const size_t last = turns.size() - 1;
    // A failure is worth repairing while the failures since the last pass are few.
    size_t failures = 0;
    while (failures < turns.size() - line && !turns[last - failures].score.passed()) ++failures;
    const bool repair = turns[*best].score.passed() && !turns[last].score.passed() && failures <= kRepairs;
    const size_t parent = repair && !turns[last].source.empty() ? last : *best;
    return Step{turns[parent].score.passed() ? StepKind::Improve : StepKind::Repair, parent, {}, 0};
  }

 private:
  const unsigned turns_, patience_;
};

}  // namespace

std::unique_ptr<Strategy> make_refine(const StrategyOptions& options) { return std::make_unique<Refine>(options); }

}  // namespace hipbench::agents
