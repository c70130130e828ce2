#pragma once
// What a Store holds, for the files that implement it.

#include "results/database.hpp"
#include "results/rows.hpp"

namespace hipbench::results {

struct Store::Connection {
  std::filesystem::path path;
  std::unique_ptr<SQLite::Database> database;

  Inserts inserts;  // go before the database does

  Connection(std::filesystem::path file, std::unique_ptr<SQLite::Database> opened)
      : path(std::move(file)), database(std::move(opened)), inserts(*database) {}
};

// All rows of an evaluation, inside a transaction of the caller's. Returns its id.
int64_t insert_evaluation_rows(Inserts& inserts, const Evaluation& evaluation);

// Of one shape's timing: where launches spend modelled time, and the samples of a measured one.
struct ShapePlace {
  int64_t evaluation = 0, ordinal = 0;
};
void insert_profiles(Inserts& inserts, const ShapePlace& place, const std::vector<LaunchRecord>& launches);
void insert_measurement(Inserts& inserts, const ShapePlace& place, const Measurement& measurement);
// Rows that belong to none of the shapes are passed over.
void read_profiles(SQLite::Database& database, int64_t evaluation, std::vector<ShapeResult>& shapes);
void read_measurements(SQLite::Database& database, int64_t evaluation, std::vector<ShapeResult>& shapes);

}  // namespace hipbench::results
