#include "agents/strategy.hpp"

namespace hipbench::agents {

namespace {

class BestOf : public Strategy {
 public:
  explicit BestOf(unsigned turns) : turns_(turns) {}
  std::optional<Step> next(const std::vector<Turn>& turns, uint64_t) const override {
    return turns.size() < turns_ ? std::optional(Step{}) : std::nullopt;
  }

 private:
  const unsigned turns_;
};

}  // namespace

std::unique_ptr<Strategy> make_best_of(const StrategyOptions& options) {
  return std::make_unique<BestOf>(options.turns);
}

}  // namespace hipbench::agents
