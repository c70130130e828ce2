#pragma once
// Opening an SQLite file so that it is ours, up to date and safe for many writers; and SQLite's errors in words.

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "common/result.hpp"
#include "results/store.hpp"

namespace hipbench::results {

// `steps` are the migrations to apply; tests hand in others.
Result<std::unique_ptr<SQLite::Database>> open_database(const std::filesystem::path& path, const StoreOptions& options,
                                                        std::span<const std::string_view> steps);

// What happened and what to do, from an exception of any database call.
Error describe(const SQLite::Exception& exception, const std::filesystem::path& path);

// Runs `body`, turning SQLite's exceptions into an Error. `body` returns a Result.
template <typename Body>
auto guarded(const std::filesystem::path& path, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const SQLite::Exception& exception) {
    return describe(exception, path);
  }
}

}  // namespace hipbench::results
