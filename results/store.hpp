#pragma once
// The database of evaluations: one SQLite file that many programs may write at once. An evaluation is stored whole or
// not at all, and is never changed afterwards. Databases of earlier versions are brought up to date when they are
// opened for writing.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
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

// Not thread-safe: one Store a thread (they may share the file).
class Store {
 public:
  static Result<Store> open(const std::filesystem::path& path, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Returns the evaluation's id. On an error nothing of it was stored.
  Result<int64_t> record(const Evaluation& evaluation);

  Result<std::vector<EvaluationSummary>> list(const ListFilter& filter = {}) const;
  Result<Evaluation> load(int64_t id) const;

 private:
  struct Connection;
  explicit Store(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace hipbench::results
