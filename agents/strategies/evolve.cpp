// A population on islands that take turns. Each island begins with versions written from nothing; then a parent is
// drawn by tournament, the better of two, where one that has many children already counts less. Now and then a parent
// is combined with the best of another island, or with the version of its own that is least like it.
#include <algorithm>
#include <random>

#include "agents/similarity.hpp"
#include "agents/strategy.hpp"

namespace hipbench::agents {

namespace {

constexpr size_t kFounders = 2;        // of an island
constexpr unsigned kCombineOneIn = 4;  // steps

class Evolve : public Strategy {
 public:
  explicit Evolve(const StrategyOptions& options) : turns_(options.turns), islands_(std::max(1u, options.islands)) {}

  std::optional<Step> next(const std::vector<Turn>& turns, uint64_t seed) const override {
    if (turns.size() >= turns_) return std::nullopt;
    std::mt19937_64 random(mix_seed(seed, turns.size()));
    const auto island = static_cast<unsigned>(turns.size() % islands_);
    const std::vector<size_t> members = members_of(turns, island);
    const size_t tried = (turns.size() - island + islands_ - 1) / islands_;
    if (tried < kFounders || members.empty()) return Step{StepKind::Write, {}, {}, island};
    const size_t parent = tournament(turns, members, random);
    if (random() % kCombineOneIn == 0) {
      if (const std::optional<size_t> partner = find_partner(turns, parent, island, random() % 2 == 0))
        return Step{StepKind::Combine, parent, partner, island};
    }
    return Step{turns[parent].score.passed() ? StepKind::Improve : StepKind::Repair, parent, {}, island};
  }

 private:
  // The versions of an island, each source once.
  static std::vector<size_t> members_of(const std::vector<Turn>& turns, unsigned island) {
    std::vector<size_t> members;
    for (size_t i = 0; i < turns.size(); ++i) {
      if (turns[i].step.island != island || turns[i].source.empty()) continue;
      const bool known = std::any_of(members.begin(), members.end(),
                                     [&](size_t other) { return turns[other].source == turns[i].source; });
      if (!known) members.push_back(i);
    }
    return members;
  }

  static size_t children(const std::vector<Turn>& turns, size_t parent) {
    return static_cast<size_t>(
        std::count_if(turns.begin(), turns.end(), [&](const Turn& turn) { return turn.step.parent == parent; }));
  }

  static size_t tournament(const std::vector<Turn>& turns, const std::vector<size_t>& members,
                           std::mt19937_64& random) {
    const size_t a = members[random() % members.size()], b = members[random() % members.size()];
    constexpr size_t kMany = 3;
    const bool a_worn = children(turns, a) >= kMany, b_worn = children(turns, b) >= kMany;
    if (a_worn != b_worn) return a_worn ? b : a;
    return is_better(turns[a].score, turns[b].score) ? a : b;
  }

  static std::optional<size_t> find_partner(const std::vector<Turn>& turns, size_t parent, unsigned island,
                                            bool from_others) {
    std::optional<size_t> partner;
    double least = 1;
    for (size_t i = 0; i < turns.size(); ++i) {
      if (i == parent || turns[i].source.empty() || turns[i].source == turns[parent].source) continue;
      if (from_others) {
        if (turns[i].step.island == island) continue;
        if (!partner || is_better(turns[i].score, turns[*partner].score)) partner = i;
      } else if (turns[i].step.island == island) {
        const double alike = similarity(turns[i].source, turns[parent].source);
        if (!partner || alike < least) partner = i, least = alike;
      }
    }
    return partner;
  }

  const unsigned turns_, islands_;
};

}  // namespace

std::unique_ptr<Strategy> make_evolve(const StrategyOptions& options) { return std::make_unique<Evolve>(options); }

}  // namespace hipbench::agents
