#include "results/database.hpp"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Savepoint.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <thread>

#include "results/migrations.hpp"

namespace hipbench::results {

namespace {

using std::chrono::steady_clock;
namespace fs = std::filesystem;

int64_t pragma(SQLite::Database& database, const char* name) {
  SQLite::Statement query(database, fmt::format("PRAGMA {}", name));
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

bool is_contention(const SQLite::Exception& exception) {
  return exception.getErrorCode() == SQLITE_BUSY || exception.getErrorCode() == SQLITE_LOCKED;
}

// SQLite's own busy handler does not cover everything: the switch to WAL and the recovery of a log return SQLITE_BUSY
// at once. So opening is retried as a whole, with growing pauses.
template <typename Body>
auto with_patience(std::chrono::milliseconds patience, Body&& body) -> decltype(body()) {
  const auto deadline = steady_clock::now() + patience;
  for (std::chrono::milliseconds pause{5};; pause = std::min(pause * 2, std::chrono::milliseconds(200))) {
    try {
      return body();
    } catch (const SQLite::Exception& exception) {
      if (!is_contention(exception) || steady_clock::now() + pause > deadline) throw;
    }
    std::this_thread::sleep_for(pause);
  }
}

// What says whose file this is. One view of it for all three reads: another program may be making the schema right now.
struct Identity {
  int64_t version;
  int64_t application;
  bool is_empty;
};
Identity read_identity(SQLite::Database& database) {
  SQLite::Savepoint one_view(database, "identity");
  Identity identity{pragma(database, "user_version"), pragma(database, "application_id"), false};
  {
    SQLite::Statement tables(database, "SELECT count(*) FROM sqlite_master");
    identity.is_empty = tables.executeStep() && tables.getColumn(0).getInt64() == 0;
  }
  one_view.release();
  return identity;
}

Result<void> check_identity(SQLite::Database& database, const fs::path& path, size_t newest) {
  const auto [version, application, is_empty] = read_identity(database);
  if (application != kApplicationId && !(is_empty && version == 0 && application == 0)) {
    return Error{
        fmt::format("{} is an SQLite database of another program, not of hipbench; give another file", path.string())};
  }
  if (version > static_cast<int64_t>(newest)) {
    return Error{
        fmt::format("{} was written by a newer hipbench (its schema has version {}, this program knows up to {}); "
                    "use that hipbench, or another file",
                    path.string(), version, newest)};
  }
  return {};
}

Result<void> migrate(SQLite::Database& database, const fs::path& path, std::span<const std::string_view> steps) {
  TRY(check_identity(database, path, steps.size()));
  if (pragma(database, "user_version") == static_cast<int64_t>(steps.size())) return {};
  // The write lock first, then a second look: another program may be doing the same.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  TRY(check_identity(database, path, steps.size()));
  for (auto version = static_cast<size_t>(pragma(database, "user_version")); version < steps.size(); ++version) {
    database.exec(std::string(steps[version]));
  }
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, steps.size()));
  transaction.commit();
  return {};
}

Result<std::unique_ptr<SQLite::Database>> open_for_writing(const fs::path& path, const StoreOptions& options,
                                                           std::span<const std::string_view> steps) {
  auto database = std::make_unique<SQLite::Database>(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                                     static_cast<int>(options.patience.count()));
  TRY(check_identity(*database, path, steps.size()));
  // A killed program loses nothing that was committed; a power cut may cost the last evaluations, never the file.
  database->exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  TRY(migrate(*database, path, steps));
  return database;
}

// A database in WAL mode needs a file beside it even for reading. Where none can be made (a read-only folder or disk)
// and none is there, nobody is writing, and SQLite may be told so.
bool nobody_can_write(const fs::path& path) {
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return !fs::exists(path.string() + "-wal", ignored) && ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0;
}

std::string uri_for_reading(const fs::path& path, bool immutable) {
  std::error_code ignored;
  std::string uri = "file:";
  for (const char c : fs::absolute(path, ignored).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + (immutable ? "?immutable=1" : "");
}

// A copy in memory, brought up to date: for files of an earlier version that cannot be written.
Result<std::unique_ptr<SQLite::Database>> updated_copy(const fs::path& path, std::span<const std::string_view> steps) {
  SQLite::Database source(uri_for_reading(path, nobody_can_write(path)), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  auto copy = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(*copy, source).executeStep(-1);
  TRY(migrate(*copy, path, steps));
  copy->exec("PRAGMA query_only = ON");
  return copy;
}

Result<std::unique_ptr<SQLite::Database>> open_for_reading(const fs::path& path, const StoreOptions& options,
                                                           std::span<const std::string_view> steps) {
  const bool immutable = nobody_can_write(path);
  // A connection that may not write cannot tidy up either: the last to close would leave the -wal and -shm files
  // behind. So it may, but changes nothing. SQLite itself falls back to reading where the file is read-only.
  const int access = immutable ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE;
  auto database = std::make_unique<SQLite::Database>(uri_for_reading(path, immutable), access | SQLite::OPEN_URI,
                                                     static_cast<int>(options.patience.count()));
  database->exec("PRAGMA query_only = ON");
  TRY(check_identity(*database, path, steps.size()));
  const int64_t version = pragma(*database, "user_version");
  if (version == static_cast<int64_t>(steps.size())) return database;
  // Of an earlier version, or empty: bring it up to date.
  database.reset();
  Result<std::unique_ptr<SQLite::Database>> updated =
      guarded(path, [&] { return open_for_writing(path, options, steps); });
  if (updated) return updated;
  if (Result<std::unique_ptr<SQLite::Database>> copy = guarded(path, [&] { return updated_copy(path, steps); }))
    return copy;
  return updated.error().with_context(
      fmt::format("{} is of schema version {} and must be brought to {} before it can be read", path.string(), version,
                  steps.size()));
}

}  // namespace

Result<std::unique_ptr<SQLite::Database>> open_database(const fs::path& path, const StoreOptions& options,
                                                        std::span<const std::string_view> steps) {
  std::error_code error;
  if (path.empty() || path.string().find('\0') != std::string::npos)
    return Error{"the database has no usable file name"};
  if (fs::is_directory(path, error)) return Error{fmt::format("{} is a folder, not a database file", path.string())};
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return Error{fmt::format("{} is not a regular file; give a database file", path.string())};
  }
  if (options.access == Access::Read && !fs::exists(path, error)) {
    return Error{fmt::format("there is no database {}; `hipbench eval` makes one", path.string())};
  }
  return guarded(path, [&] {
    return with_patience(options.patience, [&] {
      return options.access == Access::Read ? open_for_reading(path, options, steps)
                                            : open_for_writing(path, options, steps);
    });
  });
}

Error describe(const SQLite::Exception& exception, const fs::path& path) {
  const std::string name = path.string();
  switch (exception.getErrorCode()) {
    case SQLITE_NOTADB:
      return Error{fmt::format(
          "{} is not a database (another kind of file, or its first bytes are damaged); give another file", name)};
    case SQLITE_CORRUPT:
      return Error{
          fmt::format("{} is damaged ({}); save what can be saved with: sqlite3 {} .recover | sqlite3 recovered.db",
                      name, exception.what(), name)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{fmt::format("{} stayed locked by another program; try again when it has finished", name)};
    case SQLITE_READONLY:
      return Error{fmt::format("{} cannot be written: the file, its folder or the disk is read-only", name)};
    case SQLITE_FULL:
      return Error{fmt::format("the disk of {} is full; nothing of this was stored", name)};
    case SQLITE_CANTOPEN: {
      const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
      std::error_code ignored;
      if (!fs::is_directory(folder, ignored))
        return Error{fmt::format("cannot make {}: there is no folder {}", name, folder.string())};
      return Error{fmt::format("cannot open {}: permission to read and write it and its folder is needed", name)};
    }
    case SQLITE_IOERR:
      return Error{
          fmt::format("{}: reading or writing failed ({}); is its disk full or failing?", name, exception.what())};
    default:
      return Error{fmt::format("{}: {}", name, exception.what())};
  }
}

}  // namespace hipbench::results
