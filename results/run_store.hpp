#pragma once
// The runs of `hipbench generate` in the database: turns with their messages and evaluations, and the recording of what
// providers answered. A turn is stored whole, with its evaluation, or not at all; an answer as soon as it is there, so
// that none is paid twice.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench::results {

struct StoredRun {
  int64_t id = 0;
  std::string name, options;  // options: JSON, all that a resumed run needs
  bool finished = false;
};

struct SamplePlace {
  int64_t run = 0;
  std::string problem;
  int64_t sample = 0;
};

struct StoredTurn {
  std::string step;
  std::optional<int64_t> parent, partner = {};
  int64_t island = 0;
  bool aided = false;
  std::string answer, detail, how;  // how the answer ended; why there is no candidate; how one was found
  std::string source, similar_to;   // source: empty = no candidate
  std::optional<int64_t> evaluation = {};
  std::string verdict, rung;  // verdict: empty = not evaluated
  double right = 0, time_us = 0, wave_instructions = 0;
  std::string feedback;  // JSON
  uint64_t prompt_tokens = 0, answer_tokens = 0;
  int64_t nano_usd = 0;
  std::vector<std::pair<std::string, std::string>> messages;  // role and text; not loaded
};

struct StoredExchange {
  std::string request_sha256, kind, reply;
  uint64_t prompt_tokens = 0, answer_tokens = 0;
  bool reported = false;
  int64_t nano_usd = 0;
  double seconds = 0;
};

// What a problem's frozen baseline takes on the run's shapes.
struct StoredBaseline {
  double time_us = 0, wave_instructions = 0;
};

// Not thread-safe.
class RunStore {
 public:
  static Result<RunStore> open(const std::filesystem::path& path);
  RunStore(RunStore&&) noexcept;
  ~RunStore();

  Result<std::optional<StoredRun>> find_run(const std::string& name) const;
  Result<StoredRun> begin_run(const std::string& name, const std::string& options, const std::string& strategy,
                              const std::string& model);
  Result<void> finish_run(int64_t run);

  Result<std::vector<StoredTurn>> turns(const SamplePlace& place) const;
  // With its evaluation, if it has one; returns that one's id.
  Result<std::optional<int64_t>> record_turn(const SamplePlace& place, int64_t turn, const StoredTurn& stored,
                                             const Evaluation* evaluation);

  Result<std::optional<StoredExchange>> find_exchange(const SamplePlace& place, int64_t turn, int64_t ordinal) const;
  Result<void> keep_exchange(const SamplePlace& place, int64_t turn, int64_t ordinal, const StoredExchange& exchange);
  Result<void> keep_failure(const SamplePlace& place, int64_t turn, const std::string& what, int64_t nano_usd,
                            uint64_t tokens);

  Result<std::optional<StoredBaseline>> find_baseline(int64_t run, const std::string& problem) const;
  Result<void> record_baseline(int64_t run, const std::string& problem, const Evaluation& evaluation,
                               const StoredBaseline& baseline);

  struct Spent {
    int64_t nano_usd = 0;
    uint64_t tokens = 0;
  };
  Result<Spent> spent(int64_t run) const;

 private:
  struct Connection;
  explicit RunStore(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace hipbench::results
