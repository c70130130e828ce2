#include "results/store.hpp"

#include "results/connection.hpp"
#include "results/migrations.hpp"

namespace hipbench::results {

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, const StoreOptions& options) {
  std::unique_ptr<SQLite::Database> database = TRY(open_database(path, options, migrations()));
  return Store(std::make_unique<Connection>(path, std::move(database)));
}

}  // namespace hipbench::results
