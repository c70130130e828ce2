// Strategies against a simulated model: what they ask for, and that they keep nothing in themselves.
#include "agents/strategy.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <set>

namespace hipbench::agents {
namespace {

Score score(Score::Rung rung, double instructions = 0) {
  Score made;
  made.rung = rung;
  made.wave_instructions = instructions;
  return made;
}
Score passed(double instructions) { return score(Score::Rung::Passed, instructions); }

using Model = std::function<Score(const Step&, size_t turn)>;

std::vector<Turn> play(const Strategy& strategy, const Model& model, uint64_t seed = 1) {
  std::vector<Turn> turns;
  while (const std::optional<Step> step = strategy.next(turns, seed)) {
    Turn turn;
    turn.step = *step;
    turn.score = model(*step, turns.size());
    if (turn.score.rung != Score::Rung::NoCandidate) turn.source = "version " + std::to_string(turns.size());
    turns.push_back(turn);
  }
  return turns;
}

std::string steps(const std::vector<Turn>& turns) {
  std::string text;
  for (const Turn& turn : turns) {
    text += std::string(to_string(turn.step.kind)).substr(0, 1);
    if (turn.step.parent) text += std::to_string(*turn.step.parent);
    text += ' ';
  }
  return text;
}

TEST(Strategies, SingleAsksOnceAndBestOfEachTimeAnew) {
  const Model model = [](const Step&, size_t) { return passed(1); };
  EXPECT_EQ(steps(play(*make_single({.turns = 9}), model)), "w ");
  EXPECT_EQ(steps(play(*make_best_of({.turns = 3}), model)), "w w w ");
}

TEST(Strategies, RefineRepairsImprovesRollsBackAndDropsALine) {
  const auto refine = make_refine({.turns = 10, .patience = 3});
  const Score script[] = {score(Score::Rung::NotCompiled),
                          score(Score::Rung::Wrong),
                          passed(100),
                          passed(50),
                          score(Score::Rung::Wrong),
                          score(Score::Rung::Wrong),
                          passed(80),
                          score(Score::Rung::NotCompiled),
                          passed(60),
                          passed(55)};
  const std::vector<Turn> turns = play(*refine, [&](const Step&, size_t turn) { return script[turn]; });
  // Turn 5 repairs the failed 4, turn 6 the failed 5; 3 is still the best then, and after three turns without progress
  // the line is dropped.
  EXPECT_EQ(steps(turns), "w r0 r1 i2 i3 r4 r5 w r7 i8 ");
  EXPECT_EQ(best_turn(turns), 3u);
}

TEST(Strategies, RefineStartsAnewWhereThereIsNoCandidateAndStopsRepairing) {
  const auto refine = make_refine({.turns = 5, .patience = 9});
  EXPECT_EQ(steps(play(*refine, [](const Step&, size_t) { return score(Score::Rung::NoCandidate); })), "w w w w w ");
  const auto patient = make_refine({.turns = 6, .patience = 9});
  EXPECT_EQ(
      steps(play(*patient, [](const Step&, size_t turn) { return turn == 0 ? passed(1) : score(Score::Rung::Wrong); })),
      "w i0 r1 r2 i0 i0 ");
}

TEST(Strategies, EvolveFoundsIslandsThenTheBestHaveChildren) {
  const auto evolve = make_evolve({.turns = 60, .islands = 3});
  std::mt19937 random(3);
  const std::vector<Turn> turns = play(*evolve, [&](const Step& step, size_t) {
    return random() % 3 == 0 ? score(Score::Rung::Wrong) : passed(step.parent ? 50 + random() % 50 : 100);
  });
  std::set<unsigned> islands;
  std::set<StepKind> kinds;
  size_t combined_across = 0;
  for (size_t i = 0; i < turns.size(); ++i) {
    const Step& step = turns[i].step;
    islands.insert(step.island);
    kinds.insert(step.kind);
    if (step.parent) {
      ASSERT_LT(*step.parent, i);
      EXPECT_EQ(turns[*step.parent].step.island, step.island);
    }
    if (step.partner && turns[*step.partner].step.island != step.island) ++combined_across;
  }
  EXPECT_EQ(islands.size(), 3u);
  EXPECT_EQ(kinds.size(), 4u);
  EXPECT_GT(combined_across, 0u);
}

TEST(Strategies, AreTheSameWhenTheyGoOnAfterAKill) {
  for (const std::string& name : strategy_names()) {
    const StrategyOptions options{.turns = 20, .patience = 2, .islands = 2};
    const auto strategy = make_strategy(name, options).value();
    const Model model = [](const Step& step, size_t turn) {
      return turn % 3 == 0 ? score(Score::Rung::Wrong) : passed(1000 / static_cast<double>(turn + 1 + step.island));
    };
    const std::vector<Turn> whole = play(*strategy, model, 5);
    for (size_t cut = 0; cut < whole.size(); ++cut) {
      const std::vector<Turn> before(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
      const std::optional<Step> next = make_strategy(name, options).value()->next(before, 5);
      ASSERT_TRUE(next);
      EXPECT_EQ(next->kind, whole[cut].step.kind);
      EXPECT_EQ(next->parent, whole[cut].step.parent);
      EXPECT_EQ(next->partner, whole[cut].step.partner);
    }
  }
  EXPECT_FALSE(make_strategy("hope", {}));
}

TEST(Scores, CorrectnessComesFirstThenTimeThenInstructions) {
  EXPECT_TRUE(is_better(score(Score::Rung::Wrong), score(Score::Rung::NotRunnable)));
  EXPECT_TRUE(is_better(passed(1e9), score(Score::Rung::Wrong)));
  EXPECT_TRUE(is_better(passed(1), passed(2)));
  EXPECT_FALSE(is_better(passed(2), passed(2)));
  Score slow = passed(1), quick = passed(2);
  slow.time_us = 9;
  EXPECT_TRUE(is_better(slow, quick));  // one has no time: instructions
  quick.time_us = 3;
  EXPECT_TRUE(is_better(quick, slow));
  EXPECT_EQ(speedup(quick, slow), 3);
  EXPECT_EQ(speedup(quick, score(Score::Rung::Wrong)), 0);
}

}  // namespace
}  // namespace hipbench::agents
