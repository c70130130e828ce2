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

}  // namespace hipbench::results
