#include "agents/strategy.hpp"

namespace hipbench::agents {

namespace {

class Single : public Strategy {
 public:
  std::optional<Step> next(const std::vector<Turn>& turns, uint64_t) const override {
    return turns.empty() ? std::optional(Step{}) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Strategy> make_single(const StrategyOptions&) { return std::make_unique<Single>(); }

}  // namespace hipbench::agents
