#pragma once
// What to do next in a sample, from all that was done in it. A strategy keeps no state: from the same turns and the
// same seed comes the same step, so that a run that was killed goes on exactly. One file each in strategies/.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/turn.hpp"
#include "common/result.hpp"

namespace hipbench::agents {

struct StrategyOptions {
  unsigned turns = 1;     // of one sample, at most
  unsigned patience = 3;  // refine: turns without progress until a line is dropped
  unsigned islands = 2;   // evolve
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Nothing: the sample is finished. `seed` is the sample's.
  virtual std::optional<Step> next(const std::vector<Turn>& turns, uint64_t seed) const = 0;
};

std::unique_ptr<Strategy> make_single(const StrategyOptions& options);   // one turn
std::unique_ptr<Strategy> make_best_of(const StrategyOptions& options);  // independent turns; the best counts
std::unique_ptr<Strategy> make_refine(const StrategyOptions& options);   // each turn sees how the last one did
std::unique_ptr<Strategy> make_evolve(const StrategyOptions& options);   // a population on islands

std::vector<std::string> strategy_names();  // "single", "best-of", "refine", "evolve"
Result<std::unique_ptr<Strategy>> make_strategy(const std::string& name, const StrategyOptions& options);

// Of one turn of one sample: independent draws from one seed.
uint64_t mix_seed(uint64_t seed, uint64_t turn);

}  // namespace hipbench::agents
