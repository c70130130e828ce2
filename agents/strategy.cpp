#include "agents/strategy.hpp"

#include <array>

namespace hipbench::agents {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)(const StrategyOptions&);
};
constexpr std::array<Entry, 4> kStrategies = {
    {{"single", make_single}, {"best-of", make_best_of}, {"refine", make_refine}, {"evolve", make_evolve}}};

}  // namespace

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) names.emplace_back(entry.name);
  return names;
}

Result<std::unique_ptr<Strategy>> make_strategy(const std::string& name, const StrategyOptions& options) {
  for (const Entry& entry : kStrategies)
    if (entry.name == name) return entry.make(options);
  return Error{"there is no strategy \"" + name + "\"; the strategies are: single, best-of, refine, evolve"};
}

// SplitMix64.
uint64_t mix_seed(uint64_t seed, uint64_t turn) {
  uint64_t z = seed + (turn + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace hipbench::agents
