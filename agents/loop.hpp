#pragma once
// Runs a strategy on problems x samples, several at once, until all are finished, the budget is used up or somebody
// stops it. Everything is in the database as soon as it is known, so that a run that was killed goes on where it
// stopped.

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/chat_client.hpp"
#include "agents/run_spec.hpp"

namespace hipbench::agents {

struct LoopOptions {
  unsigned samples_at_once = 8;
  unsigned evaluations_at_once = 1;
  unsigned threads = 1;  // of one evaluation
  bool unsafe_no_sandbox = false;
  bool baselines = true;                  // evaluate each problem's baseline
  std::optional<int64_t> recording = {};  // a rerun: the run whose answers are taken, and no others
};

// What a display needs; called after each turn, from many threads but one call at a time.
struct LoopProgress {
  std::string problem;
  size_t sample = 0, turn = 0;
  const Turn* last = nullptr;  // the turn that just ended
  size_t turns_done = 0, most_turns = 0, samples_done = 0, samples = 0;
  std::map<std::string, Score> best;  // by problem
  Amount spent;
};

struct LoopResult {
  size_t unfinished = 0;              // samples
  std::vector<std::string> reasons;   // why, each once
  bool out_of_budget = false;         // and that alone
  std::map<std::string, Score> best;  // by problem
};

// An Error is the database's, or a run that this version cannot go on with.
Result<LoopResult> run_loop(const RunSpec& spec, int64_t run, const LoopOptions& options, results::RunStore& store,
                            ChatClient& client, Budget& budget,
                            const std::function<void(const LoopProgress&)>& progress, std::stop_token stop);

}  // namespace hipbench::agents
