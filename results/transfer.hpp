#pragma once
// Rows into and out of a database as a whole: importing another database, exporting tables, checking a file.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/result.hpp"

namespace hipbench::results {

// What is wrong with a database file, a sentence each; empty: it is sound. Reads all of it.
Result<std::vector<std::string>> check_integrity(const std::filesystem::path& path);

struct ImportReport {
  int64_t evaluations = 0, runs = 0, turns = 0, answers = 0, published = 0;  // that are new here; answers: of batches
  int64_t known = 0;                                                         // evaluations that were here already
  std::vector<std::string> renamed;  // runs and batches whose name another one has: "monday is monday-imported-1 here"
};
// Takes over the evaluations, runs, batches and published times of another database, all or nothing; it is not changed.
// What is here already is left as it is, so that the same database, or a later state of it, may be imported again.
// Where each row comes from is in the tables imports, imported_evaluations, imported_runs and imported_batches.
Result<ImportReport> import_database(const std::filesystem::path& into, const std::filesystem::path& from,
                                     const std::string& note);

struct PublishedTime {
  std::string problem, shape, what, device, source;
  double time_us = 0;
};
// Times that others published. Known ones are left as they are. Returns how many were new.
Result<int64_t> import_published(const std::filesystem::path& into, const std::vector<PublishedTime>& times);

// A value of a row: NULL, a number or text of any bytes.
using ExportValue = std::variant<std::monostate, int64_t, double, std::string>;
struct ExportSink {
  std::function<void(const std::vector<std::string>& columns)> header;
  // False: stop.
  std::function<bool(const std::vector<ExportValue>& values)> row;
};
// "evaluations", "shapes", "samples", "launches", "runs", "turns", "answers", "published".
std::vector<std::string> export_names();
// All rows of one of them, oldest first; `problem`: only of this one.
Result<void> export_rows(const std::filesystem::path& path, const std::string& name, const std::string& problem,
                         const ExportSink& sink);

}  // namespace hipbench::results
