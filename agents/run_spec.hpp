#pragma once
// Everything that decides what a run does, as the database keeps it: going on and repeating need nothing else.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/feedback.hpp"
#include "agents/prompts.hpp"
#include "agents/protocols.hpp"
#include "agents/strategy.hpp"
#include "agents/turn.hpp"
#include "common/result.hpp"
#include "results/run_store.hpp"

namespace hipbench::agents {

struct SpecProblem {
  std::string id, shape_set;
  std::vector<std::string> shapes;  // labels
};

struct RunSpec {
  Endpoint endpoint;
  std::string model;
  uint32_t most_tokens = 16384;
  std::optional<double> temperature;
  std::string strategy = "refine";
  StrategyOptions strategy_options;
  std::vector<SpecProblem> problems;
  unsigned samples = 1;
  Track track = Track::Kernel;
  bool hardware = true;
  std::vector<std::string> examples;  // problem ids
  FeedbackOptions feedback;
  std::string prompts_folder, prompts_sha256;
  uint64_t seed = 0;
};

std::string to_json(const RunSpec& spec);
Result<RunSpec> parse_spec(const std::string& json);

results::StoredTurn to_stored(const Turn& turn);
// What is not in the turn itself (messages, tokens) is lost. An Error is a database that was changed by hand.
Result<Turn> from_stored(const results::StoredTurn& stored);

}  // namespace hipbench::agents
