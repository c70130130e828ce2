#pragma once
// The database of evaluations: one SQLite file that many programs may write at once. An evaluation is stored whole or
// not at all, and is never changed afterwards. Databases of earlier versions are brought up to date when they are
// opened for writing.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench::results {

enum class Access {
  ReadWrite,  // makes the file if there is none
  Read,       // for reports: works on read-only files, never makes one
};

struct StoreOptions {
  Access access = Access::ReadWrite;
  // How long to wait for other programs that are writing before it is an error.
  std::chrono::milliseconds patience{10'000};
};

// What a list of evaluations shows of one.
struct EvaluationSummary {
  int64_t id = 0;
  std::string started_at, problem, shape_set, file, reason;
  Track track = Track::Kernel;
  DeviceKind device = DeviceKind::Emulated;
  VerdictKind verdict = VerdictKind::Infrastructure;
  int64_t shapes = 0, passed_shapes = 0;  // of those that were run
  bool sandboxed = true, check = false;
  double total_seconds = 0;
};

struct ListFilter {
  std::string problem;  // empty: all
  int64_t limit = -1;   // newest so many; -1: all
};

// The times of one source that others may be divided by: of its stored evaluations that passed in the sandbox, under
// what `like` ran under (problem, device, compiler, kind of time, timing model), whatever their shapes.
struct SourceTimes {
  std::map<std::string, double> us;  // by shape; the newest, our own before imported ones
  std::vector<int64_t> evaluations;  // that they come from
};

// One candidate's place in a batch: a named run of many candidates that may be interrupted and go on later.
struct BatchPlace {
  int64_t batch = 0;
  std::string candidate;       // its id there
  std::string request_sha256;  // of everything that was asked for
};
struct BatchAnswer {
  std::string request_sha256;
  Fault fault = Fault::None;
  std::string line;
};

// Not thread-safe: one Store a thread (they may share the file).
class Store {
 public:
  static Result<Store> open(const std::filesystem::path& path, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Returns the evaluation's id. On an error nothing of it was stored.
  Result<int64_t> record(const Evaluation& evaluation);

  // The same for an evaluation that repeats a stored one, to time it again; `reason` says what asked for it.
  Result<int64_t> record_reverified(const Evaluation& evaluation, int64_t original, const std::string& reason);

  // The batch of this name; made if there is none.
  Result<int64_t> open_batch(const std::string& name);
  // What was answered for a candidate; nothing if it is still to be done.
  Result<std::optional<BatchAnswer>> find_answer(int64_t batch, const std::string& candidate) const;
  // Stores an evaluation and the answer that `make_line` makes of its id, both or neither. An answer whose fault is
  // Infrastructure may be replaced later, another is an Error. Returns the line. A cancelled evaluation is not stored,
  // only its line.
  Result<std::string> record_answer(const Evaluation& evaluation, const BatchPlace& place,
                                    const std::function<std::string(std::optional<int64_t> id)>& make_line);

  // Nothing if `like` has no time itself, since then it does not say what it ran under.
  Result<SourceTimes> times_of(const std::string& source_sha256, const Evaluation& like) const;

  Result<std::vector<EvaluationSummary>> list(const ListFilter& filter = {}) const;
  Result<Evaluation> load(int64_t id) const;

 private:
  struct Connection;
  explicit Store(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace hipbench::results
