#pragma once
// What a Store holds, for the files that implement it.

#include "results/database.hpp"

namespace hipbench::results {

struct Store::Connection {
  std::filesystem::path path;
  std::unique_ptr<SQLite::Database> database;

  Connection(std::filesystem::path file, std::unique_ptr<SQLite::Database> opened)
      : path(std::move(file)), database(std::move(opened)) {}
};

// All rows of an evaluation, inside a transaction of the caller's. Returns its id.
int64_t insert_evaluation_rows(SQLite::Database& database, const Evaluation& evaluation);

}  // namespace hipbench::results
